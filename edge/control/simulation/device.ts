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

/** Whose doing a change was. */
export type Cause = 'ours' | 'foreign'

export interface Timer {
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
  min_interval_ms: number
}

export type Trouble = 'silent' | 'refusing' | 'ignoring' | 'lossy'

export class SimulatedDevice {
  readonly build: Build
  readonly #chance: Chance
  readonly #onChange: (device: SimulatedDevice, cause: Cause, before_w: number) => void
  #setting: Setting = { units: null, timer: null }
  #set_by: Cause = 'foreign'
  /** How often its setting was written, by whomever. */
  changes = 0
  #waiting: { due_ms: number; setting: Setting; written_ms: number }[] = []
  /** When that was decided which it acted on last. */
  written_ms = 0
  #meant_ms = 0
  readonly #until_ms: Record<Trouble, number> = { silent: 0, refusing: 0, ignoring: 0, lossy: 0 }
  /** What it let through lately, or was to, the newest last. */
  readonly recent_w: number[] = []
  /** All that others have set it to. */
  readonly foreign_w = new Set<number>()
  now_ms = 0

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
    const { static_w, step_w } = this.build
    const { units } = this.#setting
    return units === null ? static_w : Math.min(static_w, units * step_w)
  }

  get loses_limit(): boolean {
    return this.build.model !== 'persistent'
  }

  is(trouble: Trouble): boolean {
    return this.now_ms < this.#until_ms[trouble]
  }

  get is_troubled(): boolean {
    return this.is('silent') || this.is('refusing') || this.is('ignoring') || this.is('lossy')
  }

  power_w(sun: number): number {
    const { static_w, rated_w } = this.build
    return Math.floor(Math.min(this.is('ignoring') ? static_w : this.allowed_w, rated_w * sun))
  }

  /** Time passes: what was waiting is done, a timer runs out. */
  advance(now_ms: number): void {
    this.now_ms = now_ms
    while (this.#waiting.length > 0 && this.#waiting[0]!.due_ms <= now_ms) {
      const { setting, written_ms } = this.#waiting.shift()!
      this.#take(setting, 'ours', written_ms)
    }
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
    if (!this.is('silent')) this.#take(setting, 'foreign')
  }

  /** The edge is about to set this. */
  mean(limit_w: number): void {
    this.#meant_ms = this.now_ms
    this.#remember(limit_w)
  }

  /** When that was. */
  get meant_ms(): number {
    return this.#meant_ms
  }

  /** Nobody could tell this from what it held or was to hold lately. */
  wasMeant(limit_w: number): boolean {
    return this.recent_w.some((held_w) => Math.abs(limit_w - held_w) < 3)
  }

  /** Another master does not set the same: it could not be told from us. */
  #remember(limit_w: number): void {
    if (this.recent_w.push(limit_w) > 16) this.recent_w.shift()
  }

  trouble(trouble: Trouble, for_ms: number): void {
    this.#until_ms[trouble] = this.now_ms + for_ms
  }

  /** It loses power, and with it what is not persistent. */
  reboot(for_ms: number): void {
    this.trouble('silent', for_ms)
    this.#waiting = []
    if (this.loses_limit) this.#take({ units: null, timer: null }, 'foreign')
  }

  recover(): void {
    for (const trouble of Object.keys(this.#until_ms) as Trouble[]) this.#until_ms[trouble] = 0
  }

  #accept(setting: Setting, meant_ms: number): void {
    const { delay_ms_max } = this.build
    const last_ms = this.#waiting.at(-1)?.due_ms ?? 0
    const due_ms = Math.max(last_ms, this.now_ms + this.#chance.between(0, delay_ms_max))
    if (due_ms <= this.now_ms) this.#take(setting, 'ours', meant_ms)
    else this.#waiting.push({ due_ms, setting, written_ms: meant_ms })
  }

  #take(setting: Setting, cause: Cause, written_ms = this.now_ms): void {
    const before_w = this.allowed_w
    this.written_ms = written_ms
    this.#setting = setting
    this.changes += 1
    this.#set_by = cause
    if (cause === 'foreign') this.foreign_w.add(this.allowed_w)
    this.#remember(before_w)
    this.#onChange(this, cause, before_w)
  }
}
