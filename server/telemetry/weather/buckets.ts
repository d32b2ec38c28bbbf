/** Weather of a plant in buckets of five minutes, from the readings of its met stations. */
import { intervals, type Span } from '../energy.ts'
import type { Quantity, Skies } from './instrument-limits.ts'
import {
  believed,
  bucket_ms,
  type Screened as ScreenedSeries,
  type StationSeries,
  startOf,
  type WeatherSeries,
} from './station-screening.ts'

type Screened = ScreenedSeries<WeatherSeries>

const bucket_s = bucket_ms / 1000

/** Quantities with time-weighted averages. */
const scalars = [
  'poa_irradiance_w_m2',
  'ghi_w_m2',
  'dhi_w_m2',
  'module_temperature_c',
  'ambient_temperature_c',
  'relative_humidity_pct',
  'pressure_hpa',
  'wind_speed_m_s',
] as const satisfies readonly Quantity[]
type Scalar = (typeof scalars)[number]
/**
 * Wind direction is averaged as a unit vector. Insolation sums `*_light`: irradiance that is 0 at
 * night and never negative.
 */
const channels = [...scalars, 'north', 'east', 'poa_light', 'ghi_light'] as const
type Channel = (typeof channels)[number]
const poa_channel = channels.indexOf('poa_irradiance_w_m2')

export type WeatherBucket = ReturnType<typeof finished>

/**
 * The buckets of the span that have samples, ascending.
 *
 * An average is the time-weighted mean of the plot averages (means of the accepted instruments),
 * interpolated linearly between samples, or the plain mean if samples have no neighbours. Stations
 * have equal weights. Minimum, maximum and standard deviation are those of the sampled plot
 * averages.
 *
 * @param series readings of the span with `margin_ms` on either side, and the reading before
 * @param witnesses stations of other plants that vote on daylight (`witnessesOf`)
 */
export function weatherBuckets(
  series: readonly WeatherSeries[],
  span: Span,
  skies: Skies,
  witnesses: readonly StationSeries[] = [],
): WeatherBucket[] {
  const stations = believed(series, witnesses, skies)
  const sums = new Map<number, Sums>()
  for (const station of stations) shareOut(station, span, sums)
  for (const station of stations) {
    addStation(station, span, sums)
    addRain(station, sums)
  }
  const ascending = [...sums.values()].sort((a, b) => a.start_ms - b.start_ms)
  return ascending.map((own) => finished(own, stations))
}

type Sums = ReturnType<typeof newSums>

/** By channel. Plain arrays, since typed arrays are slow to create for each bucket. */
const zeros = () => new Array<number>(channels.length).fill(0)

const newSums = (start_ms: number) => ({
  start_ms,
  ranges: new Map<Screened, [from: number, to: number]>(),
  is_suspect: false,
  rejected: 0,
  covered_s: new Map<Screened, number>(),
  /** By channel: time integral and its length, sum and number of the samples. */
  area: zeros(),
  length_s: zeros(),
  sum: zeros(),
  count: zeros(),
  /** By channel: the longest time covered by one station. */
  known_s: zeros(),
  poa: [] as number[],
  /** By rain gauge. */
  rain_mm: new Map<string, number>(),
})

/** Creates the buckets of the readings of a station within the span. */
function shareOut(station: Screened, span: Span, sums: Map<number, Sums>): void {
  for (const { start_ms, from, to } of station.buckets) {
    if (start_ms < span.start_ms || start_ms >= span.end_ms) continue
    const own = sums.get(start_ms) ?? newSums(start_ms)
    sums.set(start_ms, own)
    own.ranges.set(station, [from, to])
    for (let at = from; at < to; at += 1) if (station.is_suspect[at]) own.is_suspect = true
    const isTaken = (marks: Uint8Array) => marks.subarray(from, to).includes(1)
    own.rejected += station.taken.filter((taken) => Object.values(taken).some(isTaken)).length
  }
}

