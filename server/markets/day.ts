/** A UTC day of a market as the API shows it. */
import { localDate } from '@heliograph/domain/local-day'
import { type Place, type Position, placeOf } from '@heliograph/domain/place'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import type { Static } from 'typebox'
import { skyAt } from '../telemetry/weather/plane-light.ts'
import { priceOf } from './micro.ts'
import {
  deliveryDates,
  deliveryDay,
  type PeriodSpan,
  resolutionOf,
  type Slot,
  slotsOf,
  utcDay,
} from './periods.ts'
import type { Market } from './price-store.ts'
import type { MarketDay, PriceStatus } from './schemas.ts'
import {
  type Light,
  type PriceStatistics,
  priceStatistics,
  publicationTime,
  ranksOf,
} from './statistics.ts'
import type { PriceRow } from './store.ts'

const iso = (time_ms: number) => new Date(time_ms).toISOString()
const price = (micro: number | null) => (micro === null ? null : priceOf(micro))

/** Clear-sky irradiation on the level at a site, in any unit; null without a position. */
export function lightAt(position: Position): Light {
  const place = placeOf(position)
  if (place === null) return null
  const ghiAt = clearSkyGhi(place)
  return ({ start_ms, end_ms }) => {
    let sum = 0
    for (let at = start_ms; at < end_ms; at += step_ms) {
      sum += ghiAt(at + Math.min(step_ms, end_ms - at) / 2) * Math.min(step_ms, end_ms - at)
    }
    return sum
  }
}

const step_ms = 900_000

function clearSkyGhi(place: Place): (time_ms: number) => number {
  const pressure_pa = pressureAtAltitude(place.elevation_m)
  const known = new Map<number, number>()
  return (time_ms) => {
    let ghi_w_m2 = known.get(time_ms)
    if (ghi_w_m2 === undefined) {
      ghi_w_m2 = skyAt(place, pressure_pa, time_ms).clear.ghi_w_m2
      known.set(time_ms, ghi_w_m2)
    }
    return ghi_w_m2
  }
}

export interface DayOfMarket {
  slots: Slot[]
  statistics: PriceStatistics
  /** What of the API's record needs no price unit. */
  facts: {
    target_date: string
    currency: string
    resolution_minutes: number
    period_count: number
    due_period_count: number
    expected_period_count: number
    base_until_at: string | null
    status: PriceStatus
  }
}

interface AskedDay {
  target_date: string
  light: Light
  now: Date
  /** Where the time of the base price ends; as far as prices are published where none is given. */
  until_ms?: number
}

/** The UTC day `target_date` of a market from the prices that share time with it. */
export function dayOf(
  market: Market,
  prices: readonly PriceRow[],
  { target_date, light, now, until_ms }: AskedDay,
): DayOfMarket {
  const span = utcDay(target_date)
  const resolution_minutes = resolutionOf(prices, market.resolution_minutes)
  const slots = slotsOf(prices, span, resolution_minutes)
  const published_ms = publishedUntil(market, prices, { target_date, now })
  const base_until_ms = until_ms ?? published_ms
  const countOf = (some: readonly Slot[], end_ms: number) =>
    some.reduce((sum, slot) => sum + lengthWithin(slot, { ...span, end_ms }), 0) /
    (resolution_minutes * 60_000)
  const counts = {
    period_count: countOf(slots.filter(isKnown), span.end_ms),
    due_period_count: countOf(slots, published_ms),
    expected_period_count: countOf(slots, span.end_ms),
  }
  const known_due_count = countOf(slots.filter(isKnown), published_ms)
  return {
    slots,
    statistics: priceStatistics(slots, {
      timezone: market.timezone,
      light,
      until_ms: base_until_ms,
    }),
    facts: {
      target_date,
      currency: market.currency,
      resolution_minutes,
      ...counts,
      base_until_at: counts.due_period_count > 0 ? iso(base_until_ms) : null,
      status: statusOf({ ...counts, known_due_count }),
    },
  }
}

const isKnown = ({ price_micro }: Slot) => price_micro !== null

const lengthWithin = (slot: PeriodSpan, span: PeriodSpan) =>
  Math.max(0, Math.min(slot.end_ms, span.end_ms) - Math.max(slot.start_ms, span.start_ms))

/**
 * How far into a UTC day prices should be there by now: to the end of the last delivery day that is
 * published, or of the last price where that came before its time.
 */
export function publishedUntil(
  market: Market,
  prices: readonly PriceRow[],
  { target_date, now }: { target_date: string; now: Date },
): number {
  const span = utcDay(target_date)
  const ends = deliveryDates(span, market.timezone)
    .filter((date) => publicationTime(market, date) <= now.getTime())
    .map((date) => deliveryDay(date, market.timezone).end_ms)
  const last_ms = Math.max(span.start_ms, prices.at(-1)?.end_ms ?? 0, ...ends)
  return Math.min(span.end_ms, last_ms)
}

function statusOf(day: {
  period_count: number
  known_due_count: number
  due_period_count: number
  expected_period_count: number
}): PriceStatus {
  if (day.due_period_count === 0) return 'not_yet_published'
  if (day.period_count === 0) return 'missing'
  if (day.known_due_count < day.due_period_count) return 'incomplete'
  return day.period_count < day.expected_period_count ? 'partial' : 'published'
}

/** The figures of a day as the API names them. */
export function statisticsRecord(statistics: PriceStatistics) {
  return {
    base_price_per_mwh: price(statistics.base_micro),
    peak_price_per_mwh: price(statistics.peak_micro),
    min_price_per_mwh: price(statistics.min_micro),
    max_price_per_mwh: price(statistics.max_micro),
    negative_period_count: statistics.negative_count,
    solar_weighted_price_per_mwh: price(statistics.solar_micro),
  }
}

export function periodRecord({ start_ms, end_ms, price_micro }: Slot) {
  return { start_at: iso(start_ms), end_at: iso(end_ms), price_per_mwh: price(price_micro) }
}

/** The answer for one market and day. */
export function marketDay(
  market: Market,
  prices: readonly PriceRow[],
  asked: AskedDay,
): Static<typeof MarketDay> {
  const { slots, statistics, facts } = dayOf(market, prices, asked)
  const stored = new Map(prices.map((row) => [row.start_ms, row]))
  const ranks = ranksOf(slots)
  const data = slots.map((slot, index) => {
    const row = slot.price_micro === null ? undefined : stored.get(slot.start_ms)
    return {
      ...periodRecord(slot),
      is_negative: slot.price_micro === null ? null : slot.price_micro < 0,
      rank_of_day: ranks[index] ?? null,
      delivery_date_local: localDate(slot.start_ms, market.timezone),
      source: row?.source ?? null,
      source_document_id: row?.document_id ?? null,
      published_at: row?.published_at?.toISOString() ?? null,
      fetched_at: row?.fetched_at.toISOString() ?? null,
      revision: row?.revision ?? null,
    }
  })
  const { market_code } = market
  return {
    data,
    meta: { count: data.length, market_code, ...facts, ...statisticsRecord(statistics) },
  }
}
