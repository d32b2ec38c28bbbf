/** The alarms, dispatches and control notes of a unit. */
import { minute_ms } from '@heliograph/domain/durations'
import type { Severity } from '@heliograph/domain/link'
import type { BessReading } from '@heliograph/domain/readings'
import { readBatteryAlerts } from '../../alerts/battery-alerts.ts'
import { type Paged, pageOf } from '../../http/cursor.ts'
import type { SeriesWindow } from '../../http/time-windows.ts'
import { iso } from '../../plant/frame.ts'
import type { Situation } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import { type Stored, served } from '../../storage/records.ts'
import { countRows } from '../../storage/rows.ts'
import { readLast } from '../../telemetry/stored-readings.ts'
import { batterySeverity } from '../active-alarms.ts'
import { readWords } from '../alarm-words.ts'
import { type AlarmState, alarmSources, alarmStates, sourceOf } from '../alarms.ts'
import {
  bitOf,
  type Condition,
  codeText,
  nameOf,
  ofUnit,
  placeOf,
  readConditions,
} from '../conditions.ts'
import type { UnitId } from '../earnings.ts'
import { type LiveUnit, readUnits } from '../unit-store.ts'
import { type AlarmCounts, AlarmTransition, ControlEntry, DispatchEntry } from './schemas.ts'

/** An event of an alarm. `code` is the edge's, `alarm_code` the API's. */
interface AlarmEvent extends Condition, Pick<AlarmTransition, 'event_id' | 'value' | 'unit'> {
  alarm_code: string
  name: string | null
  received_at: Date
  set_at: Date | null
}

export type DispatchRow = Stored<Omit<DispatchEntry, 'hour' | 'latency_ms'>>

type NoteRow = Stored<ControlEntry> & { nth: number }

export interface UnitAlarms {
  measured_at: Date | null
  states: AlarmState[]
  unacknowledged: number
}

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

/** Numbers of set alarms; `raised`: how often alarms were set in the last 24 hours. */
export function alarmCounts(
  { measured_at, states, unacknowledged }: UnitAlarms,
  raised: readonly { severity: Severity; count: number }[],
): AlarmCounts {
  const set = states.filter(({ is_set }) => is_set)
  return {
    measured_at: iso(measured_at),
    active: bySeverity(set.map(({ severity }) => ({ severity, count: 1 }))),
    total_active: set.length,
    last_24h: bySeverity(raised),
    by_source: Object.fromEntries(
      alarmSources.map((source) => [source, set.filter((one) => one.source === source).length]),
    ) as AlarmCounts['by_source'],
    unacknowledged,
  }
}

function bySeverity(counts: readonly { severity: Severity; count: number }[]) {
  const sums = { info: 0, warning: 0, major: 0, critical: 0 }
  for (const { severity, count } of counts) sums[batterySeverity(severity)] += count
  return sums
}

/** A log that is read by pages. Parameters of its SQL: $1 site, $2 unit, $3 filter or null. */
export interface Log<Row, Entry> {
  /** SQL of the matching rows, further limited by `before`. */
  select(order: 'asc' | 'desc', before?: string): string
  /** SQL: the table with its condition, for the number of rows. */
  matching: string
  /** SQL: the instant and the number that order the log, and their values in a row. */
  place: string
  placeOf(row: Row): object
  entriesOf(db: Queries, rows: readonly Row[], unit: UnitId): Promise<Entry[]>
}

/** The newest rows before `after`, ascending; `count` covers all pages. */
export async function readPage<Row, Entry>(
  db: Queries,
  { select, matching, place, placeOf, entriesOf }: Log<Row, Entry>,
  { unit, filter }: { unit: UnitId; filter: string | null },
  { after, limit }: { after: readonly unknown[] | null; limit: number },
): Promise<Paged<Entry> & { count: number }> {
  const values = [unit.site_id, unit.bess_id, filter]
  const before = after === null ? '' : `and (${place}) < ($5::timestamptz, $6::bigint)`
  const [found, count] = await Promise.all([
    db.query<Row>(`${select('desc', before)} limit $4`, [...values, limit + 1, ...(after ?? [])]),
    countRows(db, matching, values),
  ])
  const { rows, next_cursor } = pageOf(found, limit, placeOf)
  return { rows: await entriesOf(db, rows.toReversed(), unit), next_cursor, count }
}

const eventsWhere = `
  events e
  where e.site_id = $1 and ${ofUnit('$2', 'e')} and e.edge <> 'once'
    and ($3::text is null or ${codeText('e')} = $3)`

