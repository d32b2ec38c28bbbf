import { Gauge, type Registry } from 'prom-client'
import type { Queries } from '../../storage/database.ts'

interface Row {
  site_id: string
  source: string
  succeeded_at: Date | null
  failed_at: Date | null
  failure_count: number
}

const names = ['site_id', 'source'] as const

/**
 * Metrics of fetching weather forecasts. They come from the database, so that every replica reports
 * the same; when the database is unavailable only these metrics are absent.
 */
export function observeWeatherForecasts(registry: Registry, db: Queries): void {
  const gauge = (name: string, help: string, read: (row: Row) => number | null) =>
    new Gauge({
      name: `heliograph_weather_forecast_${name}`,
      help,
      labelNames: names,
      registers: [registry],
      async collect() {
        this.reset()
        for (const row of await readRows(db)) {
          const value = read(row)
          if (value !== null) this.set({ site_id: row.site_id, source: row.source }, value)
        }
      },
    })
  const seconds = (at: Date | null) => at && at.getTime() / 1000
  gauge(
    'last_success_timestamp_seconds',
    'Time of the last successful weather fetch, with or without a new forecast',
    ({ succeeded_at }) => seconds(succeeded_at),
  )
  gauge(
    'last_failure_timestamp_seconds',
    'Time of the last failed or incomplete weather fetch',
    ({ failed_at }) => seconds(failed_at),
  )
  gauge(
    'failures',
    'Failed weather fetches since the last success',
    ({ failure_count }) => failure_count,
  )
}

async function readRows(db: Queries): Promise<Row[]> {
  try {
    return await db.query<Row>(
      'select site_id, source, succeeded_at, failed_at, failure_count from weather_fetches',
    )
  } catch {
    return []
  }
}
