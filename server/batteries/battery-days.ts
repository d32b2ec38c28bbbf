/** Charged and discharged energy of units by quarter hour, from stored sums of past days. */
import { day_ms } from '@heliograph/domain/durations'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
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
    least(created_at, (
      select measured_at from bess_readings r
      where r.site_id = b.site_id and r.bess_id = b.bess_id
      order by measured_at limit 1
    )) as known_from_at
  from batteries b
  where site_id = $1 and ($2::int is null or logger_id = $2)
    and (retired_at is null or retired_at > $3)
  order by bess_id`

/** Sums of a day, or of its part so far, from readings. */
export async function readBatteryDay(db: Queries, unit: Unit, span: Span): Promise<BatteryDay> {
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
