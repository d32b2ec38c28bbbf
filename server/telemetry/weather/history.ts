/** Weather buckets of a plant: from stored readings to records of the API. */
import { day_ms } from '@heliograph/domain/durations'
import { type Position, placeOf } from '@heliograph/domain/place'
import type { Queries } from '../../storage/database.ts'
import type { Span } from '../energy.ts'
import { type WeatherBucket, weatherBuckets } from './buckets.ts'
import { significantIn } from './current.ts'
import { measuresLight, skiesOf } from './instrument-limits.ts'
import type { WeatherBucketRecord } from './schemas.ts'
import {
  bucket_ms,
  margin_ms,
  type StationSeries,
  seriesOfQuantities,
  type WeatherSeries,
} from './station-screening.ts'
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

/** The span of the readings that affect the buckets of `span`. */
export const around = ({ start_ms, end_ms }: Span) => ({
  from_ms: start_ms - margin_ms,
  to_ms: end_ms + margin_ms,
})

/** The buckets of a page, a day at a time: at most one day of readings is in memory. */
export async function* dailyRecords(
  db: Queries,
  { first_ms, last_ms }: BucketPage,
  { site_id, position, stations, witnesses }: Source,
  now: Date,
): AsyncGenerator<WeatherBucketRecord[]> {
  if (first_ms === null || last_ms === null) return
  for (let start_ms = first_ms; start_ms <= last_ms; start_ms += day_ms) {
    const day = { start_ms, end_ms: Math.min(last_ms + bucket_ms, start_ms + day_ms) }
    const read = await readStationReadings(db, site_id, [...stations, ...witnesses], around(day))
    const [own, aside] = [seriesOf(stations, read), lightOf(seriesOf(witnesses, read))]
    const buckets = weatherBuckets(own, day, skiesOf(placeOf(position)), aside)
    yield buckets.map((bucket) => bucketRecord(bucket, now))
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

const numbers = (column: readonly (number | null)[]) =>
  Float64Array.from(column, (value) => value ?? Number.NaN)

function bucketRecord(bucket: WeatherBucket, now: Date): WeatherBucketRecord {
  const { start_ms, completeness_pct, sample_count, sensors_rejected, is_suspect, ...values } =
    bucket
  const complete_pct = Math.min(100, Math.round(completeness_pct * 10) / 10)
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(start_ms + bucket_ms).toISOString(),
    ...significantIn(values),
    sample_count,
    completeness_pct: complete_pct,
    is_partial: start_ms + bucket_ms > now.getTime() || complete_pct < 100,
    sensors_rejected,
    quality: is_suspect ? 'suspect' : 'good',
  }
}
