/**
 * MET Norway, Locationforecast 2.0 (api.met.no/weatherapi/locationforecast/2.0): global coverage,
 * no key. Its terms require a User-Agent with a contact, positions of at most four decimals, and no
 * request before the last answer expires. It has cloud cover but no irradiance, which is modelled:
 * cloud transmission by Kasten and Czeplak (1980), clear sky by Ineichen and Perez (2002) with a
 * typical mid-latitude turbidity, decomposition by Erbs (1982).
 */
import { hour_ms } from '@heliograph/domain/durations'
import type { Place } from '@heliograph/domain/place'
import { coverTransmission } from '@heliograph/physics/cloud-cover'
import { erbs } from '@heliograph/physics/decomposition'
import { SourceFault } from '../../../markets/sources/source.ts'
import { skiesOf } from '../../../telemetry/weather/instrument-limits.ts'
import { askJson } from '../answer.ts'
import type { ForecastStep } from '../run.ts'
import type { WeatherSettings } from '../settings.ts'
import type { WeatherSource } from '../source.ts'

const usual_url = 'https://api.met.no'
const path = '/weatherapi/locationforecast/2.0/complete'
const by = 'met_norway'
/** Interval of sun positions within a step. */
const sun_step_ms = 300_000
/** Longest gap between instants that is interpolated linearly; later instants are 6 h apart. */
const apart_ms_max = 6 * hour_ms
/** Cloud forecasts beyond are too uncertain. */
const ahead_ms_max = 96 * hour_ms

interface Instant {
  time_ms: number
  temperature_c: number | null
  wind_speed_m_s: number | null
  cloud_cover_pct: number | null
  relative_humidity_pct: number | null
}

type Quantity = Exclude<keyof Instant, 'time_ms'>

/** Names at the source, and plausible ranges. */
const details: Record<Quantity, { name: string; minimum: number; maximum: number }> = {
  temperature_c: { name: 'air_temperature', minimum: -90, maximum: 65 },
  wind_speed_m_s: { name: 'wind_speed', minimum: 0, maximum: 120 },
  cloud_cover_pct: { name: 'cloud_area_fraction', minimum: 0, maximum: 100 },
  relative_humidity_pct: { name: 'relative_humidity', minimum: 0, maximum: 100 },
}
const names = Object.keys(details) as Quantity[]

export function metNorway({
  url: base,
  contact,
}: Pick<WeatherSettings, 'url' | 'contact'>): WeatherSource {
  return {
    name: 'met_norway',
    previous: null,
    async forecast(place, { now, signal, last_modified }) {
      const url = new URL(path, base ?? usual_url)
      const { latitude, longitude, elevation_m } = place
      url.searchParams.set('lat', latitude.toFixed(4))
      url.searchParams.set('lon', longitude.toFixed(4))
      url.searchParams.set('altitude', elevation_m.toFixed(0))
      const headers = {
        'user-agent': `Heliograph/1 (${contact ?? 'contact not set'})`,
        ...(last_modified === null ? {} : { 'if-modified-since': last_modified }),
      }
      const answer = await askJson(url, { headers, signal })
      const expires_ms = Date.parse(answer.headers.get('expires') ?? '')
      const expires_at = Number.isNaN(expires_ms) ? null : new Date(expires_ms)
      if (answer.status === 304) return { forecast: null, last_modified, expires_at }
      // 203 is a valid answer of a deprecated version.
      if (answer.status !== 200 && answer.status !== 203) {
        throw new SourceFault(`${url.host}: answered ${answer.status}`)
      }
      const { issued_at, instants } = instantsOf(answer.body)
      const steps = stepsOf(place, instants, now.getTime())
      return {
        forecast: { issued_at, model: 'locationforecast', steps, shortcoming: null },
        last_modified: answer.headers.get('last-modified'),
        expires_at,
      }
    },
  }
}

interface Document {
  properties?: {
    meta?: { updated_at?: unknown }
    timeseries?: { time?: unknown; data?: { instant?: { details?: Record<string, unknown> } } }[]
  }
}

