/**
 * The clock by which the edge stamps what it measures and notices. It follows the wall clock, and
 * watches it against time that no setting of the clock moves. See docs/decisions/0020.
 *
 * - The wall clock steps back, up to `slowed_ms_max` behind the newest stamp: stamps go on at half
 *   speed until it has caught up, so that they never repeat.
 * - It is set back by more: stamps follow it. The last digit of their milliseconds counts these
 *   times, so that no stamp can be one that was given before.
 * - It steps forward: stamps follow it.
 *
 * After a jump stamps are `suspect`: until the wall clock has passed the newest stamp, or until the
 * server's time confirms it. They are so, too, from when the server tells a time that is another.
 */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { Quality } from '@heliograph/domain/readings'

export interface Stamp {
  /** Unix ms. */
  measured_at: number
  /** `suspect` while the clock is not trusted. */
  quality: Quality
}

/** What stamps readings. */
export interface Stamps {
  stamp(): Stamp
}

export type ClockChange =
  | {
      is: 'jump'
      /** Unix ms, by the stamps after it. */
      at: number
      /** Positive: forward. */
      jump_ms: number
      /** Whether the server's time agrees with the clock since; null when it is not known. */
      is_confirmed: boolean | null
    }
  | { is: 'trust'; at: number; is_trusted: boolean }

export interface ServerTime {
  /** Unix ms. */
  at: number
  /** How far `at` may be off: the answer took its time, and the stopwatch drifts. */
  error_ms: number
}

/** The server's time, and when by the stopwatch it was asked for and told. */
interface Reference {
  server_time: number
  asked_ms: number
  told_ms: number
}

interface Instant {
  wall_ms: number
  elapsed_ms: number
}

const jump_ms_min = 2000
/** Far within what the server lets a clock be ahead. */
const slowed_ms_max = 30 * 60_000
const slowed_speed = 0.5
/** Stamps are so far apart; in between lies the count of times that the clock was set back. */
const step_ms = 10
const agreement_ms = 2000
/** A clock that drifted is not doubted for less: the server takes what is so far ahead as right. */
const disagreement_ms = 5000
/** How far the stopwatch may be off, per ms since the server told its time. */
const drift_ratio = 1e-4
const never = { at: Number.NEGATIVE_INFINITY, elapsed_ms: 0 }

export class PlantClock implements Clock, Stamps {
  readonly #clock: Clock
  readonly #stopwatch: Stopwatch
  /** Of the wall clock over the stopwatch, when last looked at. */
  #offset_ms: number
  #newest = never
  #set_back_count = 0
  /** The clock jumped, or is not the server's; believed again from `until_ms` on, if ever. */
  #doubt: { until_ms: number | null } | null = null
  #was_trusted = true
  #reference: Reference | null = null
  #untold: ClockChange[] = []
  #listener: ((change: ClockChange) => void) | null = null

  constructor({ clock, stopwatch }: { clock: Clock; stopwatch: Stopwatch }) {
    this.#clock = clock
    this.#stopwatch = stopwatch
    this.#offset_ms = clock.now().getTime() - stopwatch.elapsedMs()
  }

  /**
   * Takes up where an earlier run ended: the newest stamp that it gave (Unix ms, null when none is
   * known), and whether the clock was trusted then. To be called before the first stamp.
   */
  resume({ newest_at, is_trusted }: { newest_at: number | null; is_trusted: boolean }): void {
    if (!is_trusted) this.#doubt = { until_ms: null }
    this.#was_trusted = is_trusted
    if (newest_at === null) return
    this.#newest = { at: newest_at, elapsed_ms: this.#stopwatch.elapsedMs() }
    this.#set_back_count = newest_at % step_ms
    // A clock behind it has been set back since then.
    this.#offset_ms = Math.max(this.#offset_ms, newest_at - this.#newest.elapsed_ms)
  }

