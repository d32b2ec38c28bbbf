/** Forecasts of the simulated site in the format of Open-Meteo. */

import { setImmediate as turnOfOthers } from 'node:timers/promises'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'
import { rounded } from '@heliograph/domain/significant'
import { issued_every_ms, type SkyForecast } from './forecast-sky.ts'

interface ForecastAnswer {
  status: number
  body: unknown
}

interface Forecaster {
  sky: SkyForecast
  place: Place
  /** The present, Unix ms: only forecasts issued before it are available. */
  now_ms: number
}

const days_max = 93
const leads_days_max = 7
const forecast_days_usual = 7
const forecast_days_max = 16
const members = 20
/** Maximum distance from the site: other places have no forecast. */
const apart_deg_max = 0.05

type Value = (at: { end_ms: number; issued_ms: number }) => number

/** Radiation is the mean of the hour before; other variables are instantaneous. */
const variables: Record<string, { unit: string; digits: number; of: (sky: SkyForecast) => Value }> =
  {
    shortwave_radiation: radiation(({ ghi_w_m2 }) => ghi_w_m2),
    direct_radiation: radiation(({ ghi_w_m2, dhi_w_m2 }) => ghi_w_m2 - dhi_w_m2),
    direct_normal_irradiance: radiation(({ dni_w_m2 }) => dni_w_m2),
    diffuse_radiation: radiation(({ dhi_w_m2 }) => dhi_w_m2),
    temperature_2m: point('°C', 1, ({ temperature_c }) => temperature_c),
    relative_humidity_2m: point('%', 0, ({ relative_humidity_pct }) => relative_humidity_pct),
    cloud_cover: point('%', 0, ({ cloud_cover_pct }) => cloud_cover_pct),
    wind_speed_10m: point('km/h', 1, ({ wind_speed_m_s }) => wind_speed_m_s * 3.6),
  }

function radiation(of: (radiation: ReturnType<SkyForecast['radiation']>) => number) {
  const value = (sky: SkyForecast): Value => {
    return ({ end_ms, issued_ms }) => of(sky.radiation(end_ms, issued_ms))
  }
  return { unit: 'W/m²', digits: 1, of: value }
}

function point(unit: string, digits: number, of: (at: ReturnType<SkyForecast['point']>) => number) {
  const value = (sky: SkyForecast): Value => {
    return ({ end_ms, issued_ms }) => of(sky.point(end_ms, issued_ms))
  }
  return { unit, digits, of: value }
}

class Refused extends Error {}

/**
 * `/v1/forecast` with hourly variables, also `…_previous_day1` to 7, over `forecast_days` from
 * today on, `past_days` before it, or from `start_date` to `end_date`; `/v1/ensemble` with 20
 * members of shortwave_radiation. Forecasts are issued every six hours from 00:00 UTC on; for the
 * past, the newest issue of that time is returned.
 */
export async function answerForecast(url: URL, forecaster: Forecaster): Promise<ForecastAnswer> {
  const query = url.searchParams
  try {
    checkForm(query, forecaster.place)
    const times_ms = timesOf(query, forecaster.now_ms)
    const names = [...new Set((query.get('hourly') ?? '').split(',').filter(Boolean))]
    if (url.pathname === '/v1/ensemble') {
      return { status: 200, body: await ensemble(names, times_ms, { query, forecaster }) }
    }
    if (url.pathname !== '/v1/forecast') return { status: 404, body: refusal('Not Found') }
    const columns: [string, string, number[]][] = []
    for (const name of names) columns.push(await column(name, times_ms, { query, forecaster }))
    return { status: 200, body: document(columns, times_ms, { query, forecaster }) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { status: 400, body: refusal(error.message) }
  }
}

const refusal = (reason: string) => ({ error: true, reason })

interface Request {
  query: URLSearchParams
  forecaster: Forecaster
}

function checkForm(query: URLSearchParams, place: Place): void {
  for (const name of ['latitude', 'longitude'] as const) {
    const asked = query.get(name)
    if (!asked || !(Math.abs(Number(asked) - place[name]) <= apart_deg_max)) {
      throw new Refused(`${name} must be that of the simulated site, ${place[name]}`)
    }
  }
  if (!['GMT', 'UTC', null].includes(query.get('timezone'))) throw new Refused('timezone: only GMT')
}

function timesOf(query: URLSearchParams, now_ms: number): number[] {
  const today_ms = Math.floor(now_ms / day_ms) * day_ms
  const [start, end] = [query.get('start_date'), query.get('end_date')]
  const past_days = wholeNumber(query, 'past_days', { fallback: 0, maximum: days_max })
  const usual = { fallback: forecast_days_usual, maximum: forecast_days_max }
  const from_ms = start === null ? today_ms - past_days * day_ms : dateOf(start)
  const to_ms =
    end === null
      ? today_ms + wholeNumber(query, 'forecast_days', usual) * day_ms
      : dateOf(end) + day_ms
  const hours = Math.round((to_ms - from_ms) / hour_ms)
  if (!(hours > 0 && hours <= days_max * 24)) throw new Refused(`from 1 to ${days_max} days`)
  if (to_ms > today_ms + forecast_days_max * day_ms) throw new Refused('end_date is too far ahead')
  return Array.from({ length: hours }, (_, hour) => from_ms + hour * hour_ms)
}

function dateOf(text: string): number {
  const time_ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time_ms)) throw new Refused(`'${text}' is no date`)
  return time_ms
}

