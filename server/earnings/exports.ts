/** Exports of hours and market periods, computed one week at a time. */
import { day_ms } from '@heliograph/domain/durations'
import type { ExportItem, ExportItems } from '../http/export-items.ts'
import { type Pair, readComparison } from './compare-markets.ts'
import { crossBorderPrices } from './cross-border.ts'
import type { Now } from './metrics.ts'
import { earningsHours } from './records.ts'
import { readEarnings } from './store.ts'

interface Window {
  site_id: string
  from_ms: number
  to_ms: number
}

export const hoursExport = (
  window: Window & { logger_id: number | null },
  now: Now,
): ExportItems => ({
  async *items(db) {
    for (const week of weeksOf(window)) {
      const ledger = await readEarnings(db, { ...window, ...week, ...now, in_turn: true })
      yield [...earningsHours(ledger, now)]
    }
  },
})

export const crossBorderExport = (window: Window, pair: Pair): ExportItems => ({
  async *items(db) {
    for (const week of weeksOf(window)) {
      const comparison = await readComparison(db, pair, { ...window, ...week })
      const { data } = crossBorderPrices(comparison, { truncated: false, next_start: null })
      yield data as ExportItem[]
    }
  },
})

function* weeksOf({ from_ms, to_ms }: Window): Generator<{ from_ms: number; to_ms: number }> {
  for (let at = from_ms; at < to_ms; at += 7 * day_ms) {
    yield { from_ms: at, to_ms: Math.min(to_ms, at + 7 * day_ms) }
  }
}
