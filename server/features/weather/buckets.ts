/** Five minutes of a plant's weather, out of the readings of its met stations. */
import type { Quality } from '@heliograph/domain/readings'
import type { Instrument } from '@heliograph/domain/site'
import { intervals, type Span } from '../../diagnostics/energy.ts'
import type { Sky } from '../../diagnostics/plane-light.ts'
import {
  isBright,
  isOutOfRange,
  look_back_ms,
  outvoted,
  type Quantity,
  stuckSamples,
  type Vote,
} from './instruments.ts'
import { rainBetween } from './rain.ts'

export const bucket_ms = 300_000
const bucket_s = bucket_ms / 1000

/** What is averaged along time. */
export const scalars = [
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
/** Wind direction is averaged as the parts of a unit vector. */
const channels = [...scalars, 'north', 'east'] as const
type Channel = (typeof channels)[number]
const poa_channel = channels.indexOf('poa_irradiance_w_m2')

/** The readings of one station, ascending; `values` by instrument, NaN where not measured. */
export interface StationSeries {
  station_id: number
  instruments: readonly Instrument[]
  times_ms: readonly number[]
  qualities: readonly Quality[]
  values: readonly Float64Array[]
  /** When it was to be expected to measure. */
  created_ms: number
  retired_ms: number | null
}

export interface WeatherBucket extends Record<Scalar, number | null> {
  start_ms: number
  wind_direction_deg: number | null
  poa_irradiance_max_w_m2: number | null
  poa_irradiance_min_w_m2: number | null
  poa_irradiance_stddev_w_m2: number | null
  poa_insolation_kwh_m2: number | null
  ghi_insolation_kwh_m2: number | null
  rain_mm: number | null
  sample_count: number
  completeness_pct: number
  sensors_rejected: number
  is_suspect: boolean
}

/** The sky at any instant; null where the position of the site is not known. */
export type Skies = (time_ms: number) => Sky | null

/** A series without the values that no instrument can have measured, and those of stuck ones. */
export interface Screened extends StationSeries {
  /** By instrument, the samples that were taken out. */
  taken: readonly { out_of_range: Uint8Array; stuck: Uint8Array }[]
}

/** How far beyond a bucket readings still bear on it. */
export const margin_ms = look_back_ms + bucket_ms

const startOf = (time_ms: number) => Math.floor(time_ms / bucket_ms) * bucket_ms

export function screened(series: StationSeries, skies: Skies): Screened {
  const { instruments, times_ms } = series
  // Sky and sun at both ends of each sample's bucket; samples of one bucket share them.
  const around = new Array<readonly (Sky | null)[]>(times_ms.length)
  const is_bright = new Uint8Array(times_ms.length)
  let [last_ms, last]: [number, readonly (Sky | null)[]] = [Number.NaN, []]
  for (let at = 0; at < times_ms.length; at += 1) {
    const start_ms = startOf(times_ms[at]!)
    if (start_ms !== last_ms) last = [skies(start_ms), skies(start_ms + bucket_ms)]
    last_ms = start_ms
    around[at] = last
    is_bright[at] = Number(isBright(last[1] ?? null))
  }
  const values: Float64Array[] = []
  const taken = instruments.map((instrument, index) => {
    const own = Float64Array.from(series.values[index]!)
    const stuck = stuckSamples(instrument, own, times_ms, is_bright)
    const out_of_range = new Uint8Array(own.length)
    for (let at = 0; at < own.length; at += 1) {
      const value = own[at]!
      if (Number.isNaN(value)) continue
      if (isOutOfRange(instrument, value, around[at]!)) out_of_range[at] = 1
      if (out_of_range[at] || stuck[at]) own[at] = Number.NaN
    }
    values.push(own)
    return { out_of_range, stuck }
  })
  return { ...series, values, taken }
}

/** Of an instrument at a station. */
export interface StationVote extends Vote {
  station_id: number
  index: number
}

/** The mean of each instrument over the samples from `from` to before `to`. */
export function votesOf({ station_id, instruments, values }: Screened, from: number, to: number) {
  return instruments.map((instrument, index): StationVote => {
    let [sum, count] = [0, 0]
    for (let at = from; at < to; at += 1) {
      const value = values[index]![at]!
      if (Number.isNaN(value)) continue
      sum += value
      count += 1
    }
    return { station_id, index, instrument, value: count === 0 ? null : sum / count }
  })
}

/**
 * The buckets of the span that have samples, ascending. `series` also hold what lies beyond its
 * bounds: `margin_ms` on either side, and of each station the reading before.
 *
 * An average is the time-weighted mean of the plot averages (each the mean of the instruments that
 * are believed) along straight lines between samples; the plain mean of a bucket whose samples
 * have no neighbours. Of several stations each counts alike. Minimum, maximum and standard
 * deviation are of the plot averages as they were sampled.
 */
export function weatherBuckets(
  series: readonly StationSeries[],
  span: Span,
  skies: Skies,
): WeatherBucket[] {
  const stations = series.map((each) => screened(each, skies))
  const sums = new Map<number, Sums>()
  // One bucket more on either side: what is rejected there bears on the intervals that cross over.
  const wider = { start_ms: span.start_ms - bucket_ms, end_ms: span.end_ms + bucket_ms }
  for (const station of stations) shareOut(station, wider, sums)
  for (const own of sums.values()) silenceOutvoted(own, skies)
  for (const station of stations) {
    addStation(station, wider, sums)
    addRain(station, sums)
  }
  const ascending = [...sums.values()]
    .filter(({ start_ms }) => start_ms >= span.start_ms && start_ms < span.end_ms)
    .sort((a, b) => a.start_ms - b.start_ms)
  return ascending.map((own) => finished(own, stations))
}

interface Sums {
  start_ms: number
  ranges: Map<Screened, [from: number, to: number]>
  is_suspect: boolean
  rejected: number
  covered_s: Map<Screened, number>
  /** By channel: the integral along time and its length, the samples' sum and number. */
  area: Float64Array
  length_s: Float64Array
  sum: Float64Array
  count: Float64Array
  /** By channel: the longest time that one station knew of. */
  known_s: Float64Array
  poa: number[]
  /** By rain gauge. */
  rain_mm: Map<string, number>
}

const newSums = (start_ms: number): Sums => ({
  start_ms,
  ranges: new Map(),
  is_suspect: false,
  rejected: 0,
  covered_s: new Map(),
  area: new Float64Array(channels.length),
  length_s: new Float64Array(channels.length),
  sum: new Float64Array(channels.length),
  count: new Float64Array(channels.length),
  known_s: new Float64Array(channels.length),
  poa: [],
  rain_mm: new Map(),
})

/** Opens the buckets of the readings of a station within the span. */
function shareOut(station: Screened, span: Span, sums: Map<number, Sums>): void {
  const { times_ms, qualities } = station
  for (let from = 0; from < times_ms.length; ) {
    const start_ms = startOf(times_ms[from]!)
    let to = from
    let is_suspect = false
    while (to < times_ms.length && times_ms[to]! < start_ms + bucket_ms) {
      if (qualities[to] !== 'good') is_suspect = true
      to += 1
    }
    if (start_ms >= span.start_ms && start_ms < span.end_ms) {
      const own = sums.get(start_ms) ?? newSums(start_ms)
      sums.set(start_ms, own)
      own.ranges.set(station, [from, to])
      own.is_suspect ||= is_suspect
    }
    from = to
  }
}

/** Takes out what the others of a bucket contradict, and counts all that was taken out. */
function silenceOutvoted(own: Sums, skies: Skies): void {
  const votes = [...own.ranges].flatMap(([station, [from, to]]) =>
    votesOf(station, from, to).map((vote) => ({ ...vote, station, from, to })),
  )
  const out = outvoted(votes, skies(own.start_ms))
  for (const vote of votes) {
    const { station, index, from, to } = vote
    const { out_of_range, stuck } = station.taken[index]!
    const isTaken =
      out_of_range.subarray(from, to).includes(1) || stuck.subarray(from, to).includes(1)
    if (out.has(vote)) station.values[index]!.fill(Number.NaN, from, to)
    if (isTaken || out.has(vote)) own.rejected += 1
  }
}

/** By channel, the plot average of each reading, NaN where no instrument is believed. */
function plotChannels({ instruments, times_ms, values }: Screened): Float64Array[] {
  const of = (quantity: Quantity) =>
    values.filter((_, index) => instruments[index]!.quantity === quantity)
  const parts = of('wind_direction_deg')
  const turned = (part: (radians: number) => number) =>
    parts.map((degrees) => degrees.map((value) => part((value * Math.PI) / 180)))
  const sources = [...scalars.map(of), turned(Math.cos), turned(Math.sin)]
  return sources.map((source) => average(source, times_ms.length))
}

function average(source: readonly Float64Array[], length: number): Float64Array {
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

function addSamples(station: Screened, plot: readonly Float64Array[], own: Sums): void {
  const [from, to] = own.ranges.get(station) ?? [0, 0]
  for (let channel = 0; channel < channels.length; channel += 1) {
    const values = plot[channel]!
    for (let at = from; at < to; at += 1) {
      const value = values[at]!
      if (Number.isNaN(value)) continue
      own.sum[channel]! += value
      own.count[channel]! += 1
      if (channel === poa_channel) own.poa.push(value)
    }
  }
}

/** Adds what lies between the samples of a station, each interval to the buckets it lies in. */
function addIntervals(
  { times_ms }: Screened,
  plot: readonly Float64Array[],
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
        for (let channel = 0; channel < channels.length; channel += 1) {
          const values = plot[channel]!
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

/** Of one station in one bucket. */
interface StationSums {
  covered_s: number
  area: Float64Array
  length_s: Float64Array
}

function addStation(station: Screened, span: Span, sums: Map<number, Sums>): void {
  const plot = plotChannels(station)
  const ofStation = new Map<number, StationSums>()
  for (const [start_ms, own] of sums) {
    addSamples(station, plot, own)
    const { length } = channels
    const [area, length_s] = [new Float64Array(length), new Float64Array(length)]
    ofStation.set(start_ms, { covered_s: 0, area, length_s })
  }
  addIntervals(station, plot, span, (start_ms) => ofStation.get(start_ms))
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

/** What fell between two readings of a gauge counts in the bucket of the later one. */
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

function finished(own: Sums, stations: readonly Screened[]): WeatherBucket {
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
  const insolation = (name: 'poa_irradiance_w_m2' | 'ghi_w_m2') => {
    const known_s = own.known_s[channels.indexOf(name)]!
    return known_s === 0 ? null : (averages[name]! * known_s) / 3_600_000
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
    poa_insolation_kwh_m2: insolation('poa_irradiance_w_m2'),
    ghi_insolation_kwh_m2: insolation('ghi_w_m2'),
    rain_mm: mean([...own.rain_mm.values()]),
    sample_count: [...own.ranges.values()].reduce((sum, [from, to]) => sum + to - from, 0),
    completeness_pct: (100 * covered_s) / (bucket_s * expected.length),
    sensors_rejected: own.rejected,
    is_suspect: own.is_suspect || own.rejected > 0,
  }
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Of the population; null of fewer than two. */
function standardDeviation(values: readonly number[]): number | null {
  if (values.length < 2) return null
  const middle = mean(values)!
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2))!)
}

/** Null where the directions cancel each other out. */
export function bearing(north: number | null, east: number | null): number | null {
  if (north === null || east === null || Math.hypot(north, east) < 1e-6) return null
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}
