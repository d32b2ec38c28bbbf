/** Schedules of batteries: how they are stored, read and shown. */
import { day_ms } from '@heliograph/domain/utc-day'
import {
  type DispatchProblem,
  objectives,
  type Unit as PlannedUnit,
} from '@heliograph/optimize/dispatch-problem'
import { type Static, Type } from 'typebox'
import { type Paged, pageOf } from '../http/cursor.ts'
import { Nullable } from '../http/params.ts'
import { At, iso } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'
import { hourRecord, ScheduleHour, type StoredHour } from './schedule-hours.ts'
import { type ScheduleInputs, SchedulePlan } from './schedule-plan.ts'
import {
  type Dispatched,
  dispatchedOf,
  ScheduleProgress,
  scheduleProgress,
} from './schedule-status.ts'
import { hourlyPowers, readUnitQuarters, type Unit } from './unit-energy.ts'

/** What a plan can be best at. */
export const scheduleObjectives = objectives

export type Schedule = Static<typeof Schedule>
export const Schedule = Type.Object(
  {
    schedule_id: Type.Integer({ minimum: 1, examples: [41] }),
    bess_id: Type.Integer({ minimum: 1, examples: [1] }),
    target_date: Type.String({ format: 'date', description: 'The day, UTC.' }),
    timezone_basis: Type.Enum(['UTC']),
    ...ScheduleProgress.properties,
    version: Type.Integer({ minimum: 1, description: 'Goes up with every change.' }),
    objective: Type.Enum([...scheduleObjectives]),
    created_at: At('When it was proposed.'),
    created_by: Type.String({ description: 'The name of the key.' }),
    approved_at: Nullable(At('When it was approved.')),
    approved_by: Nullable(Type.String()),
    rejected_at: Nullable(At('When it was rejected.')),
    rejected_by: Nullable(Type.String()),
    reject_reason: Nullable(Type.String()),
    superseded_by: Nullable(
      Type.Integer({ minimum: 1, description: 'The schedule that took its place.' }),
    ),
    superseded_at: Nullable(
      At('From when on another took its place; hours before that were dispatched if approved.'),
    ),
    edited: Type.Boolean({ description: 'Whether a person revised any hour.' }),
    edited_hours: Type.Array(Type.Integer({ minimum: 0, maximum: 23 })),
    expires_at: Nullable(
      At('Until when a proposed one can be approved: the end of its day. Null of all others.'),
    ),
    ...SchedulePlan.properties,
    hours: Type.Array(ScheduleHour, { description: 'From hour 0 to 23.' }),
  },
  { additionalProperties: false, $id: 'BessSchedule' },
)

/** What a unit was planned on, from the first hour that was open to the end of the day. */
export interface StoredProblem
  extends Pick<DispatchProblem, 'objective' | 'periods' | 'export_limit_kw' | 'import_limit_kw'> {
  unit: PlannedUnit
  /** What all other units of the connection do in each period, kW; positive discharges. */
  others_kw: number[]
  /** Of full cycles, kWh. */
  usable_kwh: number
}

/** A row of `battery_schedules`. */
export interface StoredSchedule {
  schedule_id: number
  bess_id: number
  target_date: string
  state: 'proposed' | 'approved' | 'rejected' | 'superseded'
  version: number
  objective: Schedule['objective']
  created_at: Date
  created_by: string
  approved_at: Date | null
  approved_by: string | null
  rejected_at: Date | null
  rejected_by: string | null
  reject_reason: string | null
  superseded_at: Date | null
  superseded_by: number | null
  problem: StoredProblem
  plan: SchedulePlan
  hours: StoredHour[]
  /** null: never approved. */
  dispatched: Dispatched | null
}

/** `actual_power_kw`: of each hour, where it was measured; see `readActuals`. */
export function scheduleOf(
  row: StoredSchedule,
  now: Date,
  actual_power_kw: ReadonlyMap<number, number> = new Map(),
): Schedule {
  const edited = row.hours.filter(({ edited_at }) => edited_at !== null)
  const progress = scheduleProgress(row, now)
  return {
    schedule_id: row.schedule_id,
    bess_id: row.bess_id,
    target_date: row.target_date,
    timezone_basis: 'UTC',
    ...progress,
    version: row.version,
    objective: row.objective,
    created_at: row.created_at.toISOString(),
    created_by: row.created_by,
    approved_at: iso(row.approved_at),
    approved_by: row.approved_by,
    rejected_at: iso(row.rejected_at),
    rejected_by: row.rejected_by,
    reject_reason: row.reject_reason,
    superseded_by: row.superseded_by,
    superseded_at: iso(row.superseded_at),
    edited: edited.length > 0,
    edited_hours: edited.map(({ hour }) => hour),
    expires_at: progress.status === 'proposed' ? expiryOf(row.target_date) : null,
    optimizer: row.plan.optimizer,
    inputs: inputsOf(row.plan.inputs),
    totals: row.plan.totals,
    constraint_violations: row.plan.constraint_violations,
    hours: row.hours.map((hour) =>
      hourRecord(hour, { now, actual_power_kw: actual_power_kw.get(hour.hour) ?? null }),
    ),
  }
}

