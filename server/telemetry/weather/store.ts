import type { Quality } from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import type { SeriesWindow } from '../../http/time-windows.ts'
import type { Queries } from '../../storage/database.ts'
import { bucket_ms } from './station-screening.ts'

/** A met station with what it measured last. */
export interface StationRow {
  station_id: number
  logger_id: number
  instruments: readonly Instrument[]
  created_at: Date
  retired_at: Date | null
  measured_at: Date | null
  received_at: Date | null
  quality: Quality | null
  instrument_values: readonly (number | null)[] | null
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

/** The plane in which most of a plant's power stands. */
interface PlantSurface extends Surface {
  logger_id: number
}

/** Which buckets of a window have samples: how many, and from where to where the page reaches. */
export interface BucketPage {
  count: number
  returned: number
  first_ms: number | null
  last_ms: number | null
}

export interface WeatherStore {
  /** By id; retired ones too. */
  stations(site_id: string, logger_id?: number): Promise<StationRow[]>
  surfaces(site_id: string): Promise<PlantSurface[]>
  /**
   * Readings of stations from `from_ms` to before `to_ms`, and before them the last one of each:
   * the counters of rain gauges go on from there. A station that has none is not among them.
   */
  readings(
    site_id: string,
    stations: readonly Pick<StationRow, 'station_id' | 'instruments'>[],
    span: { from_ms: number; to_ms: number },
  ): Promise<StationReadings[]>
  /** Of the buckets that start in the window those with samples, in pages of `limit`; null: all. */
  buckets(
    site_id: string,
    station_ids: readonly number[],
    window: SeriesWindow,
    limit: number | null,
  ): Promise<BucketPage>
}

export function createWeatherStore(db: Queries): WeatherStore {
  return {
    stations: (site_id, logger_id) => db.query<StationRow>(stations, [site_id, logger_id ?? null]),
    surfaces: (site_id) => db.query<PlantSurface>(surfaces, [site_id]),
    async readings(site_id, stations, { from_ms, to_ms }) {
      const instrument_count = Math.max(0, ...stations.map((each) => each.instruments.length))
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
        columns: Array.from(
          { length: instrument_count },
          (_, index) => columns[columnName(index)]!,
        ),
      }))
    },
    async buckets(site_id, station_ids, { start, end, newest }, limit) {
      // A bucket is in the window if its start is.
      const bounds = [bucketFrom(end), start === null ? '-infinity' : bucketFrom(start)]
      const statement = bucketPage(newest)
      const [page] = await db.query<BucketPage>(statement, [site_id, station_ids, ...bounds, limit])
      return page!
    },
  }
}

/** The first start of a bucket at or after an instant. */
const bucketFrom = (instant: string) =>
  new Date(Math.ceil(Date.parse(instant) / bucket_ms) * bucket_ms).toISOString()

const stations = `
  SELECT s.station_id, s.logger_id, s.instruments, s.created_at, s.retired_at,
         l.measured_at, l.received_at, l.quality, l.instrument_values
  FROM stations s
  LEFT JOIN weather_latest l ON l.site_id = s.site_id AND l.station_id = s.station_id
  WHERE s.site_id = $1 AND ($2::int IS NULL OR s.logger_id = $2)
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
 * A week of readings every ten seconds is sixty thousand rows: as an array for each instrument they
 * are read in a quarter of the time.
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

const bucketPage = (newest: boolean) => `
  WITH present AS (
    SELECT DISTINCT floor(date_part('epoch', measured_at) * 1000 / ${bucket_ms}) AS nth
    FROM weather_readings
    WHERE site_id = $1 AND station_id = ANY ($2::int[])
      AND measured_at < $3 AND measured_at >= $4
  ), page AS (
    SELECT nth FROM present ORDER BY nth ${newest ? 'DESC' : 'ASC'} LIMIT $5
  )
  SELECT (SELECT count(*) FROM present)::int AS count, count(*)::int AS returned,
         min(nth) * ${bucket_ms} AS first_ms, max(nth) * ${bucket_ms} AS last_ms
  FROM page`
