/** A UTC day of a market as the API shows it. */
import { localDate } from '@heliograph/domain/local-day'
import { type Place, type Position, placeOf } from '@heliograph/domain/place'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import type { Static } from 'typebox'
import { skyAt } from '../../diagnostics/plane-light.ts'
import { priceOf } from '../../prices/micro.ts'
import { deliveryDates, resolutionOf, type Slot, slotsOf, utcDay } from '../../prices/periods.ts'
import {
  type Light,
  type PriceStatistics,
  priceStatistics,
  publicationTime,
  ranksOf,
} from '../../prices/statistics.ts'
import type { Market } from '../../prices/store.ts'
import type { MarketDay, PriceStatus } from './schemas.ts'
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
    expected_period_count: number
    status: PriceStatus
  }
}

/** The UTC day `target_date` of a market from the prices that share time with it. */
export function dayOf(
  market: Market,
  prices: readonly PriceRow[],
  { target_date, light, now }: { target_date: string; light: Light; now: Date },
): DayOfMarket {
  const span = utcDay(target_date)
  const resolution_minutes = resolutionOf(prices, market.resolution_minutes)
  const slots = slotsOf(prices, span, resolution_minutes)
  const period_count = slots.filter(({ price_micro }) => price_micro !== null).length
  return {
    slots,
    statistics: priceStatistics(slots, { timezone: market.timezone, light }),
    facts: {
      target_date,
      currency: market.currency,
      resolution_minutes,
      period_count,
      expected_period_count: slots.length,
      status: statusOf(market, { target_date, period_count, slots, now }),
    },
  }
}

function statusOf(
  market: Market,
  day: { target_date: string; period_count: number; slots: readonly Slot[]; now: Date },
): PriceStatus {
  if (day.period_count === day.slots.length) return 'published'
  if (day.period_count > 0) return 'partial'
  // Of the two delivery days the earlier one is published first.
  const [first] = deliveryDates(utcDay(day.target_date), market.timezone)
  const is_ahead = day.now.getTime() < publicationTime(market, first!)
  return is_ahead ? 'not_yet_published' : 'missing'
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
  asked: { target_date: string; light: Light; now: Date },
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
