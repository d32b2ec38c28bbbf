/**
 * An inverter with a truth of its own: what its registers let it deliver, whoever wrote them. It
 * knows nothing of the controller; all that befalls it is told to whoever watches.
 */
import type { Chance } from './chance.ts'

/**
 * How its limit is held: in percent of its ceiling with a timer that leads to no limit (SunSpec
 * 123) or to a second value (704), or in a register that survives a loss of power.
 */
export type Model = '123' | '704' | 'persistent'

export type Answer = 'done' | 'refused' | 'lost'

/** Whose doing a change was; or what is in percent of a ceiling went along with that. */
export type Cause = 'ours' | 'foreign' | { ratio: number }

interface Timer {
  ends_ms: number
  /** null: no limit. */
  to_units: number | null
}

export interface Setting {
  /** In steps of its register; null: no limit is enabled. */
  units: number | null
  timer: Timer | null
}

export interface Build {
  inverter_id: number
  model: Model
  rated_w: number
  /** Its own persistent ceiling. */
  static_w: number
  /** One step of its limit register. */
  step_w: number
  /** It acts on a write so much later at most, in order. */
  delay_ms_max: number
  /** It always takes that long, and another write begins the time anew. */
  restarts_delay: boolean
  min_interval_ms: number
}

/** What a device makes of what it is told, beside the steps of its register. */
export interface Quirks {
  /** It rounds a limit to a multiple of so many steps. */
  coarse_units: number
  rounds: 'down' | 'up' | 'nearest'
  /** By how much it rounds, or that it goes no lower, is declared. */
  is_declared: boolean
  /** So many steps are declared of its rounding. */
  tolerance_units: number
  /** It goes no lower than so many steps. */
  least_units: number
  /** It comes to a limit by so many steps a second, and shows where it stands; null: at once. */
  ramp_units: number | null
  /** So much of its rating it delivers whatever its ceiling says, as long as nothing is set. */
  beyond_ratio: number
  /** Its power takes so long to come down to a lower limit, which its register shows at once. */
  fall_ms: number
}

export const no_quirks: Quirks = {
  coarse_units: 1,
  rounds: 'down',
  is_declared: false,
  tolerance_units: 0,
  least_units: 0,
  ramp_units: null,
  beyond_ratio: 0,
  fall_ms: 0,
}

type Trouble = 'silent' | 'refusing' | 'ignoring' | 'lossy' | 'nonsense'