function wholeNumber(
  query: URLSearchParams,
  name: string,
  { fallback, maximum }: { fallback: number; maximum: number },
): number {
  const value = Number(query.get(name) ?? fallback)
  if (Number.isInteger(value) && value >= 0 && value <= maximum) return value
  throw new Refused(`${name}: a whole number from 0 to ${maximum}`)
}

/** The newest issue with this lead time for an hour. */
function issueFor(end_ms: number, lead_days: number, now_ms: number): number {
  const by_ms = Math.min(now_ms, end_ms - lead_days * day_ms)
  return Math.floor(by_ms / issued_every_ms) * issued_every_ms
}

async function column(
  name: string,
  times_ms: readonly number[],
  { query, forecaster }: Request,
): Promise<[string, string, number[]]> {
  const [, base = name, lead = '0'] = /^(.+?)_previous_day(\d)$/.exec(name) ?? []
  const variable = Object.hasOwn(variables, base) ? variables[base] : undefined
  if (!variable || Number(lead) > leads_days_max) throw new Refused(`unknown variable '${name}'`)
  const is_in_m_s = variable.unit === 'km/h' && query.get('wind_speed_unit') === 'ms'
  const [unit, factor] = is_in_m_s ? ['m/s', 1 / 3.6] : [variable.unit, 1]
  const valueAt = variable.of(forecaster.sky)
  const values: number[] = []
  for (const end_ms of times_ms) {
    const issued_ms = issueFor(end_ms, Number(lead), forecaster.now_ms)
    values.push(rounded(factor * valueAt({ end_ms, issued_ms }), variable.digits))
    if (end_ms % day_ms === 0) await turnOfOthers()
  }
  return [name, unit, values]
}

async function ensemble(names: readonly string[], times_ms: readonly number[], request: Request) {
  if (names.join() !== 'shortwave_radiation') throw new Refused('hourly: only shortwave_radiation')
  const { sky, now_ms } = request.forecaster
  const by_time: number[][] = []
  for (const end_ms of times_ms) {
    by_time.push(sky.members(end_ms, issueFor(end_ms, 0, now_ms), members))
    if (end_ms % day_ms === 0) await turnOfOthers()
  }
  const control = await column('shortwave_radiation', times_ms, request)
  const columns = Array.from({ length: members }, (_, member): typeof control => [
    `shortwave_radiation_member${String(member + 1).padStart(2, '0')}`,
    'W/m²',
    by_time.map((values) => rounded(values[member]!, 1)),
  ])
  return document([control, ...columns], times_ms, request)
}

function document(
  columns: readonly [name: string, unit: string, values: number[]][],
  times_ms: readonly number[],
  { query, forecaster: { place } }: Request,
) {
  const is_unix = query.get('timeformat') === 'unixtime'
  const { latitude, longitude, elevation_m } = place
  return {
    latitude,
    longitude,
    elevation: elevation_m,
    utc_offset_seconds: 0,
    timezone: 'GMT',
    timezone_abbreviation: 'GMT',
    hourly_units: {
      time: is_unix ? 'unixtime' : 'iso8601',
      ...Object.fromEntries(columns.map(([name, unit]) => [name, unit])),
    },
    hourly: {
      time: times_ms.map((time_ms) =>
        is_unix ? time_ms / 1000 : new Date(time_ms).toISOString().slice(0, 16),
      ),
      ...Object.fromEntries(columns.map(([name, , values]) => [name, values])),
    },
  }
}
