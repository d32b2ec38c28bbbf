/** Prices of the steps of a day: published prices, then forecast prices. */
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { issuedPrices } from '../../forecasts/price-store.ts'
import { type Market, readPrices } from '../../markets/price-store.ts'
import type { PriceSource } from '../../markets/schemas.ts'
import type { Queries } from '../../storage/database.ts'
import type { ScheduleInputs, StoredHour } from '../schedule-plan.ts'
import { Refusal } from './refusal.ts'

interface PricedSpan {
  start_ms: number
  end_ms: number
  /** Per MWh. */
  price: number
}

/** A UTC day whose hours from `from_ms` on are open. */
export interface PlanDay {
  day_ms: number
  from_ms: number
  now: Date
}

export interface DayPrices {
  market: Market
  step_ms: number
  /** By step from 00:00Z on, per MWh; null where unknown. */
  price: (number | null)[]
  /**
   * By hour of the next day, up to the first hour without a price: published, else the forecast
   * P10, so that plans store energy only where that is very likely profitable.
   */
  outlook_price: number[]
  /** By step: whether it is within the time for which the market has published prices. */
  is_published: boolean[]
  source: ScheduleInputs['price_source']
  status: ScheduleInputs['price_status']
}

/** @throws {Refusal} where published prices have a hole, or no open hour has a price */
export async function readDayPrices(db: Queries, market: Market, day: PlanDay): Promise<DayPrices> {
  const end_ms = day.day_ms + day_ms
  const span = { start_ms: day.day_ms, end_ms: end_ms + day_ms }
  const periods = await readPrices(db, { ...market, kind: 'day_ahead' }, span)
  const published = periods.map(({ price_micro, ...period }) => ({
    ...period,
    price: price_micro / 1e6,
  }))
  const newest = await newestPrice(db, market)
  const horizon_ms = Math.min(span.end_ms, newest?.end_at.getTime() ?? Number.NEGATIVE_INFINITY)
  const issued =
    horizon_ms < span.end_ms ? await issuedPrices(db, market, { span, before: day.now }) : []
  const forecast = issued.map(({ p50_price, ...period }) => ({ ...period, price: p50_price }))
  const is_fine =
    market.resolution_minutes < 60 ||
    [...published, ...forecast].some(
      (priced) => priced.start_ms < end_ms && priced.end_ms - priced.start_ms < hour_ms,
    )
  const step_ms = is_fine ? quarter_ms : hour_ms
  const steps = Array.from({ length: day_ms / step_ms }, (_, nth) => span.start_ms + nth * step_ms)
  const isPublished = (start_ms: number) => start_ms < horizon_ms
  const price = steps.map((start_ms) =>
    priceOver(isPublished(start_ms) ? published : forecast, start_ms, start_ms + step_ms),
  )
  const hours = Array.from({ length: 24 }, (_, hour) => end_ms + hour * hour_ms)
  const low = issued.map(({ p10_price, ...period }) => ({ ...period, price: p10_price }))
  const outlook = hours.map((start_ms) =>
    priceOver(isPublished(start_ms) ? published : low, start_ms, start_ms + hour_ms),
  )
  const open = steps.flatMap((start_ms, nth) =>
    start_ms < day.from_ms
      ? []
      : [{ start_ms, price: price[nth]!, is_published: isPublished(start_ms) }],
  )
  checkPrices(market, open)
  const is_any_published = open.some(({ is_published }) => is_published)
  return {
    market,
    step_ms,
    price,
    outlook_price: price.at(-1) === null ? [] : untilUnknown(outlook),
    is_published: steps.map(isPublished),
    source: is_any_published ? newest!.source : 'price_forecast',
    status: priceStatus(open),
  }
}

function untilUnknown(prices: readonly (number | null)[]): number[] {
  const end = prices.indexOf(null)
  return prices.slice(0, end < 0 ? prices.length : end).map((price) => price!)
}

interface PricedStep {
  price: number | null
  is_published: boolean
}

function priceStatus(steps: readonly PricedStep[]): DayPrices['status'] {
  if (steps.some(({ price }) => price === null)) return 'incomplete'
  if (steps.every(({ is_published }) => is_published)) return 'published'
  return steps.some(({ is_published }) => is_published) ? 'published_and_forecast' : 'forecast'
}

export function hourPrices(
  { price, is_published, step_ms }: Pick<DayPrices, 'price' | 'is_published' | 'step_ms'>,
  hour: number,
): Pick<StoredHour, 'quarter_price_per_mwh' | 'price_status'> {
  const per_hour = hour_ms / step_ms
  const steps = Array.from({ length: per_hour }, (_, nth): PricedStep => {
    const at = hour * per_hour + nth
    return { price: price[at]!, is_published: is_published[at]! }
  })
  const prices = steps.map((step) => step.price)
  const is_unknown = prices.every((one) => one === null)
  return {
    quarter_price_per_mwh: per_hour === 4 ? prices : null,
    price_status: is_unknown ? null : priceStatus(steps),
  }
}

function checkPrices(
  { market_code }: Market,
  open: readonly { start_ms: number; price: number | null; is_published: boolean }[],
): void {
  const without = open.filter(({ price }) => price === null)
  const holes = without.filter(({ is_published }) => is_published)
  const hoursOf = (steps: typeof without) => [
    ...new Set(steps.map(({ start_ms }) => new Date(start_ms).getUTCHours())),
  ]
  if (without.length === open.length) {
    const missing_hours = hoursOf(without)
    const message = `no price of ${market_code} is published or forecast for the open hours`
    throw new Refusal('no_price', message, { market_code, missing_hours })
  }
  if (holes.length > 0) {
    const missing_hours = hoursOf(holes)
    const message = `published prices of ${market_code} have a hole`
    throw new Refusal('price_hole', message, { market_code, missing_hours })
  }
}

/** Mean over a step; null unless known for all of it. */
function priceOver(spans: readonly PricedSpan[], start_ms: number, end_ms: number): number | null {
  let [sum, known_ms] = [0, 0]
  for (const span of spans) {
    const within_ms = Math.min(end_ms, span.end_ms) - Math.max(start_ms, span.start_ms)
    if (within_ms <= 0) continue
    sum += span.price * within_ms
    known_ms += within_ms
  }
  return known_ms < end_ms - start_ms ? null : sum / known_ms
}

const newestPrice = (db: Queries, { market_code }: Market) =>
  db.queryOne<{ end_at: Date; source: PriceSource }>(
    `select end_at, source from market_prices
     where market_code = $1 and kind = 'day_ahead' and is_current
     order by start_at desc limit 1`,
    [market_code],
  )
