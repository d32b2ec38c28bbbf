/**
 * What is known of the setpoint of one PCS, and so what it may discharge at worst. Whole watts,
 * positive towards the grid; time in ms of a stopwatch.
 */
import { type DeclaredTraits, rampOf } from '../control/declared-traits.ts'
import type { PowerState, PowerTraits } from '../drivers/power-control.ts'

export interface PcsFacts {
  rated_w: number
  /** One that was not read for so long counts as silent. */
  fresh_ms: number
  /** What it falls back to within so long counts already. */
  revert_margin_ms: number
  /** Until it was asked, for so long after the start, it counts with what an earlier run left. */
  first_ms: number
  /** By site.yaml. */
  declared?: DeclaredTraits
}

/** So long after a write without an answer it may come through yet. */
const late_ms = 15_000

interface Begun {
  power_w: number
  /** When it was put on the line last; before that, when it was begun. */
  at_ms: number
  /** It took it, so that it cannot come through later. */
  is_taken: boolean
}

export class PcsPower {
  readonly #facts: PcsFacts
  readonly #since_ms: number
  #state: PowerState | null = null
  #read_at_ms = Number.NEGATIVE_INFINITY
  #measured: { power_w: number; at_ms: number } | null = null
  #begun: Begun[] = []
  /** The setpoint from which its power may still be coming down, until then. */
  #ramp = { from_w: 0, until_ms: Number.NEGATIVE_INFINITY }
  /** How long after a lower setpoint was taken its power may be above that. */
  comes_down_ms = 0
  /** Its count stands still: what its registers say may be of long ago. */
  is_lost = false
  /** What an earlier run of the program may have begun; null: that is over. */
  #before: { most_w: number; until_ms: number | null } | null

  /** @param before_w the most that an earlier run may have told it to discharge */
  constructor(facts: PcsFacts, before_w: number, now_ms: number) {
    this.#facts = facts
    this.#since_ms = now_ms
    this.#before = { most_w: before_w, until_ms: null }
  }

  get state(): PowerState | null {
    return this.#state
  }

  /** It never discharges more, as far as it says; its rating while it says nothing. */
  get ceiling_w(): number {
    return this.#state?.discharge_max_w ?? this.#facts.rated_w
  }

  /** What it may discharge while nobody looks: what another limits it to may end. */
  get unwatched_w(): number {
    return Math.max(this.#facts.rated_w, this.ceiling_w)
  }

  /** All that was begun is done, and was read back. */
  get is_proven(): boolean {
    return this.#begun.length === 0
  }

  /** It was read, or has been waited for. */
  isKnown(now_ms: number): boolean {
    return this.#state !== null || now_ms - this.#since_ms >= this.#facts.first_ms
  }

  isFresh(now_ms: number): boolean {
    return this.#state !== null && now_ms - this.#read_at_ms <= this.#facts.fresh_ms
  }

  /** Read lately, alive, and commanded by nobody in front of it. */
  obeys(now_ms: number): boolean {
    return this.isFresh(now_ms) && this.#state!.is_remote && !this.is_lost
  }

  /** Why it counts with all that it can; null: it does not, or that is not known yet. */
  unknownWhy(now_ms: number): 'silent' | 'lost' | 'local' | null {
    if (!this.isKnown(now_ms) || this.obeys(now_ms)) return null
    if (!this.isFresh(now_ms)) return 'silent'
    return this.is_lost ? 'lost' : 'local'
  }

  /** Measured lately; null: unknown. */
  measuredAt(now_ms: number): number | null {
    const is_fresh = this.#measured && now_ms - this.#measured.at_ms <= this.#facts.fresh_ms
    return is_fresh ? this.#measured!.power_w : null
  }

  onRead(state: PowerState, { ramp_ms }: Pick<PowerTraits, 'ramp_ms'>, now_ms: number): void {
    const held_before_w = this.#state && this.#toldAt(now_ms)
    const ramps_for_ms = rampOf({ ramp_ms }, this.#facts)
    this.#state = state
    this.comes_down_ms = ramps_for_ms
    this.#read_at_ms = now_ms
    this.#before = this.#before && {
      ...this.#before,
      until_ms: this.#before.until_ms ?? now_ms + Math.max(late_ms, ramps_for_ms),
    }
    const newest = this.#begun.at(-1)
    const is_shown = newest !== undefined && state.setpoint_w === newest.power_w
    this.#begun = this.#begun.filter((one) => {
      if (one === newest) return !(is_shown && one.is_taken) && !this.#isOver(one, now_ms)
      return !one.is_taken && now_ms - one.at_ms < late_ms
    })
    if (held_before_w === null || held_before_w <= Math.max(0, state.setpoint_w ?? 0)) return
    const from_w = Math.max(held_before_w, this.#rampingFrom_w(now_ms))
    this.#ramp = { from_w, until_ms: now_ms + ramps_for_ms }
  }

