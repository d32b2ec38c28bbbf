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

const figures = [
  {
    name: 'heliograph_price_source_failures',
    help: 'Attempts in a row that failed to fetch the prices of a market that is followed',
    of: ({ failure_count }: State) => failure_count,
  },
  {
    name: 'heliograph_price_source_last_success_timestamp_seconds',
    help: 'When the source of a market that is followed was last understood',
    of: ({ fetched_s }: State) => fetched_s,
  },
  {
    name: 'heliograph_price_source_last_price_timestamp_seconds',
    help: 'Up to when the prices of a market that is followed are known',
    of: ({ last_price_s }: State) => last_price_s,
  },
]

/**
 * How fetching prices goes, market by market, read from the database when figures are asked for.
 * While that does not answer they are absent: the other figures must not go with them.
 */
export function observePriceSources(registry: Registry, db: Queries): void {
  for (const { name, help, of } of figures) {
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
