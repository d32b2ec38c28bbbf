/**
 * What is known of the limit of one device, and so what it may deliver at worst. Power in whole
 * watts, time in ms of a stopwatch: a clock that jumps changes nothing here.
 */
import type { LimitState, LimitTraits } from '../drivers/limit-control.ts'
import { ContestWatch } from './contest-watch.ts'
import {
  isSame,
  latencyOf,
  mayShow,
  type Rounding,
  rampOf,
  roundingOf,
  same_w,
} from './declared-traits.ts'
import {
  type BeforeBegin,
  ceilingOf,
  changedRecord,
  type DeviceFacts,
  type DeviceRecord,
  exceedsBy,
  fewIntents,
  isAboveKept,
  type WrittenFor,
} from './device-record.ts'
import { disowned, type Foreign, foreignLimit, rescaled } from './foreign-limit.ts'
import { OvershootWatch } from './overshoot-watch.ts'
import { UnheardTime } from './unheard-time.ts'

const attempts_max = 3
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
  /** The newest limit was begun to lower it, while it had not had its time to act on another. */
  #is_lowering_anew = false
  #overtaken = { limit_w: 0, until_ms: Number.NEGATIVE_INFINITY }
  readonly #overshoots = new OvershootWatch()
  readonly #contest = new ContestWatch()
  /** What the newest begun limit stands in place of. */
  #before_begin: BeforeBegin | null = null
  #was_silent = true
  /** Not read since a restart in the middle of a write. */
  #is_restart: boolean
  #attempts = 0
  #traits: LimitTraits | null = null
  #rounding: Rounding
  /** Until then its power may follow a lower limit; infinite: not read since the start. */
  #ramp_until_ms: number
  /** The share of the permit that it was armed with; null: it was not, or not as it should be. */
  #armed_w: number | null = null
  /** Measured above all that its registers allow; null: the latest measurement was not. */
  #measured_w: number | null = null
  readonly #unheard: UnheardTime

  constructor(facts: DeviceFacts, record: DeviceRecord | null) {
    this.facts = facts
    this.#record = record ?? {
      static_max_w: facts.default_max_w,
      written_w: null,
      before_w: null,
      external_w: null,
      intents: [],
    }
    this.#unheard = new UnheardTime(facts.fresh_ms, this.#record.unheard_ms ?? 0)
    // What was begun before a restart may have been done or not, or be done yet.
    this.#intents = [...this.#record.intents]
    this.#is_restart = this.#intents.length > 0
    this.#writes = this.#intents.length
    this.#rounding = roundingOf({ min_limit_w: 0 }, facts.declared)
    const is_ramp_over = record !== null && record.ramps_from_w === null
    this.#ramp_until_ms = is_ramp_over ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  }

  get record(): Readonly<DeviceRecord> {
    return this.#record
  }

  get static_max_w(): number {
    return this.#record.static_max_w
  }

  get ceiling_w(): number {
    return ceilingOf(this.#record, this.facts)
  }

  /** The most that we would ever set: never above a lower limit that is not ours. */
  get settable_max_w(): number {
    // A ceiling that holds nothing has to be undercut by what cannot be taken for the ceiling.
    const held_w = this.#record.static_max_w - (this.#record.exceeds ? same_w + 1 : 0)
    return Math.min(this.external_max_w, held_w)
  }

  /** The most that it falls back to where the edge falls silent, as far as is known. */
  get falls_w(): number {
    return Math.min(this.ceiling_w, this.#armed_w ?? this.ceiling_w)
  }

  /** Until it is armed with a share anew it may fall back to that, or to the one before. */
  arming(share_w: number): void {
    if (this.#armed_w !== null) this.#armed_w = Math.max(this.#armed_w, share_w)
  }

  /** null: something about it is wrong at the device. */
  armed(share_w: number | null): void {
    this.#armed_w = share_w
  }

  get external_max_w(): number {
    const { static_max_w, external_w } = this.#record
    return Math.min(static_max_w, external_w ?? static_max_w)
  }

  /** What its registers let it deliver; null before the first read. */
  get bound_w(): number | null {
    return this.#state && (this.#state.limit_w ?? this.#state.static_max_w)
  }

  /**
   * The limit that it stands at: what it was told, where it makes more of that; null before the
   * first read. Told less than this, it comes down.
   */
  get stands_w(): number | null {
    return this.bound_w === null ? null : Math.min(this.bound_w, this.told_w!)
  }

  /** The command that it made its limit of; what it shows, where there is none. */
  get told_w(): number | null {
    return this.#isMade() ? this.#record.written_w : this.bound_w
  }

  /** What it goes on with although it was told 0; else 0. */
  get least_held_w(): number {
    return this.is_proven && this.stands_w === 0 ? this.bound_w! : 0
  }

  /** The most that it may make of a limit. */
  comesTo_w(limit_w: number): number {
    const { static_max_w } = this.#record
    if (limit_w >= static_max_w) return limit_w
    return Math.min(static_max_w, limit_w + this.#rounding.tolerance_w)
  }

  /** How it rounds a limit, as far as that is declared. */
  get rounding(): Rounding {
    return this.#rounding
  }

  /** The least that it may hold now; null before the first read. */
  get least_w(): number | null {
    return this.stands_w === null ? null : Math.min(this.stands_w, ...this.#intents)
  }

  get has_external(): boolean {
    return this.external_max_w < this.#record.static_max_w
  }

  /** The command and the limit found for it, which may be the device's own rounding. */
  get not_as_set(): { asked_w: number; found_w: number } | null {
    const { not_as_set_w: asked_w = null } = this.#record
    return asked_w === null || !this.has_external ? null : { asked_w, found_w: this.external_max_w }
  }

  get is_proven(): boolean {
    return this.#intents.length === 0
  }

  /** What the limit that it stands at was set for; null: that is not known. */
  limiterOf(bound_w: number): WrittenFor | 'external' | null {
    if (this.has_external && bound_w === this.external_max_w) {
      return this.not_as_set ? null : 'external'
    }
    const { written_w, written_for = null } = this.#record
    return written_w !== null && bound_w === this.bound_w && this.standsAt(written_w)
      ? written_for
      : null
  }

  /** Proven: it holds this, or what it makes of this. */
  standsAt(limit_w: number): boolean {
    if (!this.is_proven) return false
    return this.bound_w === limit_w || (this.#isMade() && limit_w === this.#record.written_w)
  }

  /** It is within this by a limit of another, which a device that rounds has rounded already. */
  isHeldWithin(limit_w: number): boolean {
    return this.has_external && this.bound_w !== null && this.bound_w <= limit_w
  }

  /** It came down from what it showed when it was told just that: each write would lower it. */
  get is_sinking(): boolean {
    const { before_w, written_w } = this.#record
    const is_as_found = before_w !== null && written_w !== null && isSame(before_w, written_w)
    return is_as_found && !this.is_proven && this.not_as_set !== null
  }

  /** False while it may yet come to deliver more by itself, which another write would prevent. */
  isSettled(now_ms: number): boolean {
    return this.is_proven && (this.#state === null || this.#revertsTo(this.#state, now_ms) === 0)
  }

  /** It does not do what it is told: its limit counts for nothing until it does again. */
  get is_failing(): boolean {
    return this.#attempts >= attempts_max || this.is_ineffective || this.is_sinking
  }

  get is_ineffective(): boolean {
    return this.#overshoots.is_over || isAboveKept(this.#record, this.bound_w)
  }

  /** Another master raises it again and again: what it holds when it is read says nothing. */
  isContested(now_ms: number): boolean {
    return this.#contest.isContested(now_ms)
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

  /** It has not answered for so long that it counts as silent, though it may be without a read. */
  get is_missed(): boolean {
    return (this.#record.unheard_ms ?? 0) >= this.facts.fresh_ms
  }

  /** At each tick. */
  look(now_ms: number): void {
    this.#keep({ unheard_ms: this.#unheard.look(this.#state && this.#read_at_ms, now_ms) })
  }

  /** It took the newest limit, and may still show another: only time tells whether it obeys. */
  isApplying(now_ms: number): boolean {
    return !this.is_proven && now_ms < this.#applies_until_ms
  }

  /**
   * A limit that would lower it has to wait: it took the newest one, which lowers it too, and has
   * not had its time to act on that. Many devices begin that time anew with each write, and would
   * never come down. The first such limit does not wait, nor one of at most half of the newest.
   */
  waitsWith(limit_w: number, now_ms: number): boolean {
    const { written_w } = this.#record
    if (written_w === null || now_ms >= this.#applies_until_ms) return false
    if (limit_w === written_w) return !this.is_proven
    return this.#is_lowering_anew && limit_w > written_w / 2
  }

  mayRaiseAt(now_ms: number): boolean {
    return this.restsFor(now_ms) <= 0
  }

  /** How long until its register may be written again to raise it, ms; 0 or less: it may be. */
  restsFor(now_ms: number): number {
    return this.#written_at_ms + (this.#traits?.min_interval_ms ?? 0) - now_ms
  }

  /** How long after a lower limit was written its power may be above that; 0: never read. */
  get comes_down_ms(): number {
    const traits = this.#traits
    return traits ? traits.applies_within_ms + rampOf(traits, this.facts) : 0
  }

  /** Its limit holds also while it is not heard of, whatever becomes of its power. */
  get stays(): boolean {
    return this.#traits?.survives_power_loss === true && this.#state?.revert === null
  }

  /**
   * The most that it may deliver before the next read, whatever it does by itself: what its
   * registers may hold, its old limit while its power may still be coming down, and what was
   * measured above both. Low power frees nothing: under a cloud the old limit may be in force yet.
   */
  worst_w(now_ms: number): number {
    return Math.max(this.held_w(now_ms), this.rampingFrom_w(now_ms), this.#measured_w ?? 0)
  }

  /** The limit from which its power may still be coming down; 0: no ramp is under way. */
  rampingFrom_w(now_ms: number): number {
    const { ramps_from_w } = this.#record
    const until_ms = this.#ramp_until_ms
    if (ramps_from_w == null) return 0
    const is_over = now_ms >= until_ms && (this.isFresh(now_ms) || this.#read_at_ms >= until_ms)
    return is_over ? 0 : ramps_from_w
  }

  /** The most that its registers may hold before the next read. */
  held_w(now_ms: number): number {
    const { static_max_w, written_w } = this.#record
    const state = this.#state
    if (!state || this.is_ineffective) return this.ceiling_w
    if (this.isContested(now_ms)) return this.ceiling_w
    if (!this.isFresh(now_ms) && !this.stays) return this.ceiling_w
    const reverts_w = this.#revertsTo(state, now_ms)
    const bound_w = state.limit_w ?? state.static_max_w
    // What is lower than what it was told before it never makes more of.
    const intents_w = this.#intents.map((limit_w) => {
      return limit_w > this.stands_w! ? this.comesTo_w(limit_w) : limit_w
    })
    const begun_w = Math.max(this.#overtakenAt(now_ms), ...intents_w)
    // It may come to the limit itself yet that it was thought to round.
    const told_w = this.#isMade() ? written_w! : 0
    const most_w = Math.max(bound_w, reverts_w, begun_w, told_w)
    return most_w < static_max_w ? most_w : this.ceiling_w
  }

  /** It is another contact: what it holds may have changed without being seen. */
  lost(): void {
    this.#was_silent = true
    this.#applies_until_ms = Number.NEGATIVE_INFINITY
  }

  onRead(state: LimitState, traits: LimitTraits, now_ms: number): Foreign | null {
    const held_before_w = this.#state && this.held_w(now_ms)
    const record_before = this.#record
    const foreign = this.#takeRead(state, traits, now_ms)
    this.#followRamp(held_before_w, record_before, now_ms)
    return foreign
  }

  #takeRead(state: LimitState, traits: LimitTraits, now_ms: number): Foreign | null {
    const was_silent = this.#was_silent || !this.isFresh(now_ms)
    const before_w = this.bound_w
    this.#was_silent = false
    if (this.#is_restart) this.#resume(now_ms)
    this.#traits = traits
    this.#rounding = roundingOf(traits, this.facts.declared)
    this.#state = state
    this.#read_at_ms = now_ms
    const found_w = state.limit_w ?? state.static_max_w
    const has_new_max = state.static_max_w !== this.static_max_w
    const is_rescaled = this.#rescale(state.static_max_w, found_w, before_w)
    const newest_w = this.#intents.at(-1)
    const is_proof = newest_w !== undefined && this.#isProof(found_w, newest_w, now_ms)
    if (is_proof) this.#prove(found_w, now_ms)
    this.#keepBegun(now_ms)
    if (is_proof || is_rescaled) return null
    const seen_w = was_silent ? null : before_w
    const is_told = this.#isTold(found_w, now_ms)
    if (is_told) this.#makes(found_w)
    const begun_w = Math.max(0, ...this.#told(now_ms))
    const found = { found_w, seen_w, begun_w, was_silent, has_new_max }
    const compared = is_told ? null : foreignLimit(this.#record, found)
    if (!compared) return null
    const { external_w, foreign } = compared
    this.#takeExternal(external_w, newest_w ?? null)
    if (foreign === 'raised') this.#contest.raised(now_ms)
    if (foreign) this.#applies_until_ms = Number.NEGATIVE_INFINITY
    return foreign
  }

  /** Before the first register is touched; the record is to be made durable before that, too. */
  begin(limit_w: number, now_ms: number, written_for: WrittenFor | null = null): void {
    const bound_w = this.bound_w ?? this.#record.static_max_w
    const { written_w, before_w, made_w = null } = this.#record
    const is_again = this.#record.intents.includes(limit_w) || this.#intents.includes(limit_w)
    const written_at_ms = this.#written_at_ms
    const before = { written_w, before_w, made_w, written_for: this.#record.written_for ?? null }
    this.#before_begin = { ...before, is_again, written_at_ms }
    this.#intents = fewIntents([...this.#intents.filter((begun_w) => begun_w !== limit_w), limit_w])
    const held_w = this.held_w(now_ms)
    this.#keep({ written_w: limit_w, written_for, before_w: bound_w, made_w: null })
    const is_lowering = limit_w < held_w
    if (is_lowering) this.#ramps(held_w, now_ms)
    this.#is_lowering_anew = is_lowering && now_ms < this.#applies_until_ms
    this.#written_at_ms = now_ms
    this.#applies_until_ms = Number.NEGATIVE_INFINITY
    this.#others_come_by_ms = this.#comes_by_ms
    this.#comes_by_ms = now_ms + applying_ms
    this.#writes += 1
    this.#begun.push({ limit_w, at_ms: now_ms })
    this.#keepBegun(now_ms)
    if (limit_w < bound_w) this.#overshoots.descends(bound_w, now_ms)
  }

  /** The limit begun last was never sent: it is as if it had not been begun. */
  withdraw(): void {
    const limit_w = this.#record.written_w
    const before = this.#before_begin
    if (!before || this.is_proven) return
    this.#before_begin = null
    this.#writes = Math.max(0, this.#writes - 1)
    this.#written_at_ms = before.written_at_ms
    const begun = this.#begun.findLastIndex((one) => one.limit_w === limit_w)
    this.#begun = this.#begun.filter((_, nth) => nth !== begun)
    if (!before.is_again) this.#intents = this.#intents.filter((begun_w) => begun_w !== limit_w)
    const intents = this.#record.intents.filter((begun_w) => before.is_again || begun_w !== limit_w)
    const { written_w, before_w, made_w = null, written_for = null } = before
    this.#keep({ written_w, before_w, made_w, written_for, intents })
  }

  /** It answered that it took the newest limit; before that is read back. */
  taken(traits: LimitTraits, now_ms: number): void {
    const applies_within_ms = latencyOf(traits, this.facts)
    if (applies_within_ms === 0) return
    this.#applies_until_ms = now_ms + applies_within_ms
    this.#comes_by_ms = Math.max(this.#others_come_by_ms, this.#applies_until_ms)
  }

  failed(): void {
    this.#attempts += 1
  }

  /** The limit of another is nobody's, an operator said in this request. While `is_proven`. */
  forgetExternal(by: Pick<DeviceRecord, 'forgot_id' | 'forgot_asked_at'>): void {
    this.#keep({ ...disowned(this.#record, this.bound_w), not_as_set_w: null, ...by })
  }

  onPower(power_w: number, now_ms: number): void {
    const bound_w = this.bound_w
    if (bound_w === null) return
    const { rated_w } = this.facts
    // What was begun may be done, and not be read yet.
    const begun_w = this.#intents.map((limit_w) => this.comesTo_w(limit_w))
    const ramp_w = Math.max(this.rampingFrom_w(now_ms), ...begun_w)
    const over_w = this.#overshoots.look(power_w, { bound_w, ramp_w, rated_w }, now_ms)
    this.#measured_w = over_w > bound_w ? Math.ceil(power_w) : null
    if (!this.#overshoots.is_over || over_w <= this.#record.static_max_w) return
    this.#keep({ exceeds: exceedsBy(this.#record, { power_w, bound_w }) })
  }

  /** From now on it may be on its way down from this, or from where it was before. */
  #ramps(from_w: number, now_ms: number): void {
    this.#keep({ ramps_from_w: Math.max(from_w, this.rampingFrom_w(now_ms)) })
  }

  /**
   * A read showed less than its registers may have held: its power follows. Another lower limit on
   * the way begins the time anew, as devices do that ramp for a time and not at a rate.
   *
   * @param before_w null: this is the first read since the start
   */
  #followRamp(before_w: number | null, before: DeviceRecord, now_ms: number): void {
    // A ceiling that came down below its limit lowers it as well.
    const bound_w = Math.min(this.bound_w!, this.static_max_w)
    // Also the same limit, told once more on the way down, or a new ceiling begins the time anew.
    const is_touched = before.before_w !== null && this.#record.before_w === null
    const is_anew = is_touched || before.static_max_w !== this.static_max_w
    const ramp_ms = rampOf(this.#traits!, this.facts)
    // What was overtaken may come through yet, and begin the time anew.
    const begins_ms = ramp_ms > 0 ? Math.max(now_ms, this.#overtaken.until_ms) : now_ms
    const until_ms = begins_ms + ramp_ms
    if (before_w === null) this.#resumeRamp(before, until_ms)
    else if (before_w > bound_w) {
      this.#ramps(before_w, now_ms)
      this.#ramp_until_ms = until_ms
    } else if (is_anew && this.rampingFrom_w(now_ms) > 0) this.#ramp_until_ms = until_ms
    if (this.is_proven && this.rampingFrom_w(now_ms) === 0) this.#keep({ ramps_from_w: null })
  }

  /** After a restart it comes down from where it stood before, or from all that it can. */
  #resumeRamp(before: DeviceRecord, until_ms: number): void {
    const { ramps_from_w, written_w, external_w, made_w = null } = before
    const bound_w = this.bound_w!
    const is_as_left = [written_w, external_w, made_w].some((one_w) => {
      return one_w !== null && isSame(one_w, bound_w)
    })
    if (ramps_from_w === null && is_as_left) return
    if (ramps_from_w == null) this.#keep({ ramps_from_w: this.ceiling_w })
    this.#ramp_until_ms = until_ms
  }

  #keep(changes: Partial<DeviceRecord>): void {
    this.#record = changedRecord(this.#record, changes)
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

  /** The same in percent of another ceiling, which nobody has set: it goes on from there. */
  #rescale(static_max_w: number, found_w: number, held_w: number | null): boolean {
    const now_ms = this.#read_at_ms
    const ratio = static_max_w / this.#record.static_max_w
    if (ratio === 1) return false
    // What was begun in percent of a lower ceiling may come through as as much of this one.
    if (ratio > 1 && this.#told(now_ms).length > 0) {
      const limit_w = Math.max(...this.#told(now_ms)) * ratio
      this.#overtaken = { limit_w, until_ms: now_ms + applying_ms }
    }
    const found = { found_w, is_proven: this.is_proven, known_w: [held_w, ...this.#intents] }
    const { record, is_same } = rescaled(this.#record, static_max_w, found)
    this.#keep(record)
    return is_same
  }

  #isProof(found_w: number, newest_w: number, now_ms: number): boolean {
    const begun_w = this.#record.before_w ?? newest_w
    // A former limit within its tolerance proves nothing while another is being applied, nor that
    // it was raised to full power, which no device rounds.
    const is_as_before = isSame(found_w, begun_w) && !isSame(found_w, newest_w)
    const is_full = newest_w >= this.#record.static_max_w
    if (is_as_before && (is_full || this.#isComing(now_ms))) return false
    return mayShow(found_w, newest_w, this.#rounding)
  }

  /** @param asked_w the command that was to be read back; null: none was */
  #takeExternal(external_w: number | null, asked_w: number | null): void {
    if (external_w === this.#record.external_w) return
    this.#keep({ external_w, not_as_set_w: external_w === null ? null : asked_w })
  }

  /** It shows a limit late, and that time is not over, or has not begun. */
  #isComing(now_ms: number): boolean {
    const is_over = now_ms >= this.#applies_until_ms && Number.isFinite(this.#applies_until_ms)
    return latencyOf(this.#traits ?? { applies_within_ms: 0 }, this.facts) > 0 && !is_over
  }

  /** What stands there is what it made of the limit that it was told. */
  #isMade(): boolean {
    const { made_w } = this.#record
    return made_w != null && this.bound_w !== null && isSame(this.bound_w, made_w)
  }

  /** A read showed the newest limit, or what the device makes of it. */
  #prove(found_w: number, now_ms: number): void {
    const is_made = !isSame(found_w, this.#intents.at(-1)!)
    if (this.#writes > 1) {
      const intents_w = this.#intents.map((one_w) => this.comesTo_w(one_w))
      const limit_w = Math.max(this.#overtakenAt(now_ms), ...intents_w)
      this.#overtaken = { limit_w, until_ms: this.#comes_by_ms }
    }
    this.#writes = 0
    this.#intents = []
    this.#attempts = 0
    this.#keep({ before_w: null, made_w: is_made ? found_w : null })
  }

  /** A former limit within its tolerance had proven the command: this is what it makes of that. */
  #makes(found_w: number): void {
    const { written_w, external_w } = this.#record
    if (!this.is_proven || written_w === null || written_w > (external_w ?? written_w)) return
    if (!mayShow(found_w, written_w, this.#rounding)) return
    this.#keep({ made_w: isSame(found_w, written_w) ? null : found_w })
  }

  #overtakenAt(now_ms: number): number {
    const { until_ms, limit_w } = this.#overtaken
    // Of one that is not heard of only a later read shows that it did not come through.
    const is_over = now_ms >= until_ms && (this.isFresh(now_ms) || this.#read_at_ms >= until_ms)
    return is_over ? 0 : limit_w
  }

  #isTold(found_w: number, now_ms: number): boolean {
    return this.#told(now_ms).some((limit_w) => mayShow(found_w, limit_w, this.#rounding))
  }

  /** What may come through yet, or once more. */
  #told(now_ms: number): number[] {
    const late = this.#begun.map(({ limit_w }) => limit_w)
    const overtaken_w = this.#overtakenAt(now_ms)
    return [...this.#intents, ...late, ...(overtaken_w > 0 ? [overtaken_w] : [])]
  }

  #revertsTo({ revert }: LimitState, now_ms: number): number {
    if (!revert) return 0
    const left_ms = revert.in_ms - (now_ms - this.#read_at_ms)
    return left_ms <= this.facts.revert_margin_ms ? revert.to_w : 0
  }
}
