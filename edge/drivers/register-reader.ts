/** Reads registers in few requests, over the gaps between them where the device lets it. */
import { registers_per_request_max } from '../bus/bus.ts'
import { isRefusal } from '../bus/bus-error.ts'
import type { Bus } from './driver.ts'
import { type NumberRegister, type Register, wordsOf } from './profile.ts'
import { isAbsent, rawNumber, textIn, type WordOrder } from './register-codec.ts'

/** Registers that nobody wants cost less time than another request, up to about so many. */
const gap_max = 20

export interface Request {
  table: 'holding' | 'input'
  address: number
  count: number
  registers: Register[]
}

/** What a reading found; a register that the device does not have, or that says so, has `null`. */
export interface RegisterValues {
  /** As in the register, signed as its type, before the gain; also where that means "no value". */
  raw(register: NumberRegister): number | null
  /** By its gain, in the unit of the register. */
  number(register: NumberRegister): number | null
  text(register: Register): string | null
}

/**
 * Requests for these registers, none longer than one may be, none that tears a value, each of one
 * table. Two are joined when no more than `gap` registers lie between them.
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
 * Reads all of `registers` at each call. A device that refuses a request is asked for its parts
 * from then on; what is optional and refused alone counts as not there. Rejects with what the
 * device refuses otherwise, or when it does not answer.
 */
export function createRegisterReader(place: Place, registers: readonly Register[]) {
  const different = new Map(registers.map((register) => [keyOf(register), register]))
  let requests = planRequests([...different.values()])

  async function answersTo(request: Request): Promise<[Request, Uint16Array | null][]> {
    try {
      return [[request, await ask(place, request)]]
    } catch (error) {
      if (!isRefusal(error)) throw error
      const parts = partsOf(request)
      if (parts.length > 1) {
        const answers: [Request, Uint16Array | null][] = []
        for (const part of parts) answers.push(...(await answersTo(part)))
        return answers
      }
      if (request.registers.some(({ is_optional }) => !is_optional)) throw error
      return [[request, null]]
    }
  }

  return async (): Promise<RegisterValues> => {
    const words = new Map<string, Uint16Array>()
    const answered: Request[] = []
    for (const request of requests) {
      for (const [part, answer] of await answersTo(request)) {
        if (!answer) continue
        answered.push(part)
        for (const register of part.registers) {
          const start = register.address - part.address
          words.set(keyOf(register), answer.subarray(start, start + wordsOf(register)))
        }
      }
    }
    requests = answered
    return valuesOf(words, place.word_order)
  }
}

/** Without the gaps between its registers, else in halves: what is refused in it is soon alone. */
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

function valuesOf(words: ReadonlyMap<string, Uint16Array>, order: WordOrder): RegisterValues {
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
  }
}

const tableOf = ({ table }: Register) => table ?? 'holding'
const keyOf = (register: Register) => `${tableOf(register)} ${register.address} ${register.type}`
