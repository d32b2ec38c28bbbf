/** Weather buckets of a plant: from stored readings to records of the API. */
import { day_ms } from '@heliograph/domain/durations'
import { type Position, placeOf } from '@heliograph/domain/place'
import { significant } from '@heliograph/domain/significant'
import type { Queries } from '../../storage/database.ts'
import type { Span } from '../energy.ts'
import { type WeatherBucket, weatherBuckets } from './buckets.ts'
import { measuresLight, skiesOf } from './instrument-limits.ts'
import type { WeatherBucketRecord } from './schemas.ts'
import { margin_ms, seriesOfQuantities, type WeatherSeries } from './series.ts'
import { bucket_ms, type StationSeries } from './station-screening.ts'
import {
  type BucketPage,
  readStationReadings,
  type StationReadings,
  type StationRow,
} from './store.ts'

interface Source {
  site_id: string
  position: Position
  stations: readonly StationRow[]
  /** Stations of other plants (`witnessesOf`). */
  witnesses: readonly StationRow[]
}

/** From the first bucket of a page to the end of the last; null for an empty page. */
export const spanOf = ({ first_ms, last_ms }: Pick<BucketPage, 'first_ms' | 'last_ms'>) =>
  first_ms === null || last_ms === null ? null : { start_ms: first_ms, end_ms: last_ms + bucket_ms }

/** The span of the readings that affect the buckets of `span`. */
export const around = ({ start_ms, end_ms }: Span) => ({
  from_ms: start_ms - margin_ms,
  to_ms: end_ms + margin_ms,
})

/** The buckets of a span, a day at a time: at most one day of readings is in memory. */
export async function* dailyBuckets(
  db: Queries,
  span: Span,
  { site_id, position, stations, witnesses }: Source,
): AsyncGenerator<WeatherBucket[]> {
  for (let start_ms = span.start_ms; start_ms < span.end_ms; start_ms += day_ms) {
    const day = { start_ms, end_ms: Math.min(span.end_ms, start_ms + day_ms) }
    const read = await readStationReadings(db, site_id, [...stations, ...witnesses], around(day))
    const [own, aside] = [seriesOf(stations, read), lightOf(seriesOf(witnesses, read))]
    yield weatherBuckets(own, day, skiesOf(placeOf(position)), aside)
  }
}

export function seriesOf(
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
export const lightOf = (series: readonly WeatherSeries[]): StationSeries[] =>
  series.map((each) =>
    seriesOfQuantities(
      each,
      each.instruments.filter(measuresLight).map(({ quantity }) => quantity),
    ),
  )

function numbers(column: readonly (number | null)[]): Float64Array {
  const values = new Float64Array(column.length)
  for (let at = 0; at < column.length; at += 1) values[at] = column[at] ?? Number.NaN
  return values
}

export function bucketRecord(bucket: WeatherBucket, now: Date): WeatherBucketRecord {
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
