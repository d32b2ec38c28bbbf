/** Writes of schedules, each within the transaction of its request. */

import { setImmediate } from 'node:timers/promises'
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Caller } from '../../http/endpoint.ts'
import { ApiError, badField, violation } from '../../http/errors.ts'
import { requireMatch } from '../../http/etag.ts'
import { requireUnchanged } from '../../http/read-only.ts'
import type { Queries, Transaction } from '../../storage/database.ts'
import { changeRows } from '../../storage/rows.ts'
import { nextIdOf, takeSequenceId } from '../../storage/site-ids.ts'
import { amongNewest, type DayPlans, readDayPlans } from '../planning/day-plans.ts'
import { readUnits } from '../planning/plan-units.ts'
import type { BatteryPlanner, PlannedUnit, PlanOutcome } from '../planning/planner.ts'
import { Refusal } from '../planning/refusal.ts'
import { idlePlan, revised } from '../planning/revise.ts'
import { publishSchedule } from '../published.ts'
import { scheduleStatus } from '../schedule-status.ts'
import {
  readActuals,
  type Schedule,
  type StoredSchedule,
  scheduleById,
  scheduleOf,
  schedulesIn,
} from '../schedules.ts'
import { conflict } from './conflicts.ts'
import { days_ahead_max, type OptimizeBody } from './schemas.ts'

export interface Actor {
  site_id: string
  caller: Pick<Caller, 'key_name' | 'client_id' | 'site_ids'>
  if_match: string | null
  request_id: string
  /** Read-only fields of the hour in the body. */
  read_only: Readonly<Record<string, unknown>>
  now: Date
}

/** Class of PostgreSQL advisory locks for the schedules of a site: `hgbs`. */
const advisory_class = 0x68676273

/** Locks the schedules of a site until the end of the transaction. */
export const takeTurn = (tx: Transaction, site_id: string) =>
  tx.execute('select pg_advisory_xact_lock($1, hashtext($2))', [advisory_class, site_id])

/** A schedule for the API; an open proposal is recomputed next to the plans of other units. */
export async function recordOf(
  db: Queries,
  site_id: string,
  row: StoredSchedule,
  now: Date,
): Promise<Schedule> {
  const actuals = await readActuals(db, site_id, row, now)
  return scheduleOf(await presentOf(db, site_id, row, now), now, actuals)
}

/** `plans`: the plans of its day, if read before. */
export async function presentOf(
  db: Queries,
  site_id: string,
  row: StoredSchedule,
  now: Date,
  plans?: DayPlans,
): Promise<StoredSchedule> {
  if (scheduleStatus(row, now) !== 'proposed') return row
  const date = row.target_date
  return amongNewest(plans ?? (await readDayPlans(db, { site_id, date })), row, now)
}

interface PlanOrder {
  planner: BatteryPlanner
  body: OptimizeBody
  /** null: all units of the site. */
  bess_id: number | null
}

/** Plans without storing anything. */
export async function planOrder(
  db: Queries,
  { site_id, now }: Pick<Actor, 'site_id' | 'now'>,
  { planner, body, bess_id }: PlanOrder,
): Promise<PlanOutcome & { date: string }> {
  const date = dateToPlan(body.target_date, now)
  const of = { site_id, now, date, bess_id }
  const outcome = body.idle
    ? await planIdle(db, of)
    : await planner.plan(db, {
        ...of,
        objective: body.objective ?? 'arbitrage',
        soc_end_target_pct: body.soc_end_target_pct ?? null,
      })
  return { ...outcome, date }
}

interface Ordered extends Pick<PlanOutcome, 'refused'> {
  made: Schedule[]
}

/** Plans a unit, or all units of the site for null, and stores the proposals. */
export async function propose(
  tx: Transaction,
  { site_id, caller, now }: Actor,
  order: PlanOrder,
): Promise<Ordered> {
  const { date, planned, refused } = await planOrder(tx, { site_id, now }, order)
  const rows: StoredSchedule[] = []
  for (const unit of planned) {
    const made = { site_id, target_date: date, now, created_by: caller.key_name }
    const schedule_id = await storeProposal(tx, unit, made)
    rows.push((await scheduleById(tx, { site_id, schedule_id }))!)
  }
  const plans = await readDayPlans(tx, { site_id, date })
  const made: Schedule[] = []
  for (const row of rows) {
    const proposed = scheduleOf(amongNewest(plans, row, now), now)
    publishSchedule(tx, { site_id, now }, 'proposed', proposed)
    made.push(proposed)
    // Lets other requests run between the units of a large site.
    await setImmediate()
  }
  return { made, refused }
}

