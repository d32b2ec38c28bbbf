import { type Books, type BooksAsked, openBooks, type ReadScheduled } from '../contracts/books.ts'
import { type Contracts, readContracts } from '../contracts/contract-store.ts'
import { type PlantHour, readPlantHours } from '../contracts/plant-quarters.ts'
import { readSoldSteps } from '../forecasts/sold-steps.ts'
import type { Queries } from '../storage/database.ts'
import { type Arbitrage, type ArbitrageAsked, readArbitrage } from './arbitrage.ts'

interface SiteTerms {
  /** Of the inventory; null until there is one. */
  currency: string | null
  country_code: string | null
  timezone: string
}

export interface EarningsStore {
  /** The accounts of plants, with what was forecast in time as what they had sold ahead. */
  books(asked: Omit<BooksAsked, 'site_currency' | 'readScheduled'>): Promise<Books>
  /** What batteries earned, in `currency` where there is one. */
  arbitrage(asked: Omit<ArbitrageAsked, 'site_currency' | 'timezone'>): Promise<Arbitrage>
  contracts(site_id: string, logger_id: number | null): Promise<Contracts>
  /** By id, retired ones too. */
  loggerNames(site_id: string): Promise<Map<number, string>>
  /** When plants were retired, Unix ms. */
  retirements(site_id: string): Promise<Map<number, number>>
  site(site_id: string): Promise<SiteTerms>
  hours(site_id: string, span: { from: Date; to: Date }): Promise<Map<number, Iterable<PlantHour>>>
}

const minute_ms = 60_000
const quarter_ms = 15 * minute_ms

export function createEarningsStore(db: Queries): EarningsStore {
  const site = async (site_id: string): Promise<SiteTerms> => {
    const [row] = await db.query<SiteTerms>(
      `SELECT inventory->>'currency' AS currency, inventory->>'country_code' AS country_code,
         coalesce(inventory->>'timezone', 'UTC') AS timezone
       FROM sites WHERE site_id = $1`,
      [site_id],
    )
    return row!
  }
  return {
    site,
    async books(asked) {
      const { currency } = await site(asked.site_id)
      const readScheduled = forecastInTime(db, asked)
      return openBooks(db, { ...asked, site_currency: currency, readScheduled })
    },
    async arbitrage(asked) {
      const { currency: site_currency, timezone } = await site(asked.site_id)
      return readArbitrage(db, { ...asked, site_currency, timezone })
    },
    contracts: (site_id, logger_id) => readContracts(db, site_id, logger_id),
    async loggerNames(site_id) {
      const rows = await db.query<{ logger_id: number; name: string }>(
        'SELECT logger_id, name FROM loggers WHERE site_id = $1',
        [site_id],
      )
      return new Map(rows.map(({ logger_id, name }) => [logger_id, name]))
    },
    async retirements(site_id) {
      const rows = await db.query<{ logger_id: number; retired_at: Date }>(
        'SELECT logger_id, retired_at FROM loggers WHERE site_id = $1 AND retired_at IS NOT NULL',
        [site_id],
      )
      return new Map(rows.map(({ logger_id, retired_at }) => [logger_id, retired_at.getTime()]))
    },
    hours: (site_id, span) => readPlantHours(db, { site_id, ...span }),
  }
}

/** The median of what plants could offer by the gate closure, in Wh of each quarter hour. */
function forecastInTime(
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
      // What was made after the fact was sold by nobody.
      if (p50_kw === null || is_hindcast) continue
      for (let at = start_ms; at < end_ms; at += quarter_ms) sold.set(at, Math.round(p50_kw * 250))
    }
    return (start_ms) => sold.get(start_ms) ?? null
  }
}
