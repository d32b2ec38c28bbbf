import { readingKinds, type WeatherReading } from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Measurement } from '../../plant/frame.ts'
import type { Queries } from '../../storage/database.ts'
import type { StoredReading } from '../blocks/store.ts'
import type { Step } from '../steps.ts'
import { firstOf, instant, rowsSince, walkReadings } from '../stored-readings.ts'

/** A met station with its latest reading. */
export interface StationRow
  extends Measurement,
    Omit<WeatherReading, 'station_id' | 'measured_at' | 'quality'> {
  station_id: number
  logger_id: number
  name: string
  instruments: readonly Instrument[]
  created_at: Date
  retired_at: Date | null
}

/** The readings of a station, ascending. */
export interface StationReadings {
  station_id: number
  times_ms: readonly number[]
  /** 0 or 1. */
  is_suspect: readonly number[]
  /** By instrument and reading. */
  columns: readonly (readonly (number | null)[])[]
}

/** The plane with most of the plant's DC capacity. */
interface PlantSurface extends Surface {
  logger_id: number
}

/** A page of the buckets of a window that have samples; `count` covers all pages. */
export interface BucketPage {
  count: number
  returned: number
  first_ms: number | null
  last_ms: number | null
}

/** Met stations by id, including retired ones. */
export const readStations = (db: Queries, site_id: string) =>
  db.query<StationRow>(stations, [site_id])

export const readSurfaces = (db: Queries, site_id: string) =>
  db.query<PlantSurface>(surfaces, [site_id])

/**
 * Readings of stations from `from_ms` to before `to_ms`, preceded by the last earlier reading of
 * each station, from which rain counters continue. Stations without readings are left out.
 */
export async function readStationReadings(
  db: Queries,
  site_id: string,
  stations: readonly Pick<StationRow, 'station_id' | 'instruments'>[],
  span: { from_ms: number; to_ms: number },
): Promise<StationReadings[]> {
  const instrument_count = Math.max(0, ...stations.map((each) => each.instruments.length))
  const found = await readRows(db, site_id, { stations, span, instrument_count })
  const since_ms = await rowsSince(db, 'weather')
  const read: StationReadings[] = []
  for (const { station_id } of stations) {
    const rows = found.find((each) => each.station_id === station_id)
    const first_ms = rows?.times_ms[0] ?? Number.NaN
    // The reading before the span, and so all of it, is in rows.
    const is_whole = first_ms < span.from_ms && first_ms >= since_ms
    if (is_whole || since_ms === Number.NEGATIVE_INFINITY) {
      if (rows) read.push(rows)
      continue
    }
    const walked = await walkStation(db, { site_id, device_id: station_id, ...span })
    if (walked.length === 0) continue
    const values = (walked as readonly Partial<WeatherReading>[]).map(
      ({ instrument_values }) => instrument_values ?? [],
    )
    read.push({
      station_id,
      times_ms: walked.map(({ measured_at }) => measured_at),
      is_suspect: walked.map(({ quality }) => (quality === 'good' ? 0 : 1)),
      columns: Array.from({ length: instrument_count }, (_, nth) =>
        values.map((each) => each[nth] ?? null),
      ),
    })
  }
  return read
}

async function walkStation(
  db: Queries,
  span: { site_id: string; device_id: number; from_ms: number; to_ms: number },
): Promise<StoredReading[]> {
  const columns = ['quality', 'instrument_values']
  const before = { ...span, from_ms: Number.NEGATIVE_INFINITY, to_ms: span.from_ms }
  const last = walkReadings(db, 'weather', { ...before, newest: true, most: 1 }, columns)
  const within = walkReadings(db, 'weather', { ...span, newest: false }, columns)
  return [...(await firstOf(last, 1)), ...(await firstOf(within, Number.POSITIVE_INFINITY))]
}

async function readRows(
  db: Queries,
  site_id: string,
  {
    stations,
    span: { from_ms, to_ms },
    instrument_count,
  }: {
    stations: readonly Pick<StationRow, 'station_id'>[]
    span: { from_ms: number; to_ms: number }
    instrument_count: number
  },
): Promise<StationReadings[]> {
  const rows = await db.query<StationReadings & Record<string, (number | null)[]>>(
    readings(instrument_count),
    [
      site_id,
      stations.map(({ station_id }) => station_id),
      new Date(from_ms).toISOString(),
      new Date(to_ms).toISOString(),
    ],
  )
  return rows.map(({ station_id, times_ms, is_suspect, ...columns }) => ({
    station_id,
    times_ms,
    is_suspect,
    columns: Array.from({ length: instrument_count }, (_, index) => columns[columnName(index)]!),
  }))
}

