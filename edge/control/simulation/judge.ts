/**
 * Judges what the devices may truly deliver, at each instant, by arithmetic of its own: it shares
 * no code with the controller and never asks it anything but which rows it reported as applied.
 *
 * Of each device it keeps what our writes allow (`level_w`). More than that, by another master, a
 * restart of the device or because it does not obey, is borne for as long as it takes to be seen
 * and answered; then what the device truly may deliver counts, and where it is silent and could
 * lose its limit, its whole ceiling.
 */
import type { Cause, SimulatedDevice } from './device.ts'
import { traitsOf } from './device-driver.ts'
import { poll_ms, type World } from './world.ts'

const fresh_ms = 3 * poll_ms
/** What the sum of a few steps of registers errs by. */
const rounding_w = 1e-3

/** Just after its ceiling was changed nobody knows what was set by whom. */
const rescaled_lately_ms = 10_000
/** A device of which nobody says how it ramps. */
const assumed_ramp_ms = 60_000
/** Rounded down, then to end a doubt, and then left. */
const small_lowers_max = 3
/** So many in trouble that those asked to make room for one may refuse one after the other. */
const crowd = 3

/** For how long it bears what it bears. */
export interface Allowances {
  /** While all devices answer and obey. */
  answer_ms: number
  /** While one does not: it has to be silent, or to hold more than its command, for long enough. */
  trouble_ms: number
  /** One that ignores its limit is given half a minute, then a few looks at its power. */
  ignoring_ms: number
  /** After a restart nothing is known for so long. */
  start_ms: number
  /** One that was away is looked for so seldom. */
  search_ms: number
}

export class Broken extends Error {}

interface Ledger {
  device: SimulatedDevice
  /** What our writes allow, or less by another's doing. */
  level_w: number
  /** Since when it may deliver more than that; alive time, as all times here. */
  excess_since_ms: number
  /** Whether the edge has read it. */
  is_excess_seen: boolean
  /** When it last was in trouble. */
  troubled_ms: number
  /** When several of those that share a ceiling with it last were. */
  crowded_ms: number
  /** Since when the edge has heard of it after that; null: not yet. */
  heard_ms: number | null
  /** When it was asleep last. */
  asleep_ms: number
  silent_since_ms: number | null
  over_since_ms: number | null
  /** Its ceiling as the edge has read it: of another nobody can know before. */
  ceiling_w: number
  /** A limit of another's that we read and may not lift; and one that we have not read yet. */
  prior_w: number
  prior_read_ms: number
  /** When it last came down; by the world's time. */
  lowered_ms: number
  /** When its ceiling last was set to another, or that was read. */
  rescaled_ms: number
  unread_w: number | null
  /** By the world's time: when it was last set by us. */
  set_ms: number
  /** When it was last read, and when it was read again after it had turned stale. */
  read_ms: number
  found_ms: number
  /** When its last way down was first read. */
  lower_read_ms: number
  /** What it made of a limit could be known by nobody. */
  is_unsure: boolean
  /** How often in a row we lowered it by no more than it rounds. */
  small_lowers: number
  /** Another set something here since the start. */
  is_touched: boolean
  /** What counted of it last, and what of that it may still be coming down from. */
  counted_w: number
  falls_from_w: number
}

/** Permit figures by the time since which they have stood. */
interface Bounds {
  since_ms: number
  until_ms: number
  plant_w: ReadonlyMap<number, number>
  site_w: number | null
}

export class Judge {
  readonly #world: World
  readonly #allowances: Allowances
  readonly #ledgers = new Map<SimulatedDevice, Ledger>()
  /** Time that the edge had to act in. */
  #alive_ms = 0
  #started_ms = 0
  /** When any device last was in trouble. */
  #troubled_ms = Number.NEGATIVE_INFINITY
  #bounds: Bounds[] = []
  /** Rows that were reported as applied and are in force, by plant: the lowest in W. */
  applied_w: ReadonlyMap<number, number> = new Map()

