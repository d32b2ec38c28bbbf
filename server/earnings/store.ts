import { quarter_ms } from '@heliograph/domain/durations'
import {
  type Ledger,
  type LedgerQuery,
  type ReadScheduled,
  readLedger,
} from '../contracts/ledger.ts'
import { readSoldSteps } from '../forecasts/sold-steps.ts'
import { siteFacts } from '../plant/site-facts.ts'
import type { Queries } from '../storage/database.ts'

interface Logger {
  logger_id: number
  name: string
  retired_at: Date | null
}

/** All plants of a site by id, including retired ones. */
export async function readLoggers(db: Queries, site_id: string): Promise<Map<number, Logger>> {
  const rows = await db.query<Logger>(
    'SELECT logger_id, name, retired_at FROM loggers WHERE site_id = $1',
    [site_id],
  )
  return new Map(rows.map((row) => [row.logger_id, row]))
}

/** The revenue ledger of a site, with the day-ahead forecast as the energy sold ahead. */
export async function readEarnings(
  db: Queries,
  query: Omit<LedgerQuery, 'site_currency' | 'readScheduled'>,
): Promise<Ledger> {
  const { currency } = await siteFacts(db, query.site_id)
  const readScheduled = forecastAtGateClosure(db, query)
  return readLedger(db, { ...query, site_currency: currency, readScheduled })
}

/** The forecast median at the gate closure, Wh per quarter hour. */
function forecastAtGateClosure(
  db: Queries,
  { site_id, from_ms, to_ms }: { site_id: string; from_ms: number; to_ms: number },
): ReadScheduled {
  return async (logger_id, { timezone, gate_closure_local }) => {
    if (gate_closure_local === null) return () => null
    const plant = { site_id, logger_id, logger_ids: [logger_id] }
    const gate = { timezone, gate_closure_local }
    const steps = await readSoldSteps(db, { ...plant, from_ms, to_ms }, gate)
    const sold = new Map<number, number>()
    for (const { start_ms, end_ms, p50_kw, is_hindcast } of steps) {
      // A hindcast did not exist at the gate closure.
      if (p50_kw === null || is_hindcast) continue
      for (let at = start_ms; at < end_ms; at += quarter_ms) sold.set(at, Math.round(p50_kw * 250))
    }
    return (start_ms) => sold.get(start_ms) ?? null
  }
}
