/**
 * Converts between SunSpec registers and values. A value that is not implemented is `null`. A value
 * that cannot be true is `null` as well and is reported as a complaint.
 */
import {
  type IntegerType,
  integers,
  isIntegerType,
  magnitude_max,
  readText,
  writeText,
} from './encoding.ts'
import { fixedLength, type Model, type Point, type PointType, sizeOf } from './point.ts'

type Value<Type extends PointType> = Type extends `string${number}` ? string | null : number | null

type ValuesOf<Points extends readonly Point[]> = {
  [P in Points[number] as P[2] extends 'pad' ? never : P[0]]: Value<P[2]>
}

type GroupOf<Of extends Model> = Of extends { group: { points: infer P extends readonly Point[] } }
  ? ValuesOf<P>
  : never

/** Scaled values, in the units of the model's points; one object per repetition of the group. */
export interface Content<Of extends Model> {
  values: ValuesOf<Of['points']>
  groups: GroupOf<Of>[]
}

interface Complaint {
  /** Model and point: `103.W`, `160.module[2].DCA`. */
  point: string
  reason: string
}

export interface Decoded<Of extends Model> extends Content<Of> {
  complaints: Complaint[]
  /**
   * Reason why the registers are not this model or its repeating groups cannot be found; else null.
   */
  broken: string | null
}

type Loose = Record<string, number | string | null>
type Complain = (point: string, reason: string) => void

/**
 * Decodes a model from its registers, ID and L first. The device's L decides: points beyond it are
 * `null` (an older revision), registers beyond the known points are ignored (a newer one). Fewer
 * registers than L count as part of the model. Points beyond them or in `missing` (offsets of
 * registers) are `null`, as are points scaled by them.
 */
export function decode<Of extends Model>(
  model: Of,
  registers: Uint16Array,
  missing: ReadonlySet<number> = new Set(),
): Decoded<Of> {
  const complaints: Complaint[] = []
  const complain: Complain = (point, reason) =>
    complaints.push({ point: `${model.id}.${point}`, reason })
  const answer = (values: Loose, groups: Loose[], broken: string | null) =>
    ({ values, groups, complaints, broken }) as unknown as Decoded<Of>

  const [id, length] = registers
  if (id !== model.id || length === undefined) {
    return answer(noValues(model.points), [], `expected model ${model.id}, got ${id}`)
  }
  const view = viewOf(registers.subarray(0, length + 2))
  const exponents = exponentsOf(model, view, missing)
  const values = decodePoints(model.points, { view, start: 0, missing, exponents, complain })

  const { group } = model
  if (!group) return answer(values, [], null)
  const { count, broken } = countGroups(model, length, values, complain)
  const groups = Array.from({ length: count }, (_, index) =>
    decodePoints(group.points, {
      view,
      start: fixedLength(model) + index * group.length,
      missing,
      exponents,
      complain: (point, reason) => complain(`${group.name}[${index}].${point}`, reason),
    }),
  )
  return answer(values, groups, broken)
}

/**
 * Number of repetitions of the group of a model: that of its count point if it fits into L,
 * otherwise that of L, which must then hold a whole number of groups.
 */
function countGroups(model: Model, length: number, values: Loose, complain: Complain) {
  const { group } = model
  const room = length + 2 - fixedLength(model)
  if (!group || room < 0) return { count: 0, broken: null }
  const fitting = Math.floor(room / group.length)
  const counted = group.count ? values[group.count] : null
  if (typeof counted === 'number' && counted > 0) {
    if (counted <= fitting) return { count: counted, broken: null }
    complain(group.count ?? '', `says ${counted} groups, but the length holds ${fitting}`)
  }
  if (room % group.length === 0) return { count: fitting, broken: null }
  return { count: 0, broken: `length ${length} holds no whole number of ${group.name} groups` }
}

interface Place {
  view: DataView
  start: number
  missing: ReadonlySet<number>
  exponents: Exponents
  complain: Complain
}

function decodePoints(points: readonly Point[], place: Place): Loose {
  const values = noValues(points)
  for (const point of points) {
    const [name, offset, type] = point
    if (type === 'pad' || !isThere(point, place)) continue
    try {
      values[name] = decodePoint(point, (place.start + offset) * 2, place)
    } catch (error) {
      if (!(error instanceof Nonsense)) throw error
      place.complain(name, error.message)
    }
  }
  return values
}

function isThere([, offset, type]: Point, { view, start, missing }: Omit<Place, 'exponents'>) {
  const from = start + offset
  const end = from + sizeOf(type)
  if (end * 2 > view.byteLength) return false
  for (let at = from; at < end; at += 1) if (missing.has(at)) return false
  return true
}

class Nonsense extends Error {}

