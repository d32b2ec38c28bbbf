/** The plants of the site with their devices, as control knows them at an instant. */
import type { Stopwatch } from '@heliograph/domain/clock'
import { defaultPollIntervals, type Logger, type Site } from '@heliograph/domain/site'
import { wattsCovering, wattsWithin } from '@heliograph/domain/watts'
import { ControlledDevice, type ControlledDeviceNeeds } from './controlled-device.ts'
import { exceeded } from './core/core.ts'
import {
  type Controlled,
  coarsestStep,
  type Decision,
  decide,
  leftOf,
  type Order,
  type PlantNow,
  type SiteNow,
} from './decide.ts'
import { type DeclaredTraits, declaredOf } from './declared-traits.ts'
import { DeviceLimits, type Foreign } from './device-limits.ts'
import { controllerKey } from './device-name.ts'
import { type DeviceFacts, type DeviceRecord, fresh_polls, type Place } from './device-record.ts'
import type { Sun } from './night-watch.ts'
import { Places } from './places.ts'
import type { Ceiling } from './plant-ceilings.ts'
import { PlantLoops, plantMeter } from './plant-loops.ts'
import {
  type BatteryInRound,
  type BatteryPower,
  type MeasuredPower,
  measuredByDevices,
  measuredPower,
  type PowerRound,
  type PowerSource,
} from './power-rounds.ts'
import type { PlantPower } from './row-watch.ts'
import { groupsOf, type SourceBook, savedDevices, traitsOf } from './source-book.ts'
import { sum } from './sum.ts'

/** It cannot be told anything, and counts. */
interface RemovedDevice extends Controlled {
  is_removed: true
  /** site.yaml has it in another plant. */
  is_moved: boolean
}

export interface Plant {
  logger_id: number
  rated_w: number
  devices: readonly ControlledDevice[]
  /** Those that site.yaml does not have here any more, and that count on. */
  removed: readonly RemovedDevice[]
  /** The meter that measures what this plant feeds in; null: there is none. */
  meter_id: number | null
  /** By the stopwatch: when control of it began. */
  since_ms: number
  /** How far its limits may rise now, where the site has a ramp. */
  ramp: { budget_w: number; ceiling_w: number; at_ms: number }
}

type Terms = Pick<SiteNow, 'now_ms' | 'site_w' | 'batteries'>
type Held = Ceiling & Pick<PlantNow, 'joint'>

interface Known {
  description: string
  device: ControlledDevice
  place: Place
}

interface PlantsNeeds {
  stopwatch: Stopwatch
  /** By inverter_id, of an earlier run. */
  records: ReadonlyMap<number, DeviceRecord>
  note: ControlledDeviceNeeds['note']
  onChange(): void
  onForeign(inverter_id: number, foreign: Foreign): void
  book: SourceBook
  /** What is measured of batteries that feed in with a plant, and what those may that are not. */
  batteryPower(logger_id: number): BatteryPower
  /** A trial lowers what is requested of the devices of a plant. */
  lowered(
    plant: Pick<Plant, 'devices'>,
    most_w: ReadonlyMap<number, number> | null,
  ): ReadonlyMap<number, number> | null
}

const ramp_saved_s = 60

