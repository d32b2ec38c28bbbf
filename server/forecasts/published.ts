/** The events of production forecasts. */
import { publish } from '../events/publish.ts'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'
import { served } from '../storage/records.ts'
import { fallbackReasons, type NewRun } from './run-store.ts'

export const IssuedForecast = Named('IssuedForecast', {
  target_date: field.Day('The UTC day.'),
  issued_at: field.At('When the forecast was issued.'),
  model: field.OneOf(['blend', 'physical'], '`physical` without a trained model.'),
  fallback_reason: field.OneOfOrNull(fallbackReasons, 'Why no trained model was used.'),
  weather_issued_at: field.AtOrNull('When the weather forecast was issued; null without one.'),
  total_p10_kwh: field.FromZero('Energy of the site on that day, 10th percentile.', 4100),
  total_p50_kwh: field.FromZero('Median energy of the site on that day.', 5200),
  total_p90_kwh: field.FromZero('Energy of the site on that day, 90th percentile.', 5900),
  confidence: field.OneOf(['low', 'medium', 'high'], 'Confidence in the forecast.', 'high'),
})

/** Publishes the forecast of a site for a day, without its series. */
export function publishForecast(tx: Transaction, site_id: string, run: NewRun): void {
  const { target_date, issued_at } = run
  publish(tx, {
    site_id,
    at: issued_at,
    type: 'forecast.issued',
    subject: `forecast/${target_date}`,
    link: '/predictions/production',
    record: served(IssuedForecast, run),
  })
}
