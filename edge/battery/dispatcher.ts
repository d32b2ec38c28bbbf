/**
 * Carries out the approved hours of every battery: at each tick of control it takes what was read,
 * decides, and tells each PCS its power. It keeps no plan: after a restart, a lost link or a failed
 * write the next tick starts from what was read. It goes on without a server.
 *
 * A battery whose site has no grid permit and never had an approved hour is only watched.
 */
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { ControlNote, DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import type { BatteryHooks, BatteryRead, PcsRead } from '../battery-reads.ts'
import type { Batteries, JointCeilings } from '../control/battery-shares.ts'
import type { ControlLog } from '../control/control-entry.ts'
import { oneAtATime } from '../control/one-at-a-time.ts'
import { pcsId } from '../control/pcs-name.ts'
import { isSamePermit, type Permit } from '../control/permit-terms.ts'
import { PowerRounds } from '../control/power-rounds.ts'
import { BatteryAlerts, type BatteryAlertsNeeds } from './battery-alerts.ts'
import { ControlledUnit } from './controlled-unit.ts'
import { CountedBatteries, sum } from './counted-batteries.ts'
import { decideDispatch, type Stop, type UnitNow } from './decide-dispatch.ts'
import { DispatchHours } from './dispatch-hours.ts'
import { DispatchLog, type Seen } from './dispatch-log.ts'
import type { DispatchStore } from './dispatch-store.ts'
import { MostTold } from './most-told.ts'
import { PcsNotes } from './pcs-notes.ts'
import { checkSums, type PcsTarget, RoomLeft, splitOver } from './pcs-targets.ts'
import { PcsPlaces } from './removed-pcs.ts'
import { UnitRooms } from './unit-rooms.ts'

interface DispatcherNeeds extends BatteryAlertsNeeds {
  clock: Clock
  stopwatch: Stopwatch
  store: DispatchStore
  log: ControlLog
  /** As it is now. */
  permit(): Permit | null
  onReport(report: DispatchReport): void
  onNote(note: ControlNote): void
  onFault?(error: Error): void
}

interface Known {
  description: string
  unit: ControlledUnit
  log: DispatchLog
}

/** Of its rating: what is measured so near to its setpoint is as was asked. */
const tolerance_ratio = 0.02

const clock_in_doubt: Stop = { code: 'clock_in_doubt', clamp_reason: null, alarm_code: null }
const infinite = Number.POSITIVE_INFINITY

export class Dispatcher implements Batteries, BatteryHooks {
  readonly #needs: DispatcherNeeds
  readonly #hours: DispatchHours
  readonly #alerts: BatteryAlerts
  readonly #most: MostTold
  readonly #counted: CountedBatteries
  readonly #rooms: UnitRooms
  #releasing: readonly Promise<void>[] = []
  readonly #notes: PcsNotes
  readonly removed: PcsPlaces
  readonly rounds = new PowerRounds()
  readonly save = oneAtATime(() => this.#saveNow())
  #units = new Map<number, Known>()
  #joint: JointCeilings | null = null
  /** Something that was heard is not on disk: that is tried at each tick. */
  #is_unsaved = false
  /** What each PCS is to hold, as decided last; null: something newer is not decided on yet. */
  #targets: ReadonlyMap<object, number> | null = null

  constructor(needs: DispatcherNeeds) {
    this.#needs = needs
    this.#hours = new DispatchHours(needs.store.state.hours)
    this.#most = new MostTold(needs.store.state.most_w)
    this.#alerts = new BatteryAlerts(needs)
    this.#notes = new PcsNotes(needs)
    this.removed = new PcsPlaces(needs.store.state.pcs)
    this.#counted = new CountedBatteries({
      stopwatch: needs.stopwatch,
      removed: this.removed,
      units: () => [...this.#units.values()].map(({ unit }) => unit),
      isAskedFor: () => this.#isAskedFor(),
    })
    this.#rooms = new UnitRooms(this.#counted)
  }

  /** Controls the batteries of this site from now on; those described as before go on. */
  apply({ batteries = [], poll }: Site): void {
    const { battery_s } = { ...defaultPollIntervals, ...poll }
    const before = this.#units
    this.#units = new Map(
      batteries.map((battery) => {
        const { bess_id } = battery
        const description = JSON.stringify([battery, battery_s])
        const known = before.get(bess_id)
        if (known?.description === description) return [bess_id, known]
        const unit = new ControlledUnit(
          battery,
          { interval_s: battery_s, stopwatch: this.#needs.stopwatch },
          (pcs_idx, rated_w) => this.#most.before(bess_id, pcs_idx) ?? rated_w,
        )
        const log = known?.log ?? this.#logOf(bess_id)
        return [bess_id, { description, unit, log }]
      }),
    )
    this.#alerts.apply(batteries)
    this.removed.apply(batteries)
    this.#is_unsaved = true
    this.#release([...before.values()])
  }

  /**
   * Takes hours in, together with those that are known. They are obeyed at once. Resolves when they
   * are durable; rejects where they cannot be made so.
   */
  async hear(hours: readonly DispatchHour[]): Promise<void> {
    const now = this.#needs.clock.now().getTime()
    if (!this.#hours.hear(hours, now)) return
    this.#hours.forget(now)
    this.onNews()
    this.#is_unsaved = true
    await this.save()
  }

  /** Never rejects. Leaves the setpoints as they are: devices fall back to 0 W by themselves. */
  async stop(): Promise<void> {
    await this.save().catch((error: unknown) => this.#needs.onFault?.(error as Error))
  }

  onBattery(bess_id: number, read: BatteryRead): void {
    this.#units.get(bess_id)?.unit.onBattery(read)
  }

  onPcs(bess_id: number, pcs_idx: number, read: PcsRead): void {
    this.#units.get(bess_id)?.unit.onPcs(pcs_idx, read)
    const { ac_power_kw } = read.answer.pcs
    const power_w = ac_power_kw === null ? null : ac_power_kw * 1000
    const at = { round_at: read.round_at, now_ms: this.#needs.stopwatch.elapsedMs() }
    this.rounds.onPower(`pcs ${pcsId({ bess_id, pcs_idx })}`, power_w, at)
  }

  onGone(bess_id: number, pcs_idx: number | null): void {
    const unit = this.#units.get(bess_id)?.unit
    if (pcs_idx === null) unit?.onBatteryGone()
    else unit?.onPcsGone(pcs_idx)
  }

  onNews(): void {
    this.#targets = null
  }

  get comes_down_ms(): number {
    return this.#counted.comes_down_ms
  }

  share_w(logger_id: number | null): number {
    return this.#rooms.share_w(logger_id) + this.#counted.left_w(logger_id)
  }

  readonly worst_w = (logger_id: number | null) => this.#counted.worst_w(logger_id)
  readonly held_w = (logger_id: number | null) => this.#counted.held_w(logger_id)
  readonly fixed_w = (logger_id: number | null) => this.#counted.fixed_w(logger_id)
  readonly standing_w = (logger_id: number | null) => this.#counted.standing_w(logger_id)
  readonly net_w = (logger_id: number | null) => this.#counted.net_w(logger_id)
  readonly powerOf = (logger_id: number) => this.#counted.powerOf(logger_id)
  readonly powerSources = () => this.#counted.powerSources()
  readonly measuredIn: Batteries['measuredIn'] = (round) => this.#counted.measuredIn(round)
  readonly isKnown = (logger_id: number | null) => this.#counted.isKnown(logger_id)
  readonly listed = () => this.#counted.listed()

  /** Resolves when those that left site.yaml last were told 0 W, or could not be. */
  async released(): Promise<void> {
    await Promise.all(this.#releasing)
  }

  /** Never throws, as `act`: plants are not to suffer from what is wrong with a battery. */
  plan(joint: JointCeilings): void {
    this.#joint = null
    this.#attempt(() => {
      this.#note()
      this.#plan(this.#counted.beside(joint))
    })
  }

  act(worst_w: ReadonlyMap<number, number> | null): void {
    // One that was silent before the start may hold more than an earlier run told it.
    const plants_w = this.isKnown(null) ? worst_w : null
    this.#attempt(() => this.#act(plants_w))
  }

  #attempt(job: () => void): void {
    try {
      job()
    } catch (error) {
      this.#targets = null
      this.#needs.onFault?.(error as Error)
    }
  }

  #plan(joint: JointCeilings): void {
    const { now_ms } = joint
    const units = [...this.#units.values()].map(({ unit }) => unit)
    const known = units.filter((unit) => unit.isKnown(now_ms))
    this.#rooms.plan(joint, known, (unit, discharge_w) => {
      const room = { discharge_w, tier: 'permit' } as const
      return decideDispatch({ ...this.#unitNow(unit, joint), room, granted_w: infinite }).aim_w
    })
    this.#joint = joint
  }

  #act(worst_w: ReadonlyMap<number, number> | null): void {
    const joint = this.#joint
    if (!joint) return
    const left = new RoomLeft(joint, worst_w, (logger_id) => this.#counted.worstHere_w(logger_id))
    const targets = [...this.#units.values()].flatMap((known) =>
      this.#decide(known, joint, left, worst_w),
    )
    this.#targets = new Map(targets.map(({ pcs, power_w }) => [pcs as object, power_w]))
    if (!this.#isAskedFor()) {
      if (this.#is_unsaved) this.#saveLater()
      return
    }
    try {
      checkSums(joint, worst_w, targets)
    } catch (error) {
      this.#needs.onFault?.(error as Error)
      this.#tell(targets.map((one) => ({ ...one, power_w: Math.min(one.power_w, one.held_w) })))
      return
    }
    this.#tell(targets)
    for (const { unit } of this.#units.values()) void unit.beat()
    if (this.#most.look(targets, joint.now_ms) || this.#is_unsaved) this.#saveLater()
  }

  /** Tells those 0 W that site.yaml has no more, as long as they can be reached. */
  #release(before: readonly Known[]): void {
    const is_asked_for = this.#isAskedFor()
    this.#releasing = before.flatMap(({ unit: { bess_id, pcs: all_pcs } }) => {
      const leaving = all_pcs.filter(({ pcs_idx }) => !this.removed.isHere({ bess_id, pcs_idx }))
      const zero = { bess_id, power_w: 0, is_raise: false, mayStill: () => true }
      return (is_asked_for ? leaving : []).map((pcs) =>
        this.#notes.carryOut({ ...zero, pcs, pcs_idx: pcs.pcs_idx }),
      )
    })
  }

  /** Where each was heard, and what the control log has to hold of it. */
  #note(): void {
    const units = [...this.#units.values()].map(({ unit }) => unit)
    if (this.removed.look(units)) this.#is_unsaved = true
    if (this.#isAskedFor()) this.#notes.look(units, this.removed.nowhere())
  }

  #unitNow(unit: ControlledUnit, joint: JointCeilings) {
    const stops = joint.is_settled ? [] : [clock_in_doubt]
    const asked = this.#hours.askedOf(unit.bess_id, joint)
    return { ...unit.now(stops), asked_w: asked?.power_w ?? null }
  }

  /** @param plants_w what each plant may deliver at worst; null: nothing is to be raised */
  #decide(
    known: Known,
    joint: JointCeilings,
    left: RoomLeft,
    plants_w: ReadonlyMap<number, number> | null,
  ): PcsTarget[] {
    const { unit } = known
    const { now_ms } = joint
    // What an earlier run left goes on until it is known what that is.
    if (!unit.isKnown(now_ms)) return []
    const usable = unit.pcs.filter((pcs) => pcs.isUsable(now_ms))
    const usable_w = sum(usable, ({ power }) => power.held_w(now_ms))
    const granted_w = usable_w + left.of(unit.logger_id)
    const room = this.#rooms.roomOf(unit, joint, left)
    const unit_now: UnitNow = { ...this.#unitNow(unit, joint), room, granted_w }
    const decision = decideDispatch(unit_now)
    const parts = splitOver(decision.setpoint_w, usable)
    const aims = splitOver(decision.aim_w, usable)
    const targets = unit.pcs.map((pcs): PcsTarget => {
      const { bess_id, logger_id } = unit
      const worst_w = pcs.power.worst_w(now_ms)
      const held_w = pcs.power.held_w(now_ms)
      // What is measured beyond what it holds is no room for a raise: it may be on its way down.
      const most_w = plants_w
        ? held_w + left.of(logger_id)
        : Math.min(held_w, Math.max(0, pcs.told_w))
      const durable_w = this.#most.durable_w(bess_id, pcs.pcs_idx)
      const power_w = pcs.settable(Math.min(parts.get(pcs) ?? 0, most_w, durable_w))
      const wanted_w = aims.get(pcs) ?? 0
      left.take(logger_id, Math.max(0, power_w - held_w))
      return { bess_id, logger_id, pcs, power_w, wanted_w, worst_w, held_w }
    })
    unit.decided()
    const is_proven = targets.every(({ pcs, power_w }) => pcs.isAt(power_w))
    if (this.#isAskedFor()) this.#report(known, joint, { decision, targets, is_proven })
    return targets
  }

  #report(
    { unit, log }: Known,
    joint: JointCeilings,
    done: Pick<Seen, 'decision' | 'is_proven'> & { targets: readonly PcsTarget[] },
  ): void {
    const { now, now_ms } = joint
    const { targets, ...decided } = done
    const { measured_w, failure, soc_pct } = unit
    const { rated_charge_w, rated_discharge_w } = unit.facts
    log.look({
      now,
      now_ms,
      ...decided,
      measured_w,
      failure,
      soc_pct,
      asked: this.#hours.askedOf(unit.bess_id, joint),
      told_w: sum(targets, ({ power_w }) => power_w),
      written: unit.pcs.map(({ written }) => written),
      tolerance_w: tolerance_ratio * Math.max(rated_charge_w, rated_discharge_w),
    })
    this.#alerts.look(unit, now_ms)
  }

  #tell(targets: readonly PcsTarget[]): void {
    const permit = this.#joint?.permit ?? null
    for (const { bess_id, pcs, power_w, held_w } of targets) {
      if (!pcs.needs(power_w)) continue
      const is_raise = power_w > held_w
      const mayStill = () =>
        is_raise
          ? this.#isWanted(pcs, power_w, permit)
          : power_w <= Math.max(0, this.#targets?.get(pcs) ?? power_w)
      const { pcs_idx } = pcs
      void this.#notes.carryOut({ pcs, bess_id, pcs_idx, is_raise, power_w, mayStill })
    }
  }

  #isWanted(pcs: object, power_w: number, permit: Permit | null): boolean {
    const target_w = this.#targets?.get(pcs)
    const is_wanted = target_w !== undefined && power_w <= target_w
    return is_wanted && isSamePermit(permit, this.#needs.permit())
  }

  /** Somebody wants its batteries to be controlled. */
  #isAskedFor(): boolean {
    return this.#needs.permit() !== null || !this.#hours.is_empty
  }

  #logOf(bess_id: number): DispatchLog {
    const { store, onReport, onNote } = this.#needs
    return new DispatchLog({
      bess_id,
      report: store.state.reports.find((one) => one.bess_id === bess_id) ?? null,
      onReport: (report) => {
        onReport(report)
        this.#saveLater()
      },
      onNote,
    })
  }

  #saveLater(): void {
    this.save().catch((error: unknown) => this.#needs.onFault?.(error as Error))
  }

  async #saveNow(): Promise<void> {
    const most_w = this.#most.wanted()
    this.#is_unsaved = false
    const pcs = this.removed.records
    const reports = [...this.#units.values()].flatMap(({ log }) => log.report ?? [])
    try {
      await this.#needs.store.save({ hours: this.#hours.all, most_w, reports, pcs })
    } catch (error) {
      this.#is_unsaved = true
      throw error
    }
    this.#most.saved(most_w)
  }
}
