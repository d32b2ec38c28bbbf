/**
 * Carries out the approved hours of every battery: at each tick of control it takes what was read,
 * decides, and tells each PCS its power. It keeps no plan: after a restart, a lost link or a failed
 * write the next tick starts from what was read. It goes on without a server.
 *
 * A battery whose site has no grid permit and never had an approved hour is only watched.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock, Stopwatch } from '@heliograph/domain/clock'
import type { ControlNote, DispatchHour, DispatchReport } from '@heliograph/domain/dispatch'
import { defaultPollIntervals, type Site } from '@heliograph/domain/site'
import type { BatteryHooks, BatteryRead, PcsRead } from '../battery-reads.ts'
import type { ControlLog } from '../control/control-entry.ts'
import { ControlNotes } from '../control/control-notes.ts'
import { exceeded } from '../control/core/core.ts'
import type { Saved } from '../control/core/site.ts'
import { isRaise } from '../control/core/worst.ts'
import type { BatteryWishes, Decision } from '../control/decide.ts'
import { pcsId } from '../control/device-name.ts'
import type { JointCeilings } from '../control/joint-ceilings.ts'
import { oneAtATime } from '../control/one-at-a-time.ts'
import { isSamePermit, type Permit } from '../control/permit-terms.ts'
import { Places } from '../control/places.ts'
import { PowerRounds } from '../control/power-rounds.ts'
import { SourceBook } from '../control/source-book.ts'
import { sum } from '../control/sum.ts'
import { BatteryAlerts, type BatteryAlertsNeeds } from './battery-alerts.ts'
import type { ControlledPcs } from './controlled-pcs.ts'
import { ControlledUnit, splitOver } from './controlled-unit.ts'
import { CountedBatteries } from './counted-batteries.ts'
import { type DispatchDecision, decideDispatch, type Stop } from './decide-dispatch.ts'
import { DispatchHours } from './dispatch-hours.ts'
import { DispatchLog } from './dispatch-log.ts'
import type { DispatchStore, PcsRecord } from './dispatch-store.ts'
import { MostTold, type Wanted } from './most-told.ts'
import { PcsNotes } from './pcs-notes.ts'
import { pcsGroups, pcsTraits, savedPcs, sourceIdOf } from './pcs-source.ts'
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

interface Decided {
  decision: DispatchDecision
  /** Where each PCS is to come to. */
  aims: ReadonlyMap<ControlledPcs, number>
}

interface PcsTarget extends Wanted {
  power_w: number
}

interface Known {
  description: string
  unit: ControlledUnit
  log: DispatchLog
}

/** Of its rating: what is measured so near to its setpoint is as was asked. */
const tolerance_ratio = 0.02

/** Until the site file tells how often it is polled. */
const saved_fresh_ms = 15_000
const no_wishes: BatteryWishes = {
  requested: new Map(),
  kept: new Map(),
  site_kept_w: 0,
  is_known: false,
}
const clock_in_doubt: Stop = { code: 'clock_in_doubt', clamp_reason: null, alarm_code: null }
const infinite = Number.POSITIVE_INFINITY

