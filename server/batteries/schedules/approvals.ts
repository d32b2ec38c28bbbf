/** Approval of schedules: its conditions, and its effects on schedules of later days. */
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import type { Static } from 'typebox'
import { noteChange } from '../../storage/curtailment.ts'
import type { Transaction } from '../../storage/database.ts'
import { amongNewest, besideOf, type DayPlans, readDayPlans } from '../planning/day-plans.ts'
import { knownSoc, type UnitRow } from '../planning/plan-units.ts'
import { type Breach, besideOthers, fromStart, isOfPlan, settled } from '../planning/present.ts'
import { approvedParts } from '../planning/revise.ts'
import { scheduleStatus } from '../schedule-status.ts'
import { type StoredSchedule, scheduleById, schedulesIn } from '../schedules.ts'
import { type Actor, changeSchedule, noteDecision, proposal, published } from './commands.ts'
import { adviceOf, conflict } from './conflicts.ts'
import {
  type ApprovedAll,
  type BrokenSchedule,
  days_ahead_max,
  type SkippedSchedule,
} from './schemas.ts'

/** Accepted difference of the measured state of charge from the planned start, %. */
const strayed_pct = 1

/** The state that each refusal of an approval asks for. */
const allowed = {
  unit_retired: 'in_service',
  infeasible: 'feasible',
  export_limit: 'within_export_limit',
} as const

interface Refused {
  state: keyof typeof allowed
  breach?: Breach
}

/** A proposal as it would be approved now, and why it cannot be approved. */
interface Candidate {
  row: StoredSchedule
  refused: Refused | null
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
  const stored = await proposal(tx, actor, schedule_id)
  const plans = await readDayPlans(tx, { site_id: actor.site_id, date: stored.target_date })
  const { row, refused } = await candidateOf(tx, actor, stored, plans)
  const found = refused ?? exceeding(plans, row, new Map(), actor.now)
  if (found) {
    const { soc_start_pct } = row.problem.unit
    const start = found.state === 'infeasible' && { soc_start_pct }
    throw conflict(schedule_id, { ...found, allowed: allowed[found.state], ...start })
  }
  return approveRow(tx, actor, row, plans)
}

const unitOf = ({ units }: DayPlans, { bess_id }: StoredSchedule): UnitRow | undefined =>
  units.find((unit) => unit.bess_id === bess_id)

/** Whether a schedule exceeds the export limit with those approved, or approved together. */
function exceeding(
  plans: DayPlans,
  row: StoredSchedule,
  together: ReadonlyMap<number, StoredSchedule>,
  now: Date,
): Refused | null {
  const beside = besideOf(plans, row.bess_id, (other) => {
    return together.get(other) ?? plans.approved.get(other)
  })
  const { breach } = besideOthers(row, beside, now)
  return breach && { state: 'export_limit', breach }
}

/** A coming day starts at the approved end of the day before, else at the measured value. */
async function candidateOf(
  tx: Transaction,
  { site_id, now }: Actor,
  stored: StoredSchedule,
  plans: DayPlans,
): Promise<Candidate> {
  const unit = unitOf(plans, stored)
  if (unit?.is_retired !== false) return { row: stored, refused: { state: 'unit_retired' } }
  const among = settled(amongNewest(plans, stored, now))
  if (stored.target_date <= utcDate(now)) return { row: among, refused: null }
  const before = await endOfDay(tx, site_id, stored.bess_id, addDays(stored.target_date, -1))
  const soc_pct = before ?? knownSoc(unit, plans.site, now)
  if (soc_pct === null) return { row: among, refused: null }
  const source = before === null ? 'measured' : 'approved_schedule'
  const { row, breach } = fromStart(among, { soc_pct, source })
  const is_as_planned =
    before === null && Math.abs(soc_pct - stored.problem.unit.soc_start_pct) <= strayed_pct
  const is_refused = breach && isWhole(stored) && !is_as_planned
  return { row, refused: is_refused ? { state: 'infeasible', breach } : null }
}

