/** The events of production forecasts. */
import { publish } from '../events/publish.ts'
import type { Transaction } from '../storage/database.ts'
import type { NewRun } from './run-store.ts'

/** Publishes the forecast of a site for a day, without its series. */
export function publishForecast(tx: Transaction, site_id: string, run: NewRun): void {
  const { target_date, issued_at: at, model, fallback_reason, confidence } = run
  publish(tx, {
    site_id,
    at,
    type: 'forecast.issued',
    subject: `forecast/${target_date}`,
    link: '/predictions/production',
    record: {
      target_date,
      issued_at: at.toISOString(),
      model,
      fallback_reason,
      weather_issued_at: run.weather_issued_at?.toISOString() ?? null,
      total_p10_kwh: run.total_p10_kwh,
      total_p50_kwh: run.total_p50_kwh,
      total_p90_kwh: run.total_p90_kwh,
      confidence,
    },
  })
}