/** The buckets with samples that start in the window, at most `limit` of them; null: all. */
export async function readBucketPage(
  db: Queries,
  site_id: string,
  {
    stations,
    step,
    window: { start, end, newest },
    limit,
  }: { stations: readonly StationRow[]; step: Step; window: SeriesWindow; limit: number | null },
): Promise<BucketPage> {
  /** The start of the first bucket that begins at or after an instant. */
  const bucketFrom = (at_ms: number) => step.endOf(step.startOf(at_ms - 1))
  const from_ms = start === null ? Number.NEGATIVE_INFINITY : bucketFrom(Date.parse(start))
  const to_ms = bucketFrom(Date.parse(end))
  const since_ms = await rowsSince(db, 'weather')
  const past = { from_ms, to_ms: Math.min(to_ms, since_ms) }
  const ids = stations.map(({ station_id }) => station_id)
  const starts = new Set<number>()
  for (const device_id of past.from_ms < past.to_ms ? ids : []) {
    const walk = { site_id, device_id, ...past, newest: false }
    for await (const readings of walkReadings(db, 'weather', walk, [])) {
      for (const { measured_at } of readings) starts.add(step.startOf(measured_at))
    }
  }
  const [page] = await db.query<BucketPage>(bucketPage(newest, step), [
    site_id,
    ids,
    new Date(to_ms).toISOString(),
    instant(Math.max(from_ms, since_ms)),
    limit,
    step.timezone,
    [...starts].map((start_ms) => new Date(start_ms).toISOString()),
  ])
  return page!
}

const measured = Object.keys(readingKinds.weather.columns).map((name) => `l.${name}`)

const stations = `
  SELECT s.station_id, s.logger_id, s.name, s.instruments, s.created_at, s.retired_at,
         l.measured_at, l.received_at, l.quality, ${measured.join(', ')}
  FROM stations s
  LEFT JOIN weather_latest l ON l.site_id = s.site_id AND l.station_id = s.station_id
  WHERE s.site_id = $1
  ORDER BY s.station_id`

const surfaces = `
  SELECT DISTINCT ON (i.logger_id) i.logger_id, s.azimuth_deg, s.tilt_deg
  FROM inverters i
  JOIN strings s ON s.site_id = i.site_id AND s.inverter_id = i.inverter_id
  WHERE i.site_id = $1 AND s.connected
  GROUP BY i.logger_id, s.azimuth_deg, s.tilt_deg
  ORDER BY i.logger_id, bool_or(s.retired_at IS NULL) DESC, sum(s.dc_capacity_kwp) DESC,
           s.azimuth_deg, s.tilt_deg`

const columnName = (index: number) => `value_${index}`

/**
 * One array per instrument: for a week of readings every ten seconds, sixty thousand rows, this
 * takes a quarter of the time of reading rows.
 */
function readings(instrument_count: number): string {
  const columns = Array.from(
    { length: instrument_count },
    (_, index) => `, array_agg(instrument_values[${index + 1}]) AS ${columnName(index)}`,
  )
  const ofStation = 'FROM weather_readings WHERE site_id = $1 AND station_id = asked.station_id'
  return `
    SELECT asked.station_id, of_station.*
    FROM unnest($2::int[]) AS asked (station_id)
    CROSS JOIN LATERAL (
      SELECT array_agg(date_part('epoch', measured_at) * 1000) AS times_ms,
             array_agg((quality <> 'good')::int) AS is_suspect ${columns.join('')}
      FROM (
        SELECT measured_at, quality, instrument_values
        ${ofStation} AND measured_at >= $3 AND measured_at < $4
        UNION ALL
        (SELECT measured_at, quality, instrument_values
         ${ofStation} AND measured_at < $3 ORDER BY measured_at DESC LIMIT 1)
        ORDER BY measured_at
      ) AS r
    ) AS of_station
    WHERE times_ms IS NOT NULL`
}

const bucketPage = (newest: boolean, { step_s }: Step) => `
  WITH present AS (
    SELECT DISTINCT CASE WHEN ${step_s} = 86400 THEN date_trunc('day', measured_at, $6)
      ELSE date_bin('${step_s} seconds', measured_at, 'epoch') END AS start_at
    FROM weather_readings
    WHERE site_id = $1 AND station_id = ANY ($2::int[])
      AND measured_at < $3 AND measured_at >= $4
    UNION SELECT unnest($7::timestamptz[])
  ), page AS (
    SELECT start_at FROM present ORDER BY start_at ${newest ? 'DESC' : 'ASC'} LIMIT $5
  )
  SELECT (SELECT count(*) FROM present)::int AS count, count(*)::int AS returned,
         date_part('epoch', min(start_at)) * 1000 AS first_ms,
         date_part('epoch', max(start_at)) * 1000 AS last_ms
  FROM page`