/** Plans from before consumption was forecast say nothing of it. */
const inputsOf = (stored: ScheduleInputs): ScheduleInputs => ({
  ...stored,
  consumption_kwh: stored.consumption_kwh ?? null,
  consumption_days: stored.consumption_days ?? null,
})

/** A day can be dispatched to its last instant. */
const expiryOf = (target_date: string) => new Date(Date.parse(target_date) + day_ms).toISOString()

const columns = `schedule_id::int as schedule_id, bess_id, target_date, state, version, objective,
  created_at, created_by, approved_at, approved_by, rejected_at, rejected_by, reject_reason,
  superseded_at, superseded_by::int as superseded_by, problem, plan, hours,
  case when approved_at is not null then ${dispatchedOf('battery_schedules')} end as dispatched`

export interface DayPage {
  site_id: string
  bess_id: number
  date: string
  /** The last schedule of the page before; null for the first page. */
  after: number | null
  /** More than the two that can be open or in force. */
  page_size: number
}

/**
 * Of a unit and day. The first page has what is open or in force and the newest of the others, each
 * page the newest first. `count` is of all pages.
 */
export async function schedulesOfDay(
  db: Queries,
  { site_id, bess_id, date, after, page_size }: DayPage,
): Promise<Paged<StoredSchedule> & { count: number }> {
  const [found, [counted]] = await Promise.all([
    db.query<StoredSchedule>(
      `select ${columns} from battery_schedules
       where site_id = $1 and bess_id = $2 and target_date = $3
         and ($5::bigint is null or state not in ('approved', 'proposed') and schedule_id < $5)
       order by state in ('approved', 'proposed') desc, schedule_id desc limit $4`,
      [site_id, bess_id, date, page_size + 1, after],
    ),
    db.query<{ count: number }>(
      `select count(*) as count from battery_schedules
       where site_id = $1 and bess_id = $2 and target_date = $3`,
      [site_id, bess_id, date],
    ),
  ])
  const { rows, next_cursor } = pageOf(found, page_size, ({ schedule_id }) => ({ schedule_id }))
  rows.sort((a, b) => b.schedule_id - a.schedule_id)
  return { rows, next_cursor, count: counted!.count }
}

/** null where the site has none of that id. */
export async function scheduleById(
  db: Queries,
  { site_id, schedule_id }: { site_id: string; schedule_id: number },
): Promise<StoredSchedule | null> {
  const [row] = await db.query<StoredSchedule>(
    `select ${columns} from battery_schedules where site_id = $1 and schedule_id = $2`,
    [site_id, schedule_id],
  )
  return row ?? null
}

/** The one that was approved for a day and not replaced; null where there is none. */
export async function approvedSchedule(
  db: Queries,
  site_id: string,
  bess_id: number,
  date: string,
): Promise<StoredSchedule | null> {
  const [row] = await schedulesIn(db, { site_id, date, state: 'approved', bess_id })
  return row ?? null
}

/** By unit: those of a day in a state, of which each unit has at most one. */
export function schedulesIn(
  db: Queries,
  of: { site_id: string; date: string; state: 'approved' | 'proposed'; bess_id?: number },
): Promise<StoredSchedule[]> {
  return db.query<StoredSchedule>(
    `select ${columns} from battery_schedules
     where site_id = $1 and target_date = $2 and state = $3 and ($4::int is null or bess_id = $4)
     order by bess_id`,
    [of.site_id, of.date, of.state, of.bess_id ?? null],
  )
}

/** What a schedule asks for. */
export interface ScheduleHours extends Pick<StoredSchedule, 'bess_id' | 'hours'> {
  /** Of `plan.constraint_violations`. */
  violation_count: number
}

/** The same without what they were planned on, which is most of them. */
export function scheduleHoursIn(
  db: Queries,
  of: { site_id: string; date: string; state: 'approved' | 'proposed' },
): Promise<ScheduleHours[]> {
  return db.query<ScheduleHours>(
    `select bess_id, hours,
       json_array_length(plan->'constraint_violations') as violation_count
     from battery_schedules
     where site_id = $1 and target_date = $2 and state = $3 order by bess_id`,
    [of.site_id, of.date, of.state],
  )
}

/**
 * Mean power, kW, of the hours of the day of a schedule that are over, were it ever approved: what
 * deviations hold against their plan.
 */
export async function readActuals(
  db: Queries,
  site_id: string,
  { bess_id, target_date, approved_at }: StoredSchedule,
  now: Date,
): Promise<Map<number, number>> {
  if (approved_at === null) return new Map()
  const start_ms = Date.parse(target_date)
  const end_ms = Math.min(start_ms + day_ms, now.getTime())
  const [unit] = await db.query<Unit>(
    `select site_id, bess_id, rated_charge_power_kw, rated_discharge_power_kw
     from batteries where site_id = $1 and bess_id = $2`,
    [site_id, bess_id],
  )
  return hourlyPowers(unit ? await readUnitQuarters(db, unit, { start_ms, end_ms }) : [])
}
