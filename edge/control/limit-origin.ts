/**
 * Where the limit of a device comes from, as far as that is certain: a figure of the permit may not
 * leave the edge, so a limit is told only where it is certain that it is none.
 */
import type { LimitState, LimitTraits } from '../drivers/limit-control.ts'
import { DeviceLimits } from './device-limits.ts'
import type { DeviceFacts, DeviceRecord } from './device-record.ts'
import type { Foreign } from './foreign-limit.ts'

type WrittenFor = 'curtailment' | 'permit'

/** Survives a restart with the rest of the record. */
interface Origin {
  /** What `written_w` was written for. */
  written_for: WrittenFor | null
  /** No limit stood when it was first met: what stands there later and is not ours is another's. */
  is_traced: boolean
  /** The least and the most that was ever set there for the permit, its fail-safe included. */
  permit_range_w: readonly [number, number] | null
  /** Found while it had not shown yet what it was told: another's, or its own doing. */
  doubtful_w?: number | null
  /** It was told that for a row, with nothing of the permit in it. */
  is_doubt_of_row?: boolean
}

/** Without `origin` nothing of that is known. */
export interface OriginRecord extends DeviceRecord {
  origin?: Origin
}

const none: Origin = { written_for: null, is_traced: false, permit_range_w: null }
/** What a device makes of a limit that was set, by its steps and its own rounding. */
const same_ratio = 0.02

export class TracedLimits extends DeviceLimits {
  #origin: Origin
  #is_new: boolean
  /** Not read since the start. */
  #is_first = true
  /** The share of the permit that it was armed with; null: it was not, or not as it should be. */
  #armed_w: number | null = null
  /** The newest record, and what of `super` it was made of. */
  #whole: { record: Readonly<OriginRecord>; of: Readonly<DeviceRecord> } | null = null

  constructor(facts: DeviceFacts, record: OriginRecord | null) {
    super(facts, record)
    this.#origin = record?.origin ?? none
    this.#is_new = record === null
  }

  override get record(): Readonly<OriginRecord> {
    const of = super.record
    const origin = this.#origin
    if (this.#whole?.of !== of || this.#whole.record.origin !== origin) {
      this.#whole = { record: { ...of, origin }, of }
    }
    return this.#whole.record
  }

  override onRead(state: LimitState, traits: LimitTraits, now_ms: number): Foreign | null {
    if (this.#is_new) {
      const is_free = (state.limit_w ?? state.static_max_w) >= state.static_max_w
      this.#origin = { ...this.#origin, is_traced: is_free && !this.#origin.permit_range_w }
    }
    this.#is_new = false
    const was_open = !this.is_proven
    const { external_w: before_w, static_max_w: before_max_w } = super.record
    const foreign = super.onRead(state, traits, now_ms)
    const { external_w, static_max_w } = super.record
    const ratio = static_max_w / before_max_w
    const was_doubtful = before_w !== null && before_w === this.#origin.doubtful_w
    if ((was_open || (was_doubtful && ratio !== 1)) && external_w !== before_w) {
      const is_again = was_doubtful && this.#origin.is_doubt_of_row === true
      const is_doubt_of_row = was_open ? this.#origin.written_for === 'curtailment' : is_again
      this.#origin = { ...this.#origin, doubtful_w: external_w, is_doubt_of_row }
    }
    if (ratio !== 1) this.#rescale(ratio)
    // What an earlier run set while its disk was full is not on record.
    const is_doubtful = this.#is_first && foreign !== null && this.has_external
    if (is_doubtful) this.#origin = { ...this.#origin, is_traced: false }
    this.#is_first = false
    return foreign
  }

  /** Nothing of the permit is in what it may have now, nor in what it leaves to the others. */
  isClear(now_ms: number): boolean {
    if (this.is_failing || (!this.isFresh(now_ms) && this.stays)) return false
    return !this.has_external || this.#isAnothers(this.external_max_w)
  }

  /** Before `begin`: a row is the reason only where nothing of the permit is in `limit_w`. */
  mark(limit_w: number, { is_raise, is_of_row }: { is_raise: boolean; is_of_row: boolean }): void {
    const { written_w } = super.record
    const is_as_before = limit_w === this.bound_w || limit_w === written_w || !this.is_proven
    const was_of_row = this.#origin.written_for === 'curtailment'
    // A raise may go a part of the way, from where it stood; so may what is written once more.
    const is_from_before = is_raise || is_as_before
    const is_certain = is_of_row && (was_of_row || !is_from_before)
    if (!is_certain) this.setForPermit(limit_w)
    this.#origin = { ...this.#origin, written_for: is_certain ? 'curtailment' : 'permit' }
  }

  /** The device may come to stand at this, also by itself. */
  setForPermit(limit_w: number): void {
    const [least_w, most_w] = this.#origin.permit_range_w ?? [limit_w, limit_w]
    const permit_range_w = [Math.min(least_w, limit_w), Math.max(most_w, limit_w)] as const
    this.#origin = { ...this.#origin, permit_range_w }
  }

  /** The most that it falls back to where the edge falls silent, as far as is known. */
  get falls_w(): number {
    return Math.min(this.ceiling_w, this.#armed_w ?? this.ceiling_w)
  }

  /** Until it is armed with a share anew it may fall back to that, or to the one before. */
  arming(share_w: number): void {
    this.setForPermit(share_w)
    if (this.#armed_w !== null) this.#armed_w = Math.max(this.#armed_w, share_w)
  }

  /** null: something about it is wrong at the device. */
  armed(share_w: number | null): void {
    this.#armed_w = share_w
  }

  override forgetExternal(by: Pick<DeviceRecord, 'forgot_id' | 'forgot_asked_at'>): void {
    const { written_w } = super.record
    // Whoever set it: it may have been this edge, for the permit.
    this.setForPermit(this.external_max_w)
    super.forgetExternal(by)
    if (super.record.written_w !== written_w) this.#origin = { ...this.#origin, written_for: null }
  }

  /** What it made its lower limit of has nothing of the permit in it. */
  get is_below_row(): boolean {
    return this.is_below && this.#origin.is_doubt_of_row === true
  }

  /**
   * It stands lower than it could, and was found so while it had not shown yet what it was told: by
   * another's doing, or because it rounds in a way that is not declared.
   */
  get is_below(): boolean {
    return this.has_external && this.external_max_w === this.#origin.doubtful_w
  }

  /** null: not certain. */
  originOf(bound_w: number): WrittenFor | 'external' | null {
    if (this.isExternal(bound_w)) return this.#isAnothers(bound_w) ? 'external' : null
    return this.standsAt(super.record.written_w ?? -1) && bound_w === this.bound_w
      ? this.#origin.written_for
      : null
  }

  isExternal(bound_w: number): boolean {
    return this.has_external && bound_w === this.external_max_w
  }

  #isAnothers(limit_w: number): boolean {
    const { is_traced, permit_range_w, doubtful_w } = this.#origin
    if (limit_w === doubtful_w) return false
    if (!is_traced || !permit_range_w) return is_traced
    const [least_w, most_w] = permit_range_w
    const margin_w = same_ratio * this.facts.rated_w
    return limit_w < least_w - margin_w || limit_w > most_w + margin_w
  }

  /** What was set for the permit in percent of a ceiling went along with that. */
  #rescale(ratio: number): void {
    const { permit_range_w } = this.#origin
    for (const limit_w of permit_range_w ?? []) this.setForPermit(limit_w * ratio)
  }
}
