/** Prices of market periods of any length, per quarter hour. */
import { quarter_ms } from '@heliograph/domain/durations'
import { type PriceKind, type PricePeriod, readPrices } from '../markets/price-store.ts'
import type { Queries } from '../storage/database.ts'

export interface QuarterPrices {
  /** Start of the first quarter hour, Unix ms. */
  from_ms: number
  /** Micro per MWh by quarter hour; NaN when a part of it has no price. */
  price_micro: Float64Array
  /** Start of the market period by quarter hour, Unix ms: a period is settled as a whole. */
  period_ms: Float64Array
}

export async function readQuarterPrices(
  db: Queries,
  market: { market_code: string; kind: PriceKind },
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): Promise<QuarterPrices> {
  const periods = await readPrices(db, market, { start_ms: from_ms, end_ms: to_ms })
  return quarterPrices(periods, { from_ms, to_ms })
}

/** The price of a quarter hour; null without one. */
export function microAt({ from_ms, price_micro }: QuarterPrices, at_ms: number): number | null {
  const micro = price_micro[(at_ms - from_ms) / quarter_ms] ?? Number.NaN
  return Number.isNaN(micro) ? null : micro
}

/** Quarter hours of [from_ms, to_ms); shorter market periods are averaged. */
export function quarterPrices(
  periods: Iterable<PricePeriod>,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
): QuarterPrices {
  const count = Math.max(0, (to_ms - from_ms) / quarter_ms)
  const price_micro = new Float64Array(count).fill(Number.NaN)
  const period_ms = new Float64Array(count).fill(Number.NaN)
  const parts = new Map<number, { ms: number; products: bigint }>()
  for (const { start_ms, end_ms, price_micro: price } of periods) {
    const first = Math.max(0, Math.floor((start_ms - from_ms) / quarter_ms))
    for (let nth = first; nth < count && from_ms + nth * quarter_ms < end_ms; nth += 1) {
      const begin_ms = from_ms + nth * quarter_ms
      const ms = Math.min(end_ms, begin_ms + quarter_ms) - Math.max(start_ms, begin_ms)
      if (ms === quarter_ms) {
        price_micro[nth] = price
        period_ms[nth] = start_ms
      } else {
        const part = parts.get(nth) ?? { ms: 0, products: 0n }
        part.ms += ms
        part.products += BigInt(price) * BigInt(ms)
        parts.set(nth, part)
      }
    }
  }
  for (const [nth, { ms, products }] of parts) {
    if (ms !== quarter_ms) continue
    price_micro[nth] = Math.round(Number(products) / ms)
    period_ms[nth] = from_ms + nth * quarter_ms
  }
  return { from_ms, price_micro, period_ms }
}
