/**
 * Holds every plant to its ceiling: each second, and at once when something changed, it takes what
 * is known of the devices, decides, writes down what it is about to do, does it, and reads it back.
 * It keeps no plan: after a restart, a lost link or a failed write the next tick starts from what
 * was read. It goes on without a server for as long as there are rows and a permit.
 */
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { CurtailmentRow, RowReport } from '@heliograph/domain/curtailment'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Limiter } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import type { Conditions, Source } from '../conditions.ts'
import { type Ceiling, plantCeiling } from './ceiling.ts'
import { ClockWatch } from './clock-watch.ts'
import { ControlAlerts } from './control-alerts.ts'
import type { ControlLog, Noted } from './control-entry.ts'
import { ControlNotes } from './control-notes.ts'
import type { ControlStore } from './control-store.ts'
import type { DeviceRead } from './controlled-device.ts'
import { ControlledPlants, type Plant } from './controlled-plants.ts'
import { type Decision, decide, type Order } from './decide.ts'
import type { DeviceRecord } from './device-limits.ts'
import { isSamePermit, type Permit, shareOfPermit } from './permit-terms.ts'
import { RowBook } from './row-book.ts'
import type { PlantLook } from './row-watch.ts'

export interface ControllerNeeds {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  store: ControlStore
  /** null: none was ever accepted. */
  permit(): Permit | null
  log: ControlLog
  onEvent(event: LinkEvent | null): void
  conditions: Conditions
  /** The edge itself, as a source of events. */
  source: Source
  onReport(reports: RowReport[]): void
  /** What goes wrong beside the devices: the disk, the control log, the decision itself. */
  onFault?(error: Error): void
}

/** What a tick goes by. */
interface Moment {
  /** Unix ms, and ms by the stopwatch. */
  now: number
  now_ms: number
  permit: Permit | null
  /** In force now, by plant. */
  rows: ReadonlyMap<number, readonly CurtailmentRow[]>
}

const tick_ms = 1000

export class Controller {
  readonly #needs: ControllerNeeds
  readonly #alerts: ControlAlerts
  readonly #notes: ControlNotes
  readonly #plants: ControlledPlants
  readonly #rows: RowBook
  readonly #clock_watch: ClockWatch
  #devices_saved: ReadonlyMap<number, DeviceRecord> = new Map()
  #is_unsaved = false
  #is_clock_settled = true
  /** How long after a tick a raise is due that its device's interval keeps back. */
  #raise_in_ms = Number.POSITIVE_INFINITY
  #is_started = false
  #is_woken = false
  #ticking: Promise<void> | null = null
  readonly #working = new Set<Promise<unknown>>()
  #cancelTimer = () => {}

