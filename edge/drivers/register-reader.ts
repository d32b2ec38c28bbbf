/** Reads registers in few requests, across the gaps between them if the device allows it. */
import {
  fractionOf,
  type NumberRegister,
  type Profile,
  type Register,
  units,
  type WordOrder,
  wordsOf,
} from '@heliograph/domain/profile'
import { registers_per_request_max } from '../bus/bus.ts'
import type { Bus } from './driver.ts'
import { createPartialReader } from './partial-reader.ts'
import { isAbsent, rawNumber, textIn } from './register-codec.ts'

/** Reading unused registers is faster than another request, up to about this many. */
const default_gap_max = 20

interface Request {
  table: 'holding' | 'input'
  address: number
  count: number
  registers: Register[]
}

/** Registers of one reading; `null` if missing or "no value". */
export interface RegisterValues {
  /** Raw value, signed by its type, before the scale; also where it means "no value". */
  raw(register: NumberRegister): number | null
  /** Value in the unit of the register. */
  number(register: NumberRegister): number | null
  /** Value in the unit of the columns of readings. */
  inColumn(register: NumberRegister): number | null
  text(register: Register): string | null
  /** As the device sent them. */
  words(register: Register): Uint16Array | null
  isMissing(register: Register): boolean
  /** Refused registers that are not optional, for the log. */
  missing: readonly string[]
}

type Bounds = NonNullable<Profile['requests']>

/**
 * Requests for these registers, within the maximum length, each of one table and without torn
 * values. Requests at most `gap_max` registers apart are joined.
 */
export function planRequests(
  registers: readonly Register[],
  { gap_max = default_gap_max, registers_max = registers_per_request_max }: Bounds = {},
): Request[] {
  const requests: Request[] = []
  const sorted = registers.toSorted(
    (a, b) => tableOf(a).localeCompare(tableOf(b)) || a.address - b.address,
  )
  for (const register of sorted) {
    const table = tableOf(register)
    const end = register.address + wordsOf(register)
    const last = requests.at(-1)
    const joins =
      last?.table === table &&
      register.address <= last.address + last.count + gap_max &&
      end - last.address <= registers_max
    if (last && joins) {
      last.count = Math.max(last.count, end - last.address)
      last.registers.push(register)
    } else {
      const { address } = register
      requests.push({ table, address, count: end - address, registers: [register] })
    }
  }
  return requests
}

export interface Place {
  bus: Bus
  unit_id: number
  word_order: WordOrder
  requests?: Bounds | undefined
}

/** A device of the profile at this unit id. */
export const placeOf = (
  { word_order = 'high_first', requests }: Pick<Profile, 'word_order' | 'requests'>,
  bus: Bus,
  unit_id: number,
): Place => ({ bus, unit_id, word_order, requests })

/**
 * Reads all of `registers` at each call; refused registers are missing. Rejects if the device
 * refuses all of them or does not answer.
 */
export function createRegisterReader(place: Place, registers: readonly Register[]) {
  const all = registers.flatMap((one): Register[] => {
    const scale_register = scaleOf(one)
    return scale_register ? [one, scale_register] : [one]
  })
  const different = new Map(all.map((register) => [keyOf(register), register]))
  const requests = planRequests([...different.values()], place.requests)
  const read = createPartialReader(requests, {
    partsOf: (request) => partsOf(request, place.requests),
    ask: (request) => ask(place, request),
  })

  return async (): Promise<RegisterValues> => {
    const { answers, refused } = await read()
    const words = new Map<string, Uint16Array>()
    for (const [{ address, registers: asked }, answer] of answers) {
      for (const register of asked) {
        const start = register.address - address
        words.set(keyOf(register), answer.subarray(start, start + wordsOf(register)))
      }
    }
    const missing = refused.flatMap((request) => request.registers)
    return valuesOf(words, { order: place.word_order, missing })
  }
}

/** Splits without the gaps first, then in halves, until a refused register is alone. */
function partsOf({ registers }: Request, bounds: Bounds = {}): Request[] {
  const plan = (part: Register[]) => planRequests(part, { ...bounds, gap_max: 0 })
  const tight = plan(registers)
  if (tight.length > 1 || registers.length === 1) return tight
  const half = Math.ceil(registers.length / 2)
  return [registers.slice(0, half), registers.slice(half)].flatMap(plan)
}

function ask({ bus, unit_id }: Place, { table, address, count }: Request): Promise<Uint16Array> {
  return table === 'input'
    ? bus.readInputRegisters(unit_id, address, count)
    : bus.readHoldingRegisters(unit_id, address, count)
}

function valuesOf(
  words: ReadonlyMap<string, Uint16Array>,
  { order, missing }: { order: WordOrder; missing: readonly Register[] },
): RegisterValues {
  const raw = (register: NumberRegister) => {
    const found = words.get(keyOf(register))
    return found ? rawNumber(register, found, order) : null
  }
  /** `null` where the raw value means "no value". */
  const present = (register: NumberRegister): number | null => {
    const found = raw(register)
    if (found === null || isAbsent(register.type, found)) return null
    if (register.absent?.includes(found)) return null
    return register.mask === undefined ? found : found & register.mask
  }
  /** `null` where the register of the scale has no value. */
  const exponentOf = ({ scale_register }: NumberRegister): number | null => {
    if (!scale_register) return 0
    const found = present(scale_register)
    return found === null ? null : found * (scale_register.scale ?? 1)
  }
  const scaled = (register: NumberRegister, multiply: number, divide: number): number | null => {
    const found = present(register)
    const exponent = exponentOf(register)
    if (found === null || exponent === null) return null
    const { times, per } = fractionOf(register)
    const value = (found * times * multiply) / (per * divide)
    return exponent < 0 ? value / 10 ** -exponent : value * 10 ** exponent
  }
  const number = (register: NumberRegister) => scaled(register, 1, 1)
  return {
    raw,
    number,
    inColumn(register) {
      const { multiply, divide } = register.unit ? units[register.unit] : { multiply: 1, divide: 1 }
      return scaled(register, multiply, divide)
    },
    text(register) {
      const found = words.get(keyOf(register))
      if (!found) return null
      if (register.type === 'text') return textIn(found)
      const value = number(register as NumberRegister)
      return value === null ? null : String(value)
    },
    words: (register) => words.get(keyOf(register)) ?? null,
    isMissing: (register) => missing.some((one) => keyOf(one) === keyOf(register)),
    missing: missing.filter(({ optional }) => !optional).map(describeRegister),
  }
}

export const describeRegister = ({ name, address }: Register) => `${name} (${address})`
const tableOf = ({ table }: Register) => table ?? 'holding'
const scaleOf = (register: Register) => (register as NumberRegister).scale_register
const keyOf = (register: Register) => `${tableOf(register)} ${register.address} ${register.type}`
