import type { Clock, Timers } from '@heliograph/domain/clock'

export interface VirtualTime {
  clock: Clock
  timers: Timers
  /** Lets time pass; what falls due meanwhile is called, but not waited for. */
  advance(ms: number): void
  /** Lets time pass without any timer, as when the event loop is held up. */
  jump(ms: number): void
}

export function virtualTime(start = '2026-06-01T10:00:00Z'): VirtualTime {
  let now_ms = Date.parse(start)
  let pending: { due_ms: number; callback: () => void }[] = []
  return {
    clock: { now: () => new Date(now_ms) },
    timers: {
      after(delay_ms, callback) {
        const timer = { due_ms: now_ms + delay_ms, callback }
        pending.push(timer)
        return () => {
          pending = pending.filter((each) => each !== timer)
        }
      },
    },
    jump(ms) {
      now_ms += ms
    },
    advance(ms) {
      now_ms += ms
      const due = pending.filter(({ due_ms }) => due_ms <= now_ms)
      pending = pending.filter(({ due_ms }) => due_ms > now_ms)
      for (const { callback } of due) callback()
    },
  }
}

/** Tries again, turn by turn of the event loop, until the assertion holds; fails after 5 s. */
export async function eventually<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const end_ms = performance.now() + 5000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > end_ms) throw error
      await new Promise(setImmediate)
    }
  }
}
