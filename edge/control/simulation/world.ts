/**
 * Plants with their devices, what is permitted and asked of them, and all that goes wrong: from one
 * seed. A step is a second. In the last minutes of an episode nothing goes wrong any more, so that
 * it can be seen whether everything comes back.
 */
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import { type Chance, chanceOf, seedOf } from './chance.ts'
import {
  type Build,
  type Cause,
  type Model,
  no_quirks,
  type Quirks,
  type Setting,
  SimulatedDevice,
} from './device.ts'
import { ramp_ms } from './device-driver.ts'

export const tick_ms = 1000
export const poll_ms = 5000
const calm_ms = 150_000
/** The part of the worlds in which devices make something of their own of their limits. */
const quirky_worlds = 1 / 3
/** And the part of those in which nothing else befalls them, so that all has to come back. */
const quiet_worlds = 1 / 4
const shadow_ms = 40_000
/** Of the rating, what a device has of the sun. */
const shadows = [1, 0.3, 1, 0.7, 0.05, 1, 0.5, 1, 0, 0.9, 0.2]
const epoch_ms = Date.parse('2026-06-01T10:00:00Z')
/** The part of the worlds in which it is night, and inverters sleep. */
const night_worlds = 1 / 6
const midnight_ms = Date.parse('2026-06-01T22:45:00Z')
/** About midnight the sun is below the horizon by any clock that is off by less. */
const night_ms = 2.5 * 3_600_000
/** Clocks that are no further apart confirm each other. */
const agreement_ms = 60_000

export interface WorldPlant {
  logger_id: number
  rated_w: number
  devices: readonly SimulatedDevice[]
}

/** How often what goes wrong, per device or world and second. */
type Rates = Record<
  | 'silent'
  | 'refusing'
  | 'ignoring'
  | 'lossy'
  | 'reboot'
  | 'blink'
  | 'master'
  | 'crash'
  | 'jump'
  | 'permit'
  | 'row'
  | 'release'
  | 'link'
  | 'cloud',
  number
>

interface Watcher {
  changed(device: SimulatedDevice, cause: Cause, before_w: number): void
  note(text: () => string): void
}

export class World {
  readonly chance: Chance
  readonly plants: readonly WorldPlant[]
  readonly devices: readonly SimulatedDevice[]
  readonly steps: number
  readonly #rates: Rates
  /** For what devices make of their limits: two worlds of three know nothing of that. */
  readonly #quirk_chance: Chance
  readonly is_quirky: boolean
  readonly #night_chance: Chance
  readonly is_night: boolean
  readonly #watcher: Watcher
  now_ms = 0
  sun = 1
  is_linked = true
  /** What the edge's permit file says; a plant without an entry has none. */
  permit_w: ReadonlyMap<number, number>
  site_w: number | null
  rows: CurtailmentRow[] = []
  jumped_ms = 0
  /** The edge stands still until then. */
  down_until_ms = 0
  #wall_offset_ms = 0
  #server_offset_ms = 0
  /** Seconds in a row in which the server and the wall clock agreed; the most since a start. */
  #agreed_steps = 0
  #most_agreed_steps = 0
  #step = 0
  #groups = 0

  constructor(seed: number, watcher: Watcher) {
    this.chance = chanceOf(seed)
    this.#quirk_chance = chanceOf(seedOf(seed, 2))
    const may_be_quirky = this.#quirk_chance.yes(quirky_worlds)
    this.#watcher = watcher
    this.#night_chance = chanceOf(seedOf(seed, 3))
    this.is_night = this.#night_chance.yes(night_worlds)
    this.steps = this.chance.between(400, 1200)
    this.is_quirky = may_be_quirky && !this.is_night
    const rates = ratesOf(this.chance)
    const is_quiet = this.is_quirky && this.#quirk_chance.yes(quiet_worlds)
    const rare = is_quiet ? quiet : this.has_server_time ? jumpy : {}
    this.#rates = { ...rates, ...(this.is_night ? night : rare) }
    this.plants = this.#build(this.chance.pick([1, 1, 1, 2, 2, 3, 4]))
    this.devices = this.plants.flatMap(({ devices }) => devices)
    this.permit_w = this.#drawPermits(0.2)
    this.site_w = this.plants.length > 1 && this.chance.yes(0.6) ? this.#drawSite() : null
  }

  get wall_ms(): number {
    return this.#true_ms + this.#wall_offset_ms
  }