/** A channel of a station with the plot average of each reading; NaN without one. */
interface Plot {
  channel: number
  values: Float64Array
}

function plotChannels({ instruments, values, is_night }: Screened): Plot[] {
  const of = (quantity: Quantity) =>
    values.filter((_, index) => instruments[index]!.quantity === quantity)
  const parts = of('wind_direction_deg')
  const turned = (part: (radians: number) => number) =>
    parts.map((degrees) => degrees.map((value) => part((value * Math.PI) / 180)))
  const light = (quantity: Quantity) =>
    of(quantity).map((own) =>
      own.map((value, at) => (is_night[at] && !Number.isNaN(value) ? 0 : Math.max(0, value))),
    )
  const sources = [
    ...scalars.map(of),
    turned(Math.cos),
    turned(Math.sin),
    light('poa_irradiance_w_m2'),
    light('ghi_w_m2'),
  ]
  return sources.flatMap((source, channel) =>
    source.length === 0 ? [] : { channel, values: average(source) },
  )
}

function average(source: readonly Float64Array[]): Float64Array {
  const { length } = source[0]!
  const [sum, count] = [new Float64Array(length), new Uint16Array(length)]
  for (const one of source) {
    for (let at = 0; at < length; at += 1) {
      const value = one[at]!
      if (Number.isNaN(value)) continue
      sum[at]! += value
      count[at]! += 1
    }
  }
  for (let at = 0; at < length; at += 1) sum[at]! /= count[at]!
  return sum
}

function addSamples(station: Screened, plots: readonly Plot[], own: Sums): void {
  const [from, to] = own.ranges.get(station) ?? [0, 0]
  for (const { channel, values } of plots) {
    for (let at = from; at < to; at += 1) {
      const value = values[at]!
      if (Number.isNaN(value)) continue
      own.sum[channel]! += value
      own.count[channel]! += 1
      if (channel === poa_channel) own.poa.push(value)
    }
  }
}

/** Adds the intervals between the samples of a station to their buckets. */
function addIntervals(
  { times_ms }: Screened,
  plots: readonly Plot[],
  span: Span,
  add: (start_ms: number) => StationSums | undefined,
): void {
  for (const { from, to, start_ms, end_ms } of intervals(times_ms, span)) {
    const first_ms = times_ms[from]!
    const step_ms = times_ms[to]! - first_ms
    for (let piece_ms = start_ms; piece_ms < end_ms; ) {
      const bucket_start_ms = startOf(piece_ms)
      const until_ms = Math.min(end_ms, bucket_start_ms + bucket_ms)
      const sums = add(bucket_start_ms)
      if (sums) {
        const length_s = (until_ms - piece_ms) / 1000
        const later = ((piece_ms + until_ms) / 2 - first_ms) / step_ms
        sums.covered_s += length_s
        for (const { channel, values } of plots) {
          const value = values[from]! * (1 - later) + values[to]! * later
          if (Number.isNaN(value)) continue
          sums.area[channel]! += value * length_s
          sums.length_s[channel]! += length_s
        }
      }
      piece_ms = until_ms
    }
  }
}

/** Sums of one station in one bucket. */
type StationSums = Pick<Sums, 'area' | 'length_s'> & { covered_s: number }

function addStation(station: Screened, span: Span, sums: Map<number, Sums>): void {
  const plots = plotChannels(station)
  const ofStation = new Map<number, StationSums>()
  for (const [start_ms, own] of sums) {
    addSamples(station, plots, own)
    ofStation.set(start_ms, { covered_s: 0, area: zeros(), length_s: zeros() })
  }
  addIntervals(station, plots, span, (start_ms) => ofStation.get(start_ms))
  for (const [start_ms, { covered_s, area, length_s }] of ofStation) {
    const own = sums.get(start_ms)!
    if (covered_s > 0) own.covered_s.set(station, covered_s)
    for (let channel = 0; channel < channels.length; channel += 1) {
      own.area[channel]! += area[channel]!
      own.length_s[channel]! += length_s[channel]!
      own.known_s[channel] = Math.max(own.known_s[channel]!, length_s[channel]!)
    }
  }
}

