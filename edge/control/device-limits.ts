/**
 * What is known of the limit of one device, and so what it may deliver at worst. Power in whole
 * watts, time in ms of a stopwatch: a clock that jumps changes nothing here.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LimitState, LimitTraits } from '../drivers/limit-control.ts'

/** Survives a restart: what was written, before it is written. */
export interface DeviceRecord {
  static_max_w: number
  /** The last limit that we set or began to set; null: none ever. */
  written_w: number | null
  /** What it held when that was begun; null once a read has shown that it was done. */
  before_w: number | null
  /** All that was begun and may come through yet, the newest last. */
  intents: readonly number[]
  /** A lower limit that we found and did not set. */
  external_w: number | null
}

export interface DeviceFacts {
  rated_w: number
  /** What it may deliver as long as it was never read. */
  default_max_w: number
  /** A read older than this says nothing of the present. */
  fresh_ms: number
  /** A timer at the device that runs out within this is as good as run out. */
  revert_margin_ms: number
}

/** What a read showed beside what we set: another master, or a device that lost its limit. */
export type Foreign = 'lowered' | 'raised' | 'lost'

/** The register holds what we wrote, to the rounding of its scale. */
const same_w = 1
const attempts_max = 3
const intents_max = 16
const overshoot_ratio = 0.02
const overshoots_max = 3
/** A device may take so long to come down to a new limit. */
const settling_ms = 30_000
/** Another master that raised it twice within this may do so at any time, until this has passed. */
const contested_ms = 60_000
/** So long after a write its effect may first be seen, also if another has overtaken it. */
const applying_ms = 15_000

export class DeviceLimits {
  readonly facts: DeviceFacts
  #record: DeviceRecord
  #state: LimitState | null = null
  #read_at_ms = Number.NEGATIVE_INFINITY
  /** Limits that were begun to be set since a read last showed the newest of them. */
  #intents: number[] = []
  #written_at_ms = Number.NEGATIVE_INFINITY
  /** All that was begun lately, proven or not. */
  #begun: { limit_w: number; at_ms: number }[] = []
  /** Writes since one was proven: of several, one more may come through after that. */
  #writes = 0
  /** Until then any of them may: with the newest write, and without it. */
  #comes_by_ms = Number.NEGATIVE_INFINITY
  #others_come_by_ms = Number.NEGATIVE_INFINITY
  /** Until then it may show another limit than the one it took last. */
  #applies_until_ms = Number.NEGATIVE_INFINITY
  #overtaken = { limit_w: 0, until_ms: Number.NEGATIVE_INFINITY }
  /** What it may still be coming down from. */
  #descents: { from_w: number; until_ms: number }[] = []
  #was_silent = true
  /** Not read since a restart in the middle of a write. */
  #is_restart: boolean
  #attempts = 0
  #overshoots = 0
  #traits: LimitTraits | null = null
  /** When another master was last seen to have raised it, and until when that counts. */
  #raised_at_ms = Number.NEGATIVE_INFINITY
  #contested_until_ms = Number.NEGATIVE_INFINITY

