/**
 * What is known of the limit of one device: the source of the core, and beside that what only
 * people and labels need. Power in whole watts, time in ms of a stopwatch.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LimitState } from '../drivers/limit-control.ts'
import { isExplained } from './core/events.ts'
import type { Source } from './core/source.ts'
import {
  ceiling,
  isAnswered,
  isAt,
  isDistrusted,
  isFresh,
  limitOf,
  obeys,
  rampReach,
  times,
  worst,
} from './core/worst.ts'
import {
  changedRecord,
  type DeviceFacts,
  type DeviceRecord,
  fresh_polls,
  keptOf,
  type WrittenFor,
} from './device-record.ts'
import { type Contact, contactTraits, type SourceBook } from './source-book.ts'

/** What a read showed beside what we set: another master, or a device that lost its limit. */
export type Foreign = 'lowered' | 'raised' | 'lost'

/** The last command, as long as the device holds what it makes of that; else what it holds. */
export function toldOf(source: Source): number | null {
  const { command, read, was_read } = source
  if (command !== null && isAt(source, command.w)) return command.w
  return was_read ? read!.w : null
}

/** How long until its register may be written again to raise it, ms; 0 or less: it may be. */
export const restOf = ({ command, raise_pause_ms }: Source, now_ms: number): number =>
  command ? command.at_ms + raise_pause_ms - now_ms : 0

/** A poll may be late by this. */
const late_ms = 1000

export class DeviceLimits {
  /** Others with another site file. */
  facts: DeviceFacts
  readonly #book: SourceBook
  readonly #id: string
  #record: DeviceRecord
  /** The source that the record was made of: the record is read of each device at each tick. */
  #recorded: Source | null = null
  /** What it said of itself last. */
  contact: Contact | undefined
  /** It is another contact: what it holds may have changed without being seen. */
  #is_first = true
  #before: Pick<DeviceRecord, 'written_for'> & { command: Source['command'] } = { command: null }

  constructor(
    book: SourceBook,
    { key, facts }: { key: number; facts: DeviceFacts },
    record: DeviceRecord | null,
  ) {
    this.#book = book
    this.#id = String(key)
    this.facts = facts
    this.#record = record ?? keptOf(this.source)
  }

  get source(): Source {
    return this.#book.state.sources.get(this.#id)!
  }

