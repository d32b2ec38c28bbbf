/** Statistics of the prices of one day, pure. Prices are integer micro-units per MWh. */
import { cached } from '@heliograph/domain/cached'
import { localDate, localInstant } from '@heliograph/domain/local-day'
import { deliveryDay, type PeriodSpan, type Slot } from './periods.ts'

export interface PriceStatistics {
  /** Mean over the time before `until_ms`; null unless every price of it is known. */
  base_micro: number | null
  /** Mean from 08:00 to 20:00 market time, any weekday; null unless every price is known. */
  peak_micro: number | null
  /** Over the known prices; null without any. */
  min_micro: number | null
  max_micro: number | null
  negative_count: number | null
  /** Mean by solar weight; null when a daylight price is unknown or no period has daylight. */
  solar_micro: number | null
}

/** Solar irradiation in a period, in any unit; 0 at night. Null when the position is unknown. */
export type SolarWeight = ((span: PeriodSpan) => number) | null

/** Statistics of one day's slots, ascending; `timezone` is the market's. */
export function priceStatistics(
  slots: readonly Slot[],
  {
    timezone,
    solar_weight,
    until_ms,
  }: { timezone: string; solar_weight: SolarWeight; until_ms: number },
): PriceStatistics {
  const known = slots.flatMap(({ price_micro }) => (price_micro === null ? [] : [price_micro]))
  const isPeak = peakOf(timezone)
  return {
    base_micro: weightedMean(
      slots,
      ({ start_ms, end_ms }) => Math.min(end_ms, until_ms) - start_ms,
    ),
    peak_micro: weightedMean(slots, (slot) => (isPeak(slot) ? slot.end_ms - slot.start_ms : 0)),
    min_micro: known.length > 0 ? Math.min(...known) : null,
    max_micro: known.length > 0 ? Math.max(...known) : null,
    negative_count: known.length > 0 ? known.filter((micro) => micro < 0).length : null,
    solar_micro: solar_weight && weightedMean(slots, solar_weight),
  }
}

/** Rounded to an integer; null when a price with weight is unknown or all weights are 0. */
function weightedMean(slots: readonly Slot[], weightOf: (span: PeriodSpan) => number) {
  let weight_sum = 0
  let sum = 0
  for (const slot of slots) {
    const weight = weightOf(slot)
    if (weight <= 0) continue
    if (slot.price_micro === null) return null
    weight_sum += weight
    sum += weight * slot.price_micro
  }
  // `|| 0`: no -0.
  return weight_sum > 0 ? Math.round(sum / weight_sum) || 0 : null
}

function peakOf(timezone: string): (span: PeriodSpan) => boolean {
  const peakOn = cached((date: string) => ({
    start_ms: localInstant(date, '08:00', timezone),
    end_ms: localInstant(date, '20:00', timezone),
  }))
  return ({ start_ms }) => {
    const peak = peakOn(localDate(start_ms, timezone))
    return start_ms >= peak.start_ms && start_ms < peak.end_ms
  }
}

/** Rank of each known price: 1 is the highest, equal prices share the better rank. */
export function ranksOf(slots: readonly Slot[]): (number | null)[] {
  const descending = slots
    .flatMap(({ price_micro }) => (price_micro === null ? [] : [price_micro]))
    .sort((a, b) => b - a)
  const rank = new Map<number, number>()
  for (const [index, micro] of descending.entries()) {
    if (!rank.has(micro)) rank.set(micro, index + 1)
  }
  return slots.map(({ price_micro }) => (price_micro === null ? null : rank.get(price_micro)!))
}

/** Time at which a market publishes a delivery day: on the day before, in its local time. */
export function publicationTime(
  market: { timezone: string; publication_local: string | null },
  delivery_date: string,
): number {
  const { start_ms } = deliveryDay(delivery_date, market.timezone)
  const day_before = localDate(start_ms - 1, market.timezone)
  return localInstant(day_before, market.publication_local ?? unknown_publication, market.timezone)
}

/** For auctions with an unknown publication time: late enough for every auction. */
const unknown_publication = '14:00'
