/** Forecast energy of a local day of the site. */
import type { Forecast, ForecastPoint } from '@heliograph/sdk'
import { formatEnergy } from '../../../ui/format.ts'

export const sumOf = (points: readonly ForecastPoint[]) =>
  points.length === 0 ? null : points.reduce((sum, { p50_kwh }) => sum + p50_kwh, 0)

/** Band of a UTC day; null unless the UTC day contains all daylight of the local day. */
export function bandOf(
  forecasts: readonly Forecast[],
  date: string,
  points: readonly ForecastPoint[],
): string | null {
  const forecast = forecasts.find((one) => one.date === date)
  if (!forecast || forecast.total_p10_kwh === null || forecast.total_p90_kwh === null) return null
  const is_whole = points.every(({ is_night, start_at }) => is_night || start_at.startsWith(date))
  if (!is_whole) return null
  return `${formatEnergy(forecast.total_p10_kwh)} to ${formatEnergy(forecast.total_p90_kwh)}`
}
