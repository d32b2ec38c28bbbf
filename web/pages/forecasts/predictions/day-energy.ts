/** Forecasts of a local day of the site: energy, and lines of power. */
import type { Forecast, ForecastPoint } from '@heliograph/sdk'
import { formatEnergy } from '../../../ui/format.ts'
import type { Line } from '../../../ui/line-chart.tsx'

/** The band lies between the first and the last line. */
export const forecastLines = (
  valuesOf: (name: 'p10_kw' | 'p50_kw' | 'p90_kw') => Line['values'],
): Line[] =>
  (['p90_kw', 'p50_kw', 'p10_kw'] as const).map((name) => ({
    label: `Forecast ${name.slice(0, 3).toUpperCase()}`,
    unit: 'kW',
    color: 'orange',
    stepped: true,
    ...(name !== 'p50_kw' && { dash: true as const }),
    values: valuesOf(name),
  }))

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