function decodePoint(point: Point, at: number, { view, exponents }: Place) {
  const [, , type, , scale] = point
  if (type === 'float32') {
    const value = view.getFloat32(at)
    if (Number.isNaN(value)) return null
    if (Math.abs(value) > magnitude_max) throw new Nonsense(`${value} cannot be a measurement`)
    return value
  }
  if (!isIntegerType(type)) {
    const text = readText(view, at, sizeOf(type) * 2)
    if (text === undefined) throw new Nonsense('is not text')
    return text
  }
  const raw = decodeInteger(type, view, at)
  if (raw === null || scale === undefined) return raw
  const exponent = typeof scale === 'number' ? scale : exponents.get(scale)
  if (exponent === undefined) return null
  if (exponent === null) {
    throw new Nonsense(`its scale factor ${scale} is not valid`)
  }
  return exponent < 0 ? raw / 10 ** -exponent : raw * 10 ** exponent
}

function decodeInteger(type: IntegerType, view: DataView, at: number): number | null {
  const { get, absent, min, max } = integers[type]
  const raw = get(view, at)
  if (absent.includes(raw)) return null
  if (raw < min || raw > max) throw new Nonsense(`${raw} is outside ${min} to ${max}`)
  return raw
}

type Exponents = ReadonlyMap<string, number | null>

/**
 * The available scale factors of a model by name; `null` if not implemented or not valid. No
 * complaints: scale factors are decoded again among the points.
 */
function exponentsOf(model: Model, view: DataView, missing: ReadonlySet<number>): Exponents {
  const place = { view, start: 0, missing, exponents: new Map(), complain() {} }
  const scales = model.points.filter(([, , type]) => type === 'sunssf')
  const there = scales.filter((point) => isThere(point, place))
  const values = decodePoints(there, place)
  return new Map(Object.entries(values) as [string, number | null][])
}

function noValues(points: readonly Point[]): Loose {
  const named = points.filter(([, , type]) => type !== 'pad')
  return Object.fromEntries(named.map(([name]) => [name, null]))
}

/**
 * Encodes a model for a device that serves it: `decode` returns the same values, up to the rounding
 * to steps of the scale factor (counters exactly up to 2^51 steps). Absent points are written as
 * not implemented; an absent count point is the number of groups.
 * @throws RangeError naming the point whose value does not fit its registers
 */
export function encode<Of extends Model>(
  model: Of,
  content: { values: Partial<Content<Of>['values']>; groups?: Partial<GroupOf<Of>>[] },
): Uint16Array {
  const groups = (content.groups ?? []) as Partial<Loose>[]
  const { group } = model
  const counted = group?.count ? { [group.count]: groups.length } : {}
  const values = { ...counted, ...content.values } as Partial<Loose>
  const size = fixedLength(model) + groups.length * (group?.length ?? 0)
  const view = new DataView(new ArrayBuffer(size * 2))
  view.setUint16(0, model.id)
  view.setUint16(2, size - 2)

  encodePoints(model, model.points, values, { view, start: 0, scales: values })
  for (const [index, repeated] of groups.entries()) {
    if (!group) throw new RangeError(`model ${model.id} has no repeating group`)
    const start = fixedLength(model) + index * group.length
    encodePoints(model, group.points, repeated, { view, start, scales: values })
  }
  return Uint16Array.from({ length: size }, (_, index) => view.getUint16(index * 2))
}

interface Target {
  view: DataView
  start: number
  scales: Partial<Loose>
}

function encodePoints(
  model: Model,
  points: readonly Point[],
  values: Partial<Loose>,
  { view, start, scales }: Target,
) {
  for (const point of points) {
    const [name, offset] = point
    try {
      encodePoint(point, values[name] ?? null, { view, start: start + offset, scales })
    } catch (error) {
      throw new RangeError(`${model.id}.${name} ${(error as Error).message}`)
    }
  }
}

function encodePoint(point: Point, value: string | number | null, { view, start, scales }: Target) {
  const [, , type, , scale] = point
  const at = start * 2
  if (type === 'pad') return view.setUint16(at, 0x8000)
  if (type === 'float32') {
    const number = value === null ? Number.NaN : Number(value)
    if (Math.abs(number) > magnitude_max) throw new RangeError(`cannot be ${value}`)
    return view.setFloat32(at, number)
  }
  if (!isIntegerType(type)) {
    if (writeText(view, at, sizeOf(type) * 2, String(value ?? ''))) return
    throw new RangeError(`cannot hold ${JSON.stringify(value)}`)
  }
  const { min, max, absent, set } = integers[type]
  if (value === null) return set(view, at, absent[0] as number)
  const exponent = typeof scale === 'string' ? scales[scale] : (scale ?? 0)
  if (typeof exponent !== 'number') throw new RangeError(`needs its scale factor ${scale}`)
  const raw = unscale(Number(value), exponent)
  if (!(raw >= min && raw <= max)) {
    throw new RangeError(`cannot be ${value}: ${raw} is outside ${min} to ${max}`)
  }
  set(view, at, raw)
}

function unscale(value: number, exponent: number): number {
  return Math.round(exponent < 0 ? value * 10 ** -exponent : value / 10 ** exponent)
}

function viewOf(registers: Uint16Array): DataView {
  const view = new DataView(new ArrayBuffer(registers.length * 2))
  for (const [index, register] of registers.entries()) view.setUint16(index * 2, register)
  return view
}
