/**
 * Simulated prices of the demo market, shaped like a European day-ahead auction with a large share
 * of solar power: low at night, high in the morning, highest in the evening, low at noon, negative
 * on sunny weekends. Deterministic by market and quarter hour. Published at the market's
 * publication time on the day before.
 */
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { localDate, localInstant } from '@heliograph/domain/local-day'
import { addDays } from '@heliograph/domain/utc-day'
import type { PeriodSpan, PricePeriod } from '../periods.ts'
import type { Market } from '../price-store.ts'
import { publicationTime } from '../statistics.ts'
import type { Source } from './source.ts'

export const simulatedSource: Source = {
  async fetchDay(market, day, { now }) {
    const date = localDate(day.start_ms, market.timezone)
    const published_ms = publicationTime(market, date)
    if (now.getTime() < published_ms) return { outcome: 'none_yet' }
    return {
      outcome: 'published',
      periods: simulatedDay(market, day),
      currency: market.currency,
      document_id: null,
      published_at: new Date(published_ms),
    }
  },
}

/** Prices of a delivery day by quarter hour, rounded to cents. */
export function simulatedDay(
  { market_code, timezone }: Pick<Market, 'market_code' | 'timezone'>,
  day: PeriodSpan,
): PricePeriod[] {
  const date = localDate(day.start_ms, timezone)
  const midnight_ms = localInstant(date, '00:00', timezone)
  const shape = shapeOf(market_code, date)
  const periods: PricePeriod[] = []
  for (let start_ms = day.start_ms; start_ms < day.end_ms; start_ms += quarter_ms) {
    const hour = (start_ms + quarter_ms / 2 - midnight_ms) / hour_ms
    const jitter = 4 * (chance(`${market_code} ${start_ms}`) - 0.5)
    const price = Math.max(-500, Math.min(4000, priceAt(hour, shape) + jitter))
    periods.push({
      start_ms,
      end_ms: start_ms + quarter_ms,
      price_micro: Math.round(price * 100) * 10_000 || 0,
    })
  }
  return periods
}

interface DayShape {
  /** Price level of the day, per MWh. */
  level: number
  /** Price drop at the solar peak. */
  solar_depth: number
  evening: number
}

function shapeOf(market_code: string, date: string): DayShape {
  const day = Date.parse(`${date}T00:00:00Z`) / day_ms
  const weekday = (day + 4) % 7
  const is_weekend = weekday === 0 || weekday === 6
  // 1 at midsummer, 0 at midwinter.
  const summer = 0.5 - 0.5 * Math.cos(2 * Math.PI * (((day % 365.25) + 10) / 365.25))
  // Price levels persist for days: each day shares part of its randomness with the days before.
  const spell = [0, 1, 2, 3].reduce(
    (sum, back) => sum + 0.5 ** back * (chance(`${market_code} ${addDays(date, -back)}`) - 0.5),
    0,
  )
  const clearness = 0.25 + 0.75 * chance(`${market_code} sun ${date}`)
  return {
    level: 84 - 14 * summer + 40 * spell - (is_weekend ? 24 : 0),
    solar_depth: (45 + 40 * summer) * clearness * (is_weekend ? 2.2 : 1),
    evening: 40 + 15 * chance(`${market_code} evening ${date}`),
  }
}

function priceAt(hour: number, { level, solar_depth, evening }: DayShape): number {
  const bump = (at: number, width: number) => Math.exp(-(((hour - at) / width) ** 2))
  // Quarter-hour prices saw-tooth within the hour, because hourly contracts do not ramp.
  const within_hour = (hour % 1) - 0.5
  const ramp = 14 * within_hour * (bump(18, 2.5) - bump(8, 2.5))
  return (
    level -
    14 * bump(3.5, 3) +
    24 * bump(8, 1.8) +
    evening * bump(19.6, 2.1) -
    solar_depth * bump(13.2, 3.1) +
    ramp
  )
}

/** Deterministic number from 0 to 1: FNV-1a hash of a text with MurmurHash3's finalizer. */
function chance(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
