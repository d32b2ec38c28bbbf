import { utcDate } from '@heliograph/domain/utc-day'
import type { Static } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint, type Request, type WriteParts } from '../../http/endpoint.ts'
import { CursorList, cursorList, list } from '../../http/envelope.ts'
import { ApiError, badField, found } from '../../http/errors.ts'
import { exampleOf } from '../../http/example.ts'
import * as field from '../../http/fields.ts'
import type { Queries } from '../../storage/database.ts'
import { requireUnit } from '../earnings.ts'
import type { BatteryPlanner } from '../planning/planner.ts'
import { ScheduleHour } from '../schedule-plan.ts'
import {
  readActuals,
  Schedule,
  type StoredSchedule,
  scheduleById,
  scheduleOf,
  schedulesOfDay,
} from '../schedules.ts'
import { BessId } from '../units.ts'
import { approve, approveAll } from './approvals.ts'
import {
  type Actor,
  presentOf,
  propose,
  published,
  recordOf,
  refusalError,
  reject,
  reviseHour,
  takeTurn,
} from './commands.ts'
import {
  ApprovedAll,
  ApprovedSchedule,
  HourBody,
  OptimizeBody,
  OptimizedAll,
  RejectBody,
  ScheduleId,
} from './schemas.ts'

export interface Needs extends Context {
  batteryPlanner: BatteryPlanner
}

const tag = { tag: 'Batteries', module: 'bess' } as const
const reads = { ...tag, method: 'GET', scope: 'bess:read' } as const
const writes = { ...tag, scope: 'bess:write' } as const

type Write = Request<unknown, unknown, unknown> & WriteParts

/** Takes the turn of the site; `now` is read afterwards. */
async function inTurn(request: Write, { clock }: Context): Promise<Actor> {
  const { site, caller, tx, if_match, request_id, read_only } = request
  await takeTurn(tx, site.site_id)
  return { site_id: site.site_id, caller, if_match, request_id, read_only, now: clock.now() }
}

/** A schedule has about 14 kB. */
const page_size = 20

const scheduleExample = exampleOf(Schedule, {
  failure_code: null,
  executed_hours: [],
  edited_hours: [],
  constraint_violations: [],
})

export const listSchedules = endpoint({
  ...reads,
  path: '/bess/{bess_id}/schedules',
  operation_id: 'bess_schedules_list',
  summary: 'Schedules of a battery for a day',
  description:
    'Returns every schedule proposed for the unit and day, newest first on each page of ' +
    `${page_size}. At most one is \`proposed\`, and at most one \`approved\`, \`dispatching\`, ` +
    '`completed` or `failed`; the first page has both. `meta.count` covers all pages.',
  params: { bess_id: BessId },
  query: { target_date: field.UtcDay },
  cursor: { schedule_id: ScheduleId },
  returns: CursorList(Schedule),
  example: { answer: cursorList({ rows: [scheduleExample], next_cursor: null }) },
  async handle({ site: { site_id }, params, query, after }, { db, clock }: Context) {
    const now = clock.now()
    await requireUnit(db, { site_id, ...params })
    const { rows, next_cursor, count } = await schedulesOfDay(db, {
      ...params,
      site_id,
      date: query.target_date ?? utcDate(now),
      after: after?.schedule_id ?? null,
      page_size,
    })
    return cursorList({ rows: await dayRecords(db, site_id, rows, now), next_cursor }, count)
  },
})

/** Schedules of one unit and day, which share their actual power. */
async function dayRecords(
  db: Queries,
  site_id: string,
  rows: readonly StoredSchedule[],
  now: Date,
): Promise<Schedule[]> {
  const approved = rows.find(({ approved_at }) => approved_at !== null)
  const actuals = approved && (await readActuals(db, site_id, approved, now))
  const records: Schedule[] = []
  for (const row of rows) {
    const present = await presentOf(db, site_id, row, now)
    records.push(scheduleOf(present, now, row.approved_at ? actuals : undefined))
  }
  return records
}

export const getSchedule = endpoint({
  ...reads,
  path: '/bess/schedules/{schedule_id}',
  operation_id: 'bess_schedule_get',
  summary: 'One schedule with its hours',
  description:
    'Returns the schedule. Send its `ETag` as `If-Match` with a decision on it, so that the ' +
    'decision applies to the version that was read.',
  params: { schedule_id: ScheduleId },
  cache: 'resource',
  returns: Schedule,
  example: { answer: scheduleExample },
  async handle({ site: { site_id }, params }, { db, clock }: Context) {
    const row = found(await scheduleById(db, { ...params, site_id }), params)
    return recordOf(db, site_id, row, clock.now())
  },
})

