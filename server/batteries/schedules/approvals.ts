/** Approval of schedules: its conditions, and its effects on schedules of later days. */
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import type { Static } from 'typebox'
import { noteChange } from '../../storage/curtailment.ts'
import type { Queries, Transaction } from '../../storage/database.ts'
import { amongNewest, besideOf, type DayPlans, readDayPlans } from '../planning/day-plans.ts'
import { presentSoc, readPlanSite, type UnitRow } from '../planning/plan-units.ts'
import {
  type Breach,
  besideOthers,
  courseBreach,
  type DayStart,
  exportBreach,
  fromStart,
  isOfPlan,
  settled,
} from '../planning/present.ts'
import { Refusal } from '../planning/refusal.ts'
import { approvedParts } from '../planning/revise.ts'
import { scheduleStatus } from '../schedule-status.ts'
import { approvedSchedule, type StoredSchedule, scheduleById, schedulesIn } from '../schedules.ts'
import { type Actor, noteDecision, proposal } from './commands.ts'
import { adviceOf, conflict } from './conflicts.ts'
import {
  type ApprovedAll,
  type BrokenSchedule,
  days_ahead_max,
  type SkippedSchedule,
} from './schemas.ts'

/** Accepted difference of the measured state of charge from the planned start, %. */
const strayed_pct = 1

/** A proposal as it would be approved now. */
interface Candidate {
  row: StoredSchedule
  /** The first hour that the unit cannot follow from the start of the day. */
  unfollowed: Breach | null
}

interface Approval {
  row: StoredSchedule
  broken: BrokenSchedule[]
}

export async function approve(
  tx: Transaction,
  actor: Actor,
  schedule_id: number,
): Promise<Approval> {
  const { site_id, now } = actor
  const stored = await proposal(tx, actor, schedule_id)
  const plans = await readDayPlans(tx, { site_id, date: stored.target_date })
  const unit = unitOf(plans, stored)
  if (unit?.is_retired !== false) {
    throw conflict(schedule_id, { state: 'unit_retired', allowed: 'in_service' })
  }
  const { row, unfollowed } = await candidateOf(tx, actor, stored, plans)
  if (unfollowed) {
    const { soc_start_pct } = row.problem.unit
    const facts = { breach: unfollowed, soc_start_pct }
    throw conflict(schedule_id, { state: 'infeasible', allowed: 'feasible', ...facts })
  }
  const breach = breachAmong(plans, row, new Map(), now)
  if (breach) {
    throw conflict(schedule_id, { state: 'export_limit', allowed: 'within_export_limit', breach })
  }
  return approveRow(tx, actor, row, plans)
}

const unitOf = ({ units }: DayPlans, { bess_id }: StoredSchedule): UnitRow | undefined =>
  units.find((unit) => unit.bess_id === bess_id)

/** Breach of the export limit with schedules that are approved, or approved together. */
function breachAmong(
  plans: DayPlans,
  row: StoredSchedule,
  together: ReadonlyMap<number, StoredSchedule>,
  now: Date,
): Breach | null {
  const beside = besideOf(plans, row.bess_id, (other) => {
    return together.get(other) ?? plans.approved.get(other)
  })
  return exportBreach(besideOthers(row, beside, now), { ...beside, now })
}

/** A coming day starts at the approved end of the day before, else at the measured value. */
async function candidateOf(
  tx: Transaction,
  { site_id, now }: Actor,
  stored: StoredSchedule,
  plans: DayPlans,
): Promise<Candidate> {
  const among = settled(amongNewest(plans, stored, now))
  if (stored.target_date <= utcDate(now)) return { row: among, unfollowed: null }
  const start = await startOf(tx, { site_id, now }, stored, plans)
  if (start === null) return { row: among, unfollowed: null }
  const row = fromStart(among, start)
  const is_as_planned =
    start.source === 'measured' &&
    Math.abs(start.soc_pct - stored.problem.unit.soc_start_pct) <= strayed_pct
  return { row, unfollowed: isWhole(stored) && !is_as_planned ? courseBreach(row) : null }
}

/** The plan had no violation at planning. */
const isWhole = ({ plan }: StoredSchedule) => !plan.constraint_violations.some(isOfPlan)

async function startOf(
  tx: Transaction,
  { site_id, now }: Pick<Actor, 'site_id' | 'now'>,
  { bess_id, target_date }: StoredSchedule,
  plans: DayPlans,
): Promise<DayStart | null> {
  const before = await approvedSchedule(tx, site_id, bess_id, addDays(target_date, -1))
  const approved_pct = before?.hours.at(-1)?.soc_end_pct ?? null
  if (approved_pct !== null) return { soc_pct: approved_pct, source: 'approved_schedule' }
  const unit = plans.units.find((one) => one.bess_id === bess_id)
  const soc_pct = unit ? await socOrNull(tx, { site_id, now }, unit) : null
  return soc_pct === null ? null : { soc_pct, source: 'measured' }
}

