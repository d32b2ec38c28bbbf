/**
 * Holds every plant to its ceiling: each second, and at once when something changed, it takes what
 * is known of the devices, decides, writes down what it is about to do, does it, and reads it back.
 * It keeps no plan: after a restart, a lost link or a failed write the next tick starts from what
 * was read. It goes on without a server for as long as there are rows and a permit.
 */
import type { Clock, Stopwatch, Timers } from '@heliograph/domain/clock'
import type { CurtailmentRow, OutsideSource, RowReport } from '@heliograph/domain/curtailment'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Limiter } from '@heliograph/domain/readings'
import type { Site } from '@heliograph/domain/site'
import type { Dispatcher } from '../battery/dispatcher.ts'
import type { Conditions, Source } from '../conditions.ts'
import type { ServerTime } from '../plant-clock.ts'
import { Arming } from './arming.ts'
import { ClockWatch, type WallTime } from './clock-watch.ts'
import { ControlAlerts } from './control-alerts.ts'
import type { ControlLog } from './control-entry.ts'
import { ControlNotes } from './control-notes.ts'
import type { ControlStore } from './control-store.ts'
import type { DeviceRead } from './controlled-device.ts'
import { ControlledPlants, type Plant } from './controlled-plants.ts'
import type { Decision, Order } from './decide.ts'
import { ExcessWatch } from './excess-watch.ts'
import { jointCeilings } from './joint-ceilings.ts'
import { LimitTrials } from './limit-trials.ts'
import { NightWatch, type Sun } from './night-watch.ts'
import { Operator } from './operator.ts'
import { Ordering } from './ordering.ts'
import { boundOf, type Permit } from './permit-terms.ts'
import { type Ceiling, ceilingUnder, isIdle, type PlantTerms, termsOf } from './plant-ceilings.ts'
import { no_round, type PowerRounds, type PowerSource } from './power-rounds.ts'
import { RowBook } from './row-book.ts'
import type { PlantLook } from './row-watch.ts'
import { sum } from './sum.ts'

export interface ControllerNeeds {
  clock: Clock
  stopwatch: Stopwatch
  timers: Timers
  store: ControlStore
  /** null: none was ever accepted. */
  permit(): Permit | null
  log: ControlLog
  /** By the server, whose clock rows are made by; null: never told since the start. */
  serverNow?(): ServerTime | null
  onEvent(event: LinkEvent | null): void
  conditions: Conditions
  /** The edge itself, as a source of events. */
  source: Source
  onReport(reports: RowReport[]): void
  /** What goes wrong beside the devices: the disk, the control log, the decision itself. */
  onFault?(error: Error): void
  /** Of a site without batteries as well. */
  batteries: Dispatcher
}

/** What a tick goes by. */
interface Moment extends WallTime {
  /** By the stopwatch. */
  now_ms: number
  permit: Permit | null
  /** In force now, by plant. */
  rows: ReadonlyMap<number, readonly CurtailmentRow[]>
  /** null: not known yet, in the first minute. */
  sun: Sun | null
}

const tick_ms = 1000
/** A disk that takes longer is told of. */
const disk_late_ms = 10_000
const no_permit = 'no grid permit of this plant is known: it needs an entry in the permit file'
const unsaved = 'nothing can be written down, and nothing is raised'
/** An order of a plant that site.yaml does not have. */
const no_plant = {
  rated_w: 0,
  held_w: Number.POSITIVE_INFINITY,
  is_ramping: false,
  is_known: true,
  is_settled: true,
  power: null,
  failure: { code: 'driver_error', message: 'this site has no such plant' },
  below: null,
  refusal: null,
  failed_attempts: 0,
} as const

export class Controller {
  readonly operator: Operator
  readonly trials: LimitTrials
  readonly #needs: ControllerNeeds
  readonly #alerts: ControlAlerts
  readonly #notes: ControlNotes
  readonly #rounds: PowerRounds
  readonly #plants: ControlledPlants
  readonly #rows: RowBook
  readonly #clock_watch: ClockWatch
  readonly #ordering: Ordering
  readonly #arming: Arming
  /** Of each plant, and of the common connection (null). */
  readonly #excess = new Map<number | null, ExcessWatch>()
  readonly #night = new NightWatch()
  /** Null while something newer is not decided on. */
  #decision: Decision | null = null
  #is_clock_settled = true
  /** By the stopwatch: since when anything has waited for the disk for too long. */
  #waiting_ms: number | null = null
  /** How long after a tick a raise is due that its device's interval keeps back. */
  #raise_in_ms = Number.POSITIVE_INFINITY
  #is_started = false
  #is_woken = false
  /** Rounds since the start that have come to their end. */
  rounds = 0
  #ticking: Promise<void> | null = null
  readonly #working = new Set<Promise<unknown>>()
  #cancelTimer = () => {}

