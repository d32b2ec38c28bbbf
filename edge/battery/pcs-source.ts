/**
 * What is known of one PCS: a source of the core, and its registers as read. Whole watts, positive
 * towards the grid; time in ms of a stopwatch.
 */
import { isControllable } from '../control/core/core.ts'
import { type Saved, unseen } from '../control/core/site.ts'
import type { Source, Traits } from '../control/core/source.ts'
import { ceiling, isAt, isFresh, mostHeld, rampReach, worst } from '../control/core/worst.ts'
import { type DeclaredTraits, rampOf } from '../control/declared-traits.ts'
import { type PcsKey, pcsId } from '../control/device-name.ts'
import { groupsOf, latency_margin_ms, type SourceBook } from '../control/source-book.ts'
import type { PowerControl, PowerState } from '../drivers/power-control.ts'

interface PcsFacts {
  rated_w: number
  /** Without a read for this time it counts as silent. */
  fresh_ms: number
  /** By site.yaml. */
  declared?: DeclaredTraits
}

/** A command without an answer may take effect within this time, through gateways that queue. */
const late_ms = 15_000

/** A source that is nobody's to control is in no sum. */
const uncounted_group = 'uncounted'

export const sourceIdOf = (pcs: PcsKey) => `pcs ${pcsId(pcs)}`

/** @param logger_ids null: the common connection alone; none: it counts nowhere */
export const pcsGroups = (logger_ids: readonly (number | null)[]) =>
  logger_ids.length === 0 ? [uncounted_group] : groupsOf(logger_ids)

/** Until its first read. */
export function pcsTraits(pcs: PcsKey, { rated_w, fresh_ms, declared = {} }: PcsFacts): Traits {
  return {
    id: sourceIdOf(pcs),
    groups: pcsGroups([]),
    rated_w,
    peak_w: rated_w,
    lowest_w: -rated_w,
    is_pv: false,
    keeps_limit: false,
    has_no_watchdog: false,
    respects_external: false,
    is_uncontrolled: false,
    settable: () => 0,
    tolerance_w: 0,
    smallest_limit_w: 0,
    stale_ms: fresh_ms,
    latency_ms: late_ms,
    settle_ms: 0,
    ramp_ms: rampOf({ ramp_ms: null }, { declared }),
    raise_pause_ms: 0,
  }
}

/** @param most_w the most that an earlier run may have commanded */
export function savedPcs(traits: Traits, most_w: number): Saved {
  return {
    ...unseen(traits),
    read: { w: most_w, at_ms: 0, began_ms: 0, timer: null },
    known_w: most_w,
    under_way: [{ w: most_w, at_ms: 0 }],
    ramps: [{ w: most_w, until_ms: 0 }],
    unheard_ms: 0,
  }
}

export class PcsSource {
  readonly id: string
  readonly #pcs: PcsKey
  readonly #book: SourceBook
  readonly #facts: PcsFacts
  readonly #since_ms: number
  #state: PowerState | null = null
  #control: PowerControl | null = null
  #read_at_ms = Number.NEGATIVE_INFINITY
  #measured: { power_w: number; at_ms: number } | null = null
  #before: Source['command'] = null
  #is_lost = false

  /** As read last. */
  #as_read: Partial<Traits> = {}

  constructor(
    book: SourceBook,
    pcs: PcsKey,
    { facts, now_ms }: { facts: PcsFacts; now_ms: number },
  ) {
    this.#book = book
    this.id = sourceIdOf(pcs)
    this.#pcs = pcs
    this.#facts = facts
    this.#since_ms = now_ms
  }

  get source(): Source {
    return this.#book.source(this.id)!
  }

