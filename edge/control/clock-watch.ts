/**
 * Rows begin and end by the wall clock. The time before a jump goes on beside it, by the stopwatch,
 * until the wall clock has stood its ground for a minute. The server's time goes on beside both for
 * as long as the clocks disagree.
 */
import type { ServerTime } from '../plant-clock.ts'

/** So much at once, or forward in small steps within about an hour. */
const jump_ms_min = 60_000
const hold_ms = 60_000
/** Of the time that passes, by how much a clock that is only set right may step forward. */
const step_ratio = jump_ms_min / 3_600_000
/** Of the wall clock over the server's time. Up to this rows end by the wall clock. */
const ahead_ms_max = 5000

export interface WallTime {
  /** Unix ms. */
  now: number
  /** The earliest of all clocks: rows end when each clock says so. */
  earliest: number
  /** The latest of all clocks: rows begin when any clock says so. */
  latest: number
}

export class ClockWatch {
  /** Unix ms; a first look that is before this finds a clock that was set back meanwhile. */
  readonly #latest_at: number
  #offset_ms: number | null = null
  #looked_ms = 0
  /** Of the steps forward lately, what is not forgotten yet. */
  #stepped_ms = 0
  #before: { offset_ms: number; until_ms: number } | null = null

  constructor(latest_at: number) {
    this.#latest_at = latest_at
  }

  /**
   * At each tick: Unix ms, ms of the stopwatch, and the server's time, null when never told.
   * `is_settled`: raises may go by it.
   */
  look(now: number, now_ms: number, server: ServerTime | null): WallTime & { is_settled: boolean } {
    const offset_ms = now - now_ms
    const last_ms = this.#offset_ms ?? Math.max(offset_ms, this.#latest_at - now_ms)
    const step_ms = offset_ms - last_ms
    const forgotten_ms = step_ratio * (now_ms - this.#looked_ms)
    this.#stepped_ms = Math.max(0, this.#stepped_ms - forgotten_ms) + Math.max(0, step_ms)
    this.#offset_ms = offset_ms
    this.#looked_ms = now_ms
    if (Math.max(this.#stepped_ms, -step_ms) > jump_ms_min) {
      // Another jump before it was trusted again: what held before the first still counts.
      const before_ms = this.#before?.offset_ms ?? last_ms
      this.#before = { offset_ms: before_ms, until_ms: now_ms + hold_ms }
      this.#stepped_ms = 0
    }
    if (this.#before && now_ms >= this.#before.until_ms) this.#before = null
    const steady = now_ms + (this.#before?.offset_ms ?? offset_ms)
    const is_ahead = server !== null && now - server.at > ahead_ms_max + server.error_ms
    return {
      now,
      earliest: Math.min(now, steady, is_ahead ? server.at : now),
      latest: Math.max(now, steady, server?.at ?? now),
      is_settled: this.#before === null,
    }
  }
}