  get record(): Readonly<DeviceRecord> {
    const { source } = this
    if (source !== this.#recorded) this.#record = changedRecord(this.#record, keptOf(source))
    this.#recorded = source
    return this.#record
  }

  get static_max_w(): number {
    return this.source.max_w
  }

  /** The most that it may deliver without a limit. */
  get ceiling_w(): number {
    return ceiling(this.source, 'export')
  }

  /** The most that the edge would ever set: never above an external limit. */
  get settable_max_w(): number {
    const { max_w, external_w } = this.source
    return Math.min(max_w, external_w ?? max_w)
  }

  /** It came back with more than it held when it was read last, by what is known of it. */
  get holds_more(): boolean {
    const { bound_w, source, settable_max_w } = this
    return bound_w !== null && bound_w > Math.min(source.command?.w ?? bound_w, settable_max_w)
  }

  get has_external(): boolean {
    return this.settable_max_w < this.source.max_w
  }

  /** What its registers let it deliver; null before the first read since the start. */
  get bound_w(): number | null {
    const { read, was_read } = this.source
    return was_read ? read!.w : null
  }

  get told_w(): number | null {
    return toldOf(this.source)
  }

  /** The device shows its last command. */
  get is_proven(): boolean {
    const { source } = this
    return source.command === null || isAt(source, source.command.w)
  }

  /** The command and the limit found for it, which may be the device's own rounding. */
  get not_as_set(): { asked_w: number; found_w: number } | null {
    const { not_as_set_w: asked_w = null } = this.#record
    return asked_w === null || !this.has_external ? null : { asked_w, found_w: this.settable_max_w }
  }

  /** What the limit was set for at which it stands; null: unknown. */
  limiterOf(bound_w: number): WrittenFor | 'external' | null {
    if (this.has_external && bound_w === this.settable_max_w) {
      return this.not_as_set ? null : 'external'
    }
    const { command } = this.source
    const is_own = command !== null && !command.is_external && this.is_proven
    return is_own && bound_w === this.bound_w ? (this.#record.written_for ?? null) : null
  }

  isFresh(now_ms: number): boolean {
    return this.source.was_read && isFresh(this.source, now_ms)
  }

  obeys(now_ms: number): boolean {
    return this.isFresh(now_ms) && obeys(this.source, now_ms)
  }

  /** It holds more than it was told after its time for that. */
  isFailing(now_ms: number): boolean {
    return !obeys(this.source, now_ms)
  }

  /** It was not read since its time to follow was over: it may obey. */
  isUnseen(now_ms: number): boolean {
    const { read, deviates_since_ms, latency_ms } = this.source
    const is_unread = read!.began_ms < (deviates_since_ms ?? 0) + latency_ms
    return this.isFailing(now_ms) && is_unread
  }

  /** Another master raises it again and again: what it holds when it is read says nothing. */
  isContested(now_ms: number): boolean {
    const { external_raise_ms } = this.source
    const is_lately = external_raise_ms !== null && now_ms - external_raise_ms < times.contest_ms
    return is_lately && isDistrusted(this.source, now_ms)
  }

  /** It delivers more than its limit. */
  isIneffective(now_ms: number): boolean {
    return isDistrusted(this.source, now_ms) && !this.isContested(now_ms)
  }

  /** Its register may be written again to raise it. */
  isRested(now_ms: number): boolean {
    return restOf(this.source, now_ms) <= 0
  }

  /** It took a command, and has its time to show it. */
  isApplying(now_ms: number): boolean {
    const { command, latency_ms } = this.source
    return command !== null && !this.is_proven && now_ms - command.at_ms < latency_ms
  }

  /** How long after a lower limit was sent its power may be above that. */
  get comes_down_ms(): number {
    const { was_read, latency_ms, ramp_ms } = this.source
    return was_read ? latency_ms + ramp_ms : 0
  }

  /** Its limit holds also while it is not heard of, whatever becomes of its power. */
  get stays(): boolean {
    const { was_read, keeps_limit, read } = this.source
    return was_read && keeps_limit && read!.timer === null
  }

  worst_w(now_ms: number): number {
    return Math.ceil(worst(this.#book.state, this.source, 'export', now_ms))
  }

  /** The most that its registers may hold before the next read. */
  held_w(now_ms: number): number {
    return limitOf(this.source, 'export', now_ms)
  }

  /** Its power may still be coming down to its limit. */
  isRamping(now_ms: number): boolean {
    return rampReach(this.source, 'export') > this.held_w(now_ms)
  }

  /** Until it is armed with a share anew it may fall back to that, or to the one before. */
  arming(share_w: number): void {
    const { falls_back_w } = this.source
    if (falls_back_w !== null) this.armed(Math.max(falls_back_w, share_w))
  }

  /** @param falls_back_w the share that it was armed with; null: not, or not as it should be */
  armed(falls_back_w: number | null): void {
    this.#book.step({ is: 'armed', id: this.source.id, falls_back_w })
  }

  /** Where it was heard, and what it left. */
  stand(changes: Pick<DeviceRecord, 'place' | 'left' | 'freed_id'>): void {
    this.#record = changedRecord(this.record, changes)
  }

  lost(): void {
    this.#is_first = true
  }

  /** At each tick. @param has_control whether it can be written to */
  look(has_control: boolean, now_ms: number): void {
    const { id, read, was_read, has_control: had_control } = this.source
    if (has_control !== had_control) this.#book.step({ is: 'contact', id, has_control })
    const interval_ms = this.facts.fresh_ms / fresh_polls
    const silent_ms =
      read === null ? 0 : Math.min(now_ms - read.at_ms, this.facts.fresh_ms + late_ms)
    const polls = Math.max(0, Math.floor((silent_ms - late_ms) / interval_ms))
    if (!was_read && polls === 0) return
    const unheard_ms = polls * interval_ms
    if (unheard_ms === this.#record.unheard_ms) return
    this.#record = { ...this.#record, unheard_ms }
  }

  onContact(contact: Contact): void {
    const is_same = contact.control === this.contact?.control
    if (is_same && isDeepStrictEqual(contact.traits, this.contact?.traits)) return
    this.contact = contact
    const traits = contactTraits(contact, this.facts)
    this.#book.step({ is: 'traits', id: this.source.id, traits })
  }

  /** @param began_ms when the read began: what took effect since may not be in it */
  onRead(
    { limit_w, static_max_w: max_w, revert }: LimitState,
    now_ms: number,
    began_ms = now_ms,
  ): Foreign | null {
    const before = this.source
    const w = Math.min(limit_w ?? max_w, max_w)
    const timer = revert && { at_ms: now_ms + revert.in_ms, to_w: revert.to_w }
    const is_first = this.#is_first
    this.#book.step({
      is: 'read',
      id: before.id,
      at_ms: now_ms,
      began_ms,
      w,
      max_w,
      min_w: 0,
      is_first,
      timer,
    })
    const after = this.source
    if (after.read === before.read) return null
    this.#is_first = false
    this.#noteExternal(before, after)
    if (before.command === null || before.known_w === null || isExplained(before, w)) return null
    if (before.max_w !== max_w && after.known_w === after.read?.w && w !== after.external_w) {
      return null
    }
    if (w < before.known_w) return 'lowered'
    return is_first || !isFresh(before, now_ms) ? 'lost' : 'raised'
  }

  onPower(power_w: number, now_ms: number): void {
    this.#book.step({ is: 'power', id: this.source.id, at_ms: now_ms, w: power_w })
  }

  /** Before the first register is touched; the record is to be made durable before that, too. */
  begin(limit_w: number, now_ms: number, written_for: WrittenFor | null = null): void {
    const { id, command } = this.source
    this.#before = { command, written_for: this.#record.written_for ?? null }
    this.#book.step({ is: 'sent', id, at_ms: now_ms, w: limit_w })
    this.#record = changedRecord(this.#record, { written_for })
  }

  /** The limit begun last was never sent: it is as if it had not been begun. */
  withdraw(): void {
    const { id, command } = this.source
    if (!command) return
    this.#book.step({ is: 'unsent', id, w: command.w, command: this.#before.command })
    this.#record = changedRecord(this.#record, { written_for: this.#before.written_for ?? null })
  }

  /** The driver has returned, with whatever result. */
  done(limit_w: number, now_ms: number, is_refused = false): void {
    this.#book.step({ is: 'done', id: this.source.id, at_ms: now_ms, w: limit_w, is_refused })
  }

  /** A new order is tried at once, however often those before it had no effect. */
  retryNow(): void {
    this.#book.step({ is: 'retry', id: this.source.id })
  }

  /** The limit of another is nobody's, an operator said in this request. */
  forgetExternal(by: Pick<DeviceRecord, 'forgot_id' | 'forgot_asked_at'>): void {
    const { id, groups } = this.source
    this.#book.step({ is: 'released', id, groups })
    this.#record = changedRecord(this.#record, { not_as_set_w: null, written_for: null, ...by })
  }

  /**
   * An external limit found where a command was to be read back, or may still take effect, may be
   * the rounding of the device.
   */
  #noteExternal(before: Source, { external_w }: Source): void {
    if (external_w === before.external_w) return
    const { command, under_way } = before
    const is_awaited = command !== null && !command.is_external && !isAnswered(before, command.w)
    const asked_w = (is_awaited ? command : under_way.at(-1))?.w ?? null
    const not_as_set_w = external_w === null ? null : asked_w
    this.#record = changedRecord(this.#record, { not_as_set_w })
  }
}
