import type { Clock } from '@heliograph/domain/clock'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import { endpoint, type Request, type WriteParts } from '../../http/endpoint.ts'
import { CursorList, cursorList, list } from '../../http/envelope.ts'
import { ApiError, invalid } from '../../http/errors.ts'
import type { BatteryPlanner } from '../planning/planner.ts'
import { ScheduleHour } from '../schedule-hours.ts'
import { Schedule } from '../schedules.ts'
import { approve, approveAll } from './approvals.ts'
import {
  type Actor,
  propose,
  recordOf,
  refusalError,
  reject,
  reviseHour,
  takeTurn,
} from './commands.ts'
import { approvedExample, editedExample, rejectedExample, scheduleExample } from './examples.ts'
import {
  ApprovedAll,
  ApprovedSchedule,
  BessId,
  HourBody,
  OptimizeBody,
  OptimizedAll,
  RejectBody,
  ScheduleId,
  targetDate,
} from './schemas.ts'
import type { ScheduleStore } from './store.ts'

export interface Needs {
  clock: Clock
  batterySchedules: ScheduleStore
  batteryPlanner: BatteryPlanner
}

const tag = { tag: 'Batteries', module: 'bess' } as const
const reads = { ...tag, method: 'GET', scope: 'bess:read' } as const
const writes = { ...tag, scope: 'bess:write' } as const

type Write = Request<unknown, unknown, unknown> & WriteParts

/** Writes of schedules of one site take turns; the time is that of one's own. */
async function inTurn(request: Write, clock: Clock): Promise<Actor> {
  const { site, caller, tx, if_match, request_id, read_only } = request
  await takeTurn(tx, site.site_id)
  return { site_id: site.site_id, caller, if_match, request_id, read_only, now: clock.now() }
}

/** A schedule is some 14 kB. */
const page_size = 20

export const listSchedules = endpoint({
  ...reads,
  path: '/bess/{bess_id}/schedules',
  operation_id: 'bess_schedules_list',
  summary: 'Every schedule that was proposed for a unit and day',
  description:
    'At most one is `proposed`, and at most one `approved`, `dispatching`, `completed` or ' +
    '`failed`: the ' +
    `first page has these and the newest of the others, in all ${page_size}. Each page has the ` +
    'newest first. `meta.count` counts all pages.',
  params: { bess_id: BessId },
  query: { target_date: targetDate },
  cursor: { schedule_id: ScheduleId },
  returns: CursorList(Schedule),
  example: { answer: cursorList({ rows: [scheduleExample], next_cursor: null }) },
  async handle({ site, params, query, after }, { clock, batterySchedules }: Needs) {
    const now = clock.now()
    const of = {
      ...params,
      site_id: site.site_id,
      date: query.target_date ?? utcDate(now),
      after: after?.schedule_id ?? null,
      page_size,
    }
    const found = await batterySchedules.ofDay(of, now)
    if (found === null) throw new ApiError('not_found', params)
    return cursorList(found, found.count)
  },
})

export const getSchedule = endpoint({
  ...reads,
  path: '/bess/schedules/{schedule_id}',
  operation_id: 'bess_schedule_get',
  summary: 'One schedule with its hours',
  description:
    'What decides over it should decide over what was seen: send its `ETag` as `If-Match`.',
  params: { schedule_id: ScheduleId },
  cache: 'resource',
  returns: Schedule,
  example: { answer: scheduleExample },
  async handle({ site: { site_id }, params }, { clock, batterySchedules }: Needs) {
    const found = await batterySchedules.byId({ ...params, site_id }, clock.now())
    if (found === null) throw new ApiError('not_found', params)
    return found
  },
})

const planning =
  'Nothing is dispatched until it is approved. Planned on the day-ahead prices of the unit, its ' +
  'plant or the site, beyond those that are published on the price forecast, and where there is ' +
  'neither the hour stays idle with `price_per_mwh` null. The open proposal of the same unit and ' +
  'day is superseded. Passed hours and the running one stay as approved, else idle. A hole in ' +
  'published prices (`price_hole`), none at all (`no_price`, both with `missing_hours`), an ' +
  'unknown state of charge (`telemetry_stale`), and what else keeps a unit from being planned,'

const busy =
  ' Where more of the site (`plans_of_site`), or of all sites (`plans_of_server`), are being ' +
  'planned than is well it is 503 with that as `details.reason`.'

function plan(
  request: Write,
  asked: { body: OptimizeBody; bess_id: number | null },
  { clock, batteryPlanner }: Needs,
) {
  const work = async () => {
    const actor = await inTurn(request, clock)
    return propose(request.tx, actor, { planner: batteryPlanner, ...asked })
  }
  const { idle, soc_end_target_pct } = asked.body
  if (!idle) return batteryPlanner.admit(request.site.site_id, work)
  if (soc_end_target_pct === undefined) return work()
  const message = 'an idle plan takes the state of charge as it comes'
  throw invalid({ location: 'body', field: 'soc_end_target_pct', code: 'not_with_idle', message })
}

