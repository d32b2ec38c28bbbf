/** What units charged and discharged by the quarter hour: past days as they were summed up. */
import { day_ms, utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import type { Queries } from '../storage/database.ts'
import type { MarketedUnit } from './earnings.ts'
import { readUnitQuarters, type Span, type Unit, type UnitQuarter } from './unit-energy.ts'

/** Whole Wh of each quarter hour of a day of UTC, null where not known; of a running one so far. */
export interface BatteryDay {
  charged_wh: readonly (number | null)[]
  discharged_wh: readonly (number | null)[]
}

export interface UnitDays extends MarketedUnit {
  /** YYYY-MM-DD in the time zone of the site. */
  commissioned_date: string | null
  /** When the inventory or its readings began, whichever was first. */
  known_from_at: Date
  retired_at: Date | null
  /** By midnight UTC, Unix ms; those that are not summed up yet are absent. */
  days: Map<number, BatteryDay>
}

interface DaysAsked extends Span {
  site_id: string
  /** Only units of this plant; null: all. */
  logger_id: number | null
  now_ms: number
}

/**
 * Units by id, but for those retired before the span, and their days that share time with it (Unix
 * ms, from a midnight UTC). Today and, until it is summed up, the day before are read as they are
 * now.
 */
export async function readBatteryDays(db: Queries, asked: DaysAsked): Promise<UnitDays[]> {
  const { site_id, logger_id, start_ms, end_ms, now_ms } = asked
  const of_span = [site_id, logger_id, new Date(start_ms)]
  const units = await db.query<Omit<UnitDays, 'days'>>(unitsOf, of_span)
  const kept = await db.query<BatteryDay & { bess_id: number; date: string }>(
    `select bess_id, date, charged_wh, discharged_wh from battery_days
     where site_id = $1 and bess_id = any ($2) and date >= $3 and date < $4`,
    [site_id, units.map(({ bess_id }) => bess_id), utcDate(start_ms), utcDate(end_ms + day_ms - 1)],
  )
  const today_ms = utcDayStart(now_ms)
  const recent = [today_ms - day_ms, today_ms]
  const found: UnitDays[] = []
  for (const unit of units) {
    const of_unit = kept.filter(({ bess_id }) => bess_id === unit.bess_id)
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

/** From the readings of a day or of its beginning. */
export async function readBatteryDay(db: Queries, unit: Unit, span: Span): Promise<BatteryDay> {
  const quarters = await readUnitQuarters(db, unit, span)
  return {
    charged_wh: wholeWh(quarters, 'charged'),
    discharged_wh: wholeWh(quarters, 'discharged'),
  }
}

/** Parts add up to the rounded sum: rounded one by one, the small ones of a day would not. */
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
