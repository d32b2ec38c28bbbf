/** A market's history by delivery day, each day on the clock of the market's own time zone. */
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { shownAt } from '@heliograph/domain/local-day'

/** What is known of a delivery period [start_ms, end_ms). */
export interface MarketPeriod {
  start_ms: number
  end_ms: number
  /** Of the day-ahead auction, in the market's currency; null: not known. */
  price_per_mwh: number | null
  /** The market's load as forecast before the auction; null: not known. */
  load_mw: number | null
  /** Solar and wind power as forecast before the auction; null: not known. */
  renewables_mw: number | null
}

/** A period, and where it lies on the day's clock. */
export interface DayPeriod extends MarketPeriod {
  /** Minutes on the clock at its start, 0 to below 1440. */
  clock_minute: number
}

/**
 * A quantity over a day, a value for each quarter hour of the clock. Whatever the periods, and on
 * days of 23 and 25 hours too, there are 96: the hour that comes twice is the mean of both, that
 * which is left out lies between its neighbours.
 */
export type DayCurve = Float64Array

export interface MarketDay {
  /** Of the local date, days since 1970-01-01. */
  day: number
  periods: readonly DayPeriod[]
  /** Null where a quarter of the day or more is not known. */
  price: DayCurve | null
  load: DayCurve | null
  renewables: DayCurve | null
}

export const quarters_per_day = 96
const quarter_minutes = 15
const known_quarters_min = 73

/**
 * Periods, ascending and without overlap, by local date of their start in an IANA time zone.
 *
 * @throws RangeError for a period that does not end after its start, or starts before the one
 * before it has ended, and for a zone that does not exist
 */
export function marketDays(periods: readonly MarketPeriod[], timezone: string): MarketDay[] {
  const clock = localClock(timezone)
  const days: { day: number; periods: DayPeriod[] }[] = []
  let before_ms = -Infinity
  for (const period of periods) {
    if (!(period.end_ms > period.start_ms && period.start_ms >= before_ms)) {
      throw new RangeError(`period at ${period.start_ms}: not after the one before it`)
    }
    before_ms = period.end_ms
    const { day, clock_minute } = clock(period.start_ms)
    if (days.at(-1)?.day !== day) days.push({ day, periods: [] })
    days.at(-1)!.periods.push({ ...period, clock_minute })
  }
  return days.map(marketDay)
}

/** The day of some periods. */
function marketDay({ day, periods }: { day: number; periods: DayPeriod[] }): MarketDay {
  return {
    day,
    periods,
    price: curveOf(periods, 'price_per_mwh'),
    load: curveOf(periods, 'load_mw'),
    renewables: curveOf(periods, 'renewables_mw'),
  }
}

/** Length of the shortest period of a day, minutes. */
export function resolutionMinutes({ periods }: MarketDay): number {
  return periods.reduce((least, period) => Math.min(least, minutesOf(period)), 1440)
}

export function minutesOf({ start_ms, end_ms }: MarketPeriod): number {
  return (end_ms - start_ms) / minute_ms
}

/** Mean of a curve over `minutes` from `clock_minute` on, held within the day. */
export function curveMean(curve: DayCurve, clock_minute: number, minutes: number): number {
  const first = Math.floor(clock_minute / quarter_minutes)
  const last = Math.ceil((clock_minute + minutes) / quarter_minutes)
  const from = Math.min(Math.max(first, 0), quarters_per_day - 1)
  const to = Math.min(Math.max(last, from + 1), quarters_per_day)
  let total = 0
  for (let quarter = from; quarter < to; quarter++) total += curve[quarter]!
  return total / (to - from)
}

function curveOf(
  periods: readonly DayPeriod[],
  quantity: 'price_per_mwh' | 'load_mw' | 'renewables_mw',
): DayCurve | null {
  const totals = new Float64Array(quarters_per_day)
  const minutes = new Float64Array(quarters_per_day)
  for (const period of periods) {
    const value = period[quantity]
    if (value === null || !Number.isFinite(value)) continue
    const end = Math.min(period.clock_minute + minutesOf(period), 1440)
    for (let at = period.clock_minute; at < end; ) {
      const quarter = Math.floor(at / quarter_minutes)
      const until = Math.min(end, (quarter + 1) * quarter_minutes)
      totals[quarter]! += value * (until - at)
      minutes[quarter]! += until - at
      at = until
    }
  }
  return bridged(totals.map((total, quarter) => total / minutes[quarter]!))
}

/** Fills what is not known (NaN) in a straight line; null where that is too much. */
function bridged(curve: DayCurve): DayCurve | null {
  const known = [...curve.keys()].filter((quarter) => !Number.isNaN(curve[quarter]))
  if (known.length < known_quarters_min) return null
  let next = 0
  return curve.map((value, quarter) => {
    if (!Number.isNaN(value)) {
      next++
      return value
    }
    const before = known[next - 1] ?? known[0]!
    const after = known[next] ?? known.at(-1)!
    const share = before === after ? 0 : (quarter - before) / (after - before)
    return curve[before]! + (curve[after]! - curve[before]!) * share
  })
}

/** Where instants lie on the clock of a zone. */
function localClock(timezone: string): (ms: number) => { day: number; clock_minute: number } {
  const offsets = new Map<number, number>()
  const offsetOfMidnight = (utc_day: number) => {
    const midnight_ms = utc_day * day_ms
    const offset_ms = offsets.get(utc_day) ?? shownAt(midnight_ms, timezone) - midnight_ms
    offsets.set(utc_day, offset_ms)
    return offset_ms
  }
  return (ms) => {
    const utc_day = Math.floor(ms / day_ms)
    const offset_ms = offsetOfMidnight(utc_day)
    // Asking the zone is slow, and needed only where its clock changes.
    const isChanged = offsetOfMidnight(utc_day + 1) !== offset_ms
    const local_ms = isChanged ? shownAt(ms, timezone) : ms + offset_ms
    const day = Math.floor(local_ms / day_ms)
    return { day, clock_minute: Math.floor((local_ms - day * day_ms) / minute_ms) }
  }
}