  constructor(needs: ControllerNeeds) {
    this.#needs = needs
    const { stopwatch, store } = needs
    this.#rounds = needs.batteries.rounds
    this.#alerts = new ControlAlerts(needs)
    this.#notes = new ControlNotes(needs)
    this.#rows = new RowBook(store, stopwatch.elapsedMs(), (row) =>
      this.#notes.noted({ is: 'row', row }),
    )
    const latest_at = store.rows.reduce((at, { reported_at }) => Math.max(at, reported_at), 0)
    this.#clock_watch = new ClockWatch(latest_at)
    this.#plants = new ControlledPlants({
      stopwatch,
      records: store.devices,
      book: needs.batteries.book,
      note: (entry) => this.#notes.note(entry),
      onChange: () => this.#wake(),
      onForeign: (inverter_id, foreign) => this.#alerts.contention(inverter_id, foreign),
      batteryPower: (logger_id) => needs.batteries.counted.powerOf(logger_id),
      lowered: (plant, most_w) => this.trials.lowered(plant, most_w),
    })
    this.trials = new LimitTrials({
      stopwatch,
      plants: this.#plants,
      refusalOf: (plant) => this.#refusalOf(plant, needs.permit()),
      isSettled: (logger_id) => this.#decision?.plants.get(logger_id)?.is_settled ?? false,
      targetOf: (inverter_id) => this.#decision?.targets_w.get(String(inverter_id)) ?? null,
      note: (entry) => this.#notes.note(entry),
      onChange: () => {
        this.#decision = null
        this.#wake()
      },
    })
    this.#ordering = new Ordering({
      ...needs,
      notes: this.#notes,
      plants: this.#plants,
      attempt: (job) => this.#attempt(job),
      work: (job) => this.#work(job),
    })
    this.#arming = new Arming({
      plants: this.#plants,
      batteries: needs.batteries,
      notArmed: (inverter_id, complaints) => this.#alerts.notArmed(inverter_id, complaints),
      work: (job) => this.#work(job),
    })
    this.operator = new Operator({
      plants: this.#plants,
      batteries: needs.batteries,
      notes: this.#notes,
      save: () => this.#ordering.save(),
      onForgotten: () => this.#wake(),
      onFreed: () => this.#recount(),
    })
  }

  /** Controls the devices of this site from now on; those described as before go on. */
  apply(site: Site): void {
    this.trials.end('another site file is in force')
    this.#plants.apply(site)
    this.#rounds.apply(site)
    this.#alerts.apply(site)
    this.#night.apply(site)
    for (const logger_id of this.#excess.keys()) {
      if (logger_id !== null && !this.#plants.of(logger_id)) this.#excess.delete(logger_id)
    }
    this.#recount()
  }

  #recount(): void {
    this.#notes.site(this.#plants.counted, this.#needs.batteries.counted.listed())
    this.#wake()
  }

  /**
   * Takes rows in, together with what is known: of what they do not mention nothing changes. They
   * are obeyed at once. Resolves when they are durable; rejects when they cannot be made so, which
   * is tried again at each tick, and until then they are not reported.
   */
  async hear(rows: readonly CurtailmentRow[]): Promise<void> {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    await this.#obey(this.#rows.hear(rows, this.#now(), now_ms))
  }

  /**
   * Takes orders from outside in, and their ends. They are obeyed at once. Resolves when they are
   * durable; rejects when they cannot be made so.
   */
  async take(rows: readonly CurtailmentRow[]): Promise<void> {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    await this.#obey(this.#rows.take(rows, this.#now(), now_ms))
    if (!this.#rows.isStored(rows)) throw new Error('the orders of an earlier run were lost')
  }

  /** Orders of this source in force. */
  fromOutside(source: OutsideSource): CurtailmentRow[] {
    return this.#rows.fromOutside(source)
  }

  /** Of everybody, as the wall clock says. */
  ordersInForce(): CurtailmentRow[] {
    const now = this.#now()
    return [...this.#rows.inForce({ now, earliest: now, latest: now }).values()].flat()
  }

  async #obey(news: readonly CurtailmentRow[]): Promise<void> {
    for (const { logger_id } of news) {
      for (const { limits } of this.#plants.of(logger_id)?.devices ?? []) limits.retryNow()
    }
    if (news.length > 0) {
      this.#ordering.onDecision(null)
      this.#decision = null
      this.trials.end('an order came')
    }
    this.#needs.batteries.onNews()
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
    this.#night.onPower(inverter_id, read.power_w, this.#needs.stopwatch.elapsedMs())
    const device = this.#plants.device(inverter_id)
    device?.onRead(read)
    if (device) this.#measured(`device ${inverter_id}`, read.power_w, read.poll?.round_at)
  }

  onGone(inverter_id: number): void {
    this.#plants.device(inverter_id)?.onGone()
  }

  /**
   * Power is positive when the plant feeds in.
   * @param round_at Unix ms: the instant of the poll grid for which the meter was polled
   */
  onMeter(meter_id: number, power_w: number | null, round_at?: number): void {
    this.#plants.onMeter(meter_id, power_w)
    this.#measured(`meter ${meter_id}`, power_w, round_at)
    const { batteries, stopwatch } = this.#needs
    const batteryPower = (logger_id: number | null) => batteries.counted.net_w(logger_id)
    this.#night.onMeter(meter_id, power_w, batteryPower, stopwatch.elapsedMs())
  }

  #measured(source: PowerSource, power_w: number | null, round_at: number | undefined): void {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    this.#rounds.onPower(source, power_w, { round_at, now_ms })
  }

  /** Of the reading that `onRead` was told of last. */
  limitedBy(inverter_id: number): Limiter {
    return this.#plants.limiterOf(inverter_id)?.limited_by ?? 'unknown'
  }

  start(): void {
    this.#is_started = true
    this.#notes.note({ is: 'started' })
    this.#run()
  }

  /** Ends after what is under way at the devices, and leaves their limits as they are. */
  async stop(): Promise<void> {
    this.#is_started = false
    this.#cancelTimer()
    await this.#ticking
    await Promise.all(this.#working)
    await this.#attempt(this.#rows.save())
    await this.#attempt(this.#ordering.save())
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
      this.rounds += 1
      if (this.#is_started) this.#plan(this.#is_woken ? 0 : this.#untilNext())
    })
  }

  #untilNext(): number {
    const now = this.#now()
    return Math.min(untilGrid(now), this.#rows.untilNext(now), this.#raise_in_ms)
  }

  async #tick(): Promise<void> {
    const now_ms = this.#needs.stopwatch.elapsedMs()
    const server = this.#needs.serverNow?.() ?? null
    const { is_settled, ...at } = this.#clock_watch.look(this.#now(), now_ms, server)
    const { batteries } = this.#needs
    const lead_ms = Math.max(this.#plants.comes_down_ms, batteries.counted.comes_down_ms)
    const { now, earliest, latest } = at
    const times = [now, earliest, latest]
    const sun = this.#night.look({ now, times, server: server?.at ?? null, now_ms, lead_ms })
    this.#plants.sun = sun
    this.#notes.sun(sun)
    this.#is_clock_settled = is_settled
    const permit = this.#needs.permit()
    const moment: Moment = { ...at, now_ms, permit, rows: this.#rows.inForce(at), sun }
    this.trials.onTerms({ permit, orders: [...moment.rows.values()].flat() }, now_ms)
    this.#notes.permit(permit)
    this.#arming.look(permit)
    this.#arming.arm({ is_first: true })
    const ceilings = new Map<number, Ceiling>()
    const decision = this.#decide(moment, ceilings)
    this.#ordering.onDecision(decision)
    this.#decision = decision
    batteries.act(decision)
    this.#raise_in_ms = decision?.raise_in_ms ?? Number.POSITIVE_INFINITY
    if (!decision) return
    this.#tell(decision, moment, ceilings)
    // With what was decided on: what is heard while the orders are written down comes after it.
    this.#rows.look(at, now_ms, (logger_id) => this.#lookAt(logger_id, decision, moment))
    const orders = decision.orders.filter((order) => this.#isAskedFor(order, moment))
    await this.#ordering.carryOut(orders, permit)
    this.#arming.arm({ is_first: false })
    this.#work(this.#plants.follow())
    if (!this.#rows.is_reporting) this.#work(this.#rows.report(this.#needs.onReport))
  }

  /** @param ceilings takes what each plant is held to */
  #decide(moment: Moment, ceilings: Map<number, Ceiling>): Decision | null {
    const { now_ms, permit, rows, now, earliest, latest } = moment
    const { batteries } = this.#needs
    const site_w = permit?.site_w == null ? null : permit.site_w - this.#excessOf(null).cut_w
    const terms = new Map<Plant, PlantTerms>()
    for (const plant of this.#plants.counted) {
      const { logger_id } = plant
      const under = { permit, rows: rows.get(logger_id) ?? [] }
      terms.set(plant, termsOf(plant, under, this.#excessOf(logger_id).cut_w))
    }
    const plants = jointCeilings(this.#plants, (plant) => terms.get(plant)!, now_ms)
    const is_settled = this.#is_clock_settled && !this.#rows.is_lost
    const joint = { permit, plants, now, now_ms, earliest, latest, is_settled, site_w }
    const wishes = batteries.plan(joint)
    const counting = batteries.counted.counting()
    const ceilingOf = (plant: Plant) => {
      const { logger_id } = plant
      const { permit_w, row_w, rated_w } = terms.get(plant)!
      const ceiling = ceilingUnder(terms.get(plant)!, batteries.share_w(logger_id))
      ceilings.set(logger_id, ceiling)
      const may_raise = ceiling.may_raise && is_settled && wishes.is_known
      // A plant with batteries is held to its rating with what they are rated at.
      const own = counting.filter((one) => one.logger_id === logger_id)
      const joint_w = rated_w + sum(own, ({ max_w }) => max_w)
      return { ...ceiling, may_raise, joint: { permit_w, asked_w: Math.min(row_w, joint_w) } }
    }
    try {
      const decision = this.#plants.decide({ now_ms, site_w, batteries: wishes }, ceilingOf)
      if (decision.fault !== null) this.#failed(new Error(decision.fault))
      const nothing_raised = 'its decision failed its own check, and nothing is raised'
      this.#alerts.fault(decision.fault === null ? this.#diskFault(now_ms) : nothing_raised)
      return decision
    } catch (error) {
      this.#failed(error as Error)
      this.#alerts.fault('its decision failed, and nothing is set')
      return null
    }
  }

  #failed(error: Error): void {
    this.#notes.note({ is: 'fault', message: error.message })
    this.#needs.onFault?.(error)
  }

  #diskFault(now_ms: number): string | null {
    const { is_unsaved, is_hanging } = this.#ordering
    const is_waiting = is_hanging || !this.#rows.is_idle
    this.#waiting_ms = is_waiting ? (this.#waiting_ms ?? now_ms) : null
    const is_late = now_ms - (this.#waiting_ms ?? now_ms) >= disk_late_ms
    if (is_unsaved && (is_late || !is_hanging)) return unsaved
    return is_late ? 'rows cannot be written down, nor be reported' : null
  }

  #excessOf(logger_id: number | null): ExcessWatch {
    const watch = this.#excess.get(logger_id) ?? new ExcessWatch()
    this.#excess.set(logger_id, watch)
    return watch
  }

  /**
   * Where a site has no permit at all its devices are left alone as long as no row is in force.
   * Where it has one, and none of this plant, what came back with more than it held is lowered.
   */
  #isAskedFor({ inverter_id }: Order, { permit, rows }: Moment): boolean {
    const { logger_id, limits } = this.#plants.device(inverter_id)!
    if (!isIdle({ logger_id }, { permit, rows: rows.get(logger_id) ?? [] })) return true
    return permit !== null && limits.holds_more
  }

  #tell(decision: Decision, moment: Moment, ceilings: ReadonlyMap<number, Ceiling>): void {
    const { now_ms, permit } = moment
    this.#alerts.look(now_ms)
    this.#alerts.rowsLost(this.#rows.is_lost)
    const bound = this.#rows.bound(moment)
    const { batteries } = this.#needs
    this.#alerts.removed(this.#plants, batteries.counted.left(), moment)
    // Inverters that do not answer may be asleep: that is no reason to raise an alarm.
    const sleepingOf = (plant: Plant) => this.#plants.sleepingWorst(plant, now_ms)
    let site_worst_w = batteries.counted.held_w(null)
    let fixed_w = batteries.counted.fixed_w(null)
    for (const plant of this.#plants.gone) {
      site_worst_w += this.#plants.worstOf(plant, now_ms)
      fixed_w += this.#plants.worstOf(plant, now_ms) - sleepingOf(plant)
    }
    for (const plant of this.#plants.all) {
      const { logger_id, devices } = plant
      const decided = decision.plants.get(logger_id)!
      const ceiling = ceilings.get(logger_id)!
      const is_cut = decided.ceiling_w < ceiling.ceiling_w
      const held_by = is_cut ? 'permit' : ceiling.held_by
      const worst_w = this.#plants.worstOf(plant, now_ms)
      for (const device of devices) {
        device.heldBy(this.trials.lowers(device.inverter_id) ? null : held_by)
        this.#alerts.notEffective(device.inverter_id, device.limits.isIneffective(now_ms))
        this.#alerts.notAsSet(device.inverter_id, device.not_as_set)
      }
      const permit_w = boundOf(permit, logger_id)
      const is_wanted = permit !== null || bound.has(logger_id)
      const has_entry = permit?.plant_w.has(logger_id) ?? false
      this.#alerts.noPermitEntry(logger_id, !has_entry)
      this.#alerts.permitMissing(logger_id, is_wanted && !has_entry)
      const is_known = this.#plants.isKnown(plant, now_ms)
      const beside_w = batteries.counted.fixed_w(logger_id)
      const plant_fixed_w = Math.max(0, decided.fixed_w - sleepingOf(plant))
      const is_over = permit_w !== null && plant_fixed_w + beside_w > permit_w
      this.#alerts.permitUnenforceable(logger_id, is_known && is_over)
      fixed_w += is_known ? plant_fixed_w : 0
      const power = this.#plants.powerOf(plant, now_ms)
      const joint_w = worst_w + batteries.counted.held_w(logger_id)
      const allowed = { most_w: permit_w, worst_w: joint_w }
      const excess = this.#excessOf(logger_id).look(allowed, power, now_ms)
      this.#alerts.permitExceeded(logger_id, excess)
      site_worst_w += worst_w
      this.#notes.decision({
        is: 'decision',
        logger_id,
        held_by,
        may_raise: ceiling.may_raise,
        is_known,
        worst_w,
        ceiling_w: decided.ceiling_w,
      })
    }
    this.#notePower(now_ms)
    this.#alerts.permitUnenforceable(null, fixed_w > (permit?.site_w ?? fixed_w))
    const power = this.#plants.connectionPower(now_ms)
    const allowed = { most_w: permit?.site_w ?? null, worst_w: site_worst_w }
    this.#alerts.permitExceeded(null, this.#excessOf(null).look(allowed, power, now_ms))
  }

  #notePower(now_ms: number): void {
    const { batteries } = this.#needs
    const sources = [...this.#plants.powerSources(now_ms), ...batteries.counted.powerSources()]
    const round = this.#rounds.take(sources, now_ms)
    const of_batteries = batteries.counted.measuredIn(round ?? no_round)
    const of_plants = this.#plants.measuredIn(round ?? no_round, of_batteries, now_ms)
    const round_at = round?.round_at ?? null
    this.#notes.round({ round_at, plants: of_plants, batteries: of_batteries })
  }

  /** What is known of the plant of an order. */
  #lookAt(logger_id: number, decision: Decision, { permit, ...at }: Moment): PlantLook {
    const { now_ms } = at
    const beside_w = this.#needs.batteries.counted.held_w(logger_id)
    const plant = this.#plants.of(logger_id)
    if (!plant) return { ...at, ...no_plant }
    const { devices, rated_w } = plant
    const is_trying = this.trials.is_running
    const is_known = this.#plants.isKnown(plant, now_ms)
    const failures = devices.map(({ failure }) => failure).filter((failure) => failure !== null)
    return {
      ...at,
      rated_w,
      held_w: this.#plants.heldOf(plant, now_ms) + beside_w,
      is_ramping: this.#plants.isRamping(plant, now_ms),
      is_known,
      get is_settled() {
        // No order is reported restored while a trial holds devices down.
        return is_known && decision.plants.get(logger_id)!.is_settled && !is_trying
      },
      power: this.#plants.powerOf(plant, now_ms),
      failure: failures.find(({ code }) => code !== 'timeout') ?? failures[0] ?? null,
      below: devices.map((device) => device.not_as_set).find((message) => message !== null) ?? null,
      refusal: this.#refusalOf(plant, permit),
      failed_attempts: sum(devices, (device) => device.failed_attempts),
    }
  }

  /** Why nothing may be raised there, whatever the permit says; null: it may be. */
  #refusalOf({ logger_id }: Plant, permit: Permit | null): string | null {
    if (!permit?.plant_w.has(logger_id)) return no_permit
    if (this.#ordering.is_unsaved) return unsaved
    if (this.#rows.is_lost) return 'rows were lost, and the server did not tell them again yet'
    return this.#is_clock_settled ? null : 'the clock jumped: nothing is raised for a minute'
  }

  #work(job: Promise<unknown>): void {
    this.#working.add(job)
    void this.#attempt(job).finally(() => this.#working.delete(job))
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

/** Ticks are at whole seconds. */
const untilGrid = (now: number) => tick_ms - (now % tick_ms)
