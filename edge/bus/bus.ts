/**
 * A bus: one connection with several units and one request at a time. The unit with the least used
 * time goes first, so that slow units do not delay fast ones. Writes, and reads of control, go
 * before polls; idle reads go when nothing else waits. A unit that is busy is asked again at once.
 * A unit that does not answer pauses, longer each time, so that it does not delay others. If the
 * line itself was down, the next answer of any unit ends all pauses.
 */
import { setImmediate as settled } from 'node:timers/promises'
import type { Connection } from '@heliograph/domain/site'
import type { Bus, ReadPriority } from '../drivers/driver.ts'
import { BusError, isBusy, isNotNow, resting } from './bus-error.ts'
import { type ConnectionNeeds, createConnection } from './connection.ts'
import { type Line, openLine } from './line.ts'
import { createRest, type Rest, type RestNeeds } from './rest.ts'

/** Longer than the second that gateways commonly wait for a device before they answer. */
const timeout_ms_default = 2000
export const registers_per_request_max = 125
/** Modbus application protocol specification V1.1b3, section 6.12. */
const registers_per_write_max = 123

const used_step_ms = 20
/** Repeats of a request that the unit is too busy for, and the pause before each. */
const busy_again = { most: 2, after_ms: 100 }
const unit_rest_ms = { first_ms: 1000, max_ms: 60_000 }

interface Unit {
  unit_id: number
  last_turn: number
  /** Used time of the bus since all units were idle; an idle unit gains no credit. */
  used_ms: number
  /** By priority, each in order of arrival. */
  waiting: Request[]
  rest: Rest
  /** The last request failed, and no unit has answered since. */
  is_all_silent: boolean
  /** The last failure was in such a period: the line may be down, not the unit. */
  is_line_suspected: boolean
}

const priorities: readonly ReadPriority[] = ['urgent', 'poll', 'idle']

interface Request {
  priority: ReadPriority
  /** Sends the request; returns the function that delivers the answer after the turn. */
  ask(line: Line): Promise<() => void>
  reject(error: unknown): void
}

/** The bus of a connection of site.yaml; it connects on the first request. */
export function openBus(connection: Connection, needs: RestNeeds): Bus {
  return createBus({
    ...needs,
    timeout_ms: connection.timeout_ms ?? timeout_ms_default,
    open: (signal) => openLine(connection, { signal, timers: needs.timers }),
  })
}

type BusNeeds = ConnectionNeeds & { now_ms?: () => number }

export function createBus(needs: BusNeeds): Bus {
  const { ask, close } = createQueue(needs)
  return {
    async readHoldingRegisters(unit_id, address, count, { priority = 'poll' } = {}) {
      checkRange(unit_id, address, { count, count_max: registers_per_request_max })
      return ask(unit_id, priority, (line) => line.read(unit_id, address, count))
    },
    async readInputRegisters(unit_id, address, count, { priority = 'poll' } = {}) {
      checkRange(unit_id, address, { count, count_max: registers_per_request_max })
      return ask(unit_id, priority, (line) => line.readInput(unit_id, address, count))
    },
    async writeRegisters(unit_id, address, values, { single = false, mayStill } = {}) {
      const count_max = single ? 1 : registers_per_write_max
      checkRange(unit_id, address, { count: values.length, count_max })
      const words = Array.from(values)
      checkWords(words)
      return ask(unit_id, 'urgent', (line) => {
        if (mayStill && !mayStill()) throw overtakenError()
        return line.write(unit_id, address, words, { single })
      })
    },
    close,
  }
}

