import type { DispatchReport } from '@heliograph/domain/dispatch'
import type { Severity } from '@heliograph/domain/link'
import { readBatteryAlerts } from '../../alerts/battery-alerts.ts'
import { type Paged, pageOf } from '../../http/cursor.ts'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Situation } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import { type AlarmedPart, readPcsWords, readWords } from '../alarm-words.ts'
import { type AlarmState, alarmStates } from '../alarms.ts'
import { type Condition, codeText, ofUnit, readConditions } from '../conditions.ts'
import type { MarketedUnit } from '../earnings.ts'
import { type StoredSchedule, schedulesIn } from '../schedules.ts'
import { readUnitDay, type UnitDay } from '../unit-day.ts'
import { type LiveUnit, readUnits } from '../unit-store.ts'
import type { ControlEntry } from './schemas.ts'

export interface UnitAsked {
  site_id: string
  bess_id: number
}

export interface AlarmEvent {
  event_id: number
  source_kind: 'bess' | 'pcs'
  source_id: string
  /** As the edge has it, and as the API names it. */
  code: string
  alarm_code: string
  name: string | null
  message: string
  edge: 'rising' | 'falling'
  severity: Severity
  at: Date
  received_at: Date
  set_at: Date | null
  value: number | null
  unit: string | null
  soc_pct: number | null
  power_kw: number | null
}

export type DispatchRow = Omit<
  DispatchReport,
  'bess_id' | 'issued_at' | 'reported_at' | 'interval_start_at' | ReportedAt
> & {
  dispatch_id: number
  issued_at: Date
  interval_start_at: Date | null
  sent_at: Date | null
  acknowledged_at: Date | null
  achieved_at: Date | null
}

type ReportedAt = 'sent_at' | 'acknowledged_at' | 'achieved_at'

export type NoteRow = Omit<ControlEntry, 'occurred_at'> & { at: Date; nth: number }

/** A page of a log, ascending; `count` is of all pages. */
type LogPage<Row> = Paged<Row> & { count: number }

/** All that a unit can raise, and when it was read last. */
export interface UnitAlarms {
  measured_at: Date | null
  states: AlarmState[]
  /** Of those that are set: those without an alert that is acknowledged. */
  unacknowledged: number
}

interface UnitNow {
  live: LiveUnit
  alarms: UnitAlarms
}

export interface BatteryLogStore {
  unit(asked: UnitAsked): Promise<MarketedUnit | null>
  day(unit: MarketedUnit, asked: { date: string; now: Date }): Promise<UnitDay>
  /** Of a unit that exists: all that it measured last, and all that it can raise. */
  now(asked: UnitAsked, at: Pick<Situation, 'now' | 'day_start_at'>): Promise<UnitNow>
  /** The approved one of a day, else the proposed one; null without either. */
  schedule(asked: UnitAsked, date: string): Promise<StoredSchedule | null>
  /** Of each PCS that was ever read. */
  pcsWords(asked: UnitAsked): Promise<AlarmedPart[]>
  /** The newest event of each condition. */
  conditions(asked: UnitAsked): Promise<Condition[]>
  alarms(asked: UnitAsked): Promise<UnitAlarms>
  /** The newest events of one code or of all, or the newest before the page before. */
  alarmEvents(
    asked: UnitAsked,
    page: {
      code: string | null
      after: { occurred_at: string; event_id: number } | null
      limit: number
    },
  ): Promise<LogPage<AlarmEvent>>
  /** Of the events since by which alarms were set: the severities, by how often. */
  raisedSince(asked: UnitAsked, since: Date): Promise<{ severity: Severity; count: number }[]>
  /** Ascending, and how many there are. */
  dispatches(
    asked: UnitAsked,
    window: SeriesWindow,
    limit: number,
  ): Promise<{ rows: DispatchRow[]; count: number }>
  /** The newest notes of one tier or of all, or the newest before the page before. */
  notes(
    asked: UnitAsked,
    page: {
      tier: string | null
      after: { occurred_at: string; nth: number } | null
      limit: number
    },
  ): Promise<LogPage<NoteRow>>
}

