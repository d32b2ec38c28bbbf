import type { Severity } from '@heliograph/domain/link'
import { readBatteryAlerts } from '../../alerts/battery-alerts.ts'
import { type Paged, pageOf } from '../../http/cursor.ts'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Situation } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import type { Stored } from '../../storage/records.ts'
import { readWords } from '../alarm-words.ts'
import { type AlarmState, alarmStates } from '../alarms.ts'
import { type Condition, codeText, ofUnit, readConditions } from '../conditions.ts'
import type { UnitId } from '../earnings.ts'
import { type LiveUnit, readUnits } from '../unit-store.ts'
import type { AlarmTransition, ControlEntry, DispatchEntry } from './schemas.ts'

/** An event of an alarm. `code` is the edge's, `alarm_code` the API's. */
export interface AlarmEvent
  extends Condition,
    Pick<AlarmTransition, 'event_id' | 'value' | 'unit' | 'soc_pct' | 'power_kw'> {
  alarm_code: string
  name: string | null
  received_at: Date
  set_at: Date | null
}

export type DispatchRow = Stored<Omit<DispatchEntry, 'hour' | 'latency_ms'>>

export type NoteRow = Omit<ControlEntry, 'occurred_at'> & { at: Date; nth: number }

/** A page of a log, ascending; `count` covers all pages. */
type LogPage<Row> = Paged<Row> & { count: number }

/** All alarms that a unit can raise. */
export interface UnitAlarms {
  /** When the unit was last read. */
  measured_at: Date | null
  states: AlarmState[]
  /** Set alarms without an acknowledged alert. */
  unacknowledged: number
}

/** Newest readings and alarms of a unit. */
export async function readUnitNow(
  db: Queries,
  id: UnitId,
  { now, day_start_at }: Pick<Situation, 'now' | 'day_start_at'>,
): Promise<{ live: LiveUnit; alarms: UnitAlarms }> {
  const conditions = readConditions(db, id)
  const [[live], alarms] = await Promise.all([
    readUnits(db, { ...id, now, day_start_at }, conditions),
    readAlarms(db, id, conditions),
  ])
  return { live: live!, alarms }
}

export async function readAlarms(
  db: Queries,
  { site_id, bess_id }: UnitId,
  known = readConditions(db, { site_id, bess_id }),
): Promise<UnitAlarms> {
  const [words, conditions, alertOf] = await Promise.all([
    readWords(db, site_id, bess_id),
    known,
    readBatteryAlerts(db, { site_id, bess_id }),
  ])
  const alarms = alarmStates(words, conditions)
  const open = alarms.filter((one) => one.is_set && alertOf(one)?.status !== 'acknowledged')
  return {
    measured_at: words.measured_at,
    states: alarms.map((one) => ({ ...one, alert_id: alertOf(one)?.alert_id ?? null })),
    unacknowledged: open.length,
  }
}

/** Number of times that alarms were set since an instant, by severity. */
export const raisedSince = (
  db: Queries,
  { site_id, bess_id }: UnitId,
  since: Date,
): Promise<{ severity: Severity; count: number }[]> =>
  db.query(
    `select severity, count(*) as count from events e
     where site_id = $1 and ${ofUnit('$2', 'e')} and edge = 'rising' and at >= $3
     group by severity`,
    [site_id, String(bess_id), since],
  )

async function countOf(db: Queries, from: string, values: readonly unknown[]): Promise<number> {
  const [row] = await db.query<{ count: number }>(`select count(*) as count ${from}`, values)
  return row!.count
}

interface EventPage {
  /** Null: all codes. */
  code: string | null
  after: { occurred_at: string; event_id: number } | null
  limit: number
}

/** The newest events before `after`. */
export async function alarmEventPage(
  db: Queries,
  { site_id, bess_id }: UnitId,
  { code, after, limit }: EventPage,
): Promise<LogPage<AlarmEvent>> {
  const values = [site_id, String(bess_id), code]
  const place = after === null ? [] : [after.occurred_at, after.event_id]
  const before = after === null ? '' : 'and (e.at, e.event_id) < ($5::timestamptz, $6::bigint)'
  const statement = `${alarmEvents('desc', before)} limit $4`
  const [rows, count] = await Promise.all([
    db.query<AlarmEvent>(statement, [...values, limit + 1, ...place]),
    countOf(db, eventsWhere, values),
  ])
  const placeOf = ({ at, event_id }: AlarmEvent) => ({ occurred_at: at, event_id })
  return { ...ascending(pageOf(rows, limit, placeOf)), count }
}

