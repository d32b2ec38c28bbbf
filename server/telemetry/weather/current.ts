/** The current weather of a plant, by instrument and on average, and the reasons of rejections. */
import { plotAverages } from '@heliograph/domain/instruments'
import type { Place } from '@heliograph/domain/place'
import { significant } from '@heliograph/domain/significant'
import { instrumentQuantities } from '@heliograph/domain/site'
import type { Surface } from '@heliograph/physics/transposition'
import { frameOf, iso, isStale, type liveQualities } from '../../plant/frame.ts'
import { sensorQuantities } from '../../plant/sensor-quantities.ts'
import type { Situation } from '../../plant/situation.ts'
import { bearing, mean, type WeatherBucket } from './buckets.ts'
import {
  clearIrradiance,
  outOfRange,
  type Quantity,
  type Skies,
  surfaceOf,
} from './instrument-limits.ts'
import { planeLightOf } from './plane-light.ts'
import type { Weather, WeatherSensor } from './schemas.ts'
import {
  bucket_ms,
  margin_ms,
  outvoted,
  type RejectReason,
  type StationSeries,
  type StationVote,
  screened,
  seriesFrom,
  votesOf,
} from './station-screening.ts'
import type { StationRow } from './store.ts'

type Averages = Record<Quantity, number | null>

/** Below this clear-sky irradiance the clear-sky index is meaningless. */
const clear_sky_min_w_m2 = 50
/** Units for which a deviation in per cent is meaningful. */
const relative = ['W/m²', '%', 'hPa', 'm/s']

export function weatherRecord(plant: PlantWeather, around: Surroundings): Weather {
  const { situation, skies } = around
  const newest = newestOf(plant.stations)
  const time_ms = newest?.measured_at?.getTime() ?? null
  const judged = time_ms === null ? [] : judgedAt(time_ms, plant, around)
  const averages = averagesOf(plant.stations, judged)
  const frame = frameOf(
    newest ?? { measured_at: null, received_at: null, quality: null },
    situation.poll.weather_s,
    situation.now,
  )
  const included = judged.filter(({ reject_reason }) => reject_reason === null)
  const { rain_mm: _, ...shown } = averages
  const sky = skies(situation.now.getTime())
  const sensors =
    time_ms === null
      ? plant.stations.flatMap((station) =>
          station.instruments.map((_, index): Judged => unmeasured(station, index)),
        )
      : judged
  return {
    logger_id: plant.logger_id,
    ...frame,
    quality: plantQuality(frame.quality, judged),
    ...significantIn({
      ...shown,
      ...lightOf(plant, included, averages, around),
      ...sinceMidnight(plant.today),
      ...clearSky(plant, included, averages, time_ms ?? situation.now.getTime(), skies),
      sun_elevation_deg: sky?.sun.apparent_elevation_deg ?? null,
      sun_azimuth_deg: sky?.sun.azimuth_deg ?? null,
    }),
    sensors_used: included.length,
    sensors_rejected: sensors.length - included.length,
    sensors: sensors.map((each) => sensorRecord(each, averages, frame.quality)),
  }
}

/** As in a bucket: a rejected instrument makes the plant suspect, an unmeasured one does not. */
const plantQuality = (quality: (typeof liveQualities)[number], judged: readonly Judged[]) =>
  quality === 'good' && judged.some(({ reject_reason: reason }) => isRejected(reason))
    ? 'suspect'
    : quality

function newestOf(stations: readonly StationRow[]): StationRow | undefined {
  return stations.reduce<StationRow | undefined>(
    (newest, one) =>
      one.measured_at !== null && !(newest?.measured_at && newest.measured_at >= one.measured_at)
        ? one
        : newest,
    undefined,
  )
}

/** The mean over the stations of their plot averages. */
function averagesOf(stations: readonly StationRow[], judged: readonly Judged[]): Averages {
  const plots = stations.map((station) => {
    const own = judged.filter((each) => each.station === station)
    return plotAverages(
      own.map(({ index }) => station.instruments[index]!),
      own.map(({ value, reject_reason }) => (reject_reason === null ? value : null)),
    )
  })
  const known = (quantity: Quantity) =>
    plots.map((plot) => plot[quantity]).filter((value) => value !== null)
  const averages = Object.fromEntries(
    instrumentQuantities.map((quantity) => [quantity, mean(known(quantity))]),
  ) as Averages
  const turns = known('wind_direction_deg').map((degrees) => (degrees * Math.PI) / 180)
  return {
    ...averages,
    wind_direction_deg: bearing(mean(turns.map(Math.cos)), mean(turns.map(Math.sin))),
  }
}

