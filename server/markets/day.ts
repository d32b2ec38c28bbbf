/** Prices and statistics of a market on a UTC day, as the API returns them. */

import { quarter_ms } from '@heliograph/domain/durations'
import { localDate } from '@heliograph/domain/local-day'
import { type Position, placeOf } from '@heliograph/domain/place'
import type { Static } from 'typebox'
import { isoTime } from '../storage/values.ts'
import { skiesOf } from '../telemetry/weather/instrument-limits.ts'
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
import type { DayFacts, MarketDay } from './schemas.ts'
import {
  type PriceStatistics,
  priceStatistics,
  publicationTime,
  ranksOf,
  type SolarWeight,
} from './statistics.ts'
import type { PriceRow } from './store.ts'

const price = (micro: number | null) => (micro === null ? null : priceOf(micro))

/**
 * Clear-sky global horizontal irradiation at a site as a weight of market periods, in an arbitrary
 * unit; null without a position.
 */
export function solarWeight(position: Position): SolarWeight {
  const place = placeOf(position)
  if (place === null) return null
  const skyAt = skiesOf(place)
  return ({ start_ms, end_ms }) => {
    let sum = 0
    for (let at = start_ms; at < end_ms; at += quarter_ms) {
      const length_ms = Math.min(quarter_ms, end_ms - at)
      sum += skyAt(at + length_ms / 2)!.clear.ghi_w_m2 * length_ms
    }
    return sum
  }
}

export interface DayOfMarket {
  slots: Slot[]
  statistics: PriceStatistics
  facts: DayFacts
}

interface DayRequest {
  target_date: string
  solar_weight: SolarWeight
  now: Date
  /** End of the time of the base price. Defaults to the end of the published prices. */
  until_ms?: number
}

/** The UTC day `target_date` of a market, from all prices that overlap it. */
export function dayOf(
  market: Market,
  prices: readonly PriceRow[],
  { target_date, solar_weight, now, until_ms }: DayRequest,
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
      solar_weight,
      until_ms: base_until_ms,
    }),
    facts: {
      target_date,
      currency: market.currency,
      resolution_minutes,
      ...counts,
      base_until_at: counts.due_period_count > 0 ? isoTime(base_until_ms) : null,
      status: statusOf({ ...counts, known_due_count }),
    },
  }
}

const isKnown = ({ price_micro }: Slot) => price_micro !== null

const lengthWithin = (slot: PeriodSpan, span: PeriodSpan) =>
  Math.max(0, Math.min(slot.end_ms, span.end_ms) - Math.max(slot.start_ms, span.start_ms))

/**
 * End of the part of a UTC day whose prices are due by now: the end of the last delivery day whose
 * publication time has passed, or of the last price when it was published early.
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
}): DayFacts['status'] {
  if (day.due_period_count === 0) return 'not_yet_published'
  if (day.period_count === 0) return 'missing'
  if (day.known_due_count < day.due_period_count) return 'incomplete'
  return day.period_count < day.expected_period_count ? 'partial' : 'published'
}

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
  return { start_at: isoTime(start_ms), end_at: isoTime(end_ms), price_per_mwh: price(price_micro) }
}

export function marketDay(
  market: Market,
  prices: readonly PriceRow[],
  request: DayRequest,
): Static<typeof MarketDay> {
  const { slots, statistics, facts } = dayOf(market, prices, request)
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