  get traits(): Traits {
    return { ...pcsTraits(this.#pcs, this.#facts), ...this.#as_read }
  }

  get state(): PowerState | null {
    return this.#state
  }

  /** The most that it discharges; while the device is not watched, what limits it may end. */
  get ceiling_w(): number {
    return ceiling(this.source, 'export')
  }

  /** How long after a lower setpoint was sent its power may be above that. */
  get comes_down_ms(): number {
    return this.#state ? this.source.latency_ms + this.source.ramp_ms : 0
  }

  /** It was read, or has been waited for. */
  isKnown(now_ms: number): boolean {
    return this.#state !== null || now_ms - this.#since_ms >= this.#facts.fresh_ms
  }

  isFresh(now_ms: number): boolean {
    return this.#state !== null && now_ms - this.#read_at_ms <= this.#facts.fresh_ms
  }

  /** Read lately, alive, and commanded by nobody else. */
  obeys(now_ms: number): boolean {
    return this.isFresh(now_ms) && this.source.was_read && isFresh(this.source, now_ms)
  }

  /** Why it counts with its ceiling; null: it does not, or that is not known yet. */
  unknownWhy(now_ms: number): 'silent' | 'lost' | 'local' | null {
    if (!this.isKnown(now_ms) || this.obeys(now_ms)) return null
    if (!this.isFresh(now_ms)) return 'silent'
    return this.#is_lost ? 'lost' : 'local'
  }

  /** Measured lately; null: unknown. */
  measuredAt(now_ms: number): number | null {
    const is_fresh = this.#measured && now_ms - this.#measured.at_ms <= this.#facts.fresh_ms
    return is_fresh ? this.#measured!.power_w : null
  }

  /** Its register holds this setpoint, read after the last command. */
  isAt(power_w: number): boolean {
    return this.#state !== null && this.#state.setpoint_w !== null && isAt(this.source, power_w)
  }

  /** @param is_lost it stands still: what its registers say may be old */
  onHeartbeat(is_lost: boolean): void {
    this.#is_lost = is_lost
    if (is_lost) this.#book.step({ is: 'silent', id: this.id })
  }

  onRead(state: PowerState, control: PowerControl | null, now_ms: number, began_ms = now_ms): void {
    const { id } = this
    this.#state = state
    this.#read_at_ms = now_ms
    const is_first = control !== this.#control
    this.#control = control
    const { rated_w } = this.#facts
    const max_w = Math.max(rated_w, state.discharge_max_w)
    const min_w = -Math.max(rated_w, state.charge_max_w)
    this.#as_read = this.#traitsOf(control, { max_w, min_w })
    this.#book.step({ is: 'traits', id, traits: this.#as_read })
    const stops = control ? control.traits.stops_after_ms !== null : state.revert !== null
    const falls_back_w = stops ? Math.max(0, state.revert?.to_w ?? 0) : null
    this.#book.step({ is: 'armed', id, falls_back_w })
    if (this.#is_lost || !state.is_remote) {
      this.#book.step({ is: 'silent', id })
      return
    }
    const { setpoint_w, discharge_max_w, revert } = state
    const timer = revert && { at_ms: now_ms + revert.in_ms, to_w: revert.to_w }
    const w = setpoint_w ?? discharge_max_w
    const read = { is: 'read', id, at_ms: now_ms, began_ms, w, max_w, min_w } as const
    this.#book.step({ ...read, is_first, timer })
  }

  #traitsOf(control: PowerControl | null, { max_w, min_w }: { max_w: number; min_w: number }) {
    const { applies_within_ms, stops_after_ms, ramp_ms } = control?.traits ?? unknown_traits
    return {
      peak_w: max_w,
      lowest_w: min_w,
      has_no_watchdog: control ? stops_after_ms === null : this.source.has_no_watchdog,
      latency_ms: Math.max(late_ms, applies_within_ms + latency_margin_ms),
      settle_ms: applies_within_ms,
      ramp_ms: rampOf({ ramp_ms }, this.#facts),
      settable: (w: number) => settableBy(control, w),
    }
  }

  /** The edge holds no import capacity: what it charges with is no limit of anything. */
  onPower(power_w: number, now_ms: number): void {
    this.#measured = { power_w, at_ms: now_ms }
    this.#book.step({ is: 'power', id: this.id, at_ms: now_ms, w: Math.max(0, power_w) })
  }

  /**
   * What it is to be told where the core has no command: the last one again while that may still
   * take effect; 0 where it cannot be commanded; null: nothing.
   */
  goesOn_w(now_ms: number): number | null {
    const { source } = this
    const { command, read, under_way } = source
    if (!isControllable(source, now_ms)) return 0
    if (command === null) return read!.w
    const is_open = isAt(source, command.w) || under_way.some(({ w }) => w === command.w)
    return is_open ? command.w : null
  }

  /** @param has_control it may be told more than zero */
  onContact(has_control: boolean): void {
    if (this.source.has_control === has_control) return
    this.#book.step({ is: 'contact', id: this.id, has_control })
  }

  begin(power_w: number, now_ms: number): void {
    this.#before = this.#book.source(this.id)?.command ?? null
    this.#book.step({ is: 'sent', id: this.id, at_ms: now_ms, w: power_w })
  }

  /** The driver has returned. @param is_taken the device accepted it */
  done(power_w: number, now_ms: number, is_taken: boolean): void {
    this.#book.step({ is: 'done', id: this.id, at_ms: now_ms, w: power_w, is_taken })
  }

  /** What was begun last was never sent. */
  withdraw(power_w: number): void {
    this.#book.step({ is: 'unsent', id: this.id, w: power_w, command: this.#before })
  }

  /** The most that it may discharge before the next read. */
  worst_w(now_ms: number): number {
    return Math.ceil(worst(this.#book.state, this.source, 'export', now_ms))
  }

  /** The same by its registers alone: more than that is a raise. */
  held_w(now_ms: number): number {
    const is_unknown = this.isKnown(now_ms) && !this.obeys(now_ms)
    return is_unknown ? this.ceiling_w : mostHeld(this.source, 'export', now_ms)
  }

  /** The most that it may have been commanded: what a later run has to count with. */
  mayHold_w(now_ms: number): number {
    const { source } = this
    const held_w = source.read ? mostHeld(source, 'export', now_ms) : 0
    return Math.max(held_w, rampReach(source, 'export'))
  }
}

const unknown_traits = { applies_within_ms: 0, stops_after_ms: null, ramp_ms: null }

/** Towards zero; 0 also where its registers cannot be understood, or would hold more. */
export function settableBy(control: PowerControl | null, power_w: number): number {
  try {
    const set_w = control?.settable(power_w) ?? 0
    return Math.abs(set_w) <= Math.abs(power_w) && set_w * power_w >= 0 ? set_w : 0
  } catch {
    return 0
  }
}