export const optimizeUnit = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/{bess_id}/optimize',
  operation_id: 'bess_optimize',
  summary: 'Propose the best schedule of a unit for a day',
  description:
    `${planning} is 409 with it as \`details.current_state\`. A final state of charge out of ` +
    'reach is 422 with what bounds it (`details.bound_by`) and the most that can be reached.' +
    busy,
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
    if (!made[0]) throw new ApiError('not_found', params)
    return made[0]
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
    `${planning} skips the unit. Units behind one connection share \`export_plan_limit_kw\` of ` +
    'the site, where it has one. 201 where at least one unit was planned: `data` has these ' +
    'schedules, and `skipped` every other unit with its `code` and `message`. Where no unit at ' +
    'all could be planned nothing is created, and it is 409: `details.skipped` has all of them, `details.current_state` is the `code` that they ' +
    'share, `none_planned` where they differ, `no_units` where the site has none.' +
    busy,
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
          message: 'the state of charge of the unit is not known now',
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
  'Only a proposed one: of any other 409 with its status as `details.current_state`. `If-Match` ' +
  'makes sure that it is the one that was seen. `details` of a 409 always has `current_state`, ' +
  '`allowed` (the state that it takes), `message` (why it is refused) and `remedy` (what to do ' +
  'about it), and `superseded_by` where another schedule took its place.'

const refusedApproval =
  ' These have `details.constraint`, `details.hour`, `details.by_kw` (power above the limit; null ' +
  'for `infeasible`) and, for `infeasible`, `details.soc_start_pct`. A unit out of service is 409 ' +
  '`unit_retired`. `broken_schedules` names the approved schedules of later days that the unit ' +
  'cannot follow any more after this approval.'

export const approveSchedule = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/schedules/{schedule_id}/approve',
  operation_id: 'bess_schedule_approve',
  summary: 'Have a proposed schedule dispatched',
  description:
    `${onlyProposed} It takes the place of the one approved before for the unit and day, from ` +
    'now on. Approval lifts no limit: the edge holds each hour within what the unit and the ' +
    'connection can at the time. Where the unit cannot follow the plan of a running day from the ' +
    'state of charge that it has now, `constraint_violations` says so. 409 with the hour where it ' +
    'discharges more than what is approved of other units leaves of `export_plan_limit_kw` ' +
    '(`export_limit`), and where a unit could not follow the plan of a coming day from where the ' +
    'day before is approved to end, or is more than 1 % from what was planned on (`infeasible`).' +
    refusedApproval,
  params: { schedule_id: ScheduleId },
  cache: 'resource',
  if_match: true,
  returns: ApprovedSchedule,
  example: { answer: { ...approvedExample, broken_schedules: [] } },
  async handle(request, { clock }: Needs) {
    const actor = await inTurn(request, clock)
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
  summary: 'Decline a proposed schedule',
  description: `${onlyProposed} What is approved for the day stays as it is.`,
  params: { schedule_id: ScheduleId },
  body: RejectBody,
  cache: 'resource',
  if_match: true,
  returns: Schedule,
  example: { body: { reason: 'The unit is to be serviced.' }, answer: rejectedExample },
  async handle(request, { clock }: Needs) {
    const { params, body, tx } = request
    const actor = await inTurn(request, clock)
    const row = await reject(tx, actor, { ...params, reason: body.reason ?? null })
    return recordOf(tx, actor.site_id, row, actor.now)
  },
})

export const approveSchedules = endpoint({
  ...writes,
  method: 'POST',
  path: '/bess/schedules/approve-all',
  operation_id: 'bess_schedules_approve_all',
  summary: 'Have every proposed schedule of a day dispatched',
  description:
    'Approves each proposal as if it were approved alone, but in view of all the others. Always ' +
    '200, also where nothing could be approved or nothing is proposed: `approved` has what was ' +
    'approved, and `skipped` every proposal that was not, with its `code`, `message` and ' +
    '`remedy`. A proposal is skipped where its day is over (`expired`), its unit is out of ' +
    'service (`unit_retired`), its unit could not follow it from where the day before ends ' +
    '(`infeasible`), or all together would feed in more than `export_plan_limit_kw` ' +
    '(`export_limit`: the units with the highest ids first). `broken_schedules` names approved ' +
    'schedules of later days that these approvals break.',
  query: { target_date: targetDate },
  returns: ApprovedAll,
  example: { answer: { approved: [41], skipped: [], broken_schedules: [] } },
  async handle(request, { clock }: Needs) {
    const actor = await inTurn(request, clock)
    return approveAll(request.tx, actor, request.query.target_date ?? utcDate(actor.now))
  },
})

export const reviseScheduleHour = endpoint({
  ...writes,
  method: 'PUT',
  path: '/bess/schedules/{schedule_id}/hours/{hour}',
  operation_id: 'bess_schedule_hour_revise',
  summary: 'Revise the target of one hour of a proposed schedule',
  description:
    `${onlyProposed} An hour that has begun is 409 (\`hour_locked\`). Outside of the band of the ` +
    'hour is 422 with the band; what the unit could not follow for the rest of the day is 422 ' +
    'with `details.first_infeasible_hour`. The answer has the state of charge of all hours anew.',
  params: {
    schedule_id: ScheduleId,
    hour: Type.Integer({
      minimum: 0,
      maximum: 23,
      description: 'UTC hour of the day of the schedule.',
      examples: [19],
    }),
  },
  body: HourBody,
  object: ScheduleHour,
  cache: 'resource',
  if_match: true,
  returns: Schedule,
  example: { body: { power_kw: 80, note: 'Less wear.' }, answer: editedExample },
  async handle(request, { clock }: Needs) {
    const { params, body, tx } = request
    const actor = await inTurn(request, clock)
    const asked = { ...params, power_kw: body.power_kw, note: body.note ?? null }
    const row = await reviseHour(tx, actor, asked)
    return recordOf(tx, actor.site_id, row, actor.now)
  },
})
