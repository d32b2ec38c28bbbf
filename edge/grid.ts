import type { Clock, Timers } from '@heliograph/domain/clock'

interface Grid {
  interval_ms: number
  /** How long after each full interval since the epoch. */
  phase_ms: number
}

/**
 * The next instant of the grid after now, in Unix ms. A timer may fire a hair early; the instant
 * that it was for does not come twice.
 */
export function nextDue(now: number, { interval_ms, phase_ms }: Grid, last_due: number): number {
  const due = (Math.floor((now - phase_ms) / interval_ms) + 1) * interval_ms + phase_ms
  return due === last_due ? due + interval_ms : due
}

/**
 * Calls back at every instant of the grid until it is stopped. Each wait is counted from the
 * clock anew, so nothing drifts, and a step of the clock shifts the grid but loses no more than
 * one interval. Instants that passed while the program was busy are not made up for: the callback
 * is told how many there were since the last, and which instant (Unix ms) it is called for.
 */
export function onGrid(
  { clock, timers }: { clock: Clock; timers: Timers },
  grid: Grid,
  callback: (passed_over: number, due: number) => void,
): () => void {
  let cancel = () => {}
  let last_due = Number.NEGATIVE_INFINITY
  const plan = () => {
    const now = clock.now().getTime()
    const due = nextDue(now, grid, last_due)
    const passed_over = Math.max(0, Math.round((due - last_due) / grid.interval_ms) - 1)
    last_due = due
    cancel = timers.after(due - now, () => {
      plan()
      callback(Number.isFinite(passed_over) ? passed_over : 0, due)
    })
  }
  plan()
  return () => cancel()
}