const planning =
  'Nothing is dispatched before approval. Plans use the day-ahead prices of the market of the ' +
  'unit, its plant or the site, then the price forecast; an hour with neither stays idle with ' +
  '`price_per_mwh` null. Past hours and the running hour stay as approved, else idle. The plan ' +
  'supersedes the open proposal of the unit and day.'

const unplannable =
  'missing published prices (`price_hole`) or no prices at all (`no_price`, both with ' +
  '`missing_hours`), an unknown state of charge (`telemetry_stale`), or another code of `skipped` ' +
  'of /bess/optimize-all'

const busy =
  ' Returns 503 when too many plans are being computed for this site (`plans_of_site`) or on this ' +
  'server (`plans_of_server`); see `details.reason`.'

function plan(request: Write, order: { body: OptimizeBody; bess_id: number | null }, needs: Needs) {
  const { batteryPlanner: planner } = needs
  const work = async () => {
    const actor = await inTurn(request, needs)
    return propose(request.tx, actor, { planner, ...order })
  }
  const { idle, soc_end_target_pct } = order.body
  if (!idle) return planner.admit(request.site.site_id, work)
  if (soc_end_target_pct === undefined) return work()
  const message = 'must not be given with idle'
  throw badField('soc_end_target_pct', 'not_with_idle', message)
}

export const optimizeUnit = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/{bess_id}/optimize',
  operation_id: 'bess_optimize',
  summary: 'Propose the best schedule of a unit for a day',
  description:
    `Returns the proposed schedule. ${planning} Rejected with 409 when the unit cannot be planned, ` +
    `with the reason as \`details.current_state\`: ${unplannable}. Rejected with 422 when the final ` +
    'state of charge cannot be reached; `details` has the reason (`bound_by`) and the highest ' +
    `value that can be reached.${busy}`,
  params: { bess_id: BessId },
  body: OptimizeBody,
  status: 201,
  cache: 'resource',
  returns: Schedule,
  example: { body: { objective: 'arbitrage' }, answer: scheduleExample },
  async handle(request, needs: Needs) {
    const { params, body } = request
    const { made, refused } = await plan(request, { body, ...params }, needs)
    if (refused[0]) throw refusalError(refused[0].refusal)
    return found(made[0], params)
  },
})

function nonePlanned(skipped: Static<typeof OptimizedAll>['skipped']): ApiError {
  const codes = new Set(skipped.map(({ code }) => code))
  const [shared = 'no_units'] = codes
  const current_state = codes.size > 1 ? 'none_planned' : shared
  return new ApiError('conflict_state', { current_state, allowed: [], skipped })
}

export const optimizeAll = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/optimize-all',
  operation_id: 'bess_optimize_all',
  summary: 'Propose the best schedules of all units together',
  description:
    'Returns the proposed schedules in `data`, and units that could not be planned in `skipped` ' +
    `with \`code\` and \`message\`: ${unplannable}. ${planning} Units behind one connection share ` +
    '`export_plan_limit_kw` of the site. Rejected with 409 when no unit could be planned: ' +
    '`details.skipped` has all units, and `details.current_state` is their common `code`, ' +
    `\`none_planned\` for several codes, or \`no_units\` for a site without units.${busy}`,
  body: OptimizeBody,
  status: 201,
  returns: OptimizedAll,
  example: {
    body: {},
    answer: {
      ...list([scheduleExample]),
      skipped: [
        {
          bess_id: 2,
          code: 'telemetry_stale',
          message: 'the present state of charge of the unit is unknown',
          details: { measured_at: '2026-06-20T12:51:04.000Z', age_s: 1136 },
        },
      ],
    },
  },
  async handle(request, needs: Needs) {
    const { made, refused } = await plan(request, { body: request.body, bess_id: null }, needs)
    const skipped = refused.map(({ bess_id, refusal: { code, message, details } }) => ({
      bess_id,
      code,
      message,
      details,
    }))
    if (made.length === 0) throw nonePlanned(skipped)
    return { ...list(made), skipped }
  },
})

const onlyProposed =
  'Returns the schedule. Rejected with 409 when its status is not `proposed`; `details` has ' +
  '`current_state`, `allowed` (the required state), `message` (the reason), `remedy` (what to do ' +
  'instead), and `superseded_by` for a superseded schedule. Send `If-Match` to act only on the ' +
  'version that was read.'

const refusedApproval =
  ' Both errors have `details.constraint`, `details.hour` and `details.by_kw` (power above the ' +
  'limit; null for `infeasible`), and `infeasible` has `details.soc_start_pct`. A unit out of ' +
  'service is 409 `unit_retired`. `broken_schedules` lists approved schedules of later days that ' +
  'the unit can no longer follow after this approval.'

