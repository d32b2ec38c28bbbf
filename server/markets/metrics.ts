import { Gauge, type Registry } from 'prom-client'
import type { Queries } from '../storage/database.ts'

interface RowGauges<Row> {
  statement: string
  labelsOf: (row: Row) => Record<string, string>
  gauges: readonly { name: string; help: string; of: (row: Row) => number | null }[]
}

/**
 * Gauges with a value per row, read from the database at each scrape, so that all replicas report
 * the same. They are absent while the database does not answer; the other metrics stay available.
 */
export function observeRows<Row>(
  registry: Registry,
  db: Queries,
  labelNames: readonly string[],
  { statement, labelsOf, gauges }: RowGauges<Row>,
): void {
  for (const { name, help, of } of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset()
        for (const row of await db.query<Row>(statement).catch(() => [])) {
          const value = of(row)
          if (value !== null) this.set(labelsOf(row), value)
        }
      },
    })
  }
}

interface State {
  market_code: string
  source: string
  failure_count: number
  fetched_s: number | null
  last_price_s: number | null
}

export const observePriceSources = (registry: Registry, db: Queries): void =>
  observeRows<State>(registry, db, ['market', 'source'], {
    statement: `
      select m.market_code, m.source, coalesce(f.failure_count, 0) as failure_count,
        extract(epoch from f.succeeded_at)::float8 as fetched_s,
        (select extract(epoch from p.end_at)::float8 from market_prices p
         where p.market_code = m.market_code and p.kind = 'day_ahead' and p.is_current
         order by p.start_at desc limit 1) as last_price_s
      from markets m left join price_fetches f using (market_code)
      where m.source is not null`,
    labelsOf: ({ market_code, source }) => ({ market: market_code, source }),
    gauges: [
      {
        name: 'heliograph_price_source_failures',
        help: 'Consecutive failed attempts to fetch the prices of a market',
        of: ({ failure_count }) => failure_count,
      },
      {
        name: 'heliograph_price_source_last_success_timestamp_seconds',
        help: 'Time of the last successful fetch of the prices of a market',
        of: ({ fetched_s }) => fetched_s,
      },
      {
        name: 'heliograph_price_source_last_price_timestamp_seconds',
        help: 'End of the newest stored price of a market',
        of: ({ last_price_s }) => last_price_s,
      },
    ],
  })