  get #true_ms(): number {
    return (this.is_night ? midnight_ms : epoch_ms) + this.now_ms
  }

  /** Dark by each clock: the edge may know it, as the clocks agreed for a tick since the start. */
  get may_be_dark(): boolean {
    const is_dark = this.is_night && !this.is_calm && Math.abs(this.#wall_offset_ms) < night_ms
    return is_dark && this.#most_agreed_steps > 0
  }

  /** The edge has to know it: it compares the clocks at a tick after the server answered. */
  get is_dark(): boolean {
    return this.may_be_dark && this.#most_agreed_steps >= 3
  }

  /** By night, and in one world of five, the server has its own clock, which may be wrong. */
  get has_server_time(): boolean {
    return this.is_night || this.steps % 5 === 0
  }

  /** By the clock of the server, which makes the rows. */
  get server_ms(): number {
    return this.has_server_time ? this.#true_ms + this.#server_offset_ms : this.wall_ms
  }

  get is_calm(): boolean {
    return this.#step * tick_ms >= this.steps * tick_ms - calm_ms
  }

  /** Where it has one, how fast a plant may come up, in percent of its rating per minute. */
  get ramp_pct_per_min(): number | null {
    return this.steps % 3 === 0 ? 600 : null
  }

  /** Every other world has closed loops, and shadows that wander over its devices. */
  get is_looped(): boolean {
    return this.steps % 2 === 0
  }

  get is_over(): boolean {
    return this.#step >= this.steps
  }

  get is_down(): boolean {
    return this.now_ms < this.down_until_ms
  }

  /** A second passes. */
  step(): void {
    this.#step += 1
    this.now_ms = this.#step * tick_ms
    this.jumped_ms = 0
    const was_calm = (this.#step - 1) * tick_ms >= this.steps * tick_ms - calm_ms
    if (this.is_calm && !was_calm) this.#calmDown()
    for (const device of this.devices) device.advance(this.now_ms)
    if (this.is_calm) return
    for (const device of this.devices) this.#befall(device)
    if (this.is_night) this.#sleep()
    this.#befallEdge()
    this.#ask()
  }

  /** Within the second: what is under way at the devices goes on. */
  reach(now_ms: number): void {
    if (now_ms <= this.now_ms) return
    this.now_ms = now_ms
    for (const device of this.devices) device.advance(now_ms)
  }

  /** What is measured of a device. */
  powerOf(device: SimulatedDevice): number {
    const power_w = device.power_w(this.sun)
    if (!this.is_looped || device.is('ignoring')) return power_w
    const { inverter_id, rated_w } = device.build
    const nth = inverter_id * 7 + Math.floor(this.now_ms / shadow_ms)
    return Math.min(power_w, Math.floor(shadows[nth % shadows.length]! * rated_w))
  }

  #happens(what: keyof Rates): boolean {
    const rate = this.#rates[what]
    return rate > 0 && this.chance.yes(rate)
  }

  /** One after the other falls asleep until the sun is back; some go on to answer. */
  #sleep(): void {
    this.sun = 0
    const chance = this.#night_chance
    for (const device of this.devices) {
      const { inverter_id } = device.build
      if (device.is('silent') || inverter_id % 7 === 0 || !chance.yes(0.01)) continue
      this.#note(() => `${inverter_id} falls asleep`)
      device.trouble('silent', this.steps * tick_ms)
    }
  }

  #note(text: () => string): void {
    this.#watcher.note(text)
  }

  #befall(device: SimulatedDevice): void {
    const { chance } = this
    const { inverter_id } = device.build
    for (const trouble of ['silent', 'refusing', 'ignoring', 'lossy'] as const) {
      if (!this.#happens(trouble)) continue
      const for_ms = chance.between(1, trouble === 'ignoring' ? 240 : 60) * tick_ms
      this.#note(() => `${inverter_id} is ${trouble} for ${for_ms / 1000} s`)
      device.trouble(trouble, for_ms)
    }
    if (this.#happens('reboot')) {
      this.#note(() => `${inverter_id} reboots, and is slow to`)
      device.reboot(chance.between(16, 60) * tick_ms)
    }
    if (this.#happens('blink')) {
      this.#note(() => `${inverter_id} loses its limit in an instant`)
      device.reboot(tick_ms)
    }
    if (this.#happens('master')) this.#command(device)
    if (this.is_quirky) this.#befallQuirky(device)
  }

  /** Its registers make no sense for a while; its persistent ceiling is set to another. */
  #befallQuirky(device: SimulatedDevice): void {
    const chance = this.#quirk_chance
    const { inverter_id, rated_w } = device.build
    if (chance.yes(0.001)) {
      const for_ms = chance.between(1, 60) * tick_ms
      this.#note(() => `${inverter_id} makes no sense for ${for_ms / 1000} s`)
      device.trouble('nonsense', for_ms)
    }
    if (chance.yes(0.001) && !device.is('silent')) {
      const static_w = chance.between(Math.floor(rated_w / 4), rated_w)
      this.#note(() => `the ceiling of ${inverter_id} is set to ${static_w} W`)
      device.setCeiling(static_w)
    }
  }

  /** Another master sets something that we did not set lately, perhaps with a timer. */
  #command(device: SimulatedDevice): void {
    const { chance } = this
    const { model, static_w, step_w, inverter_id } = device.build
    const all = Math.floor(static_w / step_w)
    const units = chance.yes(0.15) ? null : chance.between(0, all)
    // One that sets what we might have set ourselves cannot be told from us.
    const limit_w = (units ?? all) * step_w
    const is_held = Math.abs(limit_w - device.allowed_w) < 3
    if (units !== null && (is_held || device.wasMeant(device.makes(limit_w)))) return
    const ends_ms = this.now_ms + chance.between(10, 90) * tick_ms
    const to_units = model === '704' ? chance.between(0, all) : null
    const has_timer = model !== 'persistent' && units !== null && chance.yes(0.2)
    this.#note(() => `another master sets ${inverter_id} to ${units} of ${all} steps`)
    device.setByOther({ units, timer: has_timer ? { ends_ms, to_units } : null })
  }

  #befallEdge(): void {
    const { chance } = this
    if (this.#happens('crash') && !this.is_down) {
      this.down_until_ms = this.now_ms + chance.between(0, 30) * tick_ms
      this.#agreed_steps = 0
      this.#most_agreed_steps = 0
    }
    if (this.#happens('jump')) this.#jump()
    const is_apart = Math.abs(this.#wall_offset_ms) > agreement_ms
    this.#agreed_steps = this.is_down || !this.is_linked || is_apart ? 0 : this.#agreed_steps + 1
    this.#most_agreed_steps = Math.max(this.#most_agreed_steps, this.#agreed_steps)
    if (this.#happens('permit')) {
      this.permit_w = this.#drawPermits(0.15)
      if (this.site_w !== null) this.site_w = this.#drawSite()
      this.#note(() => `permits ${[...this.permit_w]}, site ${this.site_w}`)
    }
    if (this.#happens('link')) this.is_linked = !this.is_linked
    if (this.#happens('cloud')) this.sun = chance.pick([1, 1, 1, 0.6, 0.2, 0])
  }

  /** Where the server has a clock of its own, the next jump sets a wrong clock right. */
  #jump(): void {
    const { chance } = this
    const by_ms = chance.between(-7200, 7200) * tick_ms
    if (this.has_server_time && !this.is_night && chance.yes(0.2)) {
      this.#server_offset_ms = this.#server_offset_ms === 0 ? by_ms : 0
      this.#note(() => `the clock of the server is off by ${this.#server_offset_ms / 1000} s`)
      return
    }
    const is_set_right = this.has_server_time && this.#wall_offset_ms !== 0
    this.jumped_ms = is_set_right ? -this.#wall_offset_ms : by_ms
    this.#wall_offset_ms += this.jumped_ms
    this.#note(() => `the clock jumps by ${this.jumped_ms / 1000} s`)
  }

  #ask(): void {
    const { chance } = this
    if (this.#happens('row')) {
      const { logger_id, rated_w } = chance.pick(this.plants)
      this.#groups += 1
      const start_at = this.server_ms + chance.between(-20, 60) * tick_ms
      const row: CurtailmentRow = {
        group_id: `00000000-0000-4000-8000-${String(this.#groups).padStart(12, '0')}`,
        logger_id,
        start_at,
        end_at: start_at + chance.between(5, this.has_server_time ? 1200 : 400) * tick_ms,
        max_power_kw: chance.pick([0, chance.between(0, rated_w) / 1000, rated_w / 1000]),
        released_at: null,
      }
      this.#note(() => `row ${this.#groups} of plant ${logger_id}: ${row.max_power_kw} kW`)
      this.rows.push(row)
    }
    if (this.rows.length > 0 && this.#happens('release')) {
      const nth = chance.between(0, this.rows.length - 1)
      this.#note(() => `row ${nth + 1} is released`)
      this.rows[nth] = { ...this.rows[nth]!, released_at: this.server_ms }
    }
  }

  #calmDown(): void {
    this.#note(() => 'calm')
    for (const device of this.devices) device.recover()
    this.sun = 1
    this.is_linked = true
    this.permit_w = this.#drawPermits(0)
    this.rows = this.rows.map((row) => ({ ...row, released_at: row.released_at ?? this.server_ms }))
  }

  #drawPermits(unknown: number): Map<number, number> {
    const { chance } = this
    const known = this.plants.filter(() => !chance.yes(unknown))
    return new Map(
      known.map(({ logger_id, rated_w }) => [
        logger_id,
        Math.floor((rated_w * chance.between(20, 110)) / 100),
      ]),
    )
  }

  #drawSite(): number {
    const rated_w = this.plants.reduce((sum, plant) => sum + plant.rated_w, 0)
    return Math.floor((rated_w * this.chance.between(20, 100)) / 100)
  }

  #build(count: number): WorldPlant[] {
    const { chance } = this
    return Array.from({ length: count }, (_, nth) => {
      const most = chance.pick([1, 2, 3, 4, 6, 12])
      const devices = Array.from({ length: chance.between(1, most) }, (_, of_plant) =>
        this.#device(100 * (nth + 1) + of_plant),
      )
      const rated_w = devices.reduce((sum, { build }) => sum + build.rated_w, 0)
      return { logger_id: nth + 1, rated_w, devices }
    })
  }

  #device(inverter_id: number): SimulatedDevice {
    const { chance } = this
    const rated_w = chance.pick([5_000, 20_000, 100_000, 333_000]) + chance.between(0, 999)
    const model = chance.pick<Model>(['123', '123', '704', 'persistent'])
    const static_w = chance.yes(0.3) ? chance.between(rated_w / 4, rated_w) : rated_w
    const whole = Math.floor(static_w)
    const build = {
      inverter_id,
      model,
      rated_w,
      static_w: whole,
      step_w:
        model === 'persistent' ? chance.pick([1, 100]) : (whole * chance.pick([1, 0.1])) / 100,
      delay_ms_max: chance.pick([0, 0, 1000, 5000]),
      // One that is known to act late: see `appliesWithin`.
      restarts_delay: inverter_id % 4 === 0,
      min_interval_ms: chance.pick([0, 1000, 10_000]),
    }
    const device = new SimulatedDevice(build, chance, (of, cause, before_w) =>
      this.#watcher.changed(of, cause, before_w),
    )
    if (this.is_quirky) device.quirks = this.#quirksOf(build)
    const units = chance.yes(0.3) ? chance.between(0, Math.floor(whole / build.step_w)) : null
    const setting: Setting = { units, timer: null }
    device.setByOther(setting)
    return device
  }

  /** Every other device has one; where it would pass what another sets, none is on its way. */
  #quirksOf({ static_w, rated_w, step_w }: Build): Quirks {
    const chance = this.#quirk_chance
    const all = Math.floor(static_w / step_w)
    const coarsest = Math.floor((rated_w * 0.015) / step_w)
    const coarse_units = Math.max(1, chance.between(0, Math.max(1, coarsest)))
    const least_units = Math.floor(all * chance.pick([0.02, 0.1, 0.2]))
    const ramp_units = this.#rates.master > 0 ? null : Math.ceil((all * 1000) / ramp_ms)
    const beyond_ratio = chance.pick([0.8, 1])
    const fall_ms = chance.pick([8_000, 20_000, 40_000])
    const coarse_declared = Math.max(2, Math.floor((all * chance.between(2, 10)) / 100))
    const rounds = chance.pick<Quirks['rounds']>(['up', 'nearest', 'down'])
    const none = no_quirks
    return chance.pick<Quirks>([
      none,
      none,
      none,
      // In every fourth world a device that is said to be off by a step rounds by more.
      { ...none, coarse_units, tolerance_units: coarse_units > 1 && this.steps % 4 === 3 ? 1 : 0 },
      { ...none, least_units },
      { ...none, ramp_units },
      { ...none, beyond_ratio },
      { ...none, fall_ms },
      { ...none, fall_ms },
      {
        ...none,
        is_declared: true,
        coarse_units: coarse_declared,
        tolerance_units: coarse_declared,
        rounds,
      },
      { ...none, is_declared: true, least_units },
    ])
  }
}

/** No trouble with devices, nor with the edge. */
const quiet: Partial<Rates> = {
  silent: 0,
  refusing: 0,
  ignoring: 0,
  lossy: 0,
  reboot: 0,
  blink: 0,
  master: 0,
  crash: 0,
}

/** Orders last, and clocks jump under them. */
const jumpy: Partial<Rates> = { jump: 0.008, row: 0.02, release: 0.001, crash: 0.001 }
/** Inverters sleep, and nothing else is wrong with them, nor with the link. */
const night: Partial<Rates> = { ...quiet, crash: 0.003, link: 0, cloud: 0 }

/** Some episodes are quiet, some have one kind of trouble, some have all of it. */
function ratesOf(chance: Chance): Rates {
  const rate = (often: number) => often * chance.pick([0, 0, 0.3, 1, 3])
  return {
    silent: rate(0.004),
    refusing: rate(0.002),
    ignoring: rate(0.001),
    lossy: rate(0.003),
    reboot: rate(0.002),
    blink: rate(0.002),
    master: rate(0.003),
    crash: rate(0.01),
    jump: rate(0.003),
    permit: rate(0.01),
    row: rate(0.02),
    release: rate(0.01),
    link: rate(0.01),
    cloud: rate(0.02),
  }
}