/** Approves a schedule, which supersedes the one approved before. */
async function approveRow(
  tx: Transaction,
  actor: Actor,
  row: StoredSchedule,
  plans: DayPlans,
): Promise<Approval> {
  const { site_id, now } = actor
  const { schedule_id, bess_id, target_date } = row
  await noteChange(tx, site_id)
  const replaced = await approvedSchedule(tx, site_id, bess_id, target_date)
  if (replaced) {
    await tx.execute(
      `update battery_schedules set state = 'superseded', superseded_at = $3, superseded_by = $4,
         version = version + 1
       where site_id = $1 and schedule_id = $2`,
      [site_id, replaced.schedule_id, now, schedule_id],
    )
  }
  const soc_pct = await socOrNull(tx, actor, unitOf(plans, row)!)
  const { hours, plan } = approvedParts(row, { replaced, soc_pct, now })
  await tx.execute(
    `update battery_schedules set state = 'approved', approved_at = $3, approved_by = $4,
       hours = $5::jsonb, plan = $6::json, problem = $7::jsonb, version = version + 1
     where site_id = $1 and schedule_id = $2`,
    [
      site_id,
      schedule_id,
      now,
      actor.caller.key_name,
      ...[hours, plan, row.problem].map((part) => JSON.stringify(part)),
    ],
  )
  await noteDecision(tx, actor, { schedule_id, action: 'approve' })
  const broken = await followOn(tx, { site_id, now }, { bess_id, date: target_date })
  return { row: (await scheduleById(tx, { site_id, schedule_id }))!, broken }
}

/**
 * Moves the start of the schedules of later days to the approved end of the day before. Returns the
 * approved schedules that the unit can then no longer follow.
 */
async function followOn(
  tx: Transaction,
  { site_id, now }: Pick<Actor, 'site_id' | 'now'>,
  { bess_id, date }: { bess_id: number; date: string },
): Promise<BrokenSchedule[]> {
  const broken: BrokenSchedule[] = []
  const last = addDays(utcDate(now), days_ahead_max)
  for (let day = date; day < last; day = addDays(day, 1)) {
    const before = await approvedSchedule(tx, site_id, bess_id, day)
    const soc_pct = before?.hours.at(-1)?.soc_end_pct ?? null
    if (soc_pct === null) return broken
    const next = { site_id, bess_id, date: addDays(day, 1) }
    const rows = [
      ...(await schedulesIn(tx, { ...next, state: 'proposed' })),
      ...(await schedulesIn(tx, { ...next, state: 'approved' })),
    ]
    for (const row of rows) {
      const follower = fromStart(row, { soc_pct, source: 'approved_schedule' })
      const breach = row.state === 'approved' && isWhole(row) ? courseBreach(follower) : null
      if (breach) broken.push(brokenSchedule(row, follower, breach))
      if (row.problem.unit.soc_start_pct === soc_pct) continue
      const { hours, plan, problem } = follower
      await tx.execute(
        `update battery_schedules
         set hours = $3::jsonb, plan = $4::json, problem = $5::jsonb, version = version + 1
         where site_id = $1 and schedule_id = $2`,
        [site_id, row.schedule_id, ...[hours, plan, problem].map((part) => JSON.stringify(part))],
      )
    }
  }
  return broken
}

function brokenSchedule(
  { schedule_id, bess_id, target_date, problem }: StoredSchedule,
  follower: StoredSchedule,
  { constraint, hour }: Breach,
): BrokenSchedule {
  return {
    schedule_id,
    bess_id,
    target_date,
    constraint,
    hour,
    soc_start_pct: follower.problem.unit.soc_start_pct,
    previous_soc_start_pct: problem.unit.soc_start_pct,
  }
}

/** Present state of charge; null where unknown, as the edge checks it again. */
async function socOrNull(
  tx: Queries,
  { site_id, now }: Pick<Actor, 'site_id' | 'now'>,
  unit: UnitRow,
): Promise<number | null> {
  try {
    return presentSoc(unit, await readPlanSite(tx, site_id), now)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/**
 * Approves every proposal of a day, by unit. Where all together exceed the export limit,
 * discharging units with the highest ids are skipped one by one until the rest is within the limit.
 */
export async function approveAll(
  tx: Transaction,
  actor: Actor,
  date: string,
): Promise<Static<typeof ApprovedAll>> {
  const { site_id, now } = actor
  const plans = await readDayPlans(tx, { site_id, date })
  const skipped: SkippedSchedule[] = []
  const together = new Map<number, StoredSchedule>()
  const skip = (
    { schedule_id }: StoredSchedule,
    code: SkippedSchedule['code'],
    breach?: Breach | null,
  ) => {
    const advice = adviceOf(code, breach ? { breach } : {})
    skipped.push({ schedule_id, code, hour: breach?.hour ?? null, ...advice })
  }
  for (const stored of await schedulesIn(tx, { site_id, date, state: 'proposed' })) {
    if (scheduleStatus(stored, now) === 'expired') skip(stored, 'expired')
    else if (unitOf(plans, stored)?.is_retired !== false) skip(stored, 'unit_retired')
    else {
      const { row, unfollowed } = await candidateOf(tx, actor, stored, plans)
      if (unfollowed) skip(stored, 'infeasible', unfollowed)
      else together.set(row.bess_id, row)
    }
  }
  for (;;) {
    const breaching = [...together.values()]
      .toReversed()
      .map((row) => ({ row, breach: breachAmong(plans, row, together, now) }))
      .find(({ breach }) => breach !== null)
    if (!breaching) break
    together.delete(breaching.row.bess_id)
    skip(breaching.row, 'export_limit', breaching.breach)
  }
  const broken_schedules: BrokenSchedule[] = []
  for (const row of together.values()) {
    const { broken } = await approveRow(tx, actor, row, plans)
    broken_schedules.push(...broken)
  }
  const approved = [...together.values()].map(({ schedule_id }) => schedule_id)
  skipped.sort((a, b) => a.schedule_id - b.schedule_id)
  return { approved, skipped, broken_schedules }
}
