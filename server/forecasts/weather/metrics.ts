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
 * How the fetching of weather forecasts goes, from the database, so that each replica tells the
 * same. Without a database these figures are absent, and the others are told all the same.
 */
export function observeWeatherForecasts(registry: Registry, db: Queries): void {
  const gauge = (name: string, help: string, figureOf: (row: Row) => number | null) =>
    new Gauge({
      name: `heliograph_weather_forecast_${name}`,
      help,
      labelNames: names,
      registers: [registry],
      async collect() {
        this.reset()
        for (const row of await readRows(db)) {
          const value = figureOf(row)
          if (value !== null) this.set({ site_id: row.site_id, source: row.source }, value)
        }
      },
    })
  const seconds = (at: Date | null) => at && at.getTime() / 1000
  gauge(
    'last_success_timestamp_seconds',
    'When a weather forecast was last fetched, or found to be as it was',
    ({ succeeded_at }) => seconds(succeeded_at),
  )
  gauge(
    'last_failure_timestamp_seconds',
    'When weather could last not be fetched, or not all of it',
    ({ failed_at }) => seconds(failed_at),
  )
  gauge(
    'failures',
    'Failures to fetch weather since the last success',
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
