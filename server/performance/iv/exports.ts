/** File export of the comparison of a string, and the points of its readings. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import type { ExportItems } from '../../http/export-items.ts'
import type { Queries } from '../../storage/database.ts'
import { apart_ms_max, screenedReadings } from '../rollups/plant-light.ts'
import type { RawWeather } from '../rollups/raw.ts'
import {
  type ComparedPoint,
  comparePoints,
  type Expectation,
  pointRecord,
  spansAround,
} from './comparison.ts'
import {
  type ReadingsRequest,
  readInvertersWithin,
  readStringInstants,
  readWeatherWithin,
  type StringInstant,
} from './store.ts'

/** Length of a part: a few thousand readings at the usual intervals. */
const part_ms = 6 * hour_ms
/** Stale readings are detected from the half hour around them. */
const margin_ms = hour_ms
/** No effective limit: the window is the limit. */
const readings_max = 1_000_000

type Wanted = Omit<ReadingsRequest, 'limit'> & {
  /** Null for the whole window. */
  limit: number | null
}

export const pointsExport = (
  expectation: Expectation,
  { limit, ...wanted }: Wanted,
): ExportItems => ({
  async *items(queries) {
    if (limit === null) {
      yield* wholeWindow(queries, expectation, wanted)
      return
    }
    const instants = await readStringInstants(queries, { ...wanted, limit })
    yield (await pointsAt(queries, instants, expectation, wanted)).map(pointRecord)
  },
})

async function* wholeWindow(
  db: Queries,
  expectation: Expectation,
  wanted: Omit<ReadingsRequest, 'limit'>,
) {
  const { end } = wanted.window
  const first_ms = wanted.window.start === null ? -Infinity : Date.parse(wanted.window.start)
  const within = (start: string | null, before: string, limit: number) =>
    readStringInstants(db, { ...wanted, window: { start, end: before, newest: false }, limit })
  for (let start = wanted.window.start; start === null || start < end; ) {
    const [next] = await within(start, end, 1)
    if (!next) return
    const from_ms = next.measured_at.getTime()
    const to_ms = Math.min(from_ms + part_ms, Date.parse(end))
    const last = iso(Math.min(to_ms + margin_ms, Date.parse(end)))
    const instants = await within(iso(Math.max(first_ms, from_ms - margin_ms)), last, readings_max)
    const points = await pointsAt(db, instants, expectation, wanted)
    yield points
      .filter((_, nth) => isBetween(instants[nth]!.measured_at.getTime(), from_ms, to_ms))
      .map(pointRecord)
    start = iso(to_ms)
  }
}

const iso = (time_ms: number) => new Date(time_ms).toISOString()
const isBetween = (time_ms: number, from_ms: number, to_ms: number) =>
  time_ms >= from_ms && time_ms < to_ms

/** A point for each of the instants. */
export async function pointsAt(
  db: Queries,
  instants: readonly StringInstant[],
  expectation: Expectation,
  inverter: Pick<ReadingsRequest, 'site_id' | 'inverter_id'>,
): Promise<ComparedPoint[]> {
  // Sequential: the transaction of an export has one connection.
  const { site_id, inverter_id } = inverter
  const spans = spansAround(instants)
  const readings = (await readInvertersWithin(db, site_id, [inverter_id], spans)).get(inverter_id)
  const weather = await screenedAround(db, instants, expectation, site_id)
  return comparePoints(expectation, { instants, readings: readings ?? [], weather })
}

/**
 * Screened readings of the met stations around the instants, one day at a time so that other work
 * can run between two days.
 */
async function screenedAround(
  db: Queries,
  instants: readonly StringInstant[],
  { place, stations_around }: Expectation,
  site_id: string,
): Promise<Map<number, RawWeather[]>> {
  const ids = stations_around.map(({ station_id }) => station_id)
  const screened = new Map<number, RawWeather[]>(ids.map((id) => [id, []]))
  const dayOf = ({ measured_at }: StringInstant) => Math.floor(measured_at.getTime() / day_ms)
  for (const day of Map.groupBy(instants, dayOf).values()) {
    const readings = await readWeatherWithin(db, site_id, ids, spansAround(day, reach_ms))
    const from_ms = day[0]!.measured_at.getTime() - apart_ms_max
    const to_ms = day.at(-1)!.measured_at.getTime() + apart_ms_max
    for (const [id, own] of screenedReadings(place, stations_around, readings)) {
      const known = screened.get(id)!
      // Readings around midnight were already added with the day before.
      const after_ms = known.at(-1)?.time_ms ?? Number.NEGATIVE_INFINITY
      for (const reading of own) {
        const { time_ms } = reading
        if (time_ms > after_ms && time_ms >= from_ms && time_ms <= to_ms) known.push(reading)
      }
    }
  }
  return screened
}