  /** Tells of every change, those that nobody was told yet first. */
  onChange(listener: (change: ClockChange) => void): void {
    this.#listener = listener
    for (const change of this.#untold.splice(0)) listener(change)
  }

  now(): Date {
    return new Date(this.stamp().measured_at)
  }

  /** The present moment for a reading. Looks at the clock: to be called every few seconds. */
  stamp(): Stamp {
    const instant = this.#look()
    const jump_ms = instant.wall_ms - instant.elapsed_ms - this.#offset_ms
    this.#offset_ms += jump_ms
    const is_jump = Math.abs(jump_ms) > jump_ms_min
    if (is_jump) this.#doubtAfter(jump_ms, instant)
    if (this.#agrees(instant, disagreement_ms) === false) this.#doubt ??= { until_ms: null }
    const by_wall = this.#onStep(instant.wall_ms)
    const at = this.#stampAt(by_wall, instant)
    if (is_jump) this.#tell({ is: 'jump', at, jump_ms, is_confirmed: this.#agrees(instant) })
    const is_trusted = this.#isTrusted(instant, at > by_wall)
    if (is_trusted !== this.#was_trusted) {
      this.#was_trusted = is_trusted
      this.#tell({ is: 'trust', at, is_trusted })
    }
    return { measured_at: at, quality: is_trusted ? 'good' : 'suspect' }
  }

  /** To be called as the server is asked for its time; the result, as it answers, with Unix ms. */
  askServer(): (server_time: number) => void {
    const asked_ms = this.#stopwatch.elapsedMs()
    return (server_time) => {
      this.#reference = { server_time, asked_ms, told_ms: this.#stopwatch.elapsedMs() }
    }
  }

  /** As the server told it last, carried on by the stopwatch; null: never told since the start. */
  serverNow(): ServerTime | null {
    if (!this.#reference) return null
    const { server_time, asked_ms, told_ms } = this.#reference
    const since_told_ms = this.#stopwatch.elapsedMs() - told_ms
    const error_ms = told_ms - asked_ms + since_told_ms * drift_ratio
    return { at: server_time + since_told_ms, error_ms }
  }

  #look(): Instant {
    return { wall_ms: this.#clock.now().getTime(), elapsed_ms: this.#stopwatch.elapsedMs() }
  }

  #doubtAfter(jump_ms: number, { wall_ms }: Instant): void {
    if (jump_ms > 0) {
      this.#doubt = { until_ms: null }
      return
    }
    const behind_ms = this.#newest.at - wall_ms
    if (behind_ms <= 0) return
    this.#doubt = { until_ms: this.#newest.at }
    if (behind_ms <= slowed_ms_max) return
    this.#set_back_count = (this.#set_back_count + 1) % step_ms
    this.#newest = never
  }

  #onStep(ms: number): number {
    return Math.floor(ms / step_ms) * step_ms + this.#set_back_count
  }

  #stampAt(by_wall: number, { elapsed_ms }: Instant): number {
    const slowed_ms = (elapsed_ms - this.#newest.elapsed_ms) * slowed_speed
    const at = Math.max(by_wall, this.#onStep(this.#newest.at + slowed_ms))
    if (at > this.#newest.at) this.#newest = { at, elapsed_ms }
    return at
  }

  #isTrusted(instant: Instant, is_slowed: boolean): boolean {
    if (!this.#doubt) return true
    const { until_ms } = this.#doubt
    const has_passed =
      until_ms !== null &&
      instant.wall_ms >= until_ms &&
      this.#agrees(instant, disagreement_ms) !== false
    if (is_slowed || !(has_passed || this.#agrees(instant))) return false
    this.#doubt = null
    return true
  }

  /** Whether the wall clock is right by the server's time; null when that was never told. */
  #agrees({ wall_ms, elapsed_ms }: Instant, within_ms = agreement_ms): boolean | null {
    if (!this.#reference) return null
    const { server_time, asked_ms, told_ms } = this.#reference
    const since_told_ms = elapsed_ms - told_ms
    const tolerance_ms = within_ms + since_told_ms * drift_ratio
    const earliest_ms = server_time + since_told_ms
    const latest_ms = server_time + elapsed_ms - asked_ms
    return wall_ms >= earliest_ms - tolerance_ms && wall_ms <= latest_ms + tolerance_ms
  }

  #tell(change: ClockChange): void {
    if (this.#listener) this.#listener(change)
    else this.#untold.push(change)
  }
}
