/** How far a row has come: the chain from heard of to restored, as the edge can prove it. */
import { type CurtailmentRow, mergeRow } from '@heliograph/domain/curtailment'
import { wattsWithin } from '@heliograph/domain/watts'
import type { WallTime } from './clock-watch.ts'
import type { HeldRow } from './control-store.ts'

/** What is known of the row's plant at one instant. Power in watts. */
export interface PlantLook extends WallTime {
  /** By the stopwatch. */
  now_ms: number
  rated_w: number
  /** What the registers of its devices let it deliver at most. */
  held_w: number
  /** Power of a device may still be coming down to its limit. */
  is_ramping: boolean
  /** Each of its devices was read since the start, or has been waited for. */
  is_known: boolean
  /** Each stands at what it is to be set to, or was never set below that. */
  readonly is_settled: boolean
  power: PlantPower | null
  failure: Failure | null
  /** Which of its devices stands lower than it should although nothing holds it; null: none. */
  below: string | null
  /** Why nothing of it may be raised now, whatever its permit would allow; null: it may be. */
  refusal: string | null
  /** Writes that failed, and read-backs that showed something else, since the start. */
  failed_attempts: number
}

export interface PlantPower {
  measured_w: number
  /** What devices without a measurement may add. */
  unmeasured_w: number
  /** By the stopwatch: of its oldest and its newest measurement. */
  from_ms: number
  to_ms: number
}

export interface Failure {
  code: NonNullable<HeldRow['failure_code']>
  message: string
}

const tolerance_ratio = 0.01
/** Meters are exact to a part of their range, so that a limit of 0 can be verified. */
const tolerance_of_rated = 0.001
const told_every_ms = 60_000
const kept_ms = 3 * 86_400_000
/** By the stopwatch, since it held: a clock that was ahead for less must not forget it. */
const kept_ms_min = 3_600_000
/** An order from outside, after it: a grid operator may send one every few seconds. */
const kept_outside_ms = 600_000
const kept_unrestored_ms = 30 * 86_400_000
const chain = [
  'applied_at',
  'verified_at',
  'restore_started_at',
  'restored_at',
  'failure_code',
] as const

export class RowWatch {
  #held: HeldRow
  #is_told = false
  #told_ms = Number.NEGATIVE_INFINITY
  /** By the stopwatch: what was measured before this proves nothing. */
  #sampled_ms = Number.POSITIVE_INFINITY
  #attempts_seen: number | null = null
  /** By the stopwatch: when it held last, or the start. */
  #held_ms: number

  constructor(held: HeldRow, now_ms: number) {
    this.#held = held
    this.#held_ms = now_ms
    if (held.applied_at !== null) this.#sampled_ms = now_ms
  }

  get held(): HeldRow {
    return this.#held
  }

