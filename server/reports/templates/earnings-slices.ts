/** What was earned by the hour of the day and by market. */
import { shownAt } from '@heliograph/domain/local-day'
import { inCurrency } from '../../contracts/accounting.ts'
import type { Ledger } from '../../contracts/ledger.ts'
import { kwhOrNull } from '../../earnings/metrics.ts'
import type { Cell, Column, Section } from '../document.ts'
import { numberColumn as number, perMwh } from './columns.ts'

/** Energy and money of an hour of the day, or of a market, in one currency. */
interface Slice {
  energy_wh: number
  gross_micro: bigint
  market_price_micro: number
  price_hours: number
  /** Begin of hours, each counted once however many plants sold in it. */
  negative: Set<number>
}

const noSlice = (): Slice => ({
  energy_wh: 0,
  gross_micro: 0n,
  market_price_micro: 0,
  price_hours: 0,
  negative: new Set(),
})

function sliceOf<Key>(slices: Map<Key, Slice>, key: Key): Slice {
  const slice = slices.get(key) ?? noSlice()
  slices.set(key, slice)
  return slice
}

/** By the hour that clocks show, and by market; of hours whose money is known. */
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
      // Where clocks are off by half an hour, hours begin within those of the zone.
      const shown = new Date(shownAt(hour.start_ms, timezone)).toISOString().slice(11, 16)
      const slices = [sliceOf(hours, shown), sliceOf(markets, market_code)]
      for (const slice of slices) {
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
    hours: [...hours].sort(([one], [other]) => (one < other ? -1 : 1)),
    markets: [...markets],
    negative_hours: negative.size,
  }
}

const sliceColumns = (currency: string | null): Column[] => [
  number('energy', 'Energy', 1, 'kWh'),
  number('gross', 'Gross', 2, currency ?? undefined),
  number('average', 'Average price', 2, perMwh(currency)),
  number('price', 'Mean market price', 2, perMwh(currency)),
  number('negative', 'Negative prices', 0, 'h'),
]

const sliceCells = (slice: Slice): Record<string, Cell> => ({
  energy: kwhOrNull(slice.energy_wh),
  gross: Number(slice.gross_micro) / 1e6,
  average: slice.energy_wh > 0 ? Number(slice.gross_micro) / slice.energy_wh : null,
  price: slice.price_hours > 0 ? slice.market_price_micro / slice.price_hours / 1e6 : null,
  negative: slice.negative.size,
})

interface Sliced {
  site: { currency: string | null }
  hours: [string, Slice][]
  markets: [string, Slice][]
}

export const marketTable = ({ markets, site }: Pick<Sliced, 'markets' | 'site'>): Section => ({
  kind: 'table',
  title: 'By market',
  columns: [{ key: 'market', label: 'Market', kind: 'text' }, ...sliceColumns(site.currency)],
  rows: markets.map(([market, slice]) => ({ market, ...sliceCells(slice) })),
  note: 'Of hours whose money is known.',
})

export const hourTable = ({ hours, site }: Pick<Sliced, 'hours' | 'site'>): Section => ({
  kind: 'table',
  title: 'By hour of the day',
  columns: [{ key: 'hour', label: 'Hour', kind: 'text' }, ...sliceColumns(site.currency)],
  rows: hours.map(([hour, slice]) => ({ hour, ...sliceCells(slice) })),
  note: 'Of hours whose money is known.',
})