/** Above the record of 38 mm in a minute. */
const heaviest_mm_min = 40
const step_mm = 1

/**
 * Rain between two readings of a gauge's counter, mm; null for an impossible amount. A counter that
 * is lower than before started again from 0, at midnight or after an overflow.
 */
export function rainBetween(
  before_mm: number,
  after_mm: number,
  elapsed_ms: number,
): number | null {
  const fallen_mm = after_mm >= before_mm ? after_mm - before_mm : after_mm
  const most_mm = step_mm + (heaviest_mm_min * elapsed_ms) / 60_000
  return fallen_mm >= 0 && fallen_mm <= most_mm ? fallen_mm : null
}

/** Rain between two readings of a gauge counts in the bucket of the later reading. */
function addRain(station: Screened, sums: Map<number, Sums>): void {
  for (const [index, { quantity, sensor_id }] of station.instruments.entries()) {
    if (quantity !== 'rain_mm') continue
    const gauge = `${station.station_id} ${sensor_id}`
    let before: { time_ms: number; value: number } | null = null
    for (const [at, time_ms] of station.times_ms.entries()) {
      const value = station.values[index]![at]!
      if (Number.isNaN(value)) continue
      const own = sums.get(startOf(time_ms))
      const fallen_mm =
        before === null ? null : rainBetween(before.value, value, time_ms - before.time_ms)
      if (own && fallen_mm !== null) {
        own.rain_mm.set(gauge, (own.rain_mm.get(gauge) ?? 0) + fallen_mm)
      }
      before = { time_ms, value }
    }
  }
}

function finished(own: Sums, stations: readonly Screened[]) {
  const average = (name: Channel) => {
    const channel = channels.indexOf(name)
    const length_s = own.length_s[channel]!
    if (length_s > 0) return own.area[channel]! / length_s
    return own.count[channel]! > 0 ? own.sum[channel]! / own.count[channel]! : null
  }
  const averages = Object.fromEntries(scalars.map((name) => [name, average(name)])) as Record<
    Scalar,
    number | null
  >
  const insolation = (name: 'poa_light' | 'ghi_light') => {
    const known_s = own.known_s[channels.indexOf(name)]!
    return known_s === 0 ? null : (average(name)! * known_s) / 3_600_000
  }
  const expected = stations.filter(
    (station) =>
      own.ranges.has(station) ||
      (station.created_ms <= own.start_ms &&
        (station.retired_ms === null || station.retired_ms > own.start_ms)),
  )
  const covered_s = [...own.covered_s.values()].reduce((sum, each_s) => sum + each_s, 0)
  return {
    start_ms: own.start_ms,
    ...averages,
    wind_direction_deg: bearing(average('north'), average('east')),
    poa_irradiance_max_w_m2: own.poa.length === 0 ? null : Math.max(...own.poa),
    poa_irradiance_min_w_m2: own.poa.length === 0 ? null : Math.min(...own.poa),
    poa_irradiance_stddev_w_m2: standardDeviation(own.poa),
    poa_insolation_kwh_m2: insolation('poa_light'),
    ghi_insolation_kwh_m2: insolation('ghi_light'),
    rain_mm: mean([...own.rain_mm.values()]),
    sample_count: [...own.ranges.values()].reduce((sum, [from, to]) => sum + to - from, 0),
    completeness_pct: (100 * covered_s) / (bucket_s * expected.length),
    sensors_rejected: own.rejected,
    is_suspect: own.is_suspect || own.rejected > 0,
  }
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Population standard deviation; null for fewer than two values. */
function standardDeviation(values: readonly number[]): number | null {
  if (values.length < 2) return null
  const middle = mean(values)!
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2))!)
}

/** Null if the directions cancel each other out. */
export function bearing(north: number | null, east: number | null): number | null {
  if (north === null || east === null || Math.hypot(north, east) < 1e-6) return null
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}
