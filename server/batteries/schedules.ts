/** Schedules of batteries: their schema, their rows, and how rows are read. */
import { day_ms } from '@heliograph/domain/durations'
import {
  type DispatchProblem,
  objectives,
  type Unit as PlannedUnit,
} from '@heliograph/optimize/dispatch-problem'
import { type Static, Type } from 'typebox'
import { type Paged, pageOf } from '../http/cursor.ts'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'
import { type Stored, served } from '../storage/records.ts'
import { countRows } from '../storage/rows.ts'
import { readUnit } from './earnings.ts'
import {
  hourRecord,
  ScheduleHour,
  type ScheduleInputs,
  SchedulePlan,
  type StoredHour,
} from './schedule-plan.ts'
import {
  type Dispatched,
  dispatchedOf,
  ScheduleProgress,
  scheduleProgress,
} from './schedule-status.ts'
import { hourlyPowers, readUnitQuarters } from './unit-energy.ts'

export type Schedule = Static<typeof Schedule>
export const Schedule = Named('BessSchedule', {
  schedule_id: Type.Integer({ minimum: 1, examples: [41] }),
  bess_id: Type.Integer({ minimum: 1, examples: [1] }),
  target_date: field.Text('The day, UTC.', { format: 'date' }),
  timezone_basis: Type.Enum(['UTC']),
  ...ScheduleProgress.properties,
  version: field.Int('Increases with every change.', { minimum: 1 }),
  objective: Type.Enum([...objectives]),
  created_at: At('When it was proposed.', '2026-06-20T13:10:00.000Z'),
  created_by: field.Text('Name of the key that proposed it.', 'control room'),
  approved_at: field.AtOrNull('When it was approved.'),
  approved_by: Nullable(Type.String()),
  rejected_at: field.AtOrNull('When it was rejected.'),
  rejected_by: Nullable(Type.String()),
  reject_reason: Nullable(Type.String()),
  superseded_by: field.IntOrNull('The schedule that replaced it.', { minimum: 1 }),
  superseded_at: field.AtOrNull(
    'When it was replaced; earlier hours were dispatched if it was approved.',
  ),
  edited: field.Flag('Whether a person revised any hour.'),
  edited_hours: Type.Array(Type.Integer({ minimum: 0, maximum: 23 })),
  expires_at: field.AtOrNull(
    'End of its day, until when a proposal can be approved; null for other statuses.',
  ),
  ...SchedulePlan.properties,
  hours: Type.Array(ScheduleHour, { description: 'From hour 0 to 23.' }),
})

/** The planning problem of a unit, from the first open hour to the end of the day. */
export interface StoredProblem
  extends Pick<DispatchProblem, 'objective' | 'periods' | 'export_limit_kw' | 'import_limit_kw'> {
  unit: PlannedUnit
  /** Power of all other units of the connection in each period, kW; positive discharges. */
  others_kw: number[]
  /** Energy of a full cycle, kWh. */
  usable_kwh: number
}

/** A row of `battery_schedules`. */
export interface StoredSchedule
  extends Omit<
    Stored<Schedule>,
    | 'hours'
    | 'timezone_basis'
    | 'edited'
    | 'edited_hours'
    | 'expires_at'
    | keyof ScheduleProgress
    | keyof SchedulePlan
  > {
  state: 'proposed' | 'approved' | 'rejected' | 'superseded'
  problem: StoredProblem
  plan: SchedulePlan
  hours: StoredHour[]
  /** Null if never approved. */
  dispatched: Dispatched | null
}

/** `actual_power_kw`: measured power by hour; see `readActuals`. */
export function scheduleOf(
  row: StoredSchedule,
  now: Date,
  actual_power_kw: ReadonlyMap<number, number> = new Map(),
): Schedule {
  const edited = row.hours.filter(({ edited_at }) => edited_at !== null)
  const progress = scheduleProgress(row, now)
  return served(Schedule, {
    ...row,
    ...row.plan,
    ...progress,
    timezone_basis: 'UTC',
    edited: edited.length > 0,
    edited_hours: edited.map(({ hour }) => hour),
    expires_at: progress.status === 'proposed' ? expiryOf(row.target_date) : null,
    inputs: inputsOf(row.plan.inputs),
    hours: row.hours.map((hour) =>
      hourRecord(hour, { now, actual_power_kw: actual_power_kw.get(hour.hour) ?? null }),
    ),
  })
}