  constructor(needs: ControllerNeeds) {
    this.#needs = needs
    const { stopwatch, store } = needs
    this.#alerts = new ControlAlerts(needs)
    this.#notes = new ControlNotes(needs)
    this.#rows = new RowBook(store, stopwatch.elapsedMs())
    const latest_at = store.rows.reduce((at, { reported_at }) => Math.max(at, reported_at), 0)
    this.#clock_watch = new ClockWatch(latest_at)
    this.#plants = new ControlledPlants({
      stopwatch,
      records: store.devices,
      note: (entry) => this.#note(entry),
      onChange: () => this.#wake(),
      onForeign: (inverter_id, foreign) => this.#alerts.contention(inverter_id, foreign),
    })
  }

  /** Controls the devices of this site from now on; those described as before go on. */
  apply(site: Site): void {
    this.#plants.apply(site)
    this.#alerts.apply(site)
    this.#note({ is: 'site', plants: this.#plants.all.map(describe) })
    this.#wake()
  }

  /**
   * Takes rows in, together with what is known: of what they do not mention nothing changes. They
   * are obeyed at once. Resolves when they are durable; rejects when they cannot be made so, which
   * is tried again at each tick, and until then they are not reported.
   */
  async hear(rows: readonly CurtailmentRow[]): Promise<void> {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const news = this.#rows.hear(rows, this.#now(), now_ms)
    for (const row of news) {
      this.#note({ is: 'row', row })
      for (const device of this.#plants.of(row.logger_id)?.devices ?? []) device.retryNow()
    }
    this.#wake()
    if (this.#rows.is_saved) return
    await this.#rows.save()
    this.#wake()
  }

  /**
   * What one poll of an inverter, or of the controller of a plant (`controllerKey`), found. Its
   * `control` is another object at each new contact.
   */
  onRead(inverter_id: number, read: DeviceRead): void {
    this.#plants.device(inverter_id)?.onRead(read)
  }

  onGone(inverter_id: number): void {
    this.#plants.device(inverter_id)?.onGone()
  }

  /** Power is positive when the plant feeds in. */
  onMeter(meter_id: number, power_w: number | null): void {
    this.#plants.onMeter(meter_id, power_w)
  }

  /** Of the reading that `onRead` was told of last. */
  limitedBy(inverter_id: number): Limiter {
    return this.#plants.limiterOf(inverter_id)?.limited_by ?? 'unknown'
  }

  start(): void {
    this.#is_started = true
    this.#note({ is: 'started' })
    this.#run()
  }

  /** Ends after what is under way at the devices, and leaves their limits as they are. */
  async stop(): Promise<void> {
    this.#is_started = false
    this.#cancelTimer()
    await this.#ticking
    await Promise.all(this.#working)
    await this.#attempt(this.#rows.save())
    await this.#attempt(this.#saveDevices())
    await this.#attempt(this.#notes.write({ is: 'stopped' }))
  }

  #wake(): void {
    if (this.#is_woken) return
    this.#is_woken = true
    if (this.#is_started && !this.#ticking) this.#plan(0)
  }

  #plan(delay_ms: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#needs.timers.after(delay_ms, () => this.#run())
  }

  #run(): void {
    if (this.#ticking || !this.#is_started) return
    this.#is_woken = false
    this.#ticking = this.#attempt(this.#tick()).then(() => {
      this.#ticking = null
      if (this.#is_started) this.#plan(this.#is_woken ? 0 : this.#untilNext())
    })
  }

  #untilNext(): number {
    const rests_ms = this.#plants.all
      .flatMap(({ devices }) => devices.map((device) => device.rests_ms))
      .filter((rest_ms) => rest_ms > 0)
    const now = this.#now()
    return Math.min(untilGrid(now), this.#rows.untilNext(now), this.#raise_in_ms, ...rests_ms)
  }

  async #tick(): Promise<void> {
    const now = this.#now()
    const moment: Moment = {
      now,
      now_ms: this.#needs.stopwatch.elapsedMs(),
      permit: this.#needs.permit(),
      rows: this.#rows.inForce(now),
    }
    const { permit } = moment
    this.#notes.permit(permit)
    this.#arm(moment)
    const decision = this.#decide(moment)
    this.#raise_in_ms = decision?.raise_in_ms ?? Number.POSITIVE_INFINITY
    if (!decision) return
    this.#tell(decision, moment)
    // With what was decided on: what is heard while the orders are written down comes after it.
    const due = this.#rows.look(now, (logger_id) => this.#lookAt(logger_id, decision, moment))
    const orders = decision.orders.filter((order) => this.#isAskedFor(order, moment))
    await this.#order(orders, permit)
    this.#work(this.#plants.follow())
    if (due.length === 0 && this.#rows.is_saved) return
    const reports = await this.#rows.report(due)
    if (reports.length > 0) this.#needs.onReport(reports)
  }

  #decide(moment: Moment): Decision | null {
    const { now, now_ms, permit } = moment
    this.#is_clock_settled = this.#clock_watch.look(now, now_ms)
    const ceilingOf = (plant: Plant): Ceiling => {
      const ceiling = this.#ceilingOf(plant, moment)
      return { ...ceiling, may_raise: ceiling.may_raise && this.#is_clock_settled }
    }
    try {
      const site = this.#plants.now(now_ms, permit?.site_w ?? null, ceilingOf)
      const decision = decide({ ...site, now_ms })
      this.#alerts.fault(
        this.#is_unsaved ? 'nothing can be written down, and nothing is raised' : null,
      )
      return decision
    } catch (error) {
      this.#note({ is: 'fault', message: (error as Error).message })
      this.#alerts.fault('its decision failed its own check, and nothing is set')
      this.#needs.onFault?.(error as Error)
      return null
    }
  }

  #ceilingOf(plant: Plant, { permit, rows, now }: Moment): Ceiling {
    const { logger_id } = plant
    const permit_w = permit?.plant_w.get(logger_id) ?? null
    const in_force = rows.get(logger_id) ?? []
    const rated_w = this.#isIdle(plant, permit, in_force) ? Number.POSITIVE_INFINITY : plant.rated_w
    return plantCeiling({ logger_id, rated_w, permit_w }, in_force, now)
  }

  /** Nobody asked for control of it: then it is not held, not even to its rated power. */
  #isIdle({ logger_id }: Plant, permit: Permit | null, rows: readonly CurtailmentRow[]): boolean {
    const has_permit = permit !== null && (permit.site_w !== null || permit.plant_w.has(logger_id))
    return !has_permit && rows.length === 0
  }

  #isAskedFor({ inverter_id }: Order, { permit, rows }: Moment): boolean {
    const plant = this.#plants.of(this.#plants.device(inverter_id)!.logger_id)!
    return !this.#isIdle(plant, permit, rows.get(plant.logger_id) ?? [])
  }

  /** At each new contact, and when a device's share of the permit is another. */
  #arm({ permit }: Moment): void {
    const plants = this.#plants.all
    const ratedOf = (of: readonly Plant[]) =>
      of.flatMap(({ devices }) => devices).reduce((sum, d) => sum + d.limits.facts.rated_w, 0)
    const site_rated_w = ratedOf(plants)
    for (const plant of plants) {
      const plant_rated_w = ratedOf([plant])
      for (const device of plant.devices) {
        const { logger_id, inverter_id } = device
        const terms = { logger_id, rated_w: device.limits.facts.rated_w }
        const share_w = shareOfPermit(permit, terms, { plant_rated_w, site_rated_w })
        if (share_w === null || !device.needsArming(share_w)) continue
        this.#work(
          device.arm(share_w).then((complaints) => this.#alerts.notArmed(inverter_id, complaints)),
        )
      }
    }
  }

  /**
   * First made durable, all together; then each device by itself. What was decided to be raised
   * under another permit than there is by then is not.
   */
  async #order(orders: readonly Order[], permit: Permit | null): Promise<void> {
    const begun = orders.map((order) => ({
      order,
      device: this.#plants.device(order.inverter_id)!,
    }))
    this.#plants.onOrders(orders)
    for (const { device, order } of begun) device.begin(order)
    const notes = orders.map((order) => this.#notes.write({ is: 'order', ...order }))
    const is_durable = await this.#attempt(Promise.all([this.#saveDevices(), ...notes]))
    this.#is_unsaved = !is_durable
    const may_raise = is_durable && isSamePermit(permit, this.#needs.permit())
    for (const { device, order } of begun) {
      // What only lowers goes even so: at worst it is taken for another's limit after a restart.
      if (may_raise || !order.is_raise) this.#work(device.carryOut(order))
      else device.abandon()
    }
  }

  #tell(decision: Decision, moment: Moment): void {
    const { now, now_ms, permit } = moment
    this.#alerts.look(now_ms)
    const bound = this.#rows.bound(now)
    let fixed_w = 0
    for (const plant of this.#plants.all) {
      const { logger_id, devices } = plant
      const decided = decision.plants.get(logger_id)!
      const ceiling = this.#ceilingOf(plant, moment)
      const is_cut = decided.ceiling_w < ceiling.ceiling_w
      const held_by = is_cut ? 'permit' : ceiling.held_by
      const worst_w = this.#plants.worstOf(plant, now_ms)
      const is_clear = devices.every(({ limits }) => limits.isClear(now_ms))
      for (const device of devices) {
        device.heldBy(held_by, is_clear)
        this.#alerts.notEffective(device.inverter_id, device.limits.is_ineffective)
      }
      const permit_w = permit?.plant_w.get(logger_id)
      const is_wanted = permit !== null || bound.has(logger_id)
      this.#alerts.permitMissing(logger_id, permit_w === undefined && is_wanted)
      const is_known = this.#plants.isKnown(plant, now_ms)
      const is_over = permit_w !== undefined && decided.fixed_w > permit_w
      this.#alerts.permitUnenforceable(logger_id, is_known && is_over)
      fixed_w += is_known ? decided.fixed_w : 0
      this.#notes.plant(
        { logger_id, held_by, may_raise: ceiling.may_raise, is_known, worst_w },
        decided.ceiling_w,
        this.#plants.powerOf(plant, now_ms)?.measured_w ?? null,
      )
    }
    this.#alerts.permitUnenforceable(null, fixed_w > (permit?.site_w ?? fixed_w))
  }

  #lookAt(logger_id: number, decision: Decision, { now, now_ms, permit }: Moment): PlantLook {
    const plant = this.#plants.of(logger_id)
    if (!plant) {
      const failure = { code: 'driver_error', message: 'this site has no such plant' } as const
      const none = { rated_w: 0, worst_w: Number.POSITIVE_INFINITY, is_free: false, power: null }
      const known = { is_known: true, is_settled: true }
      return { now, now_ms, ...none, ...known, failure, refusal: null, failed_attempts: 0 }
    }
    const { devices, rated_w } = plant
    const is_known = this.#plants.isKnown(plant, now_ms)
    const failures = devices.map(({ failure }) => failure).filter((failure) => failure !== null)
    return {
      now,
      now_ms,
      rated_w,
      worst_w: this.#plants.worstOf(plant, now_ms),
      is_known,
      is_settled: decision.plants.get(logger_id)!.is_settled && is_known,
      is_free: permit === null,
      power: this.#plants.powerOf(plant, now_ms),
      failure: failures.find(({ code }) => code !== 'timeout') ?? failures[0] ?? null,
      refusal: this.#refusalOf(plant, permit),
      failed_attempts: devices.reduce((sum, device) => sum + device.failed_attempts, 0),
    }
  }

  /** Why nothing may be raised there, whatever the permit says; null: it may be. */
  #refusalOf({ logger_id }: Plant, permit: Permit | null): string | null {
    if (!permit?.plant_w.has(logger_id)) return 'no grid permit of this plant is known'
    if (this.#is_unsaved) return 'nothing can be written down, and nothing is raised'
    return this.#is_clock_settled ? null : 'the clock jumped: nothing is raised for a minute'
  }

  async #saveDevices(): Promise<void> {
    const records = this.#plants.records()
    const saved = this.#devices_saved
    if ([...records].every(([id, record]) => saved.get(id) === record)) return
    const saving = new Map(records)
    await this.#needs.store.saveDevices(saving)
    this.#devices_saved = saving
  }

  #work(job: Promise<unknown>): void {
    this.#working.add(job)
    void this.#attempt(job).finally(() => this.#working.delete(job))
  }

  #note(entry: Noted): void {
    void this.#attempt(this.#notes.write(entry))
  }

  async #attempt(job: Promise<unknown>): Promise<boolean> {
    try {
      await job
      return true
    } catch (error) {
      this.#needs.onFault?.(error as Error)
      return false
    }
  }

  #now(): number {
    return this.#needs.clock.now().getTime()
  }
}

/** Ticks are at whole seconds, so that when a row is found to hold tells nothing of how. */
const untilGrid = (now: number) => tick_ms - (now % tick_ms)

function describe({ logger_id, devices }: Plant) {
  const inverters = devices.map(({ inverter_id, limits }) => {
    return { inverter_id, max_w: limits.facts.default_max_w }
  })
  return { logger_id, inverters }
}