/** The dispatches of a window, ascending. */
export async function dispatchPage(
  db: Queries,
  { site_id, bess_id }: UnitId,
  { start, end, newest }: SeriesWindow,
  limit: number,
): Promise<{ rows: DispatchRow[]; count: number }> {
  const values = [site_id, bess_id, start, end]
  const [rows, count] = await Promise.all([
    db.query<DispatchRow>(dispatchesIn(newest ? 'desc' : 'asc', '$5'), [...values, limit]),
    countOf(db, dispatchesWhere, values),
  ])
  return { rows: newest ? rows.reverse() : rows, count }
}

interface NotePage {
  /** Null: all tiers. */
  tier: string | null
  after: { occurred_at: string; nth: number } | null
  limit: number
}

/** The newest entries of the control log before `after`. */
export async function notePage(
  db: Queries,
  { site_id, bess_id }: UnitId,
  { tier, after, limit }: NotePage,
): Promise<LogPage<NoteRow>> {
  const values = [site_id, bess_id, tier]
  const place = after === null ? [] : [after.occurred_at, after.nth]
  const before = after === null ? '' : 'and (at, nth) < ($5::timestamptz, $6::bigint)'
  const [rows, count] = await Promise.all([
    db.query<NoteRow>(`${notes('desc', before)} limit $4`, [...values, limit + 1, ...place]),
    countOf(db, notesWhere, values),
  ])
  const placeOf = ({ at, nth }: NoteRow) => ({ occurred_at: at, nth })
  return { ...ascending(pageOf(rows, limit, placeOf)), count }
}

const ascending = <Row>({ rows, next_cursor }: Paged<Row>): Paged<Row> => ({
  rows: rows.toReversed(),
  next_cursor,
})

const eventsWhere = `
  from events e
  where e.site_id = $1 and ${ofUnit('$2', 'e')} and e.edge <> 'once'
    and ($3::text is null or ${codeText('e')} = $3)`

/** SQL; parameters: site, unit as text, code or null. */
export const alarmEvents = (order: 'asc' | 'desc', before = '') => `
  select e.event_id, e.source_kind, e.source_id, e.code, ${codeText('e')} as alarm_code,
         e.details ->> 'name' as name, e.message, e.edge, e.severity, e.at, e.received_at,
         risen.at as set_at, (e.details ->> 'value')::float8 as value,
         e.details ->> 'unit' as unit, read.soc_pct, read.power_kw
  from (select e.* ${eventsWhere} ${before}) as e
  left join lateral (
    select at from events r
    where e.edge = 'falling' and r.site_id = e.site_id and r.source_kind = e.source_kind
      and r.source_id = e.source_id and r.code = e.code and r.edge = 'rising'
      and r.source_kind in ('bess', 'pcs') and r.at <= e.at
    order by r.at desc, r.event_id desc limit 1
  ) risen on true
  left join lateral (
    select soc_pct, power_kw from bess_readings b
    where b.site_id = e.site_id and b.bess_id = $2::int
      and b.measured_at <= e.at and b.measured_at > e.at - interval '1 minute'
    order by b.measured_at desc limit 1
  ) read on true
  order by e.at ${order}, e.event_id ${order}`

const dispatchesWhere = `
  from battery_dispatches
  where site_id = $1 and bess_id = $2 and ($3::timestamptz is null or issued_at >= $3)
    and issued_at < $4`

/** SQL; parameters: site, unit, start or null, end. */
export const dispatchesIn = (order: 'asc' | 'desc', limit: string | null) => `
  select dispatch_id, issued_at, schedule_id, interval_start_at, source, requested_power_kw,
         clamped_power_kw, clamp_reason, sent_at, acknowledged_at, achieved_power_kw, achieved_at,
         soc_pct, status, failure_code
  ${dispatchesWhere} order by issued_at ${order}${limit === null ? '' : ` limit ${limit}`}`

const notesWhere = `
  from battery_control_notes
  where site_id = $1 and bess_id = $2 and ($3::text is null or tier = $3)`

/** SQL; parameters: site, unit, tier or null. */
export const notes = (order: 'asc' | 'desc', before = '') => `
  select log_id, at, nth, tier, actor, action, from_power_kw, to_power_kw, reason_code, message,
         overrode_tier, schedule_id, alarm_code, soc_pct, request_id, success
  ${notesWhere} ${before} order by at ${order}, nth ${order}`
