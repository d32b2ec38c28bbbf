/**
 * The least that makes the pure core a controller: polls, decides each second, writes down what it
 * begins, writes, reads back. It takes no time but virtual time and no promises, so that millions
 * of seconds can be tried.
 */
import { type CurtailmentRow, isInForce, mergeRow, rowKey } from '@heliograph/domain/curtailment'
import { isSound } from '../controlled-device.ts'
import { decide, type Order, type PlantNow } from '../decide.ts'
import { DeviceLimits } from '../device-limits.ts'
import type { DeviceFacts, DeviceRecord } from '../device-record.ts'
import { type Ceiling, ceilingUnder, leastOf } from '../plant-ceilings.ts'
import { type Looped, PlantLoops } from '../plant-loops.ts'
import { traitsOf as described, SourceBook, savedDevices } from '../source-book.ts'
import type { SimulatedDevice } from './device.ts'
import { readLimit, settable, traitsOf, writeLimit } from './device-driver.ts'
import type { Judge } from './judge.ts'
import { poll_ms, type World, type WorldPlant } from './world.ts'

const fresh_ms = 3 * poll_ms
const hold_ms = 60_000

/** What is on disk: what was waited for, and what the disk may or may not have by now. */
export class Disk {
  durable = new Map<number, DeviceRecord>()
  latest = new Map<number, DeviceRecord>()
  /** Heard of, by key: durable before it counts. */
  readonly rows = new Map<string, CurtailmentRow>()

  /** A loss of power: the disk has any state between the two. */
  lose(keepsLatest: boolean): void {
    if (keepsLatest) this.durable = new Map(this.latest)
    else this.latest = new Map(this.durable)
  }
}

interface Write {
  limit_w: number
  execute_at_ms: number
  answer_at_ms: number
  answer: 'done' | 'refused' | 'lost' | null
}

interface Held extends Looped {
  device: SimulatedDevice
  was_read: boolean
  write: Write | null
}