const isWhole = ({ plan }: StoredSchedule) => !plan.constraint_violations.some(isOfPlan)

/** State of charge at the end of an approved schedule; null without one. */
async function endOfDay(
  tx: Transaction,
  site_id: string,
  bess_id: number,
  date: string,
): Promise<number | null> {
  const [approved] = await schedulesIn(tx, { site_id, bess_id, date, state: 'approved' })
  return approved?.hours.at(-1)?.soc_end_pct ?? null
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
  const of_day = { site_id, bess_id, date: target_date }
  const [replaced = null] = await schedulesIn(tx, { ...of_day, state: 'approved' })
  if (replaced) {
    const superseded = {
      state: 'superseded',
      superseded_at: now,
      superseded_by: schedule_id,
    } as const
    await changeSchedule(tx, site_id, replaced.schedule_id, superseded)
  }
  const soc_pct = knownSoc(unitOf(plans, row)!, plans.site, now)
  await changeSchedule(tx, site_id, schedule_id, {
    state: 'approved',
    approved_at: now,
    approved_by: actor.caller.key_name,
    problem: row.problem,
    ...approvedParts(row, { replaced, soc_pct, now }),
  })
  await noteDecision(tx, actor, { schedule_id, action: 'approve' })
  const broken = await followOn(tx, actor, bess_id, target_date)
  const approved = (await scheduleById(tx, { site_id, schedule_id }))!
  await published(tx, actor, 'approved', approved)
  return { row: approved, broken }
}

/**
 * Moves the start of the schedules of later days to the approved end of the day before. Returns the
 * approved schedules that the unit can then no longer follow.
 */
async function followOn(
  tx: Transaction,
  { site_id, now }: Actor,
  bess_id: number,
  date: string,
): Promise<BrokenSchedule[]> {
  const broken: BrokenSchedule[] = []
  const last = addDays(utcDate(now), days_ahead_max)
  for (let day = date; day < last; day = addDays(day, 1)) {
    const soc_pct = await endOfDay(tx, site_id, bess_id, day)
    if (soc_pct === null) return broken
    const next = { site_id, bess_id, date: addDays(day, 1) }
    const rows = [
      ...(await schedulesIn(tx, { ...next, state: 'proposed' })),
      ...(await schedulesIn(tx, { ...next, state: 'approved' })),
    ]
    for (const row of rows) {
      const { schedule_id, target_date } = row
      const previous_soc_start_pct = row.problem.unit.soc_start_pct
      const follower = fromStart(row, { soc_pct, source: 'approved_schedule' })
      const { hours, plan, problem } = follower.row
      if (follower.breach && row.state === 'approved' && isWhole(row)) {
        const { constraint, hour } = follower.breach
        const { soc_start_pct } = problem.unit
        broken.push({
          schedule_id,
          bess_id,
          target_date,
          constraint,
          hour,
          soc_start_pct,
          previous_soc_start_pct,
        })
      }
      if (previous_soc_start_pct === soc_pct) continue
      await changeSchedule(tx, site_id, schedule_id, { hours, plan, problem })
    }
  }
  return broken
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
    { state: code, breach }: { state: SkippedSchedule['code']; breach?: Breach },
  ) => {
    const advice = adviceOf(code, { breach })
    skipped.push({ schedule_id, code, hour: breach?.hour ?? null, ...advice })
  }
  for (const stored of await schedulesIn(tx, { site_id, date, state: 'proposed' })) {
    if (scheduleStatus(stored, now) === 'expired') skip(stored, { state: 'expired' })
    else {
      const { row, refused } = await candidateOf(tx, actor, stored, plans)
      if (refused) skip(stored, refused)
      else together.set(row.bess_id, row)
    }
  }
  for (;;) {
    const last = [...together.values()]
      .toReversed()
      .map((row) => ({ row, refused: exceeding(plans, row, together, now) }))
      .find(({ refused }) => refused !== null)
    if (!last) break
    together.delete(last.row.bess_id)
    skip(last.row, last.refused!)
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
