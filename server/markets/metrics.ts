import { Gauge, type Registry } from 'prom-client'
import type { Queries } from '../storage/database.ts'

interface State {
  market_code: string
  source: string
  failure_count: number
  fetched_s: number | null
  last_price_s: number | null
}

const followed = `
  select m.market_code, m.source, coalesce(f.failure_count, 0) as failure_count,
    extract(epoch from f.succeeded_at)::float8 as fetched_s,
    (select extract(epoch from p.end_at)::float8 from market_prices p
     where p.market_code = m.market_code and p.kind = 'day_ahead' and p.is_current
     order by p.start_at desc limit 1) as last_price_s
  from markets m left join price_fetches f using (market_code)
  where m.source is not null`

const gauges = [
  {
    name: 'heliograph_price_source_failures',
    help: 'Consecutive failed attempts to fetch the prices of a market',
    of: ({ failure_count }: State) => failure_count,
  },
  {
    name: 'heliograph_price_source_last_success_timestamp_seconds',
    help: 'Time of the last successful fetch of the prices of a market',
    of: ({ fetched_s }: State) => fetched_s,
  },
  {
    name: 'heliograph_price_source_last_price_timestamp_seconds',
    help: 'End of the newest stored price of a market',
    of: ({ last_price_s }: State) => last_price_s,
  },
]

/**
 * Gauges of the price fetches of each market, read from the database at each scrape. They are
 * absent while the database does not answer, so that the other metrics stay available.
 */
export function observePriceSources(registry: Registry, db: Queries): void {
  for (const { name, help, of } of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['market', 'source'],
      registers: [registry],
      async collect() {
        this.reset()
        const states = await db.query<State>(followed).catch(() => [])
        for (const state of states) {
          const value = of(state)
          if (value !== null) this.set({ market: state.market_code, source: state.source }, value)
        }
      },
    })
  }
}
