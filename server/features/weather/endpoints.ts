import type { Clock } from '@heliograph/domain/clock'
import { significant } from '@heliograph/domain/significant'
import type { Place } from '../../diagnostics/plane-light.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { LoggerId, limit, timeWindow } from '../../http/params.ts'
import { default_hours, seriesMeta, seriesWindow } from '../../http/time-windows.ts'
import { type SiteFacts, situationOf } from '../../records/situation.ts'
import {
  bucket_ms,
  margin_ms,
  type StationSeries,
  type WeatherBucket,
  weatherBuckets,
} from './buckets.ts'
import { weatherRecord } from './current.ts'
import { bucketExample, weatherExample } from './examples.ts'
import { skiesOf } from './instruments.ts'
import { Weather, WeatherBucketRecord } from './schemas.ts'
import type { ReadingRow, StationRow, WeatherStore } from './store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  loggers: { exists(site_id: string, logger_id: number): Promise<boolean> }
  weather: WeatherStore
}

const weather = {
  method: 'GET',
  tag: 'Weather',
  scope: 'weather:read',
  module: 'basic_scada',
} as const

const plotNote =
  'Plot averages are means over the instruments that are believed; `sensors` has every ' +
  'instrument and why one is rejected.'

export const listWeather = endpoint({
  ...weather,
  path: '/weather',
  operation_id: 'weather_list',
  summary: 'The weather of every logger with a met station',
  description: `By logger. Loggers without a station in service are left out. ${plotNote}`,
  returns: List(Weather),
  example: { answer: { data: [weatherExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, needs: Needs) {
    const stations = inService(await needs.weather.stations(site_id))
    const logger_ids = [...new Set(stations.map(({ logger_id }) => logger_id))]
    return list(await readWeather(site_id, logger_ids.sort(byNumber), stations, needs))
  },
})

export const getLoggerWeather = endpoint({
  ...weather,
  path: '/weather/logger/{logger_id}',
  operation_id: 'weather_get',
  summary: 'The weather of one logger, with every instrument',
  description:
    `${plotNote} A logger without a met station in service has an empty \`sensors\`, nothing ` +
    'measured, and the sun.',
  params: { logger_id: LoggerId },
  returns: Weather,
  example: { answer: weatherExample },
  async handle({ site: { site_id }, params: { logger_id } }, needs: Needs) {
    await requireLogger(site_id, logger_id, needs)
    const stations = inService(await needs.weather.stations(site_id, logger_id))
    const [record] = await readWeather(site_id, [logger_id], stations, needs)
    return record!
  },
})

const rows = { max: 2000, by_default: 500 } as const

export const loggerWeatherHistory = endpoint({
  ...weather,
  path: '/weather/logger/{logger_id}/history',
  operation_id: 'weather_history_list',
  summary: 'The weather of a logger in buckets of five minutes',
  description:
    'Ascending. A bucket is in the window if its `start_at` is. Buckets without a reading are ' +
    'left out, never 0. Averages are weighted by time, along straight lines between readings; ' +
    'wind direction is averaged on the circle. Instruments are rejected as in the live object. ' +
    'Rain counts when the gauge was read. Without a window: the last 24 hours.',
  params: { logger_id: LoggerId },
  query: { ...timeWindow, limit: limit(rows.max, rows.by_default) },
  returns: Series(WeatherBucketRecord),
  example: {
    answer: {
      data: [bucketExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site: { site_id }, params: { logger_id }, query }, needs: Needs) {
    await requireLogger(site_id, logger_id, needs)
    const now = needs.clock.now()
    const window = seriesWindow(query, now, default_hours.telemetry)
    const [facts, stations] = await Promise.all([
      needs.sites.facts(site_id),
      needs.weather.stations(site_id, logger_id),
    ])
    const ids = stations.map(({ station_id }) => station_id)
    const max = query.limit ?? rows.by_default
    const page = await needs.weather.buckets(site_id, ids, window, max)
    const { count, first_ms, last_ms } = page
    const span = first_ms === null || last_ms === null ? null : spanOf(first_ms, last_ms)
    const read = span && (await needs.weather.readings(site_id, ids, around(span)))
    const skies = skiesOf(placeOf(facts))
    const buckets = span && read ? weatherBuckets(seriesOf(stations, read), span, skies) : []
    return {
      data: buckets.map((bucket) => bucketRecord(bucket, now)),
      meta: seriesMeta(window, {
        // A reading may have arrived between the two statements, and have made a bucket.
        count: Math.max(count, buckets.length),
        returned: buckets.length,
        first_time: isoOf(buckets[0]),
        last_time: isoOf(buckets.at(-1)),
      }),
    }
  },
})

const byNumber = (a: number, b: number) => a - b
const spanOf = (first_ms: number, last_ms: number) => ({
  start_ms: first_ms,
  end_ms: last_ms + bucket_ms,
})
const around = ({ start_ms, end_ms }: { start_ms: number; end_ms: number }) => ({
  from_ms: start_ms - margin_ms,
  to_ms: end_ms + margin_ms,
})
const isoOf = (bucket?: WeatherBucket) =>
  bucket === undefined ? null : new Date(bucket.start_ms).toISOString()
const inService = (stations: readonly StationRow[]) =>
  stations.filter(({ retired_at }) => retired_at === null)

async function requireLogger(site_id: string, logger_id: number, { loggers }: Needs) {
  if (!(await loggers.exists(site_id, logger_id))) throw new ApiError('not_found', { logger_id })
}

/** The live weather of loggers, of whose stations all are given. */
async function readWeather(
  site_id: string,
  logger_ids: readonly number[],
  stations: readonly StationRow[],
  needs: Needs,
): Promise<Weather[]> {
  const now = needs.clock.now()
  const facts = await needs.sites.facts(site_id)
  const situation = situationOf(facts, now)
  const start_ms = situation.day_start_at.getTime()
  const ids = stations.map(({ station_id }) => station_id)
  const newest_ms = Math.max(...stations.map(({ measured_at }) => measured_at?.getTime() ?? 0))
  const span = spanOf(start_ms, Math.max(start_ms, now.getTime(), newest_ms))
  const [read, surfaces] = await Promise.all([
    needs.weather.readings(site_id, ids, around(span)),
    needs.weather.surfaces(site_id),
  ])
  const place = placeOf(facts)
  const skies = skiesOf(place)
  return logger_ids.map((logger_id) => {
    const own = stations.filter((station) => station.logger_id === logger_id)
    const series = seriesOf(own, read)
    const today = weatherBuckets(series, span, skies)
    const surface = surfaces.find((each) => each.logger_id === logger_id) ?? null
    const plant = { logger_id, stations: own, series, today, surface }
    return weatherRecord(plant, { situation, place, skies })
  })
}

function placeOf({ latitude, longitude, elevation_m }: SiteFacts): Place | null {
  if (latitude === null || longitude === null) return null
  return { latitude, longitude, elevation_m: elevation_m ?? 0 }
}

function seriesOf(
  stations: readonly StationRow[],
  readings: readonly ReadingRow[],
): StationSeries[] {
  const of = Map.groupBy(readings, ({ station_id }) => station_id)
  return stations.map(({ station_id, instruments, created_at, retired_at }) => {
    const own = (of.get(station_id) ?? []).sort((a, b) => a.time_ms - b.time_ms)
    const values = instruments.map(() => new Float64Array(own.length).fill(Number.NaN))
    for (const [at, { instrument_values }] of own.entries()) {
      for (const [index, column] of values.entries()) {
        column[at] = instrument_values?.[index] ?? Number.NaN
      }
    }
    return {
      station_id,
      instruments,
      created_ms: created_at.getTime(),
      retired_ms: retired_at?.getTime() ?? null,
      times_ms: own.map(({ time_ms }) => time_ms),
      qualities: own.map(({ quality }) => quality),
      values,
    }
  })
}

function bucketRecord(bucket: WeatherBucket, now: Date): WeatherBucketRecord {
  const { start_ms, completeness_pct, sample_count, sensors_rejected, is_suspect, ...values } =
    bucket
  const known = Object.entries(values).map(([name, value]) => [
    name,
    value === null ? null : significant(value),
  ])
  const complete_pct = Math.min(100, Math.round(completeness_pct * 10) / 10)
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(start_ms + bucket_ms).toISOString(),
    ...(Object.fromEntries(known) as typeof values),
    sample_count,
    completeness_pct: complete_pct,
    is_partial: start_ms + bucket_ms > now.getTime() || complete_pct < 100,
    sensors_rejected,
    quality: is_suspect ? 'suspect' : 'good',
  }
}
