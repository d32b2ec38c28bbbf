import type { Registry } from 'prom-client'
import { observeRows } from '../../markets/metrics.ts'
import type { Queries } from '../../storage/database.ts'

interface State {
  site_id: string
  source: string
  succeeded_s: number | null
  failed_s: number | null
  failure_count: number
}

export const observeWeatherForecasts = (registry: Registry, db: Queries): void =>
  observeRows<State>(registry, db, ['site_id', 'source'], {
    statement: `
      select site_id, source, failure_count, extract(epoch from succeeded_at)::float8 as succeeded_s,
        extract(epoch from failed_at)::float8 as failed_s
      from weather_fetches`,
    labelsOf: ({ site_id, source }) => ({ site_id, source }),
    gauges: [
      {
        name: 'heliograph_weather_forecast_last_success_timestamp_seconds',
        help: 'Time of the last successful weather fetch, with or without a new forecast',
        of: ({ succeeded_s }) => succeeded_s,
      },
      {
        name: 'heliograph_weather_forecast_last_failure_timestamp_seconds',
        help: 'Time of the last failed or incomplete weather fetch',
        of: ({ failed_s }) => failed_s,
      },
      {
        name: 'heliograph_weather_forecast_failures',
        help: 'Failed weather fetches since the last success',
        of: ({ failure_count }) => failure_count,
      },
    ],
  })
