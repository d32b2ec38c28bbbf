import { day_ms } from '@heliograph/domain/durations'
import { type Position, placeOf } from '@heliograph/domain/place'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { exampleOf } from '../../http/example.ts'
import { allItems } from '../../http/export-items.ts'
import { LoggerId, limit } from '../../http/params.ts'
import { default_hours, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { situationOf } from '../../plant/situation.ts'
import type { Queries } from '../../storage/database.ts'
import type { Span } from '../energy.ts'
import { resolution_s, resolutionOf, seriesExample } from '../history.ts'
import { every, type Step, type StepName, stepOf } from '../steps.ts'
import { type WeatherBucket, weatherBuckets } from './buckets.ts'
import { combined } from './coarser.ts'
import { significantIn, summed_today, weatherRecord } from './current.ts'
import { measuresLight, skiesOf } from './instrument-limits.ts'
import { Weather, WeatherBucketRecord } from './schemas.ts'
import {
  bucket_ms,
  margin_ms,
  type StationSeries,
  seriesOfQuantities,
  type WeatherSeries,
  witnessesOf,
} from './station-screening.ts'
import {
  type BucketPage,
  readBucketPage,
  readStationReadings,
  readStations,
  readSurfaces,
  type StationReadings,
  type StationRow,
} from './store.ts'

const weather = {
  method: 'GET',
  tag: 'Weather',
  scope: 'weather:read',
  module: 'basic_scada',
} as const

const plotNote =
  'Plot averages are means over the accepted instruments. `sensors` lists every instrument and ' +
  'the reason for each rejection.'

const weatherExample = exampleOf(Weather, {
  measured_at: '2026-06-21T10:00:00.000Z',
  received_at: '2026-06-21T10:00:00.412Z',
  age_s: 4.2,
})

export const listWeather = endpoint({
  ...weather,
  path: '/weather',
  operation_id: 'weather_list',
  summary: 'The weather of every logger with a met station',
  description: `Returns the weather by logger. Loggers without a station in service are left out. ${plotNote}`,
  returns: List(Weather),
  example: { answer: list([weatherExample]) },
  async handle({ site: { site_id } }, context: Context) {
    const all = await readStations(context.db, site_id)
    const stations = inService(all)
    const logger_ids = [...new Set(stations.map(({ logger_id }) => logger_id))]
    return list(await readWeather(context, site_id, logger_ids.sort(byNumber), all))
  },
})

export const getLoggerWeather = endpoint({
  ...weather,
  path: '/weather/logger/{logger_id}',
  operation_id: 'weather_get',
  summary: 'The weather of one logger, with every instrument',
  description:
    `Returns the weather of the plant. ${plotNote} For a logger without a met station in service ` +
    '`sensors` is empty and only the position of the sun is known.',
  params: { logger_id: LoggerId },
  returns: Weather,
  example: { answer: weatherExample },
  async handle({ site: { site_id }, params: { logger_id } }, context: Context) {
    await requireLogger(context.db, site_id, logger_id)
    const all = await readStations(context.db, site_id)
    const [record] = await readWeather(context, site_id, [logger_id], all)
    return record!
  },
})

const rows = { max: 2000, by_default: 500 } as const
const weather_steps = ['300s', '900s', '3600s', '86400s'] as const

export const loggerWeatherHistory = endpoint({
  ...weather,
  path: '/weather/logger/{logger_id}/history',
  operation_id: 'weather_history_list',
  summary: 'The weather of a logger in buckets of five minutes',
  description:
    'Returns buckets in ascending order. Defaults to the last 24 hours. A bucket is in the window ' +
    'if its `start_at` is. Buckets without readings are left out. Averages are time-weighted and ' +
    'interpolate linearly between readings; wind direction is a circular mean. Instruments are ' +
    'rejected as in the live object. Rain counts at the time the gauge was read. `every` combines ' +
    'the buckets to longer ones: averages are weighted by the covered time, and extremes, ' +
    'irradiation and rain are those of the longer bucket.',
  params: { logger_id: LoggerId },
  window: rowsWindow(default_hours.telemetry),
  query: { limit: limit(rows.max, rows.by_default), every: every(weather_steps) },
  heavy: true,
  returns: Series(WeatherBucketRecord, { resolution_s }),
  example: seriesExample(exampleOf(WeatherBucketRecord)),
  async handle({ site, params, query, window }, { db, clock }: Context) {
    const { limit = rows.by_default, every = '300s' } = query
    const source = await readSource(db, site, params.logger_id, every)
    const { stations, step } = source
    const page = await readBucketPage(db, site.site_id, { stations, step, window, limit })
    const data = await allItems(dailyRecords(db, page, source, clock.now()))
    const first_time = data[0]?.start_at ?? null
    const last_time = data.at(-1)?.start_at ?? null
    const device_ids = stations.map(({ station_id }) => station_id)
    const of = { site_id: site.site_id, kind: 'weather', device_ids, ...step } as const
    return {
      data,
      meta: {
        ...seriesMeta(window, {
          // Readings may arrive between the statements.
          count: Math.max(page.count, data.length),
          returned: data.length,
          first_time,
          last_time,
        }),
        resolution_s: await resolutionOf(db, of, first_time, last_time),
      },
    }
  },
  async exports({ site, params, query, window }, { db, clock }: Context) {
    const { limit = null, every = '300s' } = query
    const source = await readSource(db, site, params.logger_id, every)
    const now = clock.now()
    return {
      async *items(queries) {
        const { stations, step } = source
        const page = await readBucketPage(queries, site.site_id, { stations, step, window, limit })
        yield* dailyRecords(queries, page, source, now)
      },
    }
  },
})

/** @throws ApiError not_found for an unknown logger */
async function readSource(
  db: Queries,
  { site_id, timezone }: { site_id: string; timezone: string },
  logger_id: number,
  every: StepName,
): Promise<Source> {
  await requireLogger(db, site_id, logger_id)
  const [position, all] = await Promise.all([siteFacts(db, site_id), readStations(db, site_id)])
  const stations = all.filter((station) => station.logger_id === logger_id)
  const step = stepOf(every, timezone)
  return { site_id, position, stations, witnesses: witnessesOf(stations, all), step }
}

const byNumber = (a: number, b: number) => a - b
const inService = (stations: readonly StationRow[]) =>
  stations.filter(({ retired_at }) => retired_at === null)

/** The live weather of loggers; `all` are the stations of the site. */
async function readWeather(
  { db, clock }: Context,
  site_id: string,
  logger_ids: readonly number[],
  all: readonly StationRow[],
): Promise<Weather[]> {
  const plants = logger_ids.map((logger_id) => {
    const everyOwn = all.filter((station) => station.logger_id === logger_id)
    return { logger_id, own: inService(everyOwn), witnesses: witnessesOf(everyOwn, all) }
  })
  const stations = [...new Set(plants.flatMap(({ own, witnesses }) => [...own, ...witnesses]))]
  const now = clock.now()
  const facts = await siteFacts(db, site_id)
  const situation = situationOf(facts, now)
  const start_ms = situation.day_start_at.getTime()
  const newest_ms = Math.max(...stations.map(({ measured_at }) => measured_at?.getTime() ?? 0))
  const last_ms = Math.max(start_ms, now.getTime(), newest_ms)
  const span = { start_ms, end_ms: last_ms + bucket_ms }
  const [read, surfaces] = await Promise.all([
    readStationReadings(db, site_id, stations, around(span)),
    readSurfaces(db, site_id),
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

interface Source {
  site_id: string
  position: Position
  stations: readonly StationRow[]
  /** Stations of other plants (`witnessesOf`). */
  witnesses: readonly StationRow[]
  step: Step
}

/** The span of the readings that affect the buckets of `span`. */
const around = ({ start_ms, end_ms }: Span) => ({
  from_ms: start_ms - margin_ms,
  to_ms: end_ms + margin_ms,
})

/** The buckets of a page, a day at a time: at most one day of readings is in memory. */
async function* dailyRecords(
  db: Queries,
  { first_ms, last_ms }: BucketPage,
  { site_id, position, stations, witnesses, step }: Source,
  now: Date,
): AsyncGenerator<WeatherBucketRecord[]> {
  if (first_ms === null || last_ms === null) return
  for (let start_ms = first_ms; start_ms <= last_ms; ) {
    const next_ms = step.endOf(step.startOf(start_ms + day_ms - 1))
    const day = { start_ms, end_ms: Math.min(step.endOf(last_ms), next_ms) }
    start_ms = next_ms
    const read = await readStationReadings(db, site_id, [...stations, ...witnesses], around(day))
    const [own, aside] = [seriesOf(stations, read), lightOf(seriesOf(witnesses, read))]
    const buckets = weatherBuckets(own, day, skiesOf(placeOf(position)), aside)
    const steps = Map.groupBy(buckets, (bucket) => step.startOf(bucket.start_ms))
    yield [...steps].map(([step_ms, parts]) => {
      const span = { start_ms: step_ms, end_ms: step.endOf(step_ms) }
      return bucketRecord(step.step_s * 1000 === bucket_ms ? parts[0]! : combined(parts, span), {
        ...span,
        now,
      })
    })
  }
}

function seriesOf(
  stations: readonly StationRow[],
  read: readonly StationReadings[],
): WeatherSeries[] {
  return stations.map(({ station_id, instruments, created_at, retired_at }) => {
    const own = read.find((each) => each.station_id === station_id)
    return {
      station_id,
      instruments,
      created_ms: created_at.getTime(),
      retired_ms: retired_at?.getTime() ?? null,
      times_ms: own?.times_ms ?? [],
      is_suspect: own?.is_suspect ?? [],
      values: instruments.map((_, index) => numbers(own?.columns[index] ?? [])),
    }
  })
}

/** The irradiance readings of stations. */
const lightOf = (series: readonly WeatherSeries[]): StationSeries[] =>
  series.map((each) =>
    seriesOfQuantities(
      each,
      each.instruments.filter(measuresLight).map(({ quantity }) => quantity),
    ),
  )

const numbers = (column: readonly (number | null)[]) =>
  Float64Array.from(column, (value) => value ?? Number.NaN)

function bucketRecord(
  bucket: WeatherBucket,
  { end_ms, now }: { end_ms: number; now: Date },
): WeatherBucketRecord {
  const { start_ms, completeness_pct, sample_count, sensors_rejected, is_suspect, ...values } =
    bucket
  const complete_pct = Math.min(100, Math.round(completeness_pct * 10) / 10)
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
    ...significantIn(values),
    sample_count,
    completeness_pct: complete_pct,
    is_partial: end_ms > now.getTime() || complete_pct < 100,
    sensors_rejected,
    quality: is_suspect ? 'suspect' : 'good',
  }
}