function createQueue(needs: BusNeeds) {
  const { now_ms = () => performance.now() } = needs
  const connection = createConnection(needs)
  const units = new Map<number, Unit>()
  let turns = 0
  let begun_at_used_ms = 0
  let serving = false
  let closed = false

  function unitOf(unit_id: number): Unit {
    const unit = units.get(unit_id) ?? newUnit(unit_id, needs, () => units.size === 1)
    units.set(unit_id, unit)
    return unit
  }

  async function serve() {
    if (serving) return
    serving = true
    for (let turn = takeTurn(units.values()); turn; turn = takeTurn(units.values())) {
      const { unit, request } = turn
      turns += 1
      unit.last_turn = turns
      begun_at_used_ms = unit.used_ms
      const began_ms = now_ms()
      await answer(unit, request)
      if (request.priority !== 'idle') {
        // In steps: the turns decide between units that answer equally fast.
        unit.used_ms += Math.floor((now_ms() - began_ms) / used_step_ms) * used_step_ms
      }
      // Gives the caller of this answer the chance to send its next request first.
      await settled()
    }
    serving = false
  }

  async function answer(unit: Unit, request: Request) {
    try {
      const resolve = await untilNotBusy(request.ask)
      hear(unit, units.values())
      resolve()
    } catch (error) {
      request.reject(closed ? closedError() : error)
      // Polls go on although an idle read failed: the unit may know its register only.
      if (closed || request.priority === 'idle') return
      if (error instanceof BusError) restAfter(unit, error)
    }
  }

  async function untilNotBusy(ask: Request['ask'], again = busy_again.most): Promise<() => void> {
    try {
      return await connection.ask(ask)
    } catch (error) {
      if (again === 0 || closed || !isBusy(error)) throw error
      await new Promise<void>((resolve) => needs.timers.after(busy_again.after_ms, resolve))
      return untilNotBusy(ask, again - 1)
    }
  }

  function ask<Of>(unit_id: number, priority: ReadPriority, question: (line: Line) => Promise<Of>) {
    return new Promise<Of>((resolve, reject) => {
      if (closed) throw closedError()
      const unit = unitOf(unit_id)
      if (unit.rest.reason) throw resting(unit.rest.reason)
      if (unit.waiting.length === 0) unit.used_ms = Math.max(unit.used_ms, begun_at_used_ms)
      const answered = async (line: Line) => {
        const answer = await question(line)
        return () => resolve(answer)
      }
      lineUp(unit.waiting, { priority, ask: answered, reject })
      serve().catch(reject)
    })
  }

  async function close() {
    closed = true
    for (const { rest, waiting } of units.values()) {
      rest.end()
      for (const request of waiting.splice(0)) request.reject(closedError())
    }
    connection.close()
  }

  return { ask, close }
}

function restAfter(unit: Unit, error: BusError) {
  if (error.kind === 'disconnected' || error.kind === 'overtaken') return
  if (error.kind === 'exception' && !isNotNow(error)) return wakeUp(unit)
  unit.is_line_suspected = unit.is_all_silent
  unit.is_all_silent = true
  unit.rest.begin(error)
  for (const next of unit.waiting.splice(0)) next.reject(resting(error))
}

function hear(answering: Unit, units: Iterable<Unit>) {
  for (const unit of units) {
    if (unit === answering || unit.is_line_suspected) wakeUp(unit)
    unit.is_all_silent = false
  }
}

function wakeUp(unit: Unit) {
  unit.rest.end()
  unit.is_line_suspected = false
  unit.is_all_silent = false
}

function lineUp(waiting: Request[], request: Request) {
  const later = waiting.findIndex((other) => rankOf(other) > rankOf(request))
  waiting.splice(later >= 0 ? later : waiting.length, 0, request)
}

const rankOf = ({ priority }: Request): number => priorities.indexOf(priority)

function newUnit(unit_id: number, needs: ConnectionNeeds, isAlone: () => boolean): Unit {
  // Without transaction numbers, a late answer could be taken for that of the next request.
  const first_ms = Math.max(unit_rest_ms.first_ms, 2 * needs.timeout_ms)
  const max_ms = () => (isAlone() ? first_ms : unit_rest_ms.max_ms)
  const rest = createRest({ first_ms, max_ms }, needs)
  const silence = { is_all_silent: false, is_line_suspected: false }
  return { unit_id, last_turn: 0, used_ms: 0, waiting: [], rest, ...silence }
}

/** The next request: by priority, then by least used time of its unit, then by longest wait. */
function takeTurn(units: Iterable<Unit>): { unit: Unit; request: Request } | undefined {
  const waiting = [...units].filter((unit) => unit.waiting.length > 0)
  const rank = Math.min(...waiting.map((unit) => rankOf(unit.waiting[0]!)))
  const [unit] = waiting
    .filter((one) => rankOf(one.waiting[0]!) === rank)
    .sort((a, b) => a.used_ms - b.used_ms || a.last_turn - b.last_turn)
  const request = unit?.waiting.shift()
  return unit && request ? { unit, request } : undefined
}

function checkRange(
  unit_id: number,
  address: number,
  { count, count_max }: { count: number; count_max: number },
) {
  const whole = [unit_id, address, count].every(Number.isInteger)
  if (!whole || unit_id < 0 || unit_id > 255) throw new RangeError(`no unit ${unit_id}`)
  if (count < 1 || count > count_max) {
    throw new RangeError(`count ${count} is not 1 to ${count_max}`)
  }
  if (address < 0 || address + count > 65_536) {
    throw new RangeError(`registers ${address} to ${address + count - 1} are not 0 to 65535`)
  }
}

function checkWords(words: readonly number[]) {
  const wrong = words.find((word) => !Number.isInteger(word) || word < 0 || word > 0xffff)
  if (wrong !== undefined) throw new RangeError(`${wrong} does not fit a register`)
}

function overtakenError(): BusError {
  return new BusError('overtaken', 'not sent: something newer says less')
}

function closedError(): BusError {
  return new BusError('closed', 'the bus was closed')
}
