/** Reads registers in few requests, across the gaps between them if the device allows it. */
import { registers_per_request_max } from '../bus/bus.ts'
import type { Bus } from './driver.ts'
import { createPartialReader } from './partial-reader.ts'
import { type NumberRegister, type Register, wordsOf } from './profile.ts'
import { isAbsent, rawNumber, textIn, type WordOrder } from './register-codec.ts'

/** Reading unused registers is faster than another request, up to about this many. */
const gap_max = 20

interface Request {
  table: 'holding' | 'input'
  address: number
  count: number
  registers: Register[]
}

/** Registers of one reading; `null` if missing or "no value". */
export interface RegisterValues {
  /** Raw value, signed by its type, before the gain; also where it means "no value". */
  raw(register: NumberRegister): number | null
  number(register: NumberRegister): number | null
  text(register: Register): string | null
  isMissing(register: Register): boolean
  /** Refused registers that are not optional, for the log. */
  missing: readonly string[]
}

/**
 * Requests for these registers, within the maximum length, each of one table and without torn
 * values. Requests at most `gap` registers apart are joined.
 */
export function planRequests(registers: readonly Register[], gap = gap_max): Request[] {
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
      register.address <= last.address + last.count + gap &&
      end - last.address <= registers_per_request_max
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

interface Place {
  bus: Bus
  unit_id: number
  word_order: WordOrder
}

/**
 * Reads all of `registers` at each call; refused registers are missing. Rejects if the device
 * refuses all of them or does not answer.
 */
export function createRegisterReader(place: Place, registers: readonly Register[]) {
  const different = new Map(registers.map((register) => [keyOf(register), register]))
  const requests = planRequests([...different.values()])
  const read = createPartialReader(requests, { partsOf, ask: (request) => ask(place, request) })

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
function partsOf({ registers }: Request): Request[] {
  const tight = planRequests(registers, 0)
  if (tight.length > 1 || registers.length === 1) return tight
  const half = Math.ceil(registers.length / 2)
  return [registers.slice(0, half), registers.slice(half)].flatMap((part) => planRequests(part, 0))
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
    return found ? rawNumber(register.type, found, order) : null
  }
  return {
    raw,
    number(register) {
      const found = raw(register)
      if (found === null || isAbsent(register.type, found)) return null
      if (register.absent?.includes(found)) return null
      return found / (register.gain ?? 1)
    },
    text(register) {
      const found = words.get(keyOf(register))
      if (!found) return null
      if (register.type === 'text') return textIn(found)
      const number = this.number(register)
      return number === null ? null : String(number)
    },
    isMissing: (register) => missing.some((one) => keyOf(one) === keyOf(register)),
    missing: missing.filter(({ is_optional }) => !is_optional).map(describeRegister),
  }
}

export const describeRegister = ({ name, address }: Register) => `${name} (${address})`
const tableOf = ({ table }: Register) => table ?? 'holding'
const keyOf = (register: Register) => `${tableOf(register)} ${register.address} ${register.type}`
