/** The events of market prices. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import type { PricePeriod } from './periods.ts'
import type { PriceSource } from './schemas.ts'

interface Published {
  market_code: string
  source: PriceSource
  published_at: Date | null
  fetched_at: Date
  /** Ascending; at least one. */
  periods: readonly PricePeriod[]
}

/** Publishes new or changed day-ahead prices, at each site that sells at the market. */
export async function publishPrices(
  tx: Transaction,
  { market_code, periods, source, published_at, fetched_at }: Published,
  stored_count: number,
): Promise<void> {
  const sites = await tx.query<{ site_id: string }>(
    `select distinct site_id from market_assignments
     where $1 in (market_code, sold_market_code) order by site_id`,
    [market_code],
  )
  const record = {
    market_code,
    start_at: isoTime(periods[0]!.start_ms),
    end_at: isoTime(periods.at(-1)!.end_ms),
    stored_count,
    source,
    published_at: published_at?.toISOString() ?? null,
  }
  for (const { site_id } of sites) {
    publish(tx, {
      site_id,
      at: fetched_at,
      type: 'price.published',
      subject: `market/${market_code}`,
      link: `/markets/${market_code}/prices`,
      record,
    })
  }
}