/** Plans of earlier versions have no consumption. */
const inputsOf = (stored: ScheduleInputs): ScheduleInputs => ({
  ...stored,
  consumption_kwh: stored.consumption_kwh ?? null,
  consumption_days: stored.consumption_days ?? null,
})

const expiryOf = (target_date: string) => new Date(Date.parse(target_date) + day_ms).toISOString()

const columns = `schedule_id::int as schedule_id, bess_id, target_date, state, version, objective,
  created_at, created_by, approved_at, approved_by, rejected_at, rejected_by, reject_reason,
  superseded_at, superseded_by::int as superseded_by, problem, plan, hours,
  case when approved_at is not null then ${dispatchedOf('battery_schedules')} end as dispatched`

interface DayPage {
  site_id: string
  bess_id: number
  date: string
  /** The last schedule of the page before; null for the first page. */
  after: number | null
  /** More than two: one schedule can be open and one in force. */
  page_size: number
}

/**
 * Schedules of a unit and day, newest first on each page. The first page has the schedules that are
 * open or in force. `count` covers all pages.
 */
export async function schedulesOfDay(
  db: Queries,
  { site_id, bess_id, date, after, page_size }: DayPage,
): Promise<Paged<StoredSchedule> & { count: number }> {
  const [found, count] = await Promise.all([
    db.query<StoredSchedule>(
      `select ${columns} from battery_schedules
       where site_id = $1 and bess_id = $2 and target_date = $3
         and ($5::bigint is null or state not in ('approved', 'proposed') and schedule_id < $5)
       order by state in ('approved', 'proposed') desc, schedule_id desc limit $4`,
      [site_id, bess_id, date, page_size + 1, after],
    ),
    countRows(db, 'battery_schedules where site_id = $1 and bess_id = $2 and target_date = $3', [
      site_id,
      bess_id,
      date,
    ]),
  ])
  const { rows, next_cursor } = pageOf(found, page_size, ({ schedule_id }) => ({ schedule_id }))
  rows.sort((a, b) => b.schedule_id - a.schedule_id)
  return { rows, next_cursor, count }
}

export const scheduleById = (
  db: Queries,
  { site_id, schedule_id }: { site_id: string; schedule_id: number },
) =>
  db.queryOne<StoredSchedule>(
    `select ${columns} from battery_schedules where site_id = $1 and schedule_id = $2`,
    [site_id, schedule_id],
  )

/** Schedules of a day in a state, by unit; each unit has at most one. */
export const schedulesIn = (
  db: Queries,
  of: { site_id: string; date: string; state: 'approved' | 'proposed'; bess_id?: number },
): Promise<StoredSchedule[]> =>
  db.query(
    `select ${columns} from battery_schedules
     where site_id = $1 and target_date = $2 and state = $3 and ($4::int is null or bess_id = $4)
     order by bess_id`,
    [of.site_id, of.date, of.state, of.bess_id ?? null],
  )

/** The hours of a schedule without its problem, which is most of a row. */
export interface ScheduleHours extends Pick<StoredSchedule, 'bess_id' | 'hours'> {
  /** Length of `plan.constraint_violations`. */
  violation_count: number
}

export const scheduleHoursIn = (
  db: Queries,
  of: { site_id: string; date: string; state: 'approved' | 'proposed' },
): Promise<ScheduleHours[]> =>
  db.query(
    `select bess_id, hours,
       json_array_length(plan->'constraint_violations') as violation_count
     from battery_schedules
     where site_id = $1 and target_date = $2 and state = $3 order by bess_id`,
    [of.site_id, of.date, of.state],
  )

/** Measured mean power, kW, of the past hours of an approved schedule, as in deviations. */
export async function readActuals(
  db: Queries,
  site_id: string,
  { bess_id, target_date, approved_at }: StoredSchedule,
  now: Date,
): Promise<Map<number, number>> {
  if (approved_at === null) return new Map()
  const start_ms = Date.parse(target_date)
  const end_ms = Math.min(start_ms + day_ms, now.getTime())
  const unit = await readUnit(db, { site_id, bess_id })
  return hourlyPowers(unit ? await readUnitQuarters(db, unit, { start_ms, end_ms }) : [])
}
