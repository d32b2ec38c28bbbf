/** Forecast of the consumption behind a connection for a planned day. */
import { day_ms, quarter_ms } from '@heliograph/domain/durations'
import { shownAt } from '@heliograph/domain/local-day'
import { utcDayStart } from '@heliograph/domain/utc-day'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { readConsumption } from './plan-consumption-history.ts'
import type { PlanDay } from './plan-prices.ts'

export interface DayConsumption {
  /** Mean power by step from 00:00Z on, kW, 0 or more. */
  mean_kw: number[]
  /** Minimum number of measured days behind the means. */
  days: number
}

/** Whole weeks, so that weekdays count equally: 20 working days, 8 weekend days. */
const history_days = 28
/** A working week less a day of gaps; two weekends. */
const days_min = 4

/** Forecast from the four weeks before today; null with too few or no measurements. */
export async function readDayConsumption(
  db: Queries,
  { site_id, logger_id, step_ms }: { site_id: string; logger_id: number | null; step_ms: number },
  day: PlanDay,
): Promise<DayConsumption | null> {
  const end_ms = utcDayStart(day.now)
  const span = { start_ms: end_ms - history_days * day_ms, end_ms }
  const site = await siteFacts(db, site_id)
  const asked = { site_id, logger_id, position: site, now_ms: day.now.getTime() }
  const consumed_kwh = await readConsumption(db, asked, span)
  const expected =
    consumed_kwh &&
    similarDays({ start_ms: span.start_ms, consumed_kwh }, day.day_ms, site.timezone)
  if (!expected) return null
  const each = step_ms / quarter_ms
  const mean_kw = Array.from({ length: day_ms / step_ms }, (_, nth) => {
    const quarters = expected.mean_kw.slice(nth * each, (nth + 1) * each)
    return quarters.reduce((sum, kw) => sum + kw, 0) / each
  })
  return { mean_kw, days: expected.days }
}

export interface Measured {
  start_ms: number
  /** By quarter hour from `start_ms` on; null where unknown. */
  consumed_kwh: readonly (number | null)[]
}

/**
 * A UTC day by quarter hour: each value is the mean at the same local time on days of the same kind
 * (working days, Monday to Friday, or weekends; holidays are unknown). Null where any quarter hour
 * was measured on fewer than `days_min` days.
 *
 * The mean of similar days is the usual baseline, and hard to beat at single sites: S. Haben et
 * al., "Review of low voltage load forecasting: Methods, applications, and recommendations",
 * Applied Energy 304 (2021) 117798.
 *
 * Differences of meters can make consumption negative. Means below 0 become 0; single quarter hours
 * are kept, as otherwise noise would add up to consumption.
 */
export function similarDays(
  { start_ms, consumed_kwh }: Measured,
  planned_ms: number,
  timezone: string,
): DayConsumption | null {
  const shown = (time_ms: number) => shownAt(time_ms, timezone)
  const sums = new Map<number, { kwh: number; days: number }>()
  for (const [nth, kwh] of consumed_kwh.entries()) {
    if (kwh === null) continue
    const key = similarity(shown(start_ms + nth * quarter_ms))
    const before = sums.get(key) ?? { kwh: 0, days: 0 }
    sums.set(key, { kwh: before.kwh + kwh, days: before.days + 1 })
  }
  const quarters = Array.from({ length: day_ms / quarter_ms }, (_, nth) => {
    return sums.get(similarity(shown(planned_ms + nth * quarter_ms))) ?? { kwh: 0, days: 0 }
  })
  const days = Math.min(...quarters.map((quarter) => quarter.days))
  if (days < days_min) return null
  const mean_kw = quarters.map((quarter) => Math.max(0, (4 * quarter.kwh) / quarter.days))
  return { mean_kw, days }
}

/** Key of similar quarter hours: the local time, plus a day on weekends. */
function similarity(shown_ms: number): number {
  const weekday = new Date(shown_ms).getUTCDay()
  const is_weekend = weekday === 0 || weekday === 6
  return (shown_ms % day_ms) + (is_weekend ? day_ms : 0)
}