  constructor(world: World, allowances: Allowances) {
    this.#world = world
    this.#allowances = allowances
    for (const device of world.devices) {
      this.#ledgers.set(device, {
        device,
        level_w: 0,
        excess_since_ms: 0,
        is_excess_seen: false,
        troubled_ms: Number.NEGATIVE_INFINITY,
        crowded_ms: Number.NEGATIVE_INFINITY,
        heard_ms: null,
        asleep_ms: Number.NEGATIVE_INFINITY,
        silent_since_ms: null,
        over_since_ms: null,
        ceiling_w: device.build.static_w,
        prior_w: Number.POSITIVE_INFINITY,
        prior_read_ms: 0,
        lowered_ms: Number.NEGATIVE_INFINITY,
        rescaled_ms: Number.NEGATIVE_INFINITY,
        unread_w: device.allowed_w < device.build.static_w ? device.allowed_w : null,
        set_ms: 0,
        read_ms: 0,
        found_ms: Number.NEGATIVE_INFINITY,
        lower_read_ms: 0,
        is_unsure: false,
        small_lowers: 0,
        is_touched: device.allowed_w < device.build.static_w,
        counted_w: 0,
        falls_from_w: 0,
      })
    }
  }

  /** What a device may deliver has changed, or stayed, by somebody's doing. */
  changed(device: SimulatedDevice, cause: Cause, before_w: number): void {
    const ledger = this.#ledgers.get(device)
    if (!ledger) return
    this.#keepBounds()
    const { allowed_w } = device
    if (allowed_w < before_w) {
      const from_w = Math.min(before_w, ledger.counted_w)
      ledger.falls_from_w = Math.max(from_w, ledger.falls_from_w)
    }
    // What another sets, or its ceiling, begins a way down anew.
    if (cause !== 'ours') ledger.small_lowers = 0
    if (cause === 'ours') this.#ours(ledger, before_w)
    else if (cause !== 'foreign') this.#rescaled(ledger, cause.ratio, before_w)
    else {
      ledger.is_touched = true
      if (allowed_w > before_w) {
        ledger.excess_since_ms = this.#alive_ms
        ledger.is_excess_seen = false
        ledger.unread_w = null
      }
      // The newest of another's limits stands for those before.
      ledger.prior_w = Number.POSITIVE_INFINITY
      if (allowed_w < before_w) ledger.unread_w = allowed_w
      // What it had taken and lost in a restart is as good as what it lost that it had done.
      ledger.level_w = Math.min(ledger.level_w, allowed_w, device.dropped_w ?? allowed_w)
    }
    const is_raise = cause === 'ours' && ledger.level_w === allowed_w && allowed_w > before_w
    if (allowed_w < before_w) ledger.lowered_ms = this.#world.now_ms
    this.#assess(is_raise ? ledger : null)
    this.#remember(ledger)
  }

  #remember(ledger: Ledger): void {
    ledger.counted_w = this.#counted_w(ledger)
    if (ledger.device.lets_w <= ledger.device.allowed_w) ledger.falls_from_w = 0
  }

  /** Nobody but the edge has set this device since the start, and its ceiling stayed. */
  isUntouched(device: SimulatedDevice): boolean {
    return !this.#ledgers.get(device)!.is_touched && !device.is_rescaled
  }

  /** The edge has learned what the device holds. */
  wasRead(device: SimulatedDevice): void {
    const ledger = this.#ledgers.get(device)!
    ledger.heard_ms ??= this.#alive_ms
    const { now_ms } = this.#world
    if (ledger.lowered_ms > ledger.read_ms) ledger.lower_read_ms = now_ms
    if (now_ms - ledger.read_ms > fresh_ms) ledger.found_ms = now_ms
    ledger.read_ms = now_ms
    this.#readCeiling(ledger)
    if (!ledger.is_excess_seen) {
      ledger.is_excess_seen = true
      // One whose limit survives is trusted in its silence: it counts from when it is read.
      if (!device.loses_limit && device.allowed_w > ledger.level_w) {
        ledger.excess_since_ms = this.#alive_ms
      }
    }
    if (ledger.unread_w === null) return
    // It happens to be what we were about to set: nobody could tell whose it is.
    if (device.wasMeant(ledger.unread_w)) ledger.unread_w = null
    // Above the ceiling it limits nothing yet, and looks like full power.
    if (ledger.unread_w === null || ledger.unread_w >= ledger.ceiling_w) return
    ledger.prior_w = Math.min(ledger.prior_w, ledger.unread_w)
    ledger.prior_read_ms = this.#world.now_ms
    ledger.unread_w = null
  }

  /** From now on another ceiling counts, and what was decided on under the one before is over. */
  #readCeiling(ledger: Ledger): void {
    const { allowed_w, build } = ledger.device
    if (ledger.ceiling_w === build.static_w) return
    if (allowed_w > ledger.ceiling_w) ledger.excess_since_ms = this.#alive_ms
    ledger.ceiling_w = build.static_w
    ledger.rescaled_ms = this.#world.now_ms
  }

  /** The edge starts, at first or again. */
  started(): void {
    this.#started_ms = this.#world.now_ms
    for (const ledger of this.#ledgers.values()) {
      // That a device ignores its limit has to be seen anew.
      ledger.over_since_ms = null
      // What was read last may not have been saved.
      ledger.read_ms = Math.min(ledger.read_ms, ledger.set_ms)
    }
  }

  /** At the end of each second. */
  tick(passed_ms: number): void {
    const { is_down, now_ms } = this.#world
    if (!is_down && now_ms - this.#started_ms > this.#allowances.start_ms)
      this.#alive_ms += passed_ms
    this.#keepBounds()
    for (const ledger of this.#ledgers.values()) this.#watch(ledger)
    const { site_w, plants, devices } = this.#world
    if (site_w !== null) this.#count(devices)
    else for (const plant of plants) this.#count(plant.devices)
    this.#assess()
    for (const ledger of this.#ledgers.values()) this.#remember(ledger)
  }

  /** Those that share a ceiling. */
  #count(devices: readonly SimulatedDevice[]): void {
    if (devices.filter((device) => device.is_troubled).length < crowd) return
    for (const device of devices) this.#ledgers.get(device)!.crowded_ms = this.#alive_ms
  }

  /** In the end, with nothing wrong any more, each plant is back at what it may deliver. */
  final(): void {
    const { plants, site_w, permit_w } = this.#world
    for (const { logger_id, devices, rated_w } of plants) {
      if (site_w !== null || devices.some((device) => this.#mayStay(this.#ledgers.get(device)!)))
        continue
      const wanted_w = Math.min(
        rated_w,
        permit_w.get(logger_id)!,
        devices.reduce((sum, { build }) => sum + build.static_w, 0),
      )
      const steps_w = devices.reduce((sum, { build, quirks }) => {
        const { coarse_units, least_units, is_declared } = quirks
        // What is declared is left to it, and what it then rounds the other way is lost as well.
        const steps = is_declared ? 2 * coarse_units + least_units : coarse_units
        return sum + build.step_w * steps + 2
      }, 0)
      const allowed_w = devices.reduce((sum, device) => sum + device.allowed_w, 0)
      if (allowed_w < wanted_w - steps_w) {
        throw new Broken(`plant ${logger_id} stays at ${allowed_w} of ${wanted_w} W for no reason`)
      }
    }
  }

  /** What stands there may be another's, or look like that for good: then it stays lower. */
  #mayStay({ device, is_touched, is_unsure }: Ledger): boolean {
    const { least_units, ramp_units, is_declared } = device.quirks
    const is_limited = least_units > 0 && !is_declared
    return is_touched || is_unsure || is_limited || ramp_units !== null
  }

  #ours(ledger: Ledger, before_w: number): void {
    const { allowed_w, build, written_ms } = ledger.device
    const who = `inverter ${build.inverter_id}`
    ledger.set_ms = this.#world.now_ms
    this.#countLowers(ledger, before_w)
    const is_unread = ledger.unread_w !== null || ledger.ceiling_w !== build.static_w
    // What we overwrote before we could read it nobody can hold us to.
    ledger.unread_w = null
    // One that is told to come down further is given the time for that anew.
    if (allowed_w < before_w && ledger.over_since_ms !== null) ledger.over_since_ms = this.#alive_ms
    // A command in percent of a lower ceiling comes to less than was sent: unknown until read.
    const lower_read_ms = ledger.device.is_rescaled ? ledger.lower_read_ms : 0
    const lowered_ms = Math.max(ledger.lowered_ms, lower_read_ms)
    const changed_ms = Math.max(lowered_ms, ledger.prior_read_ms, ledger.rescaled_ms)
    if (allowed_w <= before_w || is_unread || written_ms <= changed_ms) {
      // What we take down in part is no more ours than it was; and what was decided before it was
      // known to have come down was not decided to raise it. What was in percent of a ceiling that
      // was then raised is more than was decided, and nobody could know.
      ledger.level_w = Math.min(ledger.level_w, allowed_w)
      if (allowed_w > before_w) ledger.excess_since_ms = this.#alive_ms
      // Rounded by more than is declared it looks like a newer limit of another's.
      if (this.#isRounding(ledger)) ledger.prior_w = Math.max(ledger.prior_w, allowed_w)
      return
    }
    ledger.level_w = allowed_w
    // The same whole watts are another step in percent of another ceiling.
    const same_w = ledger.device.is_rescaled ? 1 : 0
    if (allowed_w > ledger.prior_w + same_w) {
      throw new Broken(`${who} was set to ${allowed_w} W, above ${ledger.prior_w} W of another's`)
    }
    const logger_id = Math.floor(build.inverter_id / 100)
    const known = this.#lately().some(({ plant_w }) => plant_w.has(logger_id))
    if (!known) throw new Broken(`${who} was raised to ${allowed_w} W without a permit`)
  }

  #isRounding({ device: { quirks } }: Ledger): boolean {
    return quirks.coarse_units > 1 && !quirks.is_declared
  }

  /** One that rounds by more than it declares is not walked down by that, step by step. */
  #countLowers(ledger: Ledger, before_w: number): void {
    const { allowed_w, build, quirks } = ledger.device
    // Just less than it held: a share that falls is no reason to judge.
    const less_w = before_w - ledger.device.meant_w
    const is_small =
      allowed_w < before_w && less_w <= (quirks.tolerance_units + 2) * build.step_w + 3
    ledger.small_lowers =
      is_small && this.#isRounding(ledger) && !this.#world.is_looped ? ledger.small_lowers + 1 : 0
    if (ledger.small_lowers <= small_lowers_max) return
    throw new Broken(`inverter ${build.inverter_id} was walked down to ${allowed_w} W`)
  }

  /** The ceiling is another: what our writes allow is at most what they came to. */
  #rescaled(ledger: Ledger, ratio: number, before_w: number): void {
    const { allowed_w } = ledger.device
    ledger.rescaled_ms = this.#world.now_ms
    if (allowed_w > before_w) {
      ledger.excess_since_ms = this.#alive_ms
      ledger.is_excess_seen = false
    }
    ledger.level_w = Math.min(ledger.level_w, allowed_w)
    if (ledger.unread_w !== null) ledger.unread_w *= ratio
    // What another set and still stands there goes along: one that starts then finds only that.
    if (Math.abs(before_w - ledger.prior_w) < 1) {
      ledger.prior_w = Math.max(ledger.prior_w, allowed_w)
    }
    // One that ignores its limit goes up with its ceiling: the others come down once that is read.
    if (ledger.over_since_ms !== null) {
      const { ignoring_ms, trouble_ms } = this.#allowances
      const since_ms = this.#alive_ms - ignoring_ms + trouble_ms
      ledger.over_since_ms = Math.max(ledger.over_since_ms, since_ms)
    }
  }

  #keepBounds(): void {
    const { permit_w, site_w } = this.#world
    const last = this.#bounds.at(-1)
    if (last?.plant_w === permit_w && last.site_w === site_w) last.until_ms = this.#alive_ms
    else {
      const since_ms = this.#alive_ms
      this.#bounds.push({ since_ms, until_ms: since_ms, plant_w: permit_w, site_w })
    }
    this.#bounds = this.#lately()
  }

  /** A permit that has just been lowered is still borne. */
  #lately(): Bounds[] {
    return this.#bounds.filter(
      ({ until_ms }) => this.#alive_ms - until_ms <= this.#allowances.trouble_ms,
    )
  }

  #watch(ledger: Ledger): void {
    const { device } = ledger
    if (device.is_troubled) {
      this.#troubled_ms = this.#alive_ms
      ledger.troubled_ms = this.#alive_ms
      ledger.heard_ms = null
    }
    this.#doubt(ledger)
    if (!device.is('silent')) ledger.silent_since_ms = null
    else ledger.silent_since_ms ??= this.#alive_ms
    // In a shadow nobody can measure that it could deliver more. A limit is read in whole watts.
    const over_w = this.#world.powerOf(device) - 0.02 * device.build.rated_w
    // One that comes down as fast as it can does not ignore its limit, and as long as it may be on
    // its way nobody can tell. A restart knows nothing of that, and while it could not be read
    // another may have raised and lowered it: it may come down from its ceiling then.
    const lowered_ms = Math.max(ledger.lowered_ms, ledger.found_ms, this.#started_ms) + poll_ms
    const may_ramp = this.#world.now_ms < lowered_ms + (traitsOf(device).ramp_ms ?? assumed_ramp_ms)
    const is_over = over_w > device.lets_w + 1 && !may_ramp
    const is_seen = !device.is('silent') && !device.is('lossy') && !device.is('nonsense')
    if (!is_over || !is_seen) ledger.over_since_ms = null
    else ledger.over_since_ms ??= this.#alive_ms
    // What a meter finds above the permit comes off that, and comes back too slowly to be judged.
    if (is_over && !is_seen) ledger.is_unsure = true
  }

  /** What it holds may be its own doing, as it rounds in a way that it does not declare. */
  #doubt(ledger: Ledger): void {
    const { device, set_ms, rescaled_ms, read_ms } = ledger
    const { quirks, is_rescaled } = device
    const is_beyond = quirks.beyond_ratio > 0 && (is_rescaled || device.is('ignoring'))
    // Nor what was set before, if nobody has read it.
    const is_unread = read_ms <= set_ms && set_ms <= rescaled_ms
    const is_moved = is_unread || Math.abs(set_ms - rescaled_ms) <= rescaled_lately_ms
    if (is_beyond || this.#isRounding(ledger) || is_moved) ledger.is_unsure = true
  }

  #obeys({ troubled_ms, heard_ms }: Ledger): boolean {
    const { answer_ms, search_ms } = this.#allowances
    const latest_ms = troubled_ms + search_ms
    return this.#alive_ms - Math.min(heard_ms ?? latest_ms, latest_ms) > answer_ms
  }

  /** What counts of a device now. */
  #counted_w(ledger: Ledger): number {
    const { device, level_w, excess_since_ms, silent_since_ms, over_since_ms } = ledger
    const { answer_ms, trouble_ms, ignoring_ms } = this.#allowances
    // A sleeping inverter delivers nothing, under permits and orders alike, from when the clocks
    // agreed once: one tick is enough for the edge. Here inverters wake without a dawn, which the
    // edge sees afterwards. edge/control/night.test.ts proves that it comes down before a real one.
    if (this.#world.may_be_dark && device.is('silent')) ledger.asleep_ms = this.#alive_ms
    if (this.#alive_ms - ledger.asleep_ms <= trouble_ms) return 0
    // It may be back within the second that is being judged.
    const since_ms = device.is('silent') ? silent_since_ms : null
    const silent_ms = this.#alive_ms - (since_ms ?? this.#alive_ms)
    const isCrowded = (from_ms: number) => ledger.crowded_ms >= from_ms - answer_ms
    const silence_ms = isCrowded(since_ms ?? this.#alive_ms) ? trouble_ms : answer_ms
    if (device.loses_limit && silent_ms > fresh_ms + silence_ms) {
      return Math.min(device.build.static_w, ledger.ceiling_w)
    }
    if (over_since_ms !== null && this.#alive_ms - over_since_ms > ignoring_ms) {
      return Math.max(device.allowed_w, this.#world.powerOf(device))
    }
    if (!device.loses_limit && !ledger.is_excess_seen) return level_w
    // What it has to leave to others, and they to it, depends on all.
    const is_obedient = this.#troubled_ms < excess_since_ms - answer_ms
    const more_ms = isCrowded(excess_since_ms) ? fresh_ms : 0
    const borne_ms = is_obedient ? answer_ms : trouble_ms + more_ms
    if (this.#alive_ms - excess_since_ms <= borne_ms) return level_w
    return Math.min(device.allowed_w, Math.max(level_w, ledger.ceiling_w))
  }

  #assess(raised: Ledger | null = null): void {
    const { plants } = this.#world
    const lately = this.#lately()
    if (lately.length === 0) return
    const of = new Map(
      plants.map((plant) => [plant, plant.devices.map((d) => this.#ledgers.get(d)!)]),
    )
    for (const [{ logger_id }, ledgers] of of) {
      const permits = lately.map(
        ({ plant_w }) => plant_w.get(logger_id) ?? Number.POSITIVE_INFINITY,
      )
      const permit_w = Math.max(...permits)
      this.#hold(`the permit of plant ${logger_id}`, ledgers, permit_w, raised)
      this.#holdFalling(`the permit of plant ${logger_id}`, ledgers, permit_w, raised)
      const row_w = this.applied_w.get(logger_id)
      if (row_w !== undefined) this.#hold(`a row of plant ${logger_id}`, ledgers, row_w, raised)
    }
    const sites = lately.map(({ site_w }) => site_w ?? Number.POSITIVE_INFINITY)
    const all = [...of.values()].flat()
    this.#hold('the permit of the site', all, Math.max(...sites), raised)
    this.#holdFalling('the permit of the site', all, Math.max(...sites), raised)
  }

  /** Nothing is raised into what another is still coming down from, cloud or not. */
  #holdFalling(
    what: string,
    ledgers: readonly Ledger[],
    bound_w: number,
    raised: Ledger | null,
  ): void {
    if (!raised || !ledgers.includes(raised)) return
    const sum_w = ledgers.reduce((sum, ledger) => {
      const falling_w = Math.min(ledger.device.lets_w, ledger.falls_from_w)
      return sum + Math.max(this.#counted_w(ledger), falling_w)
    }, 0)
    if (sum_w <= bound_w + rounding_w) return
    const who = raised.device.build.inverter_id
    throw new Broken(`${what} is ${bound_w} W, but ${sum_w} W come of raising ${who} so early`)
  }

  #hold(what: string, ledgers: readonly Ledger[], bound_w: number, raised: Ledger | null): void {
    if (bound_w === Number.POSITIVE_INFINITY) return
    let sum_w = 0
    for (const ledger of ledgers) sum_w += this.#counted_w(ledger)
    if (sum_w <= bound_w + rounding_w) return
    // Where only what cannot be commanded is left, there is nothing more to be done.
    const rest = ledgers.filter((ledger) => {
      return this.#obeys(ledger) && this.#counted_w(ledger) > ledger.device.least_w
    })
    if (rest.length === 0 && !(raised && ledgers.includes(raised))) return
    const ids = rest.map(({ device }) => device.build.inverter_id).join(', ')
    throw new Broken(`${what} is ${bound_w} W, but ${sum_w} W are allowed; ${ids} could be lower`)
  }
}
