/** The current value of every instrument of a plant and the reason of a rejection. */
import type { Place } from '@heliograph/domain/place'
import type { Surface } from '@heliograph/physics/transposition'
import { isStale } from '../../plant/frame.ts'
import type { Situation } from '../../plant/situation.ts'
import type { WeatherBucket } from './buckets.ts'
import { outOfRange, type Skies } from './instrument-limits.ts'
import { margin_ms, seriesFrom } from './series.ts'
import {
  bucket_ms,
  outvoted,
  type RejectReason,
  type StationSeries,
  type StationVote,
  screened,
  votesOf,
} from './station-screening.ts'
import type { StationRow } from './store.ts'

export interface PlantWeather {
  logger_id: number
  /** Stations in service. */
  stations: readonly StationRow[]
  /** Readings of these stations since an hour before midnight. */
  series: readonly StationSeries[]
  /** Readings of stations of other plants (`witnessesOf`) for the same time. */
  witnesses: readonly StationSeries[]
  /** Buckets since local midnight of the quantities `summed_today`. */
  today: readonly WeatherBucket[]
  /** The plane with most of the plant's DC capacity. */
  surface: Surface | null
}

export interface Surroundings {
  situation: Situation
  place: Place | null
  skies: Skies
}

export interface Judged {
  station: StationRow
  index: number
  value: number | null
  time_ms: number | null
  reject_reason: RejectReason | null
}

export const unmeasured = (station: StationRow, index: number): Judged => ({
  station,
  index,
  value: null,
  time_ms: null,
  reject_reason: 'not_measured',
})

/** @param now_ms the newest reading of the plant */
export function judgedAt(now_ms: number, plant: PlantWeather, around: Surroundings): Judged[] {
  const { situation, skies } = around
  // Earlier readings do not affect the current screening.
  const check = (series: StationSeries) => screened(seriesFrom(series, now_ms - margin_ms), skies)
  const checked = plant.series.map(check)
  const seriesOf = ({ station_id }: StationRow) =>
    checked.find((series) => series.station_id === station_id)
  const recent = (series: StationSeries): StationVote[] => {
    const from = series.times_ms.findIndex((time_ms) => time_ms > now_ms - bucket_ms)
    return from < 0 ? [] : votesOf(series, from, series.times_ms.length)
  }
  const aside = plant.witnesses.flatMap((series) => recent(check(series)))
  const out = outvoted(checked.flatMap(recent), aside, skies(now_ms))
  const isOutvoted = ({ station_id }: StationRow, index: number) =>
    [...out].some((vote) => vote.station_id === station_id && vote.index === index)
  return plant.stations.flatMap((station) =>
    station.instruments.map((instrument, index): Judged => {
      const series = seriesOf(station)
      const { value, time_ms } = lastOf(station, index, plant.series)
      const reasonOf = (): RejectReason | null => {
        const isOld =
          time_ms === null || isStale(new Date(time_ms), situation.poll.weather_s, new Date(now_ms))
        if (value === null || isOld) return 'not_measured'
        if (outOfRange(instrument, [skies(time_ms)])(value)) return 'out_of_range'
        if (series?.taken[index]?.stuck.at(-1) === 1) return 'stuck'
        return isOutvoted(station, index) ? 'disagrees' : null
      }
      return { station, index, value, time_ms, reject_reason: reasonOf() }
    }),
  )
}

/** The last value of an instrument, from the latest or an earlier reading. */
function lastOf(
  station: StationRow,
  index: number,
  series: readonly StationSeries[],
): { value: number | null; time_ms: number | null } {
  const value = station.instrument_values?.[index] ?? null
  if (value !== null) return { value, time_ms: station.measured_at?.getTime() ?? null }
  const own = series.find(({ station_id }) => station_id === station.station_id)
  const at = own?.values[index]?.findLastIndex((each) => !Number.isNaN(each)) ?? -1
  return at < 0 || !own
    ? { value: null, time_ms: null }
    : { value: own.values[index]![at]!, time_ms: own.times_ms[at]! }
}

/** Whether an instrument measured and was rejected. */
export const isRejected = (reason: RejectReason | null) =>
  reason !== null && reason !== 'not_measured'
