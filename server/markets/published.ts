/** The events of market prices. */
import { publish } from '../events/publish.ts'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'
import { isoTime } from '../storage/values.ts'
import type { PricePeriod } from './periods.ts'
import { type PriceSource, priceSources } from './schemas.ts'

export const PublishedPrices = Named('PublishedPrices', {
  market_code: field.Text('The market.', 'DE-LU'),
  start_at: field.At('Start of the first period.', '2026-06-21T22:00:00.000Z'),
  end_at: field.At('End of the last period.', '2026-06-22T22:00:00.000Z'),
  stored_count: field.Int('New or changed prices.', { minimum: 1, examples: [96] }),
  source: field.OneOf(priceSources, 'Where the prices come from.'),
  published_at: field.AtOrNull('When the source published them; null when it does not say.'),
})

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