  #rampingFrom_w(now_ms: number): number {
    return now_ms < this.#ramp.until_ms ? this.#ramp.from_w : 0
  }

  onPower(power_w: number, now_ms: number): void {
    this.#measured = { power_w, at_ms: now_ms }
  }

  begin(power_w: number, now_ms: number): void {
    this.#begun.push({ power_w, at_ms: now_ms, is_taken: false })
  }

  /** What was begun last is put on the line only now: until then it waited for its bus. */
  sent(now_ms: number): void {
    const newest = this.#begun.at(-1)
    if (newest) newest.at_ms = now_ms
  }

  /** It answered that it took what was begun last. */
  taken(): void {
    const newest = this.#begun.at(-1)
    if (newest) newest.is_taken = true
  }

  /** What was begun last was never sent. */
  withdraw(): void {
    this.#begun.pop()
  }

  /**
   * The most that it may discharge before the next read; from 0. Its power may still be coming down
   * from an earlier setpoint, and what was measured may be of a moment ago, when it held more.
   */
  worst_w(now_ms: number): number {
    const held_w = this.held_w(now_ms)
    if (!this.isKnown(now_ms)) return held_w
    return Math.max(held_w, this.#rampingFrom_w(now_ms), this.measuredAt(now_ms) ?? 0)
  }

  /** The most that its registers may bring it to before they are read again: more is a raise. */
  held_w(now_ms: number): number {
    if (!this.isKnown(now_ms)) return this.#beforeAt(now_ms)
    return Math.max(this.#toldAt(now_ms), this.#beforeAt(now_ms))
  }

  /** Without what an earlier run of the program may have begun. */
  #toldAt(now_ms: number): number {
    if (!this.obeys(now_ms)) return this.unwatched_w
    const { setpoint_w, revert } = this.#state!
    const told_w = setpoint_w ?? this.ceiling_w
    const left_ms = (revert?.in_ms ?? 0) - (now_ms - this.#read_at_ms)
    const is_reverting = revert !== null && left_ms <= this.#facts.revert_margin_ms
    const reverts_w = is_reverting ? revert.to_w : 0
    const begun_w = this.#begun.map(({ power_w }) => power_w)
    return Math.max(0, told_w, reverts_w, ...begun_w)
  }

  /** The most that it may have been told: what a later run of the program has to count with. */
  mayHold_w(now_ms: number): number {
    const { setpoint_w = null } = this.#state ?? {}
    const begun_w = this.#begun.map(({ power_w }) => power_w)
    const ramp_w = this.#rampingFrom_w(now_ms)
    return Math.max(0, setpoint_w ?? 0, this.#beforeAt(now_ms), ramp_w, ...begun_w)
  }

  #beforeAt(now_ms: number): number {
    if (!this.#before) return 0
    const { until_ms, most_w } = this.#before
    if (until_ms === null || now_ms < until_ms) return most_w
    this.#before = null
    return 0
  }

  /** Neither shown nor refused for so long: what is read is what it holds. */
  #isOver({ at_ms }: Begun, now_ms: number): boolean {
    return now_ms - at_ms >= late_ms
  }
}
