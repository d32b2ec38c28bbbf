/**
 * The notation of SunSpec models. Offsets count registers from the start of the model: register 0
 * is its ID, register 1 its length L (the number of registers after these two).
 */

/** A register type; `string16` is a string of 16 registers. */
export type PointType =
  | 'int16'
  | 'uint16'
  | 'count'
  | 'enum16'
  | 'bitfield16'
  | 'sunssf'
  | 'pad'
  | 'int32'
  | 'uint32'
  | 'bitfield32'
  | 'acc32'
  | 'float32'
  | 'uint64'
  | 'acc64'
  | `string${number}`

/**
 * Name, offset, type, unit as in the standard ('' for none), and scale factor: the name of a
 * `sunssf` point of the fixed block, or a literal exponent of ten.
 */
export type Point = readonly [
  name: string,
  offset: number,
  type: PointType,
  unit?: string,
  scale?: string | number,
]

/** Points that repeat to the end of the model; their offsets count from the start of the group. */
interface Group {
  name: string
  length: number
  /** Point of the fixed block with the number of repetitions; without it, L decides. */
  count?: string
  points: readonly Point[]
}

export interface Model {
  id: number
  points: readonly Point[]
  group?: Group
}

export function sizeOf(type: PointType): number {
  if (type.startsWith('string')) return Number(type.slice('string'.length))
  if (type.endsWith('64')) return 4
  return type.endsWith('32') ? 2 : 1
}

/** Registers before the first repetition of the group, ID and L included. */
export function fixedLength(model: Model): number {
  const last = model.points.at(-1)
  return last ? last[1] + sizeOf(last[2]) : 2
}

type Unplaced = readonly [name: string, type: PointType, unit?: string, scale?: string]
type Placed<P> = P extends readonly [
  infer Name extends string,
  infer Type extends PointType,
  ...unknown[],
]
  ? readonly [name: Name, offset: number, type: Type, unit?: string, scale?: string]
  : never

/** Points in consecutive registers, from the first behind ID and L. */
export function consecutive<const P extends readonly Unplaced[]>(points: P) {
  let next = 2
  const placed = points.map(([name, type, ...rest]) => {
    const offset = next
    next += sizeOf(type)
    return [name, offset, type, ...rest]
  })
  return placed as unknown as readonly Placed<P[number]>[]
}

/** Scale factors in consecutive registers from an offset. */
export const scalesFrom = <const Names extends readonly string[]>(
  offset: number,
  ...names: Names
) =>
  names.map((name, nth) => [name, offset + nth, 'sunssf'] as const) as readonly (readonly [
    name: Names[number],
    offset: number,
    type: 'sunssf',
  ])[]

type FloatPoint<P extends Point> = P[2] extends 'sunssf'
  ? never
  : Placed<readonly [P[0], P[2] extends 'enum16' | 'bitfield32' ? P[2] : 'float32']>

/** The points of the twin model in floats, which has no scale factors. */
export function inFloats<P extends Point>(points: readonly P[]) {
  const floats = points
    .filter(([, , type]) => type !== 'sunssf')
    .map(([name, , type, unit = '']): Unplaced => {
      const is_kept = type === 'enum16' || type === 'bitfield32'
      return [name, is_kept ? type : 'float32', unit]
    })
  return consecutive(floats) as unknown as readonly (P extends Point ? FloatPoint<P> : never)[]
}
