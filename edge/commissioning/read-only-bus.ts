/**
 * A bus that only reads, for devices that nobody has described yet: one request at a time, with a
 * pause after each, and an end. Every write is refused.
 */
import type { Timers } from '@heliograph/domain/clock'
import type { Connection } from '@heliograph/domain/site'
import { BusError } from '../bus/bus-error.ts'
import { type Line, openLine } from '../bus/line.ts'
import type { Bus } from '../drivers/driver.ts'
import { inTime } from '../in-time.ts'

/** At most 50 requests a second. */
export const pause_ms = 20
const open_ms_max = 1500
/** A device with one client at a time notices late that the one before is gone. */
const before_open_ms = 100
/** A host that closes the connection so often without an answer speaks no Modbus. */
const lost_max = 3

export interface BusTimes {
  timers: Timers
  now_ms(): number
}

export interface ReadOnlyBus extends Bus {
  /** Time that the next requests have. */
  timeout_ms: number
  /** A request that nobody answered in time was answered since. Not on a serial line. */
  onLate: (unit_id: number, answered: { error: unknown; after_ms: number }) => void
  /** The fastest and the slowest answer so far; null before the first. */
  answered_ms(): { min: number; max: number } | null
}

interface Needs extends BusTimes {
  timeout_ms: number
  /** From then on every request is rejected as `closed`. */
  ends_at_ms: number
}

export function createReadOnlyBus(connection: Connection, needs: Needs): ReadOnlyBus {
  const { timers, now_ms, ends_at_ms } = needs
  let line: { opened: Line; closing: AbortController } | null = null
  let answered_ms: { min: number; max: number } | null = null
  let lost = 0
  let is_closed = false
  let last: Promise<unknown> = Promise.resolve()

  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve))

  function drop() {
    line?.closing.abort()
    line = null
  }

  async function reach(): Promise<Line> {
    if (line) return line.opened
    await pause(before_open_ms)
    const closing = new AbortController()
    const opening = openLine(connection, { signal: closing.signal, timers })
    const opened = await inTime(opening, open_ms_max, timers)
    if (opened === 'late') {
      opening.catch(() => {})
      closing.abort()
      throw new BusError('disconnected', 'no connection in time')
    }
    line = { opened, closing }
    return opened
  }

  async function ask(unit_id: number, question: (line: Line) => Promise<Uint16Array>) {
    if (is_closed || now_ms() >= ends_at_ms) throw new BusError('closed', 'out of time')
    if (lost >= lost_max) throw new BusError('closed', 'it closes every connection')
    let began_ms = now_ms()
    try {
      const reached = await reach()
      began_ms = now_ms()
      const answering = question(reached)
      const answer = await inTime(answering, bus.timeout_ms, timers)
      if (answer === 'late') {
        const onLate = (error: unknown) => {
          if (!is_closed) bus.onLate(unit_id, { error, after_ms: now_ms() - began_ms })
        }
        if (reached.numbered) answeredLate(answering, onLate)
        else {
          answering.catch(() => {})
          // A late answer would be taken for the next one.
          drop()
        }
        throw new BusError('timeout', `no answer within ${bus.timeout_ms} ms`)
      }
      heard(now_ms() - began_ms)
      return answer
    } catch (error) {
      if (!(error instanceof BusError)) throw error
      // A refusal is an answer too; of a gateway, it says nothing of its devices.
      if (error.kind === 'exception' && !isNobody(error)) heard(now_ms() - began_ms)
      else if (error.kind === 'exception') lost = 0
      if (error.kind === 'disconnected' || error.kind === 'garbled') {
        lost += 1
        drop()
      }
      throw error
    } finally {
      await pause(pause_ms)
    }
  }

  function heard(after_ms: number) {
    lost = 0
    const { min, max } = answered_ms ?? { min: after_ms, max: after_ms }
    answered_ms = { min: Math.min(min, after_ms), max: Math.max(max, after_ms) }
  }

  /** One after the other, in order. */
  function queued(unit_id: number, question: (line: Line) => Promise<Uint16Array>) {
    const asked = last.then(() => ask(unit_id, question))
    last = asked.catch(() => {})
    return asked
  }

  const bus: ReadOnlyBus = {
    timeout_ms: needs.timeout_ms,
    onLate: () => {},
    answered_ms: () => answered_ms,
    readHoldingRegisters: (unit_id, address, count) =>
      queued(unit_id, (reached) => reached.read(unit_id, address, count)),
    readInputRegisters: (unit_id, address, count) =>
      queued(unit_id, (reached) => reached.readInput(unit_id, address, count)),
    async writeRegisters() {
      throw new Error('a device is only read here')
    },
    async close() {
      is_closed = true
      drop()
    },
  }
  return bus
}

/** Calls back with null or the exception; a lost line is no answer. */
function answeredLate(answering: Promise<unknown>, onLate: (error: unknown) => void): void {
  answering.then(
    () => onLate(null),
    (error) => {
      if (error instanceof BusError && error.kind === 'exception') onLate(error)
    },
  )
}

/** A gateway reports that nobody answers behind it. */
export const isNobody = (error: unknown): boolean =>
  error instanceof BusError && [10, 11].includes(error.exception_code ?? 0)