const selectEvents = (order: 'asc' | 'desc', before = '') => `
  select e.event_id, e.source_kind, e.source_id, e.code, ${codeText('e')} as alarm_code,
         e.details ->> 'name' as name, e.message, e.edge, e.severity, e.at, e.received_at,
         risen.at as set_at, (e.details ->> 'value')::float8 as value,
         e.details ->> 'unit' as unit
  from (select e.* from ${eventsWhere} ${before}) as e
  left join lateral (
    select at from events r
    where e.edge = 'falling' and r.site_id = $1 and r.source_kind = e.source_kind
      and r.source_id = e.source_id and r.code = e.code and r.edge = 'rising'
      and r.source_kind in ('bess', 'pcs') and r.at <= e.at
    order by r.at desc, r.event_id desc limit 1
  ) risen on true
  order by e.at ${order}, e.event_id ${order}`

/** With the readings of the unit within the minute before. */
async function alarmTransitions(
  db: Queries,
  events: readonly AlarmEvent[],
  { site_id, bess_id }: UnitId,
): Promise<AlarmTransition[]> {
  const instants_ms = [...new Set(events.map(({ at }) => at.getTime()))]
  const asked = { site_id, device_ids: [bess_id], instants_ms, within_ms: minute_ms }
  const found = await readLast(db, 'bess', asked, ['soc_pct', 'power_kw'])
  const readings = found.get(bess_id)!
  return events.map((event) => {
    const reading = readings[instants_ms.indexOf(event.at.getTime())] as Partial<BessReading> | null
    const { soc_pct = null, power_kw = null } = reading ?? {}
    return alarmTransition({ ...event, soc_pct, power_kw })
  })
}

function alarmTransition(
  event: AlarmEvent & Pick<AlarmTransition, 'soc_pct' | 'power_kw'>,
): AlarmTransition {
  const place = placeOf(event)
  return served(AlarmTransition, {
    ...event,
    ...place,
    code: event.alarm_code,
    name: event.name ?? nameOf(event),
    source: sourceOf(place, bitOf(event) ? null : event.code),
    severity: batterySeverity(event.severity),
    transition: event.edge === 'rising' ? 'set' : 'cleared',
    occurred_at: event.at,
    duration_s: event.set_at && (event.at.getTime() - event.set_at.getTime()) / 1000,
  })
}

/** Events of alarms, filtered by their code of the API. */
export const alarmLog: Log<AlarmEvent, AlarmTransition> = {
  select: selectEvents,
  matching: eventsWhere,
  place: 'e.at, e.event_id',
  placeOf: ({ at, event_id }) => ({ occurred_at: at, event_id }),
  entriesOf: alarmTransitions,
}

export async function dispatchPage(
  db: Queries,
  { site_id, bess_id }: UnitId,
  { start, end, newest }: SeriesWindow,
  limit: number,
): Promise<{ rows: DispatchRow[]; count: number }> {
  const values = [site_id, bess_id, start, end]
  const [rows, count] = await Promise.all([
    db.query<DispatchRow>(dispatchesIn(newest ? 'desc' : 'asc', '$5'), [...values, limit]),
    countRows(db, dispatchesWhere, values),
  ])
  return { rows: newest ? rows.reverse() : rows, count }
}

const dispatchesWhere = `
  battery_dispatches
  where site_id = $1 and bess_id = $2 and ($3::timestamptz is null or issued_at >= $3)
    and issued_at < $4`

/** SQL; parameters: site, unit, start or null, end. */
export const dispatchesIn = (order: 'asc' | 'desc', limit: string | null) => `
  select dispatch_id, issued_at, schedule_id, interval_start_at, source, requested_power_kw,
         clamped_power_kw, clamp_reason, sent_at, acknowledged_at, achieved_power_kw, achieved_at,
         soc_pct, status, failure_code
  from ${dispatchesWhere} order by issued_at ${order}${limit === null ? '' : ` limit ${limit}`}`

export const dispatchEntry = (row: DispatchRow): DispatchEntry =>
  served(DispatchEntry, {
    ...row,
    hour: row.interval_start_at?.getUTCHours() ?? null,
    latency_ms: latencyOf(row),
  })

/** Null without a write, and where the clock was set back meanwhile. */
function latencyOf({ issued_at, sent_at, acknowledged_at }: DispatchRow): number | null {
  if (sent_at === null || acknowledged_at === null) return null
  const latency_ms = acknowledged_at.getTime() - issued_at.getTime()
  return latency_ms > 0 ? latency_ms : null
}

const notesWhere = `
  battery_control_notes
  where site_id = $1 and bess_id = $2 and ($3::text is null or tier = $3)`

const selectNotes = (order: 'asc' | 'desc', before = '') => `
  select log_id, at as occurred_at, nth, tier, actor, action, from_power_kw, to_power_kw, reason_code, message,
         overrode_tier, schedule_id, alarm_code, soc_pct, request_id, success
  from ${notesWhere} ${before} order by at ${order}, nth ${order}`

export const controlNotes: Log<NoteRow, ControlEntry> = {
  select: selectNotes,
  matching: notesWhere,
  place: 'at, nth',
  placeOf: ({ occurred_at, nth }) => ({ occurred_at, nth }),
  entriesOf: async (_, rows) => rows.map((row) => served(ControlEntry, row)),
}