export class Dispatcher implements BatteryHooks {
  readonly #needs: DispatcherNeeds
  readonly #hours: DispatchHours
  readonly #alerts: BatteryAlerts
  readonly #most: MostTold
  readonly counted: CountedBatteries
  readonly #rooms: UnitRooms
  #releasing: readonly Promise<void>[] = []
  readonly #notes: PcsNotes
  /** By `pcsId`. */
  readonly #records: Map<string, PcsRecord>
  /** By `pcsId`. */
  readonly removed: Places<string, { logger_id: number | null }>
  /** What the core knows of all devices. */
  readonly book: SourceBook
  readonly rounds = new PowerRounds()
  readonly save = oneAtATime(() => this.#saveNow())
  #units = new Map<number, Known>()
  #joint: JointCeilings | null = null
  /** By bess_id, as of the plan. */
  readonly #decided = new Map<number, Decided>()
  /** Something that was heard is not on disk: that is tried at each tick. */
  #is_unsaved = false
  /** What each PCS is to hold, as decided last; null: something newer is not decided on yet. */
  #targets: ReadonlyMap<object, number> | null = null

  constructor(needs: DispatcherNeeds) {
    this.#needs = needs
    this.#hours = new DispatchHours(needs.store.state.hours)
    this.#most = new MostTold(needs.store.state.most_w)
    this.#alerts = new BatteryAlerts(needs)
    this.#notes = new PcsNotes(new ControlNotes(needs), needs.stopwatch)
    this.#records = new Map(needs.store.state.pcs.map((record) => [pcsId(record), record]))
    this.removed = new Places(this.#records, (id, changes) => {
      this.#records.set(id, { ...this.#records.get(id)!, ...changes } as PcsRecord)
    })
    const now_ms = needs.stopwatch.elapsedMs()
    this.book = new SourceBook(now_ms)
    this.book.load(this.#saved(), now_ms)
    this.counted = new CountedBatteries({
      stopwatch: needs.stopwatch,
      book: this.book,
      records: this.#records,
      removed: this.removed,
      units: () => [...this.#units.values()].map(({ unit }) => unit),
      isAskedFor: () => this.#isAskedFor(),
    })
    this.#rooms = new UnitRooms(this.counted)
  }

  #saved(): Saved[] {
    return [...this.#records.values()].flatMap((record) => {
      const { place, left, max_w: rated_w, stands: has_no_watchdog } = record
      const places = [...(place ? [place.logger_id] : []), ...left]
      if (places.length === 0) return []
      const traits = pcsTraits(record, { rated_w, fresh_ms: saved_fresh_ms })
      const most_w = this.#most.before(record.bess_id, record.pcs_idx) ?? rated_w
      return [savedPcs({ ...traits, groups: pcsGroups(places), has_no_watchdog }, most_w)]
    })
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
        const { stopwatch } = this.#needs
        const unit = new ControlledUnit(battery, { interval_s: battery_s, stopwatch }, this.book)
        const log = known?.log ?? this.#logOf(bess_id)
        return [bess_id, { description, unit, log }]
      }),
    )
    const units = [...this.#units.values()].map(({ unit }) => unit)
    this.book.describe(
      'pcs',
      units.flatMap(({ pcs }) => pcs.map(({ power }) => power.traits)),
    )
    this.#alerts.apply(batteries)
    this.removed.apply(
      new Map(
        batteries.flatMap(({ bess_id, logger_id = null, pcs }) =>
          pcs.map(({ pcs_idx }) => [pcsId({ bess_id, pcs_idx }), logger_id] as const),
        ),
      ),
    )
    this.#regroup()
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
    const at = { round_at: read.poll?.round_at, now_ms: this.#needs.stopwatch.elapsedMs() }
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

  share_w(logger_id: number | null): number {
    return this.#rooms.share_w(logger_id)
  }

  /** Resolves when those that left site.yaml last were told 0 W, or could not be. */
  async released(): Promise<void> {
    await Promise.all(this.#releasing)
  }

  /** Never throws, as `act`: plants are not to suffer from what is wrong with a battery. */
  plan(joint: JointCeilings): BatteryWishes {
    this.#joint = null
    this.#decided.clear()
    try {
      this.#note()
      this.#regroup()
      return this.#plan(joint)
    } catch (error) {
      this.#needs.onFault?.(error as Error)
      for (const { unit } of this.#units.values()) {
        for (const { power } of unit.pcs) power.onContact(false)
      }
      return no_wishes
    }
  }

  /** @param decision null: there is none, and nothing is told */
  act(decision: Pick<Decision, 'commands'> | null): void {
    try {
      if (decision && this.#joint) this.#act(decision, this.#joint)
    } catch (error) {
      this.#targets = null
      this.#needs.onFault?.(error as Error)
    }
  }

  #plan(joint: JointCeilings): BatteryWishes {
    const { now_ms } = joint
    const units = [...this.#units.values()].map(({ unit }) => unit)
    for (const unit of units) unit.look()
    const known = units.filter((unit) => unit.isKnown(now_ms))
    this.#rooms.plan(joint, known, (unit, discharge_w) => {
      const room = { discharge_w, tier: 'permit' } as const
      return decideDispatch({ ...this.#unitNow(unit, joint), room, granted_w: infinite }).aim_w
    })
    const wishes = { requested: new Map<string, number>(), kept: new Map<string, number>() }
    for (const unit of units) {
      if (known.includes(unit)) this.#wish(unit, joint, wishes)
      // What an earlier run left goes on until it is known what that is.
      else
        for (const { power } of unit.pcs) wishes.requested.set(power.id, power.source.read?.w ?? 0)
    }
    this.#joint = joint
    return { ...wishes, site_kept_w: this.share_w(null), is_known: this.counted.is_known }
  }

  #wish(
    unit: ControlledUnit,
    joint: JointCeilings,
    { requested, kept }: { requested: Map<string, number>; kept: Map<string, number> },
  ): void {
    const { now_ms } = joint
    const usable = unit.pcs.filter((pcs) => pcs.isUsable(now_ms))
    const held_w = sum(usable, ({ power }) => power.held_w(now_ms))
    const granted_w = held_w + this.#rooms.leftFor(unit, joint)
    const room = this.#rooms.roomOf(unit, joint)
    const decision = decideDispatch({ ...this.#unitNow(unit, joint), room, granted_w })
    const parts = splitOver(decision.setpoint_w, usable)
    const aims = splitOver(decision.aim_w, usable)
    const kept_w = splitOver(this.#rooms.keptFor(unit.bess_id), usable)
    for (const pcs of usable) {
      const durable_w = this.#most.durable_w(unit.bess_id, pcs.pcs_idx)
      requested.set(pcs.power.id, pcs.settable(Math.min(parts.get(pcs)!, durable_w)))
      kept.set(pcs.power.id, kept_w.get(pcs)!)
    }
    unit.decided()
    this.#decided.set(unit.bess_id, { decision, aims })
  }

  #act({ commands }: Pick<Decision, 'commands'>, joint: JointCeilings): void {
    const { now_ms } = joint
    const targets = [...this.#units.values()].flatMap((known) => {
      const { bess_id, pcs: all_pcs } = known.unit
      const decided = this.#decided.get(bess_id)
      if (!decided) return []
      const of_unit = all_pcs.flatMap((pcs): PcsTarget[] => {
        const command_w = commands.get(pcs.power.id)?.w ?? pcs.power.goesOn_w(now_ms)
        if (command_w === null) return []
        const power_w = pcs.settable(command_w)
        return [{ bess_id, pcs, power_w, wanted_w: decided.aims.get(pcs) ?? 0 }]
      })
      if (this.#isAskedFor()) this.#report(known, joint, { ...decided, targets: of_unit })
      return of_unit
    })
    this.#targets = new Map(targets.map(({ pcs, power_w }) => [pcs as object, power_w]))
    if (!this.#isAskedFor()) {
      if (this.#is_unsaved) this.#saveLater()
      return
    }
    this.#tell(targets)
    for (const { unit } of this.#units.values()) void unit.beat()
    if (this.#most.look(targets, now_ms) || this.#is_unsaved) this.#saveLater()
  }

  /** Tells those 0 W that site.yaml has no more, as long as they can be reached. */
  #release(before: readonly Known[]): void {
    const is_asked_for = this.#isAskedFor()
    this.#releasing = before.flatMap(({ unit: { bess_id, pcs: all_pcs } }) => {
      const leaving = all_pcs.filter(
        ({ pcs_idx }) => !this.removed.isHere(pcsId({ bess_id, pcs_idx })),
      )
      const zero = { bess_id, power_w: 0, is_raise: false, mayStill: () => true }
      return (is_asked_for ? leaving : []).map((pcs) =>
        this.#notes.carryOut({ ...zero, pcs, pcs_idx: pcs.pcs_idx }),
      )
    })
  }

  /** Each counts where it is and where it was; where nobody asked for control, nowhere. */
  #regroup(): void {
    const { book } = this
    const here = [...this.#units.values()].flatMap(({ unit: { bess_id, pcs } }) =>
      pcs.map(({ pcs_idx }) => ({ bess_id, pcs_idx })),
    )
    for (const pcs of [...here, ...this.#records.values()]) {
      const source = book.source(sourceIdOf(pcs))
      const places = this.removed.placesOf(pcsId(pcs))
      const counted = this.#isAskedFor() ? places : []
      const groups = places.length === 0 ? [] : pcsGroups(counted)
      if (!source || source.groups.join() === groups.join()) continue
      book.step({ is: 'released', id: source.id, groups })
    }
  }

  /** Where each was heard, and what the control log has to hold of it. */
  #note(): void {
    const units = [...this.#units.values()].map(({ unit }) => unit)
    for (const unit of units) for (const pcs of unit.pcs) this.#hearOf(unit, pcs)
    if (this.#isAskedFor()) this.#notes.look(units, this.counted.nowhere())
  }

  #hearOf({ bess_id, logger_id }: ControlledUnit, pcs: ControlledPcs): void {
    const { pcs_idx, rated_w, power } = pcs
    if (power.state === null) return
    const id = pcsId({ bess_id, pcs_idx })
    const known = this.#records.get(id)
    const { left = [], freed_id = null } = known ?? {}
    const max_w = Math.max(rated_w, power.ceiling_w)
    const stands = pcs.stands ?? known?.stands ?? false
    const record = { bess_id, pcs_idx, max_w, place: { logger_id }, left, freed_id, stands }
    if (isDeepStrictEqual(known, record)) return
    this.#records.set(id, record)
    this.#is_unsaved = true
  }

  #unitNow(unit: ControlledUnit, joint: JointCeilings) {
    const stops = joint.is_settled ? [] : [clock_in_doubt]
    const asked = this.#hours.askedOf(unit.bess_id, joint)
    return { ...unit.now(stops), asked_w: asked?.power_w ?? null }
  }

  #report(
    { unit, log }: Known,
    joint: JointCeilings,
    { decision, targets }: Pick<Decided, 'decision'> & { targets: readonly PcsTarget[] },
  ): void {
    const { now, now_ms } = joint
    const { measured_w, failure, soc_pct } = unit
    const { rated_charge_w, rated_discharge_w } = unit.facts
    log.look({
      now,
      now_ms,
      decision,
      is_proven: unit.pcs.every((pcs) =>
        targets.some((one) => one.pcs === pcs && pcs.power.isAt(one.power_w)),
      ),
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
    for (const { bess_id, pcs, power_w } of targets) {
      if (!pcs.needs(power_w)) continue
      const is_raise = power_w > 0 && isRaise(pcs.power.source, power_w)
      const mayStill = () =>
        is_raise
          ? this.#isWanted(pcs, power_w, permit)
          : power_w <= Math.max(0, this.#targets?.get(pcs) ?? power_w)
      const { pcs_idx } = pcs
      void this.#notes.carryOut({ pcs, bess_id, pcs_idx, is_raise, power_w, mayStill })
    }
  }

  #isWanted(pcs: ControlledPcs, power_w: number, permit: Permit | null): boolean {
    const target_w = this.#targets?.get(pcs)
    const is_wanted = target_w !== undefined && power_w <= target_w
    if (!is_wanted || !isSamePermit(permit, this.#needs.permit())) return false
    const now_ms = this.#needs.stopwatch.elapsedMs()
    return exceeded(this.book.state, pcs.power.source.groups, now_ms) === null
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
    const pcs = [...this.#records.values()]
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
