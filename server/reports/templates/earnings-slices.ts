/** Earnings by hour of the day and by market. */
import { shownAt } from '@heliograph/domain/local-day'
import { inCurrency } from '../../contracts/accounting.ts'
import type { Ledger } from '../../contracts/ledger.ts'
import { kwhOrNull } from '../../earnings/metrics.ts'
import type { Section } from '../document.ts'
import { number, perMwh, table, text } from './sections.ts'

interface Slice {
  name: string
  energy_wh: number
  gross_micro: bigint
  market_price_micro: number
  price_hours: number
  /** Starts of the hours with a negative price; an hour counts once for all plants. */
  negative: Set<number>
}

/** Slices by local hour and by market, over the hours whose money is known. */
export function slicesOf({ plants, currency, rateAt }: Ledger, timezone: string) {
  const hours = new Map<string, Slice>()
  const markets = new Map<string, Slice>()
  const negative = new Set<number>()
  for (const plant of plants) {
    for (const hour of plant.hours()) {
      const { reason, market_code } = hour
      const is_negative = (hour.market_price_micro ?? 0) < 0
      if (is_negative) negative.add(hour.start_ms)
      if (reason !== null || market_code === null) continue
      const account = currency === null ? hour : inCurrency(hour, currency, rateAt)
      if (account.reason !== null) continue
      // With a half-hour offset, UTC hours start within a local hour.
      const local = new Date(shownAt(hour.start_ms, timezone)).toISOString().slice(11, 16)
      for (const slice of [sliceOf(hours, local), sliceOf(markets, market_code)]) {
        slice.energy_wh += account.energy_wh ?? 0
        slice.gross_micro += BigInt(account.gross ?? 0)
        if (account.market_price_micro !== null) {
          slice.market_price_micro += account.market_price_micro
          slice.price_hours += 1
        }
        if (is_negative) slice.negative.add(hour.start_ms)
      }
    }
  }
  return {
    hours: [...hours.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    markets: [...markets.values()],
    negative_hours: negative.size,
  }
}

function sliceOf(slices: Map<string, Slice>, name: string): Slice {
  const slice = slices.get(name) ?? {
    name,
    energy_wh: 0,
    gross_micro: 0n,
    market_price_micro: 0,
    price_hours: 0,
    negative: new Set(),
  }
  slices.set(name, slice)
  return slice
}

export function sliceTable(
  title: string,
  [key, label]: readonly [key: string, label: string],
  slices: readonly Slice[],
  currency: string | null,
): Section {
  const price = [2, perMwh(currency)] as const
  return table(
    title,
    slices,
    [
      text(key, label, ({ name }) => name),
      number('energy', 'Energy', [1, 'kWh'], ({ energy_wh }) => kwhOrNull(energy_wh)),
      number('gross', 'Gross', [2, currency ?? undefined], (of) => Number(of.gross_micro) / 1e6),
      number('average', 'Average price', price, ({ energy_wh, gross_micro }) =>
        energy_wh > 0 ? Number(gross_micro) / energy_wh : null,
      ),
      number('price', 'Mean market price', price, ({ price_hours, market_price_micro }) =>
        price_hours > 0 ? market_price_micro / price_hours / 1e6 : null,
      ),
      number('negative', 'Negative prices', [0, 'h'], ({ negative }) => negative.size),
    ],
    { note: 'Over the hours whose money is known.' },
  )
}