export function createBatteryLogStore(db: Queries): BatteryLogStore {
  async function counted(from: string, values: readonly unknown[]): Promise<number> {
    const [row] = await db.query<{ count: number }>(`select count(*) as count ${from}`, values)
    return row!.count
  }
  return {
    async unit({ site_id, bess_id }) {
      const [unit] = await db.query<MarketedUnit>(
        `select site_id, bess_id, rated_charge_power_kw, rated_discharge_power_kw, logger_id,
           market_code
         from batteries where site_id = $1 and bess_id = $2`,
        [site_id, bess_id],
      )
      return unit ?? null
    },
    day: (unit, asked) => readUnitDay(db, unit, asked),
    async now(asked, { now, day_start_at }) {
      const conditions = readConditions(db, asked)
      const [[live], alarms] = await Promise.all([
        readUnits(db, { ...asked, now, day_start_at }, conditions),
        readAlarms(db, asked, conditions),
      ])
      return { live: live!, alarms }
    },
    async schedule({ site_id, bess_id }, date) {
      const [[approved], [proposed]] = await Promise.all([
        schedulesIn(db, { site_id, bess_id, date, state: 'approved' }),
        schedulesIn(db, { site_id, bess_id, date, state: 'proposed' }),
      ])
      return approved ?? proposed ?? null
    },
    pcsWords: ({ site_id, bess_id }) => readPcsWords(db, site_id, bess_id),
    conditions: (asked) => readConditions(db, asked),
    alarms: (asked) => readAlarms(db, asked, readConditions(db, asked)),
    async alarmEvents({ site_id, bess_id }, { code, after, limit }) {
      const values = [site_id, String(bess_id), code]
      const place = after === null ? [] : [after.occurred_at, after.event_id]
      const before = after === null ? '' : 'and (e.at, e.event_id) < ($5::timestamptz, $6::bigint)'
      const [rows, count] = await Promise.all([
        db.query<AlarmEvent>(`${alarmEvents('desc', before)} limit $4`, [
          ...values,
          limit + 1,
          ...place,
        ]),
        counted(eventsWhere, values),
      ])
      const placeOf = ({ at, event_id }: AlarmEvent) => ({ occurred_at: at, event_id })
      return { ...ascending(pageOf(rows, limit, placeOf)), count }
    },
    raisedSince: ({ site_id, bess_id }, since) =>
      db.query(
        `select severity, count(*) as count from events e
         where site_id = $1 and ${ofUnit('$2', 'e')} and edge = 'rising' and at >= $3
         group by severity`,
        [site_id, String(bess_id), since],
      ),
    async dispatches(asked, window, limit) {
      const { start, end, newest } = window
      const values = [asked.site_id, asked.bess_id, start, end]
      const [rows, count] = await Promise.all([
        db.query<DispatchRow>(dispatchesIn(newest ? 'desc' : 'asc', '$5'), [...values, limit]),
        counted(dispatchesWhere, values),
      ])
      return { rows: newest ? rows.reverse() : rows, count }
    },
    async notes({ site_id, bess_id }, { tier, after, limit }) {
      const values = [site_id, bess_id, tier]
      const place = after === null ? [] : [after.occurred_at, after.nth]
      const before = after === null ? '' : 'and (at, nth) < ($5::timestamptz, $6::bigint)'
      const [rows, count] = await Promise.all([
        db.query<NoteRow>(`${notes('desc', before)} limit $4`, [...values, limit + 1, ...place]),
        counted(notesWhere, values),
      ])
      const placeOf = ({ at, nth }: NoteRow) => ({ occurred_at: at, nth })
      return { ...ascending(pageOf(rows, limit, placeOf)), count }
    },
  }
}

const ascending = <Row>({ rows, next_cursor }: Paged<Row>): Paged<Row> => ({
  rows: rows.toReversed(),
  next_cursor,
})

async function readAlarms(
  db: Queries,
  { site_id, bess_id }: UnitAsked,
  told: Promise<Condition[]>,
): Promise<UnitAlarms> {
  const [words, conditions, alertOf] = await Promise.all([
    readWords(db, site_id, bess_id),
    told,
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

const eventsWhere = `
  from events e
  where e.site_id = $1 and ${ofUnit('$2', 'e')} and e.edge <> 'once'
    and ($3::text is null or ${codeText('e')} = $3)`

/** Values: site, unit as text, code or null. */
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

/** Values: site, unit, start or null, end. */
export const dispatchesIn = (order: 'asc' | 'desc', limit: string | null) => `
  select dispatch_id, issued_at, schedule_id, interval_start_at, source, requested_power_kw,
         clamped_power_kw, clamp_reason, sent_at, acknowledged_at, achieved_power_kw, achieved_at,
         soc_pct, status, failure_code
  ${dispatchesWhere} order by issued_at ${order}${limit === null ? '' : ` limit ${limit}`}`

const notesWhere = `
  from battery_control_notes
  where site_id = $1 and bess_id = $2 and ($3::text is null or tier = $3)`

/** Values: site, unit, tier or null. */
export const notes = (order: 'asc' | 'desc', before = '') => `
  select log_id, at, nth, tier, actor, action, from_power_kw, to_power_kw, reason_code, message,
         overrode_tier, schedule_id, alarm_code, soc_pct, request_id, success
  ${notesWhere} ${before} order by at ${order}, nth ${order}`