export class SimulatedDevice {
  build: Build
  quirks = no_quirks
  readonly #chance: Chance
  readonly #onChange: (device: SimulatedDevice, cause: Cause, before_w: number) => void
  #setting: Setting = { units: null, timer: null }
  #set_by: 'ours' | 'foreign' = 'foreign'
  /** How often its setting was written, by whomever. */
  changes = 0
  #waiting: { due_ms: number; setting: Setting; written_ms: number }[] = []
  /** While it restarts: what it had taken and not done yet; null: nothing. */
  dropped_w: number | null = null
  /** Where it is on its way to. */
  #way: { setting: Setting; written_ms: number; at_ms: number } | null = null
  /** What its power comes down from, under a cloud too. */
  #fall: { from_w: number; since_ms: number } | null = null
  /** When that was decided which it acted on last. */
  written_ms = 0
  #meant_ms = 0
  /** What it was to be set to last. */
  meant_w = 0
  readonly #until_ms: Record<Trouble, number> = {
    silent: 0,
    refusing: 0,
    ignoring: 0,
    lossy: 0,
    nonsense: 0,
  }
  /** What it let through lately, or was to, the newest last. */
  readonly recent_w: number[] = []
  /** All that others have set it to. */
  readonly foreign_w = new Set<number>()
  now_ms = 0
  /** It did not always do what it was told. */
  has_ignored = false
  /** Its ceiling was set to another. */
  is_rescaled = false

  constructor(
    build: Build,
    chance: Chance,
    onChange: (device: SimulatedDevice, cause: Cause, before_w: number) => void,
  ) {
    this.build = build
    this.#chance = chance
    this.#onChange = onChange
  }

  get setting(): Readonly<Setting> {
    return this.#setting
  }

  /** What its registers truly let it deliver. */
  get allowed_w(): number {
    return this.#allowedBy(this.#setting)
  }

  /** What it truly lets through by now: more than its registers say while it comes down. */
  get lets_w(): number {
    if (!this.#fall) return this.allowed_w
    const { from_w, since_ms } = this.#fall
    const left = Math.max(0, 1 - (this.now_ms - since_ms) / this.quirks.fall_ms)
    return this.allowed_w + Math.max(0, from_w - this.allowed_w) * left
  }

  /** It goes no lower, whatever it is told. */
  get least_w(): number {
    return this.#allowedBy({ units: this.quirks.least_units, timer: null })
  }

  get loses_limit(): boolean {
    return this.build.model !== 'persistent'
  }

  is(trouble: Trouble): boolean {
    return this.now_ms < this.#until_ms[trouble]
  }

  get is_troubled(): boolean {
    return Object.values(this.#until_ms).some((until_ms) => this.now_ms < until_ms)
  }

  power_w(sun: number): number {
    const { rated_w, static_w } = this.build
    const is_free = this.is('ignoring') || this.allowed_w >= static_w
    return Math.floor(Math.min(is_free ? this.#all_w : this.lets_w, rated_w * sun))
  }

  /** What it delivers without a limit, whatever its ceiling says. */
  get #all_w(): number {
    const { static_w, rated_w } = this.build
    return Math.max(static_w, this.quirks.beyond_ratio * rated_w)
  }

  /** Time passes: what was waiting is done, a timer runs out. */
  advance(now_ms: number): void {
    this.now_ms = now_ms
    while (this.#waiting.length > 0 && this.#waiting[0]!.due_ms <= now_ms) {
      const { setting, written_ms } = this.#waiting.shift()!
      this.#begin(setting, written_ms)
    }
    this.#move()
    const { timer } = this.#setting
    if (timer && timer.ends_ms <= now_ms) {
      this.#take({ units: timer.to_units, timer: null }, this.#set_by)
    }
  }

  /** null: no answer. */
  read(): Readonly<Setting> | null {
    if (this.is('silent') || (this.is('lossy') && this.#chance.yes(0.4))) return null
    return this.#setting
  }

  /** @param meant_ms when that was decided */
  write(setting: Setting, meant_ms = this.#meant_ms): Answer {
    if (this.is('silent')) return 'lost'
    if (this.is('lossy') && this.#chance.yes(0.5)) {
      if (this.#chance.yes(0.5)) this.#accept(setting, meant_ms)
      return 'lost'
    }
    if (this.is('refusing')) return 'refused'
    this.#accept(setting, meant_ms)
    return 'done'
  }

  /** Another master, or a setting of before our time. */
  setByOther(setting: Setting): void {
    if (this.is('silent')) return
    const towards = this.#waiting.at(-1)?.setting ?? this.#way?.setting
    const made = this.#madeOf(setting)
    const to_w = this.#allowedBy(made)
    // Nobody could tell it from where it would have come by on its way.
    const is_passed = towards && (to_w - this.allowed_w) * (this.#allowedBy(towards) - to_w) > 0
    if (is_passed && this.quirks.ramp_units !== null) this.#remember(to_w)
    this.#way = null
    this.#take(made, 'foreign')
  }

  /** Its persistent ceiling is set to another: what is in percent of it goes along. */
  setCeiling(static_w: number): void {
    const before_w = this.allowed_w
    const let_w = this.lets_w
    const ratio = static_w / this.build.static_w
    const step_w = this.loses_limit ? this.build.step_w * ratio : this.build.step_w
    this.build = { ...this.build, static_w, step_w }
    this.is_rescaled = true
    if (this.loses_limit) for (const of_w of [...this.foreign_w]) this.foreign_w.add(of_w * ratio)
    this.changes += 1
    this.#falls(let_w, before_w)
    this.#remember(before_w)
    this.#onChange(this, { ratio: this.loses_limit ? ratio : 1 }, before_w)
  }

  /** The edge is about to set this. */
  mean(limit_w: number): void {
    this.#meant_ms = this.now_ms
    this.meant_w = limit_w
    this.#remember(limit_w)
    if (this.quirks !== no_quirks) this.#remember(this.makes(limit_w))
  }

  /** What it comes to when it is told this. */
  makes(limit_w: number): number {
    const units = Math.floor(limit_w / this.build.step_w + 1e-9)
    return this.#allowedBy(this.#madeOf({ units, timer: null }))
  }

  /** When that was. */
  get meant_ms(): number {
    return this.#meant_ms
  }

  /** Nobody could tell this from what it held or was to hold lately. */
  wasMeant(limit_w: number): boolean {
    const tolerance_w = this.quirks.tolerance_units * this.build.step_w
    return this.recent_w.some((held_w) => Math.abs(limit_w - held_w) < tolerance_w + 3)
  }

  /** Another master does not set the same: it could not be told from us. */
  #remember(limit_w: number): void {
    const most = this.quirks === no_quirks ? 16 : 32
    // What is refused is told again and again, and pushes nothing else out.
    const nth = this.recent_w.indexOf(limit_w)
    if (nth >= 0) this.recent_w.splice(nth, 1)
    if (this.recent_w.push(limit_w) > most) this.recent_w.shift()
  }

  trouble(trouble: Trouble, for_ms: number): void {
    this.has_ignored ||= trouble === 'ignoring'
    this.#until_ms[trouble] = this.now_ms + for_ms
  }

  /** It loses power, and with it what is not persistent. */
  reboot(for_ms: number): void {
    this.trouble('silent', for_ms)
    const dropped = this.#waiting.at(-1)?.setting ?? this.#way?.setting
    this.dropped_w = dropped ? this.#allowedBy(dropped) : null
    this.#waiting = []
    this.#way = null
    if (this.loses_limit) this.#take({ units: null, timer: null }, 'foreign')
    this.dropped_w = null
  }

  recover(): void {
    for (const trouble of Object.keys(this.#until_ms) as Trouble[]) this.#until_ms[trouble] = 0
  }

  #allowedBy({ units }: Setting): number {
    const { static_w, step_w } = this.build
    return units === null ? static_w : Math.min(static_w, units * step_w)
  }

  #accept(setting: Setting, meant_ms: number): void {
    const { delay_ms_max, restarts_delay } = this.build
    if (restarts_delay) this.#waiting = []
    const last_ms = this.#waiting.at(-1)?.due_ms ?? 0
    const delay_ms = this.#chance.between(restarts_delay ? delay_ms_max : 0, delay_ms_max)
    const due_ms = Math.max(last_ms, this.now_ms + delay_ms)
    const made = this.#madeOf(setting)
    if (due_ms <= this.now_ms) this.#begin(made, meant_ms)
    else this.#waiting.push({ due_ms, setting: made, written_ms: meant_ms })
  }

  #madeOf({ units, timer }: Setting): Setting {
    const { coarse_units, least_units, rounds, is_declared } = this.quirks
    const round = { down: Math.floor, up: Math.ceil, nearest: Math.round }[rounds]
    const { static_w, step_w } = this.build
    const all = Math.floor(static_w / step_w + 1e-9)
    // A declared rounding leaves full power as it is.
    const make = (steps: number) =>
      is_declared && steps >= all
        ? steps
        : Math.max(least_units, round(steps / coarse_units) * coarse_units)
    if (units === null) return { units, timer }
    const to_units = timer && timer.to_units !== null ? make(timer.to_units) : null
    return { units: make(units), timer: timer && { ...timer, to_units } }
  }

  /** At once, or on its way. */
  #begin(setting: Setting, written_ms: number): void {
    const is_slow = this.quirks.ramp_units !== null && setting.units !== null
    this.#way = is_slow ? { setting, written_ms, at_ms: this.now_ms } : null
    if (!is_slow) this.#take(setting, 'ours', written_ms)
  }

  #move(): void {
    const way = this.#way
    const seconds = way ? (this.now_ms - way.at_ms) / 1000 : 0
    if (!way || seconds < 0.2) return
    const { static_w, step_w } = this.build
    const at_units = this.#setting.units ?? Math.ceil(static_w / step_w)
    const to_units = way.setting.units!
    const most = Math.max(1, Math.floor(this.quirks.ramp_units! * seconds))
    const is_there = Math.abs(to_units - at_units) <= most
    const units = is_there ? to_units : at_units + Math.sign(to_units - at_units) * most
    this.#way = is_there ? null : { ...way, at_ms: this.now_ms }
    this.#take({ ...way.setting, units }, 'ours', way.written_ms)
  }

  /** The same limit again, or a higher one, does not begin the way down anew. */
  #falls(from_w: number, before_w: number): void {
    if (this.#fall && this.allowed_w >= before_w) return
    const is_slow = this.quirks.fall_ms > 0 && this.allowed_w < from_w
    this.#fall = is_slow ? { from_w, since_ms: this.now_ms } : null
  }

  #take(setting: Setting, cause: 'ours' | 'foreign', written_ms = this.now_ms): void {
    const before_w = this.allowed_w
    const let_w = this.lets_w
    this.written_ms = written_ms
    this.#setting = setting
    this.changes += 1
    this.#set_by = cause
    this.#falls(let_w, before_w)
    if (cause === 'foreign') this.foreign_w.add(this.allowed_w)
    // What it passes on its way it does not hold.
    if (!this.#way) this.#remember(before_w)
    this.#onChange(this, cause, before_w)
  }
}