/** Irradiance and temperature of the cells in the main plane of the plant. */
function lightOf(
  { stations, surface }: PlantWeather,
  included: readonly Judged[],
  averages: Averages,
  { place }: Surroundings,
): Pick<Weather, 'effective_irradiance_w_m2' | 'cell_temperature_c'> {
  const time_ms = newestOf(stations)?.measured_at?.getTime()
  if (place === null || surface === null || time_ms === undefined) {
    return { effective_irradiance_w_m2: null, cell_temperature_c: null }
  }
  const instruments = included.map(({ station, index }) => station.instruments[index]!)
  const sample = { time_ms, instrument_values: included.map(({ value }) => value), ...averages }
  const light = planeLightOf(place, { instruments }, surface)(sample)
  const { effective_irradiance_w_m2, cell_temperature_c } = light
  return { effective_irradiance_w_m2, cell_temperature_c }
}

/** Quantities summed since midnight, and `dhi_w_m2` for their screening. */
export const summed_today = ['poa_irradiance_w_m2', 'ghi_w_m2', 'dhi_w_m2', 'rain_mm'] as const

function sinceMidnight(today: readonly WeatherBucket[]) {
  const total = (of: (bucket: WeatherBucket) => number | null) => {
    const known = today.map(of).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  }
  return {
    rain_today_mm: total(({ rain_mm }) => rain_mm),
    poa_insolation_today_kwh_m2: total((bucket) => bucket.poa_insolation_kwh_m2),
    ghi_insolation_today_kwh_m2: total((bucket) => bucket.ghi_insolation_kwh_m2),
  }
}

function clearSky(
  { surface }: PlantWeather,
  included: readonly Judged[],
  { poa_irradiance_w_m2 }: Averages,
  time_ms: number,
  skies: Skies,
): Pick<Weather, 'clear_sky_poa_w_m2' | 'clear_sky_index'> {
  const sky = skies(time_ms)
  const instruments = included
    .map(({ station, index }) => station.instruments[index]!)
    .filter(({ quantity }) => quantity === 'poa_irradiance_w_m2')
  const surfaces = instruments.length > 0 ? instruments.map(surfaceOf) : [surface]
  const known = surfaces.filter((each) => each !== null)
  if (sky === null || known.length < surfaces.length) {
    return { clear_sky_poa_w_m2: null, clear_sky_index: null }
  }
  const clear_w_m2 = mean(known.map((each) => clearIrradiance(each, sky)))!
  const is_meaningful = instruments.length > 0 && clear_w_m2 >= clear_sky_min_w_m2
  return {
    clear_sky_poa_w_m2: clear_w_m2,
    clear_sky_index:
      is_meaningful && poa_irradiance_w_m2 !== null ? poa_irradiance_w_m2 / clear_w_m2 : null,
  }
}

function sensorRecord(
  { station, index, value, time_ms, reject_reason }: Judged,
  averages: Averages,
  quality: (typeof liveQualities)[number],
): WeatherSensor {
  const instrument = station.instruments[index]!
  const { quantity, unit } = sensorQuantities[instrument.quantity]
  const average = averages[instrument.quantity]
  const compares = relative.includes(unit) && value !== null && average !== null && average !== 0
  return {
    sensor_id: instrument.sensor_id,
    station_id: station.station_id,
    name: instrument.name,
    type: instrument.type,
    quantity,
    value,
    unit,
    azimuth_deg: instrument.azimuth_deg ?? null,
    tilt_deg: instrument.tilt_deg ?? null,
    accuracy_class: instrument.accuracy_class ?? null,
    calibrated_date: instrument.calibrated_date ?? null,
    serial_number: instrument.serial_number ?? null,
    measured_at: iso(time_ms === null ? null : new Date(time_ms)),
    quality: sensorQuality(value, reject_reason, quality),
    deviation_from_average_pct: compares ? significant((100 * (value - average)) / average) : null,
    included_in_average: reject_reason === null,
    reject_reason,
  }
}

function sensorQuality(
  value: number | null,
  reason: RejectReason | null,
  quality: (typeof liveQualities)[number],
): WeatherSensor['quality'] {
  if (value === null) return 'missing'
  if (reason === null) return quality
  return reason === 'not_measured' ? 'stale' : 'suspect'
}

export function significantIn<Of extends Record<string, number | null>>(values: Of): Of {
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    value === null ? null : significant(value),
  ])
  return Object.fromEntries(entries) as Of
}

interface PlantWeather {
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

interface Surroundings {
  situation: Situation
  place: Place | null
  skies: Skies
}

interface Judged {
  station: StationRow
  index: number
  value: number | null
  time_ms: number | null
  reject_reason: RejectReason | null
}

const unmeasured = (station: StationRow, index: number): Judged => ({
  station,
  index,
  value: null,
  time_ms: null,
  reject_reason: 'not_measured',
})

/** @param now_ms the newest reading of the plant */
function judgedAt(now_ms: number, plant: PlantWeather, around: Surroundings): Judged[] {
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
const isRejected = (reason: RejectReason | null) => reason !== null && reason !== 'not_measured'