/** @throws {SourceFault} for a body without a forecast */
function instantsOf(body: unknown): { issued_at: Date | null; instants: Instant[] } {
  const { meta, timeseries } = (body as Document | null)?.properties ?? {}
  if (!Array.isArray(timeseries)) throw new SourceFault(`${by}: an answer without 'timeseries'`)
  const issued_ms = typeof meta?.updated_at === 'string' ? Date.parse(meta.updated_at) : Number.NaN
  const instants = timeseries
    .map((entry) => {
      const given = entry?.data?.instant?.details ?? {}
      const values = names.map((quantity) => {
        const { name, minimum, maximum } = details[quantity]
        const value = given[name]
        const is_right = typeof value === 'number' && value >= minimum && value <= maximum
        return [quantity, is_right ? value : null]
      })
      const time_ms = typeof entry?.time === 'string' ? Date.parse(entry.time) : Number.NaN
      return { time_ms, ...Object.fromEntries(values) } as Instant
    })
    .filter(({ time_ms }) => !Number.isNaN(time_ms))
    .sort((a, b) => a.time_ms - b.time_ms)
  return { issued_at: Number.isNaN(issued_ms) ? null : new Date(issued_ms), instants }
}

/** Whole hours from the running one on, up to the first gap that is too long. */
function stepsOf(place: Place, instants: readonly Instant[], now_ms: number): ForecastStep[] {
  const first = instants[0]
  if (!first) throw new SourceFault(`${by}: an answer without instants`)
  const from_ms = Math.max(
    Math.floor(now_ms / hour_ms) * hour_ms,
    Math.ceil(first.time_ms / hour_ms) * hour_ms,
  )
  const steps: ForecastStep[] = []
  for (let start_ms = from_ms; start_ms < now_ms + ahead_ms_max; start_ms += hour_ms) {
    const begin = between(instants, start_ms)
    const end = between(instants, start_ms + hour_ms)
    if (!begin || !end) break
    steps.push(stepBetween(place, begin, end))
  }
  if (steps.every(({ ghi_w_m2 }) => ghi_w_m2 === null)) {
    throw new SourceFault(`${by}: an answer without clouds of the time ahead`)
  }
  return steps
}

function stepBetween(place: Place, begin: Instant, end: Instant): ForecastStep {
  const mean = (quantity: Quantity) => {
    const [from, to] = [begin[quantity], end[quantity]]
    return from === null || to === null ? null : (from + to) / 2
  }
  const cloud_cover_pct = mean('cloud_cover_pct')
  const span = { start_ms: begin.time_ms, end_ms: end.time_ms }
  return {
    ...span,
    ...(cloud_cover_pct === null
      ? { ghi_w_m2: null, dni_w_m2: null, dhi_w_m2: null }
      : irradiance(place, span, coverTransmission(cloud_cover_pct / 100))),
    temperature_c: mean('temperature_c'),
    wind_speed_m_s: mean('wind_speed_m_s'),
    cloud_cover_pct,
    relative_humidity_pct: mean('relative_humidity_pct'),
    ghi_p10_w_m2: null,
    ghi_p90_w_m2: null,
  }
}

/** The weather at an instant, interpolated; null next to a gap that is too long. */
function between(instants: readonly Instant[], time_ms: number): Instant | null {
  const after = instants.find((instant) => instant.time_ms >= time_ms)
  if (after?.time_ms === time_ms) return after
  const before = instants.findLast((instant) => instant.time_ms < time_ms)
  if (!before || !after || after.time_ms - before.time_ms > apart_ms_max) return null
  const share = (time_ms - before.time_ms) / (after.time_ms - before.time_ms)
  const values = names.map((quantity) => {
    const [from, to] = [before[quantity], after[quantity]]
    return [quantity, from === null || to === null ? null : from + (to - from) * share]
  })
  return { time_ms, ...Object.fromEntries(values) } as Instant
}

/** Mean irradiance over a step under clouds that transmit a share of the clear-sky irradiance. */
function irradiance(
  place: Place,
  { start_ms, end_ms }: { start_ms: number; end_ms: number },
  passing_ratio: number,
) {
  const sum = { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 }
  const count = Math.round((end_ms - start_ms) / sun_step_ms)
  const skyAt = skiesOf(place)
  for (let nth = 0; nth < count; nth += 1) {
    const time_ms = start_ms + (nth + 0.5) * sun_step_ms
    const { sun, clear, dni_extra_w_m2 } = skyAt(time_ms)!
    const ghi_w_m2 = clear.ghi_w_m2 * passing_ratio
    const parts = erbs(ghi_w_m2, sun.zenith_deg, dni_extra_w_m2)
    sum.ghi_w_m2 += ghi_w_m2 / count
    sum.dni_w_m2 += parts.dni_w_m2 / count
    sum.dhi_w_m2 += parts.dhi_w_m2 / count
  }
  return sum
}