  constructor(facts: DeviceFacts, record: DeviceRecord | null) {
    this.facts = facts
    this.#record = record ?? {
      static_max_w: facts.default_max_w,
      written_w: null,
      before_w: null,
      external_w: null,
      intents: [],
    }
    // What was begun before a restart may have been done or not, or be done yet.
    this.#intents = [...this.#record.intents]
    this.#is_restart = this.#intents.length > 0
    this.#writes = this.#intents.length
  }

  /** The same object as long as nothing in it changes. */
  get record(): Readonly<DeviceRecord> {
    return this.#record
  }

  get static_max_w(): number {
    return this.#record.static_max_w
  }

  /** The most that we would ever set: never above a lower limit that is not ours. */
  get settable_max_w(): number {
    const { static_max_w, external_w } = this.#record
    return Math.min(static_max_w, external_w ?? static_max_w)
  }

  /** What its registers let it deliver; null before the first read. */
  get bound_w(): number | null {
    return this.#state && (this.#state.limit_w ?? this.#state.static_max_w)
  }

  /** The least that it may hold now; null before the first read. */
  get least_w(): number | null {
    return this.bound_w === null ? null : Math.min(this.bound_w, ...this.#intents)
  }

  get has_external(): boolean {
    const { external_w, static_max_w } = this.#record
    return external_w !== null && external_w < static_max_w
  }

  get is_proven(): boolean {
    return this.#intents.length === 0
  }

  /** False while it may yet come to deliver more by itself, which another write would prevent. */
  isSettled(now_ms: number): boolean {
    return this.is_proven && (this.#state === null || this.#revertsTo(this.#state, now_ms) === 0)
  }

  /** It does not do what it is told: its limit counts for nothing until it does again. */
  get is_failing(): boolean {
    return this.#attempts >= attempts_max || this.is_ineffective
  }

  get is_ineffective(): boolean {
    return this.#overshoots >= overshoots_max
  }

  /** Another master raises it again and again: what it holds when it is read says nothing. */
  isContested(now_ms: number): boolean {
    return now_ms < this.#contested_until_ms
  }

  /** As far as is known, it holds what it is told. */
  obeys(now_ms: number): boolean {
    return this.isFresh(now_ms) && !this.is_failing && !this.isContested(now_ms)
  }

  get attempts(): number {
    return this.#attempts
  }

  isFresh(now_ms: number): boolean {
    return this.#state !== null && now_ms - this.#read_at_ms <= this.facts.fresh_ms
  }

  /** It took the newest limit, and may still show another: only time tells whether it obeys. */
  isApplying(now_ms: number): boolean {
    return !this.is_proven && now_ms < this.#applies_until_ms
  }

  mayRaiseAt(now_ms: number): boolean {
    return this.restsFor(now_ms) <= 0
  }

  /** How long until its register may be written again to raise it, ms; 0 or less: it may be. */
  restsFor(now_ms: number): number {
    return this.#written_at_ms + (this.#traits?.min_interval_ms ?? 0) - now_ms
  }

  /** Its limit holds also while it is not heard of, whatever becomes of its power. */
  get stays(): boolean {
    return this.#traits?.survives_power_loss === true && this.#state?.revert === null
  }

  /** The most that it may deliver before it is looked at again, whatever it does by itself. */
  worst_w(now_ms: number): number {
    const { static_max_w } = this.#record
    const state = this.#state
    if (!state || this.is_ineffective) return static_max_w
    if (this.isContested(now_ms)) return static_max_w
    if (!this.isFresh(now_ms) && !this.stays) return static_max_w
    const reverts_w = this.#revertsTo(state, now_ms)
    const bound_w = state.limit_w ?? state.static_max_w
    const begun_w = Math.max(this.#overtakenAt(now_ms), ...this.#intents)
    return Math.min(static_max_w, Math.max(bound_w, reverts_w, begun_w))
  }

  /** It is another contact: what it holds may have changed without being seen. */
  lost(): void {
    this.#was_silent = true
    this.#applies_until_ms = Number.NEGATIVE_INFINITY
  }

  /** Takes what its registers say. */
  onRead(state: LimitState, traits: LimitTraits, now_ms: number): Foreign | null {
    const was_silent = this.#was_silent || !this.isFresh(now_ms)
    const before_w = this.bound_w
    this.#was_silent = false
    if (this.#is_restart) this.#resume(now_ms)
    this.#traits = traits
    this.#state = state
    this.#read_at_ms = now_ms
    this.#keep({ static_max_w: state.static_max_w })
    const newest_w = this.#intents.at(-1)
    const found_w = state.limit_w ?? state.static_max_w
    if (newest_w !== undefined && isSame(found_w, newest_w)) {
      this.#prove(now_ms)
      this.#keepBegun(now_ms)
      return null
    }
    this.#keepBegun(now_ms)
    const seen_w = was_silent ? null : before_w
    const late = this.#begun.filter(({ at_ms }) => now_ms - at_ms < applying_ms)
    const seen = [seen_w, ...late.map(({ limit_w }) => limit_w), this.#overtakenAt(now_ms) || null]
    const foreign = this.#compare(found_w, seen, was_silent)
    if (foreign === 'raised') this.#contest(now_ms)
    // Then that may be what it applies.
    if (foreign) this.#applies_until_ms = Number.NEGATIVE_INFINITY
    return foreign
  }

  /** Before the first register is touched; the record is to be made durable before that, too. */
  begin(limit_w: number, now_ms: number): void {
    const bound_w = this.bound_w ?? this.#record.static_max_w
    this.#intents = fewOf([...this.#intents.filter((begun_w) => begun_w !== limit_w), limit_w])
    this.#keep({ written_w: limit_w, before_w: bound_w })
    this.#written_at_ms = now_ms
    this.#applies_until_ms = Number.NEGATIVE_INFINITY
    this.#others_come_by_ms = this.#comes_by_ms
    this.#comes_by_ms = now_ms + applying_ms
    this.#writes += 1
    this.#begun.push({ limit_w, at_ms: now_ms })
    this.#keepBegun(now_ms)
    this.#descents = this.#descents.filter(({ until_ms }) => now_ms < until_ms)
    if (limit_w >= bound_w) return
    this.#descents.push({ from_w: bound_w, until_ms: now_ms + settling_ms })
  }

  /** It answered that it took the newest limit; before that is read back. */
  taken({ applies_within_ms }: LimitTraits, now_ms: number): void {
    if (applies_within_ms === 0) return
    this.#applies_until_ms = now_ms + applies_within_ms
    this.#comes_by_ms = Math.max(this.#others_come_by_ms, this.#applies_until_ms)
  }

  /** The write was refused or not answered, or the read-back showed something else. */
  failed(): void {
    this.#attempts += 1
  }

  /** Measured power, read together with the limit. */
  onPower(power_w: number, now_ms: number): void {
    const bound_w = this.bound_w
    if (bound_w === null) return
    const over_w = power_w - overshoot_ratio * this.facts.rated_w
    if (over_w <= bound_w) this.#overshoots = 0
    else if (over_w > this.#descentAt(now_ms)) this.#overshoots += 1
  }

  #keep(changes: Partial<DeviceRecord>): void {
    const record = { ...this.#record, ...changes }
    if (!isDeepStrictEqual(record, this.#record)) this.#record = record
  }

  #contest(now_ms: number): void {
    if (now_ms - this.#raised_at_ms < contested_ms) this.#contested_until_ms = now_ms + contested_ms
    this.#raised_at_ms = now_ms
  }

  /** When that was begun which a restart interrupted is not known: at the latest now. */
  #resume(now_ms: number): void {
    this.#is_restart = false
    this.#written_at_ms = now_ms
    this.#comes_by_ms = now_ms + applying_ms
    this.#begun = this.#intents.map((limit_w) => ({ limit_w, at_ms: now_ms }))
  }

  #keepBegun(now_ms: number): void {
    this.#begun = this.#begun.filter(({ at_ms }) => now_ms - at_ms < applying_ms)
    const late = this.#begun.map(({ limit_w }) => limit_w)
    const newest_w = this.#record.written_w
    const open = [...new Set([...late, ...this.#intents])].filter((one_w) => one_w !== newest_w)
    const is_any = open.length > 0 || !this.is_proven
    const intents = is_any && newest_w !== null ? [...open, newest_w] : []
    this.#keep({ intents })
  }

  /** A read showed the newest limit. */
  #prove(now_ms: number): void {
    if (this.#writes > 1) {
      const limit_w = Math.max(this.#overtakenAt(now_ms), ...this.#intents)
      this.#overtaken = { limit_w, until_ms: this.#comes_by_ms }
    }
    this.#writes = 0
    this.#intents = []
    this.#attempts = 0
    this.#keep({ before_w: null })
  }

  #overtakenAt(now_ms: number): number {
    return now_ms < this.#overtaken.until_ms ? this.#overtaken.limit_w : 0
  }

  #descentAt(now_ms: number): number {
    const active = this.#descents.filter(({ until_ms }) => now_ms < until_ms)
    return Math.max(0, ...active.map(({ from_w }) => from_w))
  }

  #compare(found_w: number, seen: readonly (number | null)[], was_silent: boolean): Foreign | null {
    const { written_w, before_w, external_w, static_max_w } = this.#record
    // Where it stood before a write that has not come through yet, or came through in part.
    const known = [...this.#intents, before_w, ...seen]
    // Above an external limit what we wrote is older than that limit: then it is not ours.
    if (written_w !== null && written_w <= (external_w ?? written_w)) known.push(written_w)
    if (known.some((one_w) => one_w !== null && isSame(found_w, one_w))) return null
    const reference_w = Math.min(written_w ?? static_max_w, external_w ?? static_max_w)
    if (found_w < reference_w - same_w) {
      this.#keep({ external_w: found_w })
      return written_w === null ? null : 'lowered'
    }
    if (isSame(found_w, reference_w)) return null
    // A device that was away may have restarted: then nobody lifted a limit on purpose.
    const limit_w = was_silent ? Math.min(found_w, external_w ?? found_w) : found_w
    this.#keep({ external_w: limit_w < static_max_w ? limit_w : null })
    if (written_w === null) return null
    return was_silent ? 'lost' : 'raised'
  }

  #revertsTo({ revert }: LimitState, now_ms: number): number {
    if (!revert) return 0
    const left_ms = revert.in_ms - (now_ms - this.#read_at_ms)
    return left_ms <= this.facts.revert_margin_ms ? revert.to_w : 0
  }
}

/** One that is refused for long gathers many: the highest and the lowest stand for the others. */
function fewOf(intents: number[]): number[] {
  if (intents.length <= intents_max) return intents
  const extremes = [Math.max(...intents), Math.min(...intents)]
  const nth = intents.findIndex((limit_w) => !extremes.includes(limit_w))
  return intents.toSpliced(nth, 1)
}

function isSame(a_w: number, b_w: number): boolean {
  return Math.abs(a_w - b_w) <= same_w
}
