/** Keeps the line of a bus: opens it on demand, closes it when it cannot be trusted. */
import type { Timers } from '@heliograph/domain/clock'
import { BusError, resting } from './bus-error.ts'
import type { Line } from './line.ts'
import { createRest, type RestNeeds } from './rest.ts'

export interface ConnectionNeeds extends RestNeeds {
  /** Opens the line, which the signal closes. Rejects with a `BusError`. */
  open(signal: AbortSignal): Promise<Line>
  timeout_ms: number
}

interface Connection {
  /** Sends one request; the caller waits for its answer before the next. */
  ask<Of>(question: (line: Line) => Promise<Of>): Promise<Of>
  close(): void
}

/** Short pauses, as only this bus waits and control needs its devices back soon. */
const rest_ms = { first_ms: 500, max_ms: () => 4000 }

/** After this many requests without an answer the line counts as down. */
const silent_requests_max = 3

export function createConnection({ open, timeout_ms, ...needs }: ConnectionNeeds): Connection {
  const rest = createRest(rest_ms, needs)
  let line: { opened: Promise<Line>; closing: AbortController } | null = null
  let silent_requests = 0
  let closed = false
  const withTimeout = <Of>(pending: Promise<Of>) => within(timeout_ms, pending, needs.timers)

  async function reach(): Promise<Line> {
    if (rest.reason) throw resting(rest.reason)
    if (!line) {
      const closing = new AbortController()
      line = { closing, opened: open(closing.signal) }
    }
    try {
      return await withTimeout(line.opened)
    } catch (error) {
      const refused = new BusError('disconnected', `no connection: ${(error as Error).message}`)
      giveUp(refused)
      throw refused
    }
  }

  function giveUp(error: BusError) {
    if (!closed) rest.begin(error)
    drop()
  }

  function drop() {
    silent_requests = 0
    line?.opened.catch(() => {})
    line?.closing.abort()
    line = null
  }

  function answered() {
    silent_requests = 0
    rest.end()
  }

  function judge(error: unknown, { numbered }: Line) {
    if (!(error instanceof BusError)) return drop()
    if (error.kind === 'exception') return answered()
    if (error.kind === 'overtaken') return
    if (error.kind === 'disconnected') return giveUp(error)
    silent_requests += 1
    const in_step = numbered && error.kind === 'timeout'
    if (!in_step || silent_requests >= silent_requests_max) drop()
  }

  return {
    async ask(question) {
      const reached = await reach()
      try {
        const answer = await withTimeout(question(reached))
        answered()
        return answer
      } catch (error) {
        judge(error, reached)
        throw error
      }
    },
    close() {
      closed = true
      rest.end()
      drop()
    },
  }
}

function within<Of>(timeout_ms: number, pending: Promise<Of>, timers: Timers): Promise<Of> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new BusError('timeout', `no answer within ${timeout_ms} ms`))
    const cancel = timers.after(timeout_ms, late)
    pending.then(resolve, reject).finally(cancel)
  })
}
