/** Hours and periods as files: the items of the JSON answers, made a week at a time. */
import { day_ms } from '@heliograph/domain/utc-day'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import { createPriceStore } from '../markets/price-store.ts'
import { type Pair, readCompared } from './compare-markets.ts'
import { crossBorderPrices } from './cross-border.ts'
import type { Now } from './figures.ts'
import { earningsHours } from './records.ts'
import { createEarningsStore } from './store.ts'

interface Window {
  site_id: string
  from_ms: number
  to_ms: number
}

/** The hours of a plant or of all, by time and plant. */
export const hoursExport = (
  window: Window & { logger_id: number | null },
  now: Now,
): ExportItems => ({
  async *items(queries) {
    const earnings = createEarningsStore(queries)
    for (const week of weeksOf(window)) {
      const books = await earnings.books({ ...window, ...week, ...now, in_turn: true })
      yield [...earningsHours(books, now)]
    }
  },
})

export const crossBorderExport = (window: Window, pair: Pair): ExportItems => ({
  async *items(queries) {
    const reads = { prices: createPriceStore(queries), earnings: createEarningsStore(queries) }
    for (const week of weeksOf(window)) {
      const compared = await readCompared(reads, pair, { ...window, ...week })
      yield crossBorderPrices(compared, { truncated: false, next_start: null }).data as ExportItem[]
    }
  },
})

function* weeksOf({ from_ms, to_ms }: Window): Generator<{ from_ms: number; to_ms: number }> {
  for (let at = from_ms; at < to_ms; at += 7 * day_ms) {
    yield { from_ms: at, to_ms: Math.min(to_ms, at + 7 * day_ms) }
  }
}
