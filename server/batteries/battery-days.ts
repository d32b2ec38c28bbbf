/** Charged and discharged energy of units by quarter hour, from stored sums of past days. */

import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { beginRoundOf, shareRound } from '../jobs/site-rounds.ts'
import type { Database, Queries, Transaction } from '../storage/database.ts'
import { putRow } from '../storage/rows.ts'
import { holdBatteryMarks, marked_day } from '../telemetry/battery-day-marks.ts'
import { firstReadingAt } from '../telemetry/stored-readings.ts'
import type { MarketedUnit } from './earnings.ts'
import { readUnitQuarters, type Span, type Unit, type UnitQuarter } from './unit-energy.ts'

/** Whole Wh by quarter hour of a UTC day; null where unknown. A running day ends at now. */
export interface BatteryDay {
  charged_wh: readonly (number | null)[]
  discharged_wh: readonly (number | null)[]
}

export interface UnitDays extends MarketedUnit {
  /** Local date of the site, YYYY-MM-DD. */
  commissioned_date: string | null
  /** First entry in the inventory or first reading, whichever is earlier. */
  known_from_at: Date
  retired_at: Date | null
  /** Days by UTC midnight, Unix ms; days without a sum are absent. */
  days: Map<number, BatteryDay>
}

interface DaysAsked extends Span {
  site_id: string
  /** Only units of this plant; null: all. */
  logger_id: number | null
  now_ms: number
}

/**
 * Units by id with their days that overlap the span (from a UTC midnight), without units retired
 * before the span. Today and a day before without a sum are computed from readings.
 */
export async function readBatteryDays(db: Queries, asked: DaysAsked): Promise<UnitDays[]> {
  const { site_id, logger_id, start_ms, end_ms, now_ms } = asked
  const of_span = [site_id, logger_id, new Date(start_ms)]
  const units = await db.query<Omit<UnitDays, 'days'>>(unitsOf, of_span)
  const stored = await db.query<BatteryDay & { bess_id: number; date: string }>(
    `select bess_id, date, charged_wh, discharged_wh from battery_days
     where site_id = $1 and bess_id = any ($2) and date >= $3 and date < $4`,
    [site_id, units.map(({ bess_id }) => bess_id), utcDate(start_ms), utcDate(end_ms + day_ms - 1)],
  )
  const today_ms = utcDayStart(now_ms)
  const recent = [today_ms - day_ms, today_ms]
  const found: UnitDays[] = []
  for (const unit of units) {
    const of_unit = stored.filter(({ bess_id }) => bess_id === unit.bess_id)
    const days = new Map<number, BatteryDay>(of_unit.map((day) => [Date.parse(day.date), day]))
    for (const day of recent.filter((day) => day >= start_ms && !days.has(day))) {
      const span = { start_ms: day, end_ms: Math.min(day + day_ms, end_ms, now_ms) }
      if (span.end_ms > day) days.set(day, await readBatteryDay(db, unit, span))
    }
    found.push({ ...unit, days })
  }
  return found
}

const unitsOf = `
  select site_id, bess_id, logger_id, market_code, rated_charge_power_kw,
    rated_discharge_power_kw, commissioned_date, retired_at,
    least(created_at, ${firstReadingAt('bess', '$1', 'b')}) as known_from_at
  from batteries b
  where site_id = $1 and ($2::int is null or logger_id = $2)
    and (retired_at is null or retired_at > $3)
  order by bess_id`

/** Sums of a day, or of its part so far, from readings. */
async function readBatteryDay(db: Queries, unit: Unit, span: Span): Promise<BatteryDay> {
  const quarters = await readUnitQuarters(db, unit, span)
  return {
    charged_wh: wholeWh(quarters, 'charged'),
    discharged_wh: wholeWh(quarters, 'discharged'),
  }
}

/** Rounds so that the parts add up to the rounded sum of the day. */
function wholeWh(quarters: readonly UnitQuarter[], way: 'charged' | 'discharged') {
  let [sum_wh, before_wh] = [0, 0]
  return quarters.map((quarter) => {
    const kwh = quarter[`${way}_kwh`]
    if (kwh === null) return null
    sum_wh += 1000 * kwh
    const wh = Math.round(sum_wh) - before_wh
    before_wh += wh
    return wh
  })
}

/** Counters are interpolated across midnight, so the last quarter hour needs later readings. */
const settled_ms = hour_ms

interface Run {
  /** The job of the run, whose servers share the sites. */
  job: string
  /** Sums of this many last days are recomputed in every run. */
  again_days: number
  /** Sums of older days are not recomputed, as their readings may be thinned. Null: no limit. */
  kept_days: number | null
  now: Date
  /** Ends the run between two days. */
  signal: AbortSignal
}

/**
 * Computes days without a sum, days with later readings, and the last days again. Only energy is
 * stored, so that changes of prices and contracts need no new sums.
 */
export async function sumBatteryDays(db: Database, run: Run): Promise<void> {
  await beginRoundOf(db, run.job, 'select distinct site_id from batteries order by site_id')
  await shareBatteryDays(db, run)
}

/** Several years of days without a sum take some minutes. */
const claim_s = 1800

/** Computes the days of sites of a run that are still due. */
export const shareBatteryDays = (db: Database, run: Run): Promise<void> =>
  shareRound(db, run.job, {
    work: (site_id) => sumSite(db, site_id, run),
    signal: run.signal,
    claim_s,
  })

async function sumSite(
  db: Database,
  site_id: string,
  { again_days, kept_days, now, signal }: Run,
): Promise<void> {
  const last_ms = utcDayStart(now.getTime() - settled_ms) - day_ms
  const daysAgo = (days: number) => new Date(now.getTime() - days * day_ms)
  const due = await dueDays(db, site_id, {
    last: new Date(last_ms),
    again_from: daysAgo(Math.min(again_days, kept_days ?? again_days)),
    kept_from: kept_days === null ? null : daysAgo(kept_days),
  })
  for (const { at, ...unit } of due) {
    signal.throwIfAborted()
    await db.transaction((transaction) => sumDay(transaction, unit, at.getTime(), now))
  }
}

function dueDays(
  db: Queries,
  site_id: string,
  { last, again_from, kept_from }: { last: Date; again_from: Date; kept_from: Date | null },
): Promise<(Unit & { at: Date })[]> {
  return db.query(
    `select b.site_id, b.bess_id, b.rated_charge_power_kw, b.rated_discharge_power_kw, day.at
     from (select * from batteries where site_id = $4) as b
     cross join lateral (
       select date_trunc('day', ${firstReadingAt('bess', '$4', 'b')}) as at
     ) as first
     cross join lateral generate_series(first.at, least($1, b.retired_at), '1 day') as day (at)
     left join battery_days d
       on d.site_id = b.site_id and d.bess_id = b.bess_id and d.date = day.at::date
     where d.date is null or day.at >= $2
       or (d.summed_at = ${marked_day} and ($3::timestamptz is null or day.at >= $3))
     order by day.at desc, b.bess_id`,
    [last, again_from, kept_from, site_id],
  )
}

async function sumDay(db: Transaction, unit: Unit, start_ms: number, now: Date): Promise<void> {
  await holdBatteryMarks(db)
  const day = await readBatteryDay(db, unit, { start_ms, end_ms: start_ms + day_ms })
  const { site_id, bess_id } = unit
  const { charged_wh, discharged_wh } = day
  const key = { site_id, bess_id, date: utcDate(start_ms) }
  await putRow(db, 'battery_days', key, { charged_wh, discharged_wh, summed_at: now })
}
