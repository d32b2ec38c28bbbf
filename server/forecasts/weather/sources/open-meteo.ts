/**
 * Open-Meteo: forecasts and ensembles of national weather services, and an archive of forecasts one
 * or more days ahead (open-meteo.com/en/docs and its `previous-runs-api`). The public servers are
 * for non-commercial use; a key selects the customer servers. `best_match` is Open-Meteo's choice
 * of models; the ensemble is that of the German weather service.
 */
import { day_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'
import { utcDate } from '@heliograph/domain/utc-day'
import { SourceFault } from '../../../markets/sources/source.ts'
import { askJson } from '../answer.ts'
import type { WeatherSettings } from '../settings.ts'
import type { Forecast, PreviousSteps, SourceRequest, WeatherSource } from '../source.ts'
import { type Columns, columns, columnsOf, spreadOf, stepsOf } from './open-meteo-columns.ts'

const model = 'best_match'
const ensemble_model = 'icon_seamless'
/** Includes today. */
const forecast_days = 4
/** Lead times of the archive, covering the forecast horizon. */
const leads_days = [1, 2, 3] as const

type Service = 'forecast' | 'ensemble' | 'previous'

const hosts: Record<Service, string> = {
  forecast: 'api.open-meteo.com',
  ensemble: 'ensemble-api.open-meteo.com',
  previous: 'previous-runs-api.open-meteo.com',
}
const paths: Record<Service, string> = {
  forecast: '/v1/forecast',
  ensemble: '/v1/ensemble',
  previous: '/v1/forecast',
}

const variables = Object.values(columns).map(({ name }) => name)

export function openMeteo(settings: Pick<WeatherSettings, 'url' | 'key'>): WeatherSource {
  const ask: Ask = (service, parameters, asked) => askService(settings, service, parameters, asked)
  return {
    name: 'open_meteo',
    async forecast(place, { now, signal }) {
      const asked = { place, now, signal }
      const forecast = await withSpread(await plainForecast(ask, asked), ask, asked)
      return { forecast, last_modified: null, expires_at: null }
    },
    previous: (place, days, { now, signal }) => previousSteps(ask, days, { place, now, signal }),
  }
}

type AskedFor = SourceRequest & { place: Place }
type Ask = (
  service: Service,
  parameters: Record<string, string>,
  asked: AskedFor,
) => Promise<Columns>

async function askService(
  settings: Pick<WeatherSettings, 'url' | 'key'>,
  service: Service,
  parameters: Record<string, string>,
  { place: { latitude, longitude }, signal }: AskedFor,
): Promise<Columns> {
  const host = `${settings.key === null ? '' : 'customer-'}${hosts[service]}`
  const url = new URL(paths[service], settings.url ?? `https://${host}`)
  const position = { latitude: latitude.toFixed(4), longitude: longitude.toFixed(4) }
  const units = { wind_speed_unit: 'ms', timeformat: 'unixtime', timezone: 'GMT' }
  const key = settings.key === null ? {} : { apikey: settings.key }
  url.search = new URLSearchParams({ ...position, ...parameters, ...units, ...key }).toString()
  const { status, body } = await askJson(url, { signal })
  if (status !== 200) throw new SourceFault(`${url.host}: ${refusal(status, body, settings.key)}`)
  return columnsOf(body, 'hourly')
}

async function plainForecast(ask: Ask, asked: AskedFor): Promise<Forecast> {
  const parameters = { hourly: variables.join(','), forecast_days: `${forecast_days}` }
  const all = stepsOf(await ask('forecast', parameters, asked))
  const steps = all.filter(({ end_ms }) => end_ms > asked.now.getTime())
  if (steps.every(({ ghi_w_m2 }) => ghi_w_m2 === null)) {
    throw new SourceFault('open_meteo: an answer without radiation')
  }
  return { issued_at: null, model, steps, shortcoming: null }
}

/** Adds the spread of the ensemble, or the reason why it is missing. */
async function withSpread(forecast: Forecast, ask: Ask, asked: AskedFor): Promise<Forecast> {
  const hourly = columns.ghi_w_m2.name
  const parameters = { hourly, models: ensemble_model, forecast_days: `${forecast_days}` }
  try {
    const spread = spreadOf(await ask('ensemble', parameters, asked))
    const steps = forecast.steps.map((step) => {
      const { p10 = null, p90 = null } = spread.get(step.end_ms) ?? {}
      return { ...step, ghi_p10_w_m2: p10, ghi_p90_w_m2: p90 }
    })
    return { ...forecast, steps }
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    return { ...forecast, shortcoming: `no ensemble: ${error.message}` }
  }
}

async function previousSteps(
  ask: Ask,
  { from, to }: { from: Date; to: Date },
  asked: AskedFor,
): Promise<PreviousSteps[]> {
  const names = leads_days.flatMap((days) => variables.map((name) => name + suffix(days)))
  // The first hour of the end date ends the last step.
  const dates = { start_date: utcDate(from), end_date: utcDate(to) }
  const table = await ask('previous', { hourly: names.join(','), ...dates }, asked)
  const within = ({ start_ms, end_ms }: { start_ms: number; end_ms: number }) =>
    start_ms >= from.getTime() && end_ms <= to.getTime()
  return leads_days.map((days) => ({
    lead_minutes: (days * day_ms) / 60_000,
    model,
    steps: stepsOf(table, suffix(days)).filter(within),
  }))
}

const suffix = (days: number) => `_previous_day${days}`

/** The error of the source, in its own words if any. */
function refusal(status: number, body: unknown, key: string | null): string {
  const { reason } = (body ?? {}) as { reason?: unknown }
  if (typeof reason !== 'string') return `answered ${status}`
  const words = key === null ? reason : reason.replaceAll(key, '…')
  return `answered ${status}: ${words.slice(0, 200)}`
}