export const approveSchedule = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/schedules/{schedule_id}/approve',
  operation_id: 'bess_schedule_approve',
  summary: 'Approve a proposed schedule',
  description:
    `${onlyProposed} The approved schedule is dispatched from now on and supersedes the one ` +
    'approved before for the unit and day. Approval lifts no limit: the edge keeps each hour ' +
    'within the limits of the unit and the connection. `constraint_violations` reports where the ' +
    'unit cannot follow the plan of a running day from its present state of charge. Rejected with ' +
    '409 `export_limit` when the plan, with the approved schedules of other units, exceeds ' +
    '`export_plan_limit_kw` in an hour. Rejected with 409 `infeasible` when the unit cannot ' +
    'follow the plan of a coming day from the approved end of the day before, or, without one, ' +
    'when its state of charge differs by more than 1 % from the planned start.' +
    refusedApproval,
  params: { schedule_id: ScheduleId },
  cache: 'resource',
  if_match: true,
  returns: ApprovedSchedule,
  example: {
    answer: { ...scheduleExample, status: 'approved', broken_schedules: [] },
  },
  async handle(request, context: Context) {
    const actor = await inTurn(request, context)
    const { row, broken } = await approve(request.tx, actor, request.params.schedule_id)
    const schedule = await recordOf(request.tx, actor.site_id, row, actor.now)
    return { ...schedule, broken_schedules: broken }
  },
})

export const rejectSchedule = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/schedules/{schedule_id}/reject',
  operation_id: 'bess_schedule_reject',
  summary: 'Reject a proposed schedule',
  description: `${onlyProposed} An approved schedule of the day stays in force.`,
  params: { schedule_id: ScheduleId },
  body: RejectBody,
  cache: 'resource',
  if_match: true,
  returns: Schedule,
  example: {
    body: { reason: 'The unit is due for service.' },
    answer: { ...scheduleExample, status: 'rejected' },
  },
  async handle(request, context: Context) {
    const { params, body, tx } = request
    const actor = await inTurn(request, context)
    const row = await reject(tx, actor, { ...params, reason: body.reason ?? null })
    return published(tx, actor, 'rejected', row)
  },
})

export const approveSchedules = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/schedules/approve-all',
  operation_id: 'bess_schedules_approve_all',
  summary: 'Approve all proposed schedules of a day',
  description:
    'Returns the approved schedules in `approved`, and all other proposals in `skipped` with ' +
    '`code`, `message` and `remedy`; always 200, even if nothing is proposed. Each proposal is ' +
    'approved as if alone, but checked together with all others. A proposal is skipped when its ' +
    'day is over (`expired`), its unit is out of service (`unit_retired`), its unit cannot follow ' +
    'it from the end of the day before (`infeasible`), or all together exceed ' +
    '`export_plan_limit_kw` (`export_limit`; units with the highest ids are skipped first). ' +
    '`broken_schedules` lists approved schedules of later days that the units can no longer ' +
    'follow.',
  query: { target_date: field.UtcDay },
  returns: ApprovedAll,
  example: { answer: { approved: [41], skipped: [], broken_schedules: [] } },
  async handle(request, context: Context) {
    const actor = await inTurn(request, context)
    return approveAll(request.tx, actor, request.query.target_date ?? utcDate(actor.now))
  },
})

export const reviseScheduleHour = endpoint({
  ...writes,
  method: 'PUT',
  path: '/bess/schedules/{schedule_id}/hours/{hour}',
  operation_id: 'bess_schedule_hour_revise',
  summary: 'Revise one hour of a proposed schedule',
  description:
    `${onlyProposed} The state of charge of all hours is recomputed. Rejected with 409 ` +
    '`hour_locked` when the hour has begun. Rejected with 422 when the power is outside ' +
    '`min_power_kw` and `max_power_kw` of the hour, or when the unit could not follow the rest ' +
    'of the day (`details.first_infeasible_hour`).',
  params: {
    schedule_id: ScheduleId,
    hour: field.Count('UTC hour of the day of the schedule.', { maximum: 23, examples: [19] }),
  },
  body: HourBody,
  object: ScheduleHour,
  cache: 'resource',
  if_match: true,
  returns: Schedule,
  example: { body: { power_kw: 80, note: 'Less wear.' }, answer: scheduleExample },
  async handle(request, context: Context) {
    const { params, body, tx } = request
    const actor = await inTurn(request, context)
    const asked = { ...params, power_kw: body.power_kw, note: body.note ?? null }
    const row = await reviseHour(tx, actor, asked)
    return published(tx, actor, 'revised', row)
  },
})