export class ThinEdge {
  readonly #world: World
  readonly #judge: Judge
  readonly #disk: Disk
  readonly #note: (text: () => string) => void
  readonly #book: SourceBook
  readonly #held: ReadonlyMap<number, Held>
  readonly #plants: readonly { plant: WorldPlant; held: readonly Held[] }[]
  readonly #started_ms: number
  readonly #applied = new Set<string>()
  /** By plant. */
  readonly #metered = new Map<number, { power_w: number; at_ms: number }>()
  readonly #loops = new PlantLoops((logger_id, now_ms) => {
    const metered = this.#metered.get(logger_id)
    return metered && now_ms - metered.at_ms <= fresh_ms ? metered : null
  })
  #jump: { before_ms: number; until_ms: number } | null = null

  constructor(world: World, judge: Judge, disk: Disk, note: (text: () => string) => void) {
    this.#world = world
    this.#judge = judge
    this.#disk = disk
    this.#note = note
    this.#started_ms = world.now_ms
    this.#book = new SourceBook(world.now_ms)
    this.#book.load(savedDevices(disk.durable), world.now_ms)
    const sources = world.plants.flatMap(({ logger_id, devices }) =>
      devices.map((device) => {
        return described({
          key: device.build.inverter_id,
          plants: [logger_id],
          facts: factsOf(device),
        })
      }),
    )
    this.#book.describe('devices', sources)
    this.#plants = world.plants.map((plant) => ({
      plant,
      held: plant.devices.map((device) => holdOf(device, this.#book, disk)),
    }))
    this.#held = new Map(
      this.#plants.flatMap(({ held }) => held).map((held) => [held.inverter_id, held]),
    )
    this.#loops.apply({
      control: { closed_loop: world.is_looped },
      poll: { inverter_s: poll_ms / 1000, meter_s: poll_ms / 1000 },
      loggers: world.plants,
      meters: world.plants.map(({ logger_id }) => ({
        meter_id: logger_id,
        logger_id,
        role: 'plant',
      })),
    })
  }

  tick(): void {
    const { now_ms, is_linked, jumped_ms, wall_ms } = this.#world
    if (is_linked) this.#hear()
    if (Math.abs(jumped_ms) > hold_ms) {
      this.#jump = { before_ms: wall_ms - jumped_ms - now_ms, until_ms: now_ms + hold_ms }
    }
    for (const held of this.#held.values()) this.#attend(held)
    this.#meter()
    const plants = this.#looped(this.#plants.map(({ plant, held }) => this.#plantNow(plant, held)))
    const { site_w, ramp_pct_per_min } = this.#world
    const rise_w = ramp_pct_per_min === null ? null : ({ rated_w }: PlantNow) => rated_w / 4
    const decision = decide(this.#book, { plants, site_w, now_ms, rise_w })
    if (decision.fault !== null) throw new Error(decision.fault)
    for (const held of this.#held.values()) this.#saveSilence(held)
    this.#apply()
    for (const order of decision.orders) this.#begin(order)
  }

  #hear(): void {
    for (const row of this.#world.rows) {
      const known = this.#disk.rows.get(rowKey(row))
      if (known !== row) this.#disk.rows.set(rowKey(row), known ? mergeRow(known, row) : row)
    }
  }

  /** Goes on with what is being written, and polls it in its turn. */
  #attend(held: Held): void {
    const { now_ms } = this.#world
    const { write, device, limits } = held
    if (write) {
      if (!write.answer && now_ms >= write.execute_at_ms) {
        write.answer = writeLimit(device, write.limit_w)
      }
      if (write.answer && now_ms >= write.answer_at_ms) this.#finish(held, write)
    }
    if ((now_ms / 1000 + held.inverter_id) % (poll_ms / 1000) === 0) {
      if (this.#read(held)) {
        const power_w = this.#world.powerOf(device)
        held.power = { power_w, at_ms: now_ms }
        limits.onPower(power_w, now_ms)
      } else limits.lost()
    }
  }

  #finish(held: Held, write: Write): void {
    held.write = null
    held.is_busy = false
    held.limits.done(write.limit_w, this.#world.now_ms, write.answer === 'refused')
    this.#read(held)
    if (held.limits.is_proven) this.#save()
    this.#note(() => `${held.inverter_id}: ${write.answer}, proven: ${held.limits.is_proven}`)
  }

  #read({ device, limits, inverter_id }: Held): boolean {
    const state = readLimit(device)
    if (!state || !isSound(state)) return false
    this.#held.get(inverter_id)!.was_read = true
    limits.onContact({ traits: knownTraits(device), control: controlOf(device) })
    const foreign = limits.onRead(state, this.#world.now_ms)
    const { external_w } = limits.record
    // The controller saves within a second what it found.
    if (external_w !== this.#disk.durable.get(inverter_id)?.external_w) {
      this.#disk.latest.set(inverter_id, limits.record)
      this.#save()
    }
    if (foreign) {
      this.#disk.latest.set(inverter_id, limits.record)
      this.#save()
      this.#loops.disturb(Math.floor(inverter_id / 100), this.#world.now_ms)
      this.#note(() => `${inverter_id}: ${foreign}: ${JSON.stringify(state)}`)
    }
    this.#disk.latest.set(inverter_id, limits.record)
    this.#judge.wasRead(device)
    return true
  }

  #save(): void {
    this.#disk.durable = new Map(this.#disk.latest)
  }

  /** A restart goes on from how long a device has not been read, whatever else is lost. */
  #saveSilence({ inverter_id, limits }: Held): void {
    const { unheard_ms = 0 } = limits.record
    for (const records of [this.#disk.latest, this.#disk.durable]) {
      const record = records.get(inverter_id)
      if (record && unheard_ms > (record.unheard_ms ?? 0)) {
        records.set(inverter_id, { ...record, unheard_ms })
      }
    }
  }

  /** Of each plant, by its number. */
  #meter(): void {
    if (this.#world.now_ms % poll_ms !== 0) return
    for (const { plant, held } of this.#plants) {
      const power_w = held.reduce((sum, { device }) => sum + this.#world.powerOf(device), 0)
      this.#metered.set(plant.logger_id, { power_w, at_ms: this.#world.now_ms })
    }
  }

  #looped(plants: readonly PlantNow[]): PlantNow[] {
    const { site_w, now_ms } = this.#world
    const all_w = plants.reduce((sum, { ceiling_w }) => sum + ceiling_w, 0)
    const is_held_alone = site_w === null || all_w <= site_w
    return plants.map((plant, nth) => {
      const { logger_id, rated_w } = plant
      const { held } = this.#plants[nth]!
      const looped = { logger_id, rated_w, devices: held }
      const most_w = this.#loops.limitsOf(looped, is_held_alone ? plant : null, now_ms)
      return { ...plant, most_w }
    })
  }

  #plantNow(plant: WorldPlant, held: readonly Held[]): PlantNow {
    const { now_ms, permit_w } = this.#world
    const waited_ms = now_ms - this.#started_ms
    const { logger_id, rated_w } = plant
    const ceiling = this.#ceiling({ logger_id, rated_w, permit_w: permit_w.get(logger_id) ?? null })
    const is_known = waited_ms >= fresh_ms || held.every(({ was_read }) => was_read)
    return { ...ceiling, logger_id, rated_w, devices: held, is_known }
  }

  /** Where clocks disagree, and for a while after a jump, the least by any of them. */
  #ceiling(facts: { logger_id: number; rated_w: number; permit_w: number | null }): Ceiling {
    const { wall_ms, server_ms, now_ms } = this.#world
    const times = new Set([wall_ms, server_ms])
    if (this.#jump && now_ms < this.#jump.until_ms) times.add(this.#jump.before_ms + now_ms)
    const rows = [...this.#disk.rows.values()].filter((row) => row.logger_id === facts.logger_id)
    const permit_w = facts.permit_w ?? Number.POSITIVE_INFINITY
    const terms = { rated_w: facts.rated_w, permit_w, may_raise: facts.permit_w !== null }
    return [...times]
      .map((at) => leastOf(rows.filter((row) => isInForce(row, at))))
      .map((row_w) => ceilingUnder({ ...terms, row_w }))
      .reduce((least, one) => (one.ceiling_w < least.ceiling_w ? one : least))
  }

  /** A row is applied once the worst case lies within it. */
  #apply(): void {
    const applied_w = new Map<number, number>()
    for (const [key, row] of this.#disk.rows) {
      const limit_w = row.max_power_kw * 1000
      const { wall_ms, server_ms } = this.#world
      if (!isInForce(row, wall_ms) && !isInForce(row, server_ms)) {
        this.#applied.delete(key)
        continue
      }
      const { held } = this.#plants.find(({ plant }) => plant.logger_id === row.logger_id)!
      const worst_w = held.reduce((sum, { limits }) => sum + limits.worst_w(this.#world.now_ms), 0)
      if (worst_w <= limit_w) this.#applied.add(key)
      const lowest_w = applied_w.get(row.logger_id) ?? Number.POSITIVE_INFINITY
      if (this.#applied.has(key)) applied_w.set(row.logger_id, Math.min(lowest_w, limit_w))
    }
    this.#judge.applied_w = applied_w
  }

  #begin({ inverter_id, limit_w, is_raise }: Order): void {
    const held = this.#held.get(inverter_id)!
    const { now_ms, chance } = this.#world
    this.#note(() => `${inverter_id}: ${is_raise ? 'raise' : 'lower'} to ${limit_w} W`)
    held.device.mean(limit_w)
    held.limits.begin(limit_w, now_ms)
    this.#disk.latest.set(inverter_id, held.limits.record)
    this.#save()
    held.is_busy = true
    const execute_at_ms = now_ms + chance.between(0, 2) * 1000
    const answer_at_ms = execute_at_ms + chance.between(0, 1) * 1000
    held.write = { limit_w, execute_at_ms, answer_at_ms, answer: null }
  }
}

/** That a device acts late is left to the controller, which looks again; not how it moves. */
function knownTraits(device: SimulatedDevice) {
  const traits = traitsOf(device)
  const is_known = device.quirks.ramp_units !== null || device.build.restarts_delay
  return is_known ? traits : { ...traits, applies_within_ms: 0 }
}

function factsOf(device: SimulatedDevice): DeviceFacts {
  const { rated_w, static_w } = device.build
  return { rated_w, default_max_w: Math.max(rated_w, static_w), fresh_ms }
}

const controls = new WeakMap<SimulatedDevice, { settable(limit_w: number): number }>()

function controlOf(device: SimulatedDevice) {
  const control = controls.get(device) ?? { settable: (limit_w) => settable(device, limit_w) }
  controls.set(device, control)
  return control
}

function holdOf(device: SimulatedDevice, book: SourceBook, disk: Disk): Held {
  const { inverter_id } = device.build
  const record = disk.durable.get(inverter_id) ?? null
  return {
    inverter_id,
    device,
    limits: new DeviceLimits(book, { key: inverter_id, facts: factsOf(device) }, record),
    has_control: true,
    is_busy: false,
    was_read: false,
    write: null,
    power: null,
  }
}