async function planIdle(
  db: Queries,
  of: { site_id: string; now: Date; date: string; bess_id: number | null },
): Promise<PlanOutcome> {
  const { site_id, now, date } = of
  const approved = await schedulesIn(db, { site_id, date, state: 'approved' })
  const outcome: PlanOutcome = { planned: [], refused: [] }
  for (const { bess_id } of await readUnits(db, site_id)) {
    if (of.bess_id !== null && of.bess_id !== bess_id) continue
    const schedule = approved.find((one) => one.bess_id === bess_id)
    if (schedule) outcome.planned.push(idlePlan(schedule, now))
    else {
      const refusal = new Refusal('nothing_approved', `nothing is approved for ${date}`)
      outcome.refused.push({ bess_id, refusal })
    }
  }
  return outcome
}

function dateToPlan(asked: string | undefined, now: Date): string {
  const today = utcDayStart(now)
  const date = asked ?? utcDate(today)
  const day = Date.parse(date)
  if (day >= today && day <= today + days_ahead_max * day_ms) return date
  const message = `must be from ${utcDate(today)} to ${utcDate(today + days_ahead_max * day_ms)}`
  throw badField('target_date', 'out_of_range', message)
}

export function refusalError({ code, message, details }: Refusal): ApiError {
  if (code !== 'infeasible') {
    return new ApiError('conflict_state', { current_state: code, allowed: [], message, ...details })
  }
  const errors = [violation('soc_end_target_pct', 'infeasible', message)]
  return new ApiError('validation_error', { errors, ...details })
}

/** Publishes a decided schedule; returns it as the API serves it. */
export async function published(
  tx: Transaction,
  { site_id, now }: Actor,
  verb: 'revised' | 'approved' | 'rejected',
  row: StoredSchedule,
): Promise<Schedule> {
  const record = await recordOf(tx, site_id, row, now)
  publishSchedule(tx, { site_id, now }, verb, record)
  return record
}

/** Changes columns of a schedule, and with them its version. */
export async function changeSchedule(
  tx: Transaction,
  site_id: string,
  schedule_id: number,
  columns: Partial<Omit<StoredSchedule, 'version' | 'dispatched'>>,
): Promise<void> {
  // The driver would send an array as one of PostgreSQL.
  const stored = { ...columns, ...(columns.hours && { hours: JSON.stringify(columns.hours) }) }
  const key = { site_id, schedule_id }
  await changeRows(tx, 'battery_schedules', key, stored, ', version = version + 1')
}

/** Stores a proposal, which supersedes the open one of the unit and day. */
async function storeProposal(
  tx: Transaction,
  { bess_id, objective, problem, plan, hours }: PlannedUnit,
  of: { site_id: string; target_date: string; now: Date; created_by: string },
): Promise<number> {
  const { site_id, target_date, now, created_by } = of
  const replaced = await tx.query<{ schedule_id: number }>(
    `update battery_schedules set state = 'superseded', superseded_at = $4, version = version + 1
     where site_id = $1 and bess_id = $2 and target_date = $3 and state = 'proposed'
     returning schedule_id`,
    [site_id, bess_id, target_date, now],
  )
  const parts = [problem, plan, hours].map((part) => JSON.stringify(part))
  const [made] = await tx.query<{ schedule_id: number }>(
    `insert into battery_schedules (site_id, schedule_id, bess_id, target_date, state, objective,
       created_at, created_by, problem, plan, hours)
     values ($1, ${nextIdOf('site', '$1')}, $2, $3, 'proposed', $4, $5, $6, $7::jsonb, $8::json, $9::jsonb)
     returning schedule_id::int as schedule_id`,
    [site_id, bess_id, target_date, objective, now, created_by, ...parts],
  )
  await tx.execute(
    'update battery_schedules set superseded_by = $3 where site_id = $1 and schedule_id = any ($2)',
    [site_id, replaced.map(({ schedule_id }) => schedule_id), made!.schedule_id],
  )
  return made!.schedule_id
}

/** @throws ApiError 404 for an unknown id, 409 for another status, 412 by `If-Match` */
export async function proposal(
  tx: Transaction,
  actor: Actor,
  schedule_id: number,
): Promise<StoredSchedule> {
  const { site_id, now, if_match } = actor
  const row = await scheduleById(tx, { site_id, schedule_id })
  if (row === null) throw (await otherSiteConflict(tx, actor, schedule_id)) ?? notFound(schedule_id)
  const current_state = scheduleStatus(row, now)
  if (current_state !== 'proposed') {
    const { superseded_by } = row
    throw conflict(schedule_id, {
      state: current_state,
      allowed: 'proposed',
      ...(superseded_by !== null && { superseded_by }),
    })
  }
  requireMatch(if_match, await recordOf(tx, site_id, row, now))
  return row
}