export class ControlledPlants {
  readonly #needs: PlantsNeeds
  readonly #records: Map<number, DeviceRecord>
  readonly #book: SourceBook
  /** Of all that count. */
  readonly #limits = new Map<number, DeviceLimits>()
  #plants = new Map<number, Plant>()
  #devices = new Map<number, Known>()
  /** Which devices of earlier site files count. */
  readonly removed: Places<number, Place>
  /** Those that are nowhere in this one, and were noted to be silent. */
  readonly #silent = new Set<number>()
  /** Plants that are not in site.yaml any more, and of which something counts. */
  #gone: Plant[] = []
  /** By the inverters that it limits. */
  readonly #controllers = new Map<number, ControlledDevice>()
  readonly #meters = new Map<number, { power_w: number | null; at_ms: number }>()
  readonly #loops = new PlantLoops((meter_id, now_ms) => {
    const metered = this.#meteredAt(meter_id, now_ms)
    return metered && { power_w: metered.measured_w, at_ms: metered.from_ms }
  })
  #connection_meter_id: number | null = null
  /** As of the last tick; null: not known yet. */
  sun: Sun | null = 'day'
  #intervals_ms = { inverter: 0, meter: 0 }
  #ramp_pct_per_min: number | null = null

  constructor(needs: PlantsNeeds) {
    this.#needs = needs
    this.#records = new Map(needs.records)
    this.removed = new Places<number, Place>(this.#records, (key, changes) => {
      const limits = this.#limits.get(key)
      limits?.stand(changes)
      this.#records.set(key, limits?.record ?? { ...this.#records.get(key)!, ...changes })
    })
    const now_ms = needs.stopwatch.elapsedMs()
    this.#book = needs.book
    this.#book.load(savedDevices(needs.records), now_ms)
  }

  apply(site: Site): void {
    this.records()
    const { inverter_s, meter_s } = { ...defaultPollIntervals, ...site.poll }
    this.#intervals_ms = { inverter: inverter_s * 1000, meter: meter_s * 1000 }
    this.#ramp_pct_per_min = site.control?.ramp_up_pct_per_min ?? null
    this.#loops.apply(site)
    const shared = site.meters?.find(({ role }) => role === 'grid_connection')
    this.#connection_meter_id = shared?.meter_id ?? null
    const before = this.#devices
    const plants_before = this.#plants
    this.#devices = new Map()
    this.#plants = new Map()
    this.#controllers.clear()
    const limited = new Map(site.loggers.map((logger) => [logger, limitedIn(logger)]))
    this.#describe([...limited.values()].flat())
    for (const [logger, within] of limited) {
      const devices = within.map(({ key, place, declared }) => {
        const description = JSON.stringify([key, place, declared, inverter_s])
        const known = before.get(key)
        const device =
          known?.description === description ? known.device : this.#control(key, place, declared)
        this.#devices.set(key, { description, device, place })
        return device
      })
      for (const { inverter_id } of logger.controller ? logger.inverters : []) {
        this.#controllers.set(inverter_id, devices[0]!)
      }
      const now_ms = this.#needs.stopwatch.elapsedMs()
      const known = plants_before.get(logger.logger_id)
      this.#plants.set(logger.logger_id, {
        logger_id: logger.logger_id,
        rated_w: wattsWithin(logger.rated_power_kw),
        devices,
        removed: [],
        meter_id: plantMeter(logger, site),
        since_ms: known?.since_ms ?? now_ms,
        ramp: known?.ramp ?? { budget_w: 0, ceiling_w: 0, at_ms: now_ms },
      })
    }
    for (const key of before.keys()) if (!this.#devices.has(key)) this.#limits.get(key)!.lost()
    for (const key of this.#devices.keys()) this.#silent.delete(key)
    const here = new Map([...this.#controllers].map(([id, { logger_id }]) => [id, logger_id]))
    for (const [key, { place }] of this.#devices) here.set(key, place.logger_id)
    this.removed.apply(here)
    this.countRemoved()
  }

  /** Tells the core what site.yaml has; what a device said of itself at its contact stays. */
  #describe(all: readonly LimitedDevice[]): void {
    const sources = all.map(({ key, place, declared }) => {
      const facts = this.#factsOf(place, declared)
      const limits = this.#limits.get(key)
      if (limits) limits.facts = facts
      return traitsOf({ key, plants: [place.logger_id], facts }, limits?.contact)
    })
    this.#book.describe('devices', sources)
  }

  get all(): Plant[] {
    return [...this.#plants.values()]
  }

  /** Those also that site.yaml does not have any more, as far as something of them counts. */
  get counted(): Plant[] {
    return [...this.all, ...this.#gone]
  }

  /** Those that are not in site.yaml any more, and of which something counts. */
  get gone(): readonly Plant[] {
    return this.#gone
  }

  /** The longest time that one of its devices needs to come down. */
  get comes_down_ms(): number {
    return this.all.reduce((longest_ms, { devices }) => {
      return Math.max(longest_ms, ...devices.map(({ limits }) => limits.comes_down_ms))
    }, 0)
  }

  of(logger_id: number): Plant | null {
    return this.#plants.get(logger_id) ?? null
  }

  device(inverter_id: number): ControlledDevice | null {
    return this.#devices.get(inverter_id)?.device ?? null
  }

  /** What limits an inverter: it is itself, or the controller of its plant. */
  limiterOf(inverter_id: number): ControlledDevice | null {
    return this.device(inverter_id) ?? this.#controllers.get(inverter_id) ?? null
  }

  onMeter(meter_id: number, power_w: number | null): void {
    this.#meters.set(meter_id, { power_w, at_ms: this.#needs.stopwatch.elapsedMs() })
  }

  /** What is to be durable of each device, those of earlier site files included. */
  records(): ReadonlyMap<number, DeviceRecord> {
    for (const [inverter_id, { device, place }] of this.#devices) {
      const is_known = device.is_heard || device.limits.source.command !== null
      if (is_known) this.removed.heardAt(inverter_id, place)
    }
    for (const [inverter_id, limits] of this.#limits) this.#records.set(inverter_id, limits.record)
    return this.#records
  }

  /** What to set now. */
  decide({ now_ms, site_w, batteries }: Terms, ceilingOf: (plant: Plant) => Held): Decision {
    const all = this.counted.map((plant) => ({ plant, ceiling: ceilingOf(plant) }))
    this.#lookAtRemoved(now_ms)
    const left_w = leftOf({ site_w, batteries })
    const all_ceilings_w = sum(all, ({ ceiling }) => ceiling.ceiling_w)
    const plants = all.map(({ plant, ceiling }): PlantNow => {
      this.#saveRamp(plant, ceiling.ceiling_w, now_ms)
      const { logger_id, rated_w } = plant
      const devices = [...plant.devices, ...plant.removed]
      // What the common connection holds back is no room that could be given away.
      const is_held_alone = all_ceilings_w <= left_w
      const shared_w = this.#loops.limitsOf(plant, is_held_alone ? ceiling : null, now_ms)
      const most_w = this.#needs.lowered(plant, shared_w)
      const is_known = this.isKnown(plant, now_ms)
      return { ...ceiling, logger_id, rated_w, is_known, devices, most_w }
    })
    const rise_w = this.#ramp_pct_per_min === null ? null : this.#riseOf
    const is_night = this.is_night
    if (this.#book.state.night.is_night !== is_night) this.#book.step({ is: 'night', is_night })
    return decide(this.#book, { plants, site_w, batteries, now_ms, rise_w })
  }

  /** A group of a device that may be exceeded now, or where nothing may be raised; null: none. */
  exceededBeside(inverter_id: number, now_ms: number): string | null {
    const { groups } = this.#book.source(String(inverter_id))!
    return exceeded(this.#book.state, groups, now_ms)
  }

  /** Each of its devices was read, or has been waited for. */
  isKnown({ devices, since_ms }: Plant, now_ms: number): boolean {
    if (now_ms - since_ms >= fresh_polls * this.#intervals_ms.inverter) return true
    return devices.every(({ is_heard }) => is_heard)
  }

  /** Looks at those that took a limit and did not show it yet. */
  async follow(): Promise<void> {
    const awaited = this.all.flatMap(({ devices }) => devices.filter((one) => one.is_awaited))
    await Promise.all(awaited.map((device) => device.follow()))
  }

  /** Takes what is to be raised off what the ramp allows. */
  onOrders(orders: readonly Order[]): void {
    for (const { inverter_id, limit_w, is_raise } of orders) {
      const device = this.device(inverter_id)
      if (!device || !is_raise) continue
      const plant = this.of(device.logger_id)
      if (plant) plant.ramp.budget_w -= limit_w - (device.limits.told_w ?? limit_w)
    }
  }

  worstOf({ devices, removed }: Plant, now_ms: number): number {
    return sumWorst([...devices, ...removed], now_ms)
  }

  /** What the registers of its devices let it deliver at most, whatever its power is yet. */
  heldOf({ devices, removed }: Plant, now_ms: number): number {
    return sum([...devices, ...removed], ({ limits }) => limits.held_w(now_ms))
  }

  /** Power that comes down to a lower limit as fast as its device can. */
  isRamping({ devices }: Plant, now_ms: number): boolean {
    return devices.some(({ limits }) => limits.isRamping(now_ms))
  }

  /** PV that does not answer delivers nothing. */
  get is_night(): boolean {
    return this.sun === 'night'
  }

  /** What inverters may deliver that may be asleep. */
  sleepingWorst(plant: Plant, now_ms: number): number {
    return sum([...this.#asleepOf(plant, now_ms)], (limits) => limits.worst_w(now_ms))
  }

  /** While the sun is low: those that do not answer, one that fell silent within a write, too. */
  #asleepOf(plant: Plant, now_ms: number): ReadonlySet<DeviceLimits> {
    if (this.sun === 'day') return new Set()
    const unanswered = plant.devices.filter(
      ({ failure, is_gone, limits }) =>
        is_gone || failure?.code === 'timeout' || limits.isUnseen(now_ms),
    )
    const removed = plant.removed.filter(({ limits }) => !limits.isFresh(now_ms))
    const asleep = [...this.silentOf(plant, now_ms), ...removed, ...unanswered]
    return new Set(asleep.map(({ limits }) => limits))
  }

  /**
   * Those of site.yaml that do not answer: not one that answers, and whose limit cannot be read.
   * What left site.yaml may have a battery on its DC side, which nothing knows of any more.
   */
  silentOf({ devices }: Plant, now_ms: number): readonly Pick<Controlled, 'limits'>[] {
    return devices.filter(({ power, limits }) => power === null && !limits.isFresh(now_ms))
  }

  /** What the meter of the common connection says; null: there is none, or it is silent. */
  connectionPower(now_ms: number): PlantPower | null {
    return this.#meteredAt(this.#connection_meter_id, now_ms)
  }

  #meteredAt(meter_id: number | null, now_ms: number): PlantPower | null {
    const metered = meter_id === null ? undefined : this.#meters.get(meter_id)
    if (!metered || metered.power_w === null) return null
    const { at_ms, power_w } = metered
    if (now_ms - at_ms > fresh_polls * this.#intervals_ms.meter) return null
    return { measured_w: power_w, unmeasured_w: 0, from_ms: at_ms, to_ms: at_ms }
  }

  /** By its meter, else by its devices; null while nothing was measured. */
  powerOf({ logger_id, meter_id, ...plant }: Plant, now_ms: number): PlantPower | null {
    const metered = this.#meteredAt(meter_id, now_ms)
    if (metered) return metered
    const beside = this.#needs.batteryPower(logger_id)
    const power: PlantPower = { ...beside, from_ms: now_ms, to_ms: 0 }
    power.unmeasured_w += sumWorst(plant.removed, now_ms)
    let is_any = false
    for (const device of plant.devices) {
      const { power_w, at_ms } = device.power ?? { power_w: null, at_ms: 0 }
      if (power_w === null) {
        power.unmeasured_w += device.limits.worst_w(now_ms)
        continue
      }
      is_any = true
      power.measured_w += power_w
      // Between two reads it may deliver anything.
      const { limits } = device
      const more_w = limits.isContested(now_ms) ? limits.worst_w(now_ms) - power_w : 0
      power.unmeasured_w += Math.max(0, more_w)
      power.from_ms = Math.min(power.from_ms, at_ms)
      power.to_ms = Math.max(power.to_ms, at_ms)
    }
    return is_any ? power : null
  }

  /** Who measures what a plant feeds in: its meter, else its devices. */
  powerSources(now_ms: number): PowerSource[] {
    return this.all.flatMap(({ meter_id, devices }): PowerSource[] => {
      if (this.#meteredAt(meter_id, now_ms)) return [`meter ${meter_id!}`]
      return devices.map(({ inverter_id }): PowerSource => `device ${inverter_id}`)
    })
  }

  /** What a poll round measured of each plant, those included that count on. */
  measuredIn(
    round: PowerRound,
    batteries: readonly BatteryInRound[],
    now_ms: number,
  ): ({ logger_id: number } & MeasuredPower)[] {
    return this.counted.map((plant) => {
      const { logger_id, meter_id } = plant
      const metered_w = meter_id === null ? null : (round.power_w.get(`meter ${meter_id}`) ?? null)
      if (metered_w !== null) return { logger_id, ...measuredPower(metered_w, null) }
      const within = batteries.filter((battery) => battery.logger_id === logger_id)
      const measured = measuredByDevices(plant, round, within, {
        now_ms,
        asleep: this.#asleepOf(plant, now_ms),
      })
      // What a plant uses and stores only its meter knows: devices alone prove less.
      const is_meter_late = this.#meteredAt(meter_id, now_ms) !== null
      const most_w = measured.at_most_w ?? measured.power_w ?? 0
      return { logger_id, ...(is_meter_late ? measuredPower(null, most_w) : measured) }
    })
  }

  #control(key: number, place: Place, declared: DeclaredTraits): ControlledDevice {
    const { stopwatch, note, onChange, onForeign } = this.#needs
    const { logger_id } = place
    return new ControlledDevice(
      { inverter_id: key, logger_id },
      this.#limitsOf(key, place, declared),
      {
        stopwatch,
        note,
        onChange,
        onForeign: (foreign) => {
          this.#loops.disturb(logger_id, stopwatch.elapsedMs())
          onForeign(key, foreign)
        },
      },
    )
  }

  #factsOf({ rated_w, max_w }: Place, declared: DeclaredTraits): DeviceFacts {
    const fresh_ms = fresh_polls * this.#intervals_ms.inverter
    return { rated_w, default_max_w: max_w, fresh_ms, declared }
  }

  /** What is known of a device outlives its place in site.yaml. */
  #limitsOf(key: number, place: Place, declared: DeclaredTraits = {}): DeviceLimits {
    const facts = this.#factsOf(place, declared)
    const record = this.#records.get(key) ?? null
    const limits = this.#limits.get(key) ?? new DeviceLimits(this.#book, { key, facts }, record)
    this.#limits.set(key, limits)
    return limits
  }

  /** An operator said that a device is disconnected, or not in a plant that it left. */
  onFreed(inverter_id: number): void {
    this.#release(inverter_id, this.removed.placesOf(inverter_id))
    this.countRemoved()
  }

  #release(key: number, plants: readonly number[]): void {
    const groups = plants.length === 0 ? [] : groupsOf(plants)
    this.#book.step({ is: 'released', id: String(key), groups })
  }

  /** After another site file, and where an operator said that one is disconnected. */
  countRemoved(): void {
    const counting = this.removed.counting()
    const ids = new Set([...counting.values()].flat())
    const sources = [...this.#book.state.sources.keys()].map(Number)
    for (const key of new Set([...sources, ...this.#limits.keys()])) {
      // A PCS is named otherwise.
      if (Number.isNaN(key) || ids.has(key) || this.#devices.has(key)) continue
      this.#release(key, [])
      this.#limits.delete(key)
    }
    const removedOf = (logger_id: number) =>
      (counting.get(logger_id) ?? []).map((id) => this.#removedAs(id))
    for (const plant of this.all) plant.removed = removedOf(plant.logger_id)
    this.#gone = [...counting.keys()]
      .filter((logger_id) => !this.#plants.has(logger_id))
      .map((logger_id) => ({
        logger_id,
        rated_w: 0,
        devices: [],
        meter_id: null,
        since_ms: 0,
        removed: removedOf(logger_id),
        ramp: { budget_w: 0, ceiling_w: 0, at_ms: 0 },
      }))
  }

  #removedAs(inverter_id: number): RemovedDevice {
    const limits =
      this.#limits.get(inverter_id) ??
      this.#limitsOf(inverter_id, this.#records.get(inverter_id)!.place!)
    const is_moved = this.limiterOf(inverter_id) !== null
    return { inverter_id, limits, has_control: false, is_busy: false, is_removed: true, is_moved }
  }

  /** One that left site.yaml is not polled any more. */
  #lookAtRemoved(now_ms: number): void {
    for (const [inverter_id, limits] of this.#limits) {
      if (this.#devices.has(inverter_id) || this.#silent.has(inverter_id)) continue
      if (limits.isFresh(now_ms)) continue
      this.#silent.add(inverter_id)
      this.#needs.note({ is: 'gone', inverter_id, stays: limits.stays })
    }
  }

  /** What was not used is kept for a minute, or until it is a step of a register. */
  #saveRamp({ ramp, rated_w, devices }: Plant, ceiling_w: number, now_ms: number): void {
    const w_per_s = (rated_w * (this.#ramp_pct_per_min ?? 0)) / 100 / 60
    const saved_w = ceiling_w > ramp.ceiling_w ? 0 : ramp.budget_w
    const more_w = (w_per_s * (now_ms - ramp.at_ms)) / 1000
    const steps_w = devices.map(({ limits }) => coarsestStep(limits))
    const most_w = Math.max(w_per_s * ramp_saved_s, ...steps_w)
    ramp.budget_w = Math.min(saved_w + more_w, most_w)
    ramp.ceiling_w = ceiling_w
    ramp.at_ms = now_ms
  }

  readonly #riseOf = ({ logger_id }: PlantNow): number =>
    Math.max(0, Math.floor(this.of(logger_id)?.ramp.budget_w ?? 0))
}

const sumWorst = (devices: readonly Pick<Controlled, 'limits'>[], now_ms: number) =>
  sum(devices, ({ limits }) => limits.worst_w(now_ms))

/** What is limited by commands of its own, by what site.yaml says of it. */
interface LimitedDevice {
  key: number
  place: Place
  declared: DeclaredTraits
}

/** The inverters of a plant, or what limits all of them by one command. By their keys. */
function limitedIn({ logger_id, controller, inverters }: Logger): LimitedDevice[] {
  const each = inverters.map(({ inverter_id, rated_ac_power_kw, max_ac_power_kw = 0, limit }) => {
    const rated_w = wattsWithin(rated_ac_power_kw)
    const max_w = wattsCovering(Math.max(max_ac_power_kw, rated_ac_power_kw))
    const place = { logger_id, rated_w, max_w }
    return { key: inverter_id, place, declared: declaredOf(limit, rated_w) }
  })
  if (!controller) return each
  const place = {
    logger_id,
    rated_w: sum(each, (one) => one.place.rated_w),
    max_w: sum(each, (one) => one.place.max_w),
    inverters: each.map(({ key }) => key),
  }
  return [
    { key: controllerKey(logger_id), place, declared: declaredOf(controller.limit, place.rated_w) },
  ]
}