  /** Takes what was heard of it again; whether that was new. */
  hear(row: CurtailmentRow, now: number): boolean {
    // The server repeats a row past its end until it knows that the plant is restored.
    const is_confirmed = this.#held.restored_at !== null || isCancelled(this.#held)
    if (now >= row.end_at && is_confirmed) this.#is_told = false
    const merged = mergeRow(this.#held.row, row)
    // A server that takes back a release is older than what it was told: it is told again.
    if (this.#held.row.released_at !== null && row.released_at === null) this.#is_told = false
    if (merged.released_at === this.#held.row.released_at) return false
    this.#held = { ...this.#held, row: merged }
    this.#is_told = false
    return true
  }

  /** It begins when any clock says so, and ends when each does. */
  holds({ earliest, latest }: WallTime): boolean {
    const { row, applied_at, restore_started_at } = this.#held
    // No clock begins or ends an order from outside.
    if (row.source !== undefined) return row.released_at === null
    if (row.released_at !== null || earliest >= row.end_at) return false
    // A clock that was set back does not end what has begun.
    const has_begun = applied_at !== null && restore_started_at === null
    return has_begun || latest >= row.start_at
  }

  /** It is over for so long that nobody asks any more. */
  isForgotten({ earliest }: WallTime, now_ms: number): boolean {
    const { row, restored_at } = this.#held
    if (row.source !== undefined) {
      return restored_at !== null && this.#is_told && now_ms - this.#held_ms >= kept_outside_ms
    }
    if (now_ms - this.#held_ms < kept_ms_min) return false
    if (isCancelled(this.#held)) return earliest > row.end_at + kept_ms
    if (restored_at === null) return earliest > row.end_at + kept_unrestored_ms
    return earliest > Math.max(row.end_at, restored_at) + kept_ms
  }

  /** It has something to look at, or to tell. */
  isUnderWay(at: WallTime): boolean {
    const { row, restored_at } = this.#held
    if (!this.#is_told || this.holds(at)) return true
    if (isCancelled(this.#held)) return false
    return restored_at === null && (row.released_at !== null || at.now >= row.end_at)
  }

  /** It holds its plant down, or left it down. */
  isBinding(at: WallTime): boolean {
    const { applied_at, restored_at } = this.#held
    return this.holds(at) || (applied_at !== null && restored_at === null)
  }

  /** What was to be told could not be. */
  untell(): void {
    this.#is_told = false
  }

  /** Goes along with its plant; whether there is something to report. */
  look(plant: PlantLook): boolean {
    const { now, now_ms } = plant
    const before = this.#held
    const is_in_force = this.holds(plant)
    if (is_in_force) this.#held_ms = now_ms
    this.#held = this.#proceed(plant, is_in_force)
    if (is_in_force) this.#sample(plant)
    const has_changed = chain.some((name) => this.#held[name] !== before[name])
    const is_due = is_in_force && now_ms - this.#told_ms >= told_every_ms
    if (this.#is_told && !has_changed && !is_due) return false
    this.#is_told = true
    this.#told_ms = now_ms
    // The newest report counts, also after the clock was set back.
    const reported_at = Math.max(now, before.reported_at + 1)
    this.#held = { ...this.#held, reported_at }
    return true
  }

  #proceed(plant: PlantLook, is_in_force: boolean): HeldRow {
    const { now, now_ms, held_w, is_known, below } = plant
    const next = { ...this.#held }
    const { row } = next
    const is_kept = held_w <= wattsWithin(row.max_power_kw)
    if (is_in_force) {
      // Only a clock that was set back makes a row begin again.
      next.restore_started_at = null
      next.restored_at = null
      if (is_kept && next.applied_at === null) {
        next.applied_at = now
        next.last_checked_at = now
        this.#sampled_ms = now_ms
      }
      next.observed_limit_kw = Number.isFinite(held_w) ? held_w / 1000 : null
    } else if (!isCancelled(next) && (row.released_at !== null || now >= row.end_at)) {
      next.restore_started_at ??= now
      if (plant.is_settled && below === null) next.restored_at ??= now
    }
    const is_pending = is_in_force
      ? next.applied_at === null || !is_kept
      : next.restore_started_at !== null && next.restored_at === null
    const failed = plant.failed_attempts - (this.#attempts_seen ?? plant.failed_attempts)
    this.#attempts_seen = plant.failed_attempts
    if (is_pending) next.retry_count += failed
    if (is_pending && !is_known) return next
    const refused = is_in_force ? null : refusalOf(plant)
    const kept = is_in_force ? null : belowOf(plant)
    const failure = is_pending ? (refused ?? kept ?? plant.failure) : null
    next.failure_code = failure?.code ?? null
    next.failure_message = failure?.message ?? null
    return next
  }

  #sample({ now, now_ms, is_known, is_ramping, power, rated_w }: PlantLook): void {
    if (!is_known && this.#held.applied_at !== null) this.#sampled_ms = now_ms
    if (!power || !is_known) return
    const next = { ...this.#held, observed_power_kw: power.measured_w / 1000 }
    this.#held = next
    if (next.applied_at === null || power.from_ms <= this.#sampled_ms) return
    const limit_w = wattsWithin(next.row.max_power_kw)
    const tolerance_w = Math.max(tolerance_ratio * limit_w, tolerance_of_rated * rated_w)
    const is_compliant = power.measured_w + power.unmeasured_w <= limit_w + tolerance_w
    // Power that falls as fast as its device can says nothing of whether the limit is obeyed.
    if (!is_compliant && is_ramping) {
      this.#sampled_ms = power.to_ms
      return
    }
    next.samples += 1
    next.last_checked_at = now
    if (is_compliant) {
      next.compliant_samples += 1
      next.verified_at ??= now
    } else next.violation_s += (power.to_ms - this.#sampled_ms) / 1000
    this.#sampled_ms = power.to_ms
  }
}

const refusalOf = ({ refusal }: PlantLook): Failure | null =>
  refusal === null ? null : { code: 'raise_refused', message: refusal }

const belowOf = ({ below }: PlantLook): Failure | null =>
  below === null ? null : { code: 'device_below_limit', message: below }

/** A row as it is when it was just heard of. */
export function newlyHeld(row: CurtailmentRow, now: number): HeldRow {
  return {
    row,
    reported_at: now,
    acknowledged_at: now,
    applied_at: null,
    verified_at: null,
    restore_started_at: null,
    restored_at: null,
    last_checked_at: null,
    observed_limit_kw: null,
    observed_power_kw: null,
    samples: 0,
    compliant_samples: 0,
    violation_s: 0,
    retry_count: 0,
    failure_code: null,
    failure_message: null,
  }
}

/** Released before it began: nothing was held for it, and nothing is to be proven. */
const isCancelled = ({ row, applied_at }: HeldRow) =>
  row.released_at !== null && row.released_at < row.start_at && applied_at === null