const notFound = (schedule_id: number) => new ApiError('not_found', { schedule_id })

/** Conflict for a schedule of another site of the key; null for any other site. */
async function otherSiteConflict(
  tx: Transaction,
  { site_id, caller, now }: Actor,
  schedule_id: number,
): Promise<ApiError | null> {
  const sites = await tx.query<{ site_id: string }>(
    `select site_id from sites
     where client_id = $1 and site_id <> $2 and ($3::text[] is null or site_id = any($3))`,
    [caller.client_id, site_id, caller.site_ids && [...caller.site_ids]],
  )
  for (const other of sites) {
    const row = await scheduleById(tx, { site_id: other.site_id, schedule_id })
    if (row === null) continue
    return conflict(schedule_id, {
      state: scheduleStatus(row, now),
      allowed: 'proposed',
      of_site_id: other.site_id,
    })
  }
  return null
}

export async function reject(
  tx: Transaction,
  actor: Actor,
  { schedule_id, reason }: { schedule_id: number; reason: string | null },
): Promise<StoredSchedule> {
  const { site_id, now, caller } = actor
  await proposal(tx, actor, schedule_id)
  await changeSchedule(tx, site_id, schedule_id, {
    state: 'rejected',
    rejected_at: now,
    rejected_by: caller.key_name,
    reject_reason: reason,
  })
  await noteDecision(tx, actor, { schedule_id, action: 'reject' })
  return (await scheduleById(tx, { site_id, schedule_id }))!
}

/**
 * Adds a decision to the control log of the unit. Entries of the edge are numbered from 0 within an
 * instant, far below those of decisions.
 */
export async function noteDecision(
  tx: Transaction,
  { site_id, caller, request_id, now }: Actor,
  { schedule_id, action }: { schedule_id: number; action: 'approve' | 'reject' },
): Promise<void> {
  const done = action === 'approve' ? 'approved' : 'rejected'
  await tx.execute(
    `insert into battery_control_notes (site_id, log_id, bess_id, at, nth, tier, actor, action,
       reason_code, message, schedule_id, request_id, success)
     select site_id, $9, bess_id, $3, (
         select coalesce(max(nth) + 1, 1000000) from battery_control_notes n
         where n.site_id = $1 and n.bess_id = s.bess_id and n.at = $3 and n.nth >= 1000000
       ), 'operator', $4, $5, $6, $7 || to_char(target_date, 'YYYY-MM-DD'), schedule_id, $8, true
     from battery_schedules s where site_id = $1 and schedule_id = $2`,
    [
      site_id,
      schedule_id,
      now,
      caller.key_name,
      action,
      `schedule_${done}`,
      `${caller.key_name} ${done} the schedule of `,
      request_id,
      await takeSequenceId(tx, site_id),
    ],
  )
}

export async function reviseHour(
  tx: Transaction,
  actor: Actor,
  asked: { schedule_id: number; hour: number; power_kw: number; note: string | null },
): Promise<StoredSchedule> {
  const { site_id, now, caller } = actor
  const { schedule_id, hour } = asked
  const row = await proposal(tx, actor, schedule_id)
  const plans = await readDayPlans(tx, { site_id, date: row.target_date })
  const among = amongNewest(plans, row, now)
  requireUnchanged(actor.read_only, scheduleOf(among, now).hours[hour]!)
  const found = revised(among, { ...asked, by: caller.key_name, now })
  if (found.is === 'locked') {
    throw conflict(schedule_id, { state: 'hour_locked', allowed: 'hour_open', hour })
  }
  if (found.is !== 'revised') throw revisionError(found)
  const { hours, plan } = amongNewest(plans, { ...among, ...found.parts }, now)
  await changeSchedule(tx, site_id, schedule_id, { hours, plan })
  return (await scheduleById(tx, { site_id, schedule_id }))!
}

type Unfit = Extract<ReturnType<typeof revised>, { is: 'outside' | 'infeasible' }>

function revisionError(unfit: Unfit): ApiError {
  const { is, ...details } = unfit
  const { first_infeasible_hour, by } = unfit
  const why = by && `hour ${first_infeasible_hour} could not be followed (${by})`
  const fault =
    unfit.is === 'infeasible'
      ? { code: 'infeasible', message: why }
      : {
          code: 'out_of_range',
          message: [`must be from ${unfit.min_power_kw} to ${unfit.max_power_kw}`, why]
            .filter(Boolean)
            .join(': '),
        }
  const errors = [{ location: 'body', field: 'power_kw', ...fault }]
  return new ApiError('validation_error', { errors, ...details })
}
