import type { Clock } from '@heliograph/domain/clock'
import { placeOf } from '@heliograph/domain/place'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { LoggerId, limit } from '../../http/params.ts'
import { default_hours, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { type SiteFacts, situationOf } from '../../plant/situation.ts'
import { type WeatherBucket, weatherBuckets } from './buckets.ts'
import { summed_today, weatherRecord } from './current.ts'
import { bucketExample, weatherExample } from './examples.ts'
import { around, bucketRecord, dailyBuckets, lightOf, seriesOf, spanOf } from './history.ts'
import { skiesOf } from './instrument-limits.ts'
import { Weather, WeatherBucketRecord } from './schemas.ts'
import { seriesOfQuantities } from './series.ts'
import { bucket_ms, witnessesOf } from './station-screening.ts'
import { createWeatherStore, type StationRow, type WeatherStore } from './store.ts'

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
    const all = await needs.weather.stations(site_id)
    const stations = inService(all)
    const logger_ids = [...new Set(stations.map(({ logger_id }) => logger_id))]
    return list(await readWeather(site_id, logger_ids.sort(byNumber), all, needs))
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
    const all = await needs.weather.stations(site_id)
    const [record] = await readWeather(site_id, [logger_id], all, needs)
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
  window: rowsWindow(default_hours.telemetry),
  query: { limit: limit(rows.max, rows.by_default) },
  heavy: true,
  returns: Series(WeatherBucketRecord),
  example: {
    answer: {
      data: [bucketExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site: { site_id }, params, query, window }, needs: Needs) {
    const { now, source } = await demandHistory(site_id, params.logger_id, needs)
    const { weather } = needs
    const max = query.limit ?? rows.by_default
    const page = await weather.buckets(site_id, idsOf(source.stations), window, max)
    const span = spanOf(page)
    const buckets: WeatherBucket[] = []
    if (span) {
      for await (const day of dailyBuckets(span, { ...source, weather })) buckets.push(...day)
    }
    return {
      data: buckets.map((bucket) => bucketRecord(bucket, now)),
      meta: seriesMeta(window, {
        // A reading may have arrived between the statements, and have made a bucket.
        count: Math.max(page.count, buckets.length),
        returned: buckets.length,
        first_time: isoOf(buckets[0]),
        last_time: isoOf(buckets.at(-1)),
      }),
    }
  },
  async exports({ site: { site_id }, params, query, window }, needs: Needs) {
    const { now, source } = await demandHistory(site_id, params.logger_id, needs)
    const { limit = null } = query
    return {
      async *items(queries) {
        const weather = createWeatherStore(queries)
        const page = await weather.buckets(site_id, idsOf(source.stations), window, limit)
        const span = spanOf(page)
        if (!span) return
        for await (const day of dailyBuckets(span, { ...source, weather })) {
          yield day.map((bucket) => bucketRecord(bucket, now))
        }
      },
    }
  },
})

/** Which buckets are asked for, of a logger that exists. */
async function demandHistory(site_id: string, logger_id: number, needs: Needs) {
  await requireLogger(site_id, logger_id, needs)
  const [position, all] = await Promise.all([
    needs.sites.facts(site_id),
    needs.weather.stations(site_id),
  ])
  const stations = all.filter((station) => station.logger_id === logger_id)
  const witnesses = witnessesOf(stations, all)
  const now = needs.clock.now()
  return { now, source: { site_id, position, stations, witnesses } }
}

const byNumber = (a: number, b: number) => a - b
const idsOf = (stations: readonly StationRow[]) => stations.map(({ station_id }) => station_id)
const isoOf = (bucket?: WeatherBucket) =>
  bucket === undefined ? null : new Date(bucket.start_ms).toISOString()
const inService = (stations: readonly StationRow[]) =>
  stations.filter(({ retired_at }) => retired_at === null)

async function requireLogger(site_id: string, logger_id: number, { loggers }: Needs) {
  if (!(await loggers.exists(site_id, logger_id))) throw new ApiError('not_found', { logger_id })
}

/** The live weather of loggers; `all` are the stations of the site. */
async function readWeather(
  site_id: string,
  logger_ids: readonly number[],
  all: readonly StationRow[],
  needs: Needs,
): Promise<Weather[]> {
  const plants = logger_ids.map((logger_id) => {
    const everyOwn = all.filter((station) => station.logger_id === logger_id)
    return { logger_id, own: inService(everyOwn), witnesses: witnessesOf(everyOwn, all) }
  })
  const stations = [...new Set(plants.flatMap(({ own, witnesses }) => [...own, ...witnesses]))]
  const now = needs.clock.now()
  const facts = await needs.sites.facts(site_id)
  const situation = situationOf(facts, now)
  const start_ms = situation.day_start_at.getTime()
  const newest_ms = Math.max(...stations.map(({ measured_at }) => measured_at?.getTime() ?? 0))
  const last_ms = Math.max(start_ms, now.getTime(), newest_ms)
  const span = { start_ms, end_ms: last_ms + bucket_ms }
  const [read, surfaces] = await Promise.all([
    needs.weather.readings(site_id, stations, around(span)),
    needs.weather.surfaces(site_id),
  ])
  const place = placeOf(facts)
  const skies = skiesOf(place)
  return plants.map(({ logger_id, own, witnesses }) => {
    const series = seriesOf(own, read)
    const aside = lightOf(seriesOf(witnesses, read))
    const summed = series.map((each) => seriesOfQuantities(each, summed_today))
    const today = weatherBuckets(summed, span, skies, aside)
    const surface = surfaces.find((each) => each.logger_id === logger_id) ?? null
    const plant = { logger_id, stations: own, series, witnesses: aside, today, surface }
    return weatherRecord(plant, { situation, place, skies })
  })
}
