/**
 * The status of a schedule. Approval is a decision of a person; everything after it is what edges
 * reported, computed at each read, so that late reports count on every replica.
 */

import type { DispatchReport, dispatchStates } from '@heliograph/domain/dispatch'
import { day_ms } from '@heliograph/domain/durations'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'

export const scheduleStatuses = [
  'proposed',
  'approved',
  'dispatching',
  'completed',
  'rejected',
  'superseded',
  'expired',
  'failed',
] as const

export type ScheduleProgress = Static<typeof ScheduleProgress>
export const ScheduleProgress = Type.Object({
  status: field.OneOf(
    scheduleStatuses,
    '`proposed`: awaits a decision; nothing is dispatched. `approved`: approved, and no edge has ' +
      'reported on it yet. `dispatching`: its day runs, and the edge reported that it carries it ' +
      'out. `completed`: its day is over, and the edge reported that it carried it out. `failed`: ' +
      'the edge reported that it could not carry it out, or its day is over without any report. ' +
      '`superseded`: another took its place. `expired`: its day was over before a decision. ' +
      'Reports that arrive late, after an outage of the link, change `failed` to what they say. A ' +
      'schedule of today that is `failed` is still in force: the edge goes on trying.',
  ),
  status_reason: field.OneOfOrNull(
    ['not_reported', 'not_executed', 'interrupted', 'partly_executed'],
    '`not_reported`: its day has begun, and no edge has reported on it (`approved`, `failed`). ' +
      '`not_executed`: by the reports of the edge, no hour with power was carried out ' +
      '(`failed`). `interrupted`: carried out before, the edge cannot now (`dispatching`). ' +
      '`partly_executed`: some hours with power were not carried out (`completed`). Else null.',
  ),
  failure_code: field.TextOrNull(
    'Why the edge could not carry it out, by its newest report of a failure, such as ' +
      '`pcs_stale`; null unless `status_reason` is `not_executed`, `interrupted` or ' +
      '`partly_executed`, and where no report names one.',
    'pcs_not_ready',
  ),
  executed_hours: Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), {
    description:
      'Hours that the edge reported as carried out, with power or without, ascending. An hour in ' +
      'which a limit left nothing of the planned power is not; `deviations` has how much was given.',
  }),
})

/** What edges reported of a schedule; see `dispatchedOf`. */
export interface Dispatched {
  /** Hours with power that were left when it was approved. */
  powered_hours: readonly number[]
  executed_hours: readonly number[]
  /** null: no report has arrived. */
  newest_status: DispatchReport['status'] | null
  /** Of the newest report of a failure. */
  failure_code: string | null
}

interface Decided {
  state: 'proposed' | 'approved' | 'rejected' | 'superseded'
  /** UTC, YYYY-MM-DD. */
  target_date: string
  /** null: never approved. */
  dispatched: Dispatched | null
}

type Found = Pick<ScheduleProgress, 'status' | 'status_reason'>

export function scheduleProgress(schedule: Decided, now: Date): ScheduleProgress {
  const found = statusOf(schedule, now)
  const { dispatched } = schedule
  const is_hindered = found.status_reason !== null && found.status_reason !== 'not_reported'
  return {
    ...found,
    failure_code: is_hindered ? (dispatched?.failure_code ?? null) : null,
    executed_hours: [...(dispatched?.executed_hours ?? [])],
  }
}

export const scheduleStatus = (schedule: Decided, now: Date) => statusOf(schedule, now).status

function statusOf({ state, target_date, dispatched }: Decided, now: Date): Found {
  const passed_ms = now.getTime() - Date.parse(target_date)
  const is_over = passed_ms >= day_ms
  if (state === 'proposed') return { status: is_over ? 'expired' : state, status_reason: null }
  if (state !== 'approved' || passed_ms < 0) return { status: state, status_reason: null }
  if (dispatched === null || dispatched.newest_status === null) {
    return { status: is_over ? 'failed' : 'approved', status_reason: 'not_reported' }
  }
  return is_over ? overStatus(dispatched) : runningStatus(dispatched, now.getUTCHours())
}

function runningStatus(dispatched: Dispatched, hour: number): Found {
  const { newest_status, powered_hours } = dispatched
  const is_hindered = newest_status === 'failed' || newest_status === 'expired'
  if (!is_hindered) return { status: 'dispatching', status_reason: null }
  const due = powered_hours.filter((one) => one <= hour)
  return executedOf(dispatched, due).length > 0
    ? { status: 'dispatching', status_reason: 'interrupted' }
    : { status: 'failed', status_reason: 'not_executed' }
}

function overStatus(dispatched: Dispatched): Found {
  const { powered_hours } = dispatched
  const executed = executedOf(dispatched, powered_hours)
  if (executed.length === 0) return { status: 'failed', status_reason: 'not_executed' }
  const is_partly = executed.length < powered_hours.length
  return { status: 'completed', status_reason: is_partly ? 'partly_executed' : null }
}

/** Idle hours count only for a schedule that has no others. */
const executedOf = ({ executed_hours }: Dispatched, powered_hours: readonly number[]) =>
  powered_hours.length === 0
    ? executed_hours
    : powered_hours.filter((hour) => executed_hours.includes(hour))

/** A setpoint that the PCS took. A limit may have lowered it, but not to nothing. */
const executed_states: readonly (typeof dispatchStates)[number][] = ['acknowledged', 'achieved']
const isExecuted = `(r.status in (${executed_states.map((one) => `'${one}'`).join(', ')})
  or r.status = 'clamped' and (r.requested_power_kw = 0 or r.clamped_power_kw is distinct from 0))`

/** Reports have the time of the edge, whose clock may be off by less than this. */
const clock_slack = "interval '1 hour'"
const dayOf = (schedule: string) => `(${schedule}.target_date::timestamp at time zone 'UTC')`

/** SQL of `Dispatched` for a row of `battery_schedules` that is called `schedule`, of a site. */
export const dispatchedOf = (schedule: string): string => `(
  select json_build_object(
    'powered_hours', array(
      select h.hour
      from jsonb_to_recordset(${schedule}.hours) as h (
        hour int, end_at timestamptz, power_kw float8, quarter_power_kw float8[])
      where h.end_at > ${schedule}.approved_at
        and (h.power_kw <> 0 or 0 <> any(h.quarter_power_kw))
      order by h.hour),
    'executed_hours', coalesce(
      array_agg(distinct r.hour order by r.hour) filter (where ${isExecuted}), '{}'),
    'newest_status', (array_agg(r.status order by r.issued_at desc))[1],
    'failure_code', (array_agg(r.failure_code order by r.issued_at desc)
      filter (where r.failure_code is not null))[1])
  from (
    select d.*, date_part(
      'hour', coalesce(d.interval_start_at, d.issued_at) at time zone 'UTC')::int as hour
    from battery_dispatches d
    where d.site_id = $1 and d.bess_id = ${schedule}.bess_id
      and d.schedule_id = ${schedule}.schedule_id
      and d.issued_at >= ${dayOf(schedule)} - ${clock_slack}
      and d.issued_at < ${dayOf(schedule)} + interval '1 day' + ${clock_slack}
  ) as r)`
