/** Screening of the instruments of a plant's met stations: accepted, or rejected with a reason. */
import { median } from '@heliograph/domain/median'
import type { Instrument } from '@heliograph/domain/site'
import {
  clearLight,
  isBright,
  measuresLight,
  outOfRange,
  type Quantity,
  type Skies,
} from './instrument-limits.ts'
import type { Sky } from './plane-light.ts'
import { stuckSamples } from './stuck-instruments.ts'

export const rejectReasons = ['not_measured', 'out_of_range', 'stuck', 'disagrees'] as const
export type RejectReason = (typeof rejectReasons)[number]

export const bucket_ms = 300_000

export const startOf = (time_ms: number) => Math.floor(time_ms / bucket_ms) * bucket_ms

/** Even the darkest clouds leave a higher ratio of clear-sky irradiance. */
const dark_max_ratio = 0.01
/** Minimum irradiance of another instrument that proves daylight. */
const light_min = { ratio: 0.05, w_m2: 20 }

/** Allowed deviation between instruments of one quantity: the larger of the two. */
const tolerances: Readonly<Partial<Record<Quantity, { absolute: number; ratio: number }>>> = {
  poa_irradiance_w_m2: { absolute: 50, ratio: 0.15 },
  ghi_w_m2: { absolute: 50, ratio: 0.15 },
  dhi_w_m2: { absolute: 50, ratio: 0.15 },
  module_temperature_c: { absolute: 10, ratio: 0 },
  ambient_temperature_c: { absolute: 5, ratio: 0 },
  relative_humidity_pct: { absolute: 15, ratio: 0 },
  pressure_hpa: { absolute: 5, ratio: 0 },
  wind_speed_m_s: { absolute: 3, ratio: 0.5 },
}

export const rejectionRule =
  '`not_measured`: no value although the station answers. `out_of_range`: physically impossible; ' +
  'irradiance above 1.2 times clear sky plus 50 W/m² or below -10 W/m². `stuck`: unchanged for 24 ' +
  'minutes with the sun above 5°; irradiance from 50 W/m² on or near 0, module temperature while ' +
  'the irradiance changed by 150 W/m², wind from 3 m/s on. `disagrees`: less than 1 % of ' +
  'clear-sky irradiance over five minutes while another instrument in any plane (of another plant ' +
  'if this plant has only one) measures 5 % or more; or further from the median of three or more ' +
  'instruments of its quantity and plane than 15 % and 50 W/m² (module temperature 10 K, air 5 K, ' +
  'humidity 15 %, pressure 5 hPa, wind speed 50 % and 3 m/s).'

/** The readings of one station, ascending; `values` by instrument, NaN where not measured. */
export interface StationSeries {
  station_id: number
  instruments: readonly Instrument[]
  times_ms: readonly number[]
  values: readonly Float64Array[]
}

/**
 * How far beyond a bucket readings affect it: more than the screening needs, since nearby steps
 * define what counts as a gap.
 */
export const margin_ms = 3_600_000 + bucket_ms

/** The readings of one station and its time in service. */
export interface WeatherSeries extends StationSeries {
  /** 1 for readings whose quality is not good. */
  is_suspect: ArrayLike<number>
  created_ms: number
  retired_ms: number | null
}

/** The part of a series from an instant on. */
export function seriesFrom(series: StationSeries, from_ms: number): StationSeries {
  const found = series.times_ms.findIndex((time_ms) => time_ms >= from_ms)
  const from = found < 0 ? series.times_ms.length : found
  return {
    ...series,
    times_ms: series.times_ms.slice(from),
    values: series.values.map((values) => values.subarray(from)),
  }
}

/** The part of a series measured by instruments of some quantities. */
export function seriesOfQuantities<Of extends StationSeries>(
  series: Of,
  quantities: readonly Quantity[],
): Of {
  const isAsked = (_: unknown, index: number) =>
    quantities.includes(series.instruments[index]!.quantity)
  return {
    ...series,
    instruments: series.instruments.filter(isAsked),
    values: series.values.filter(isAsked),
  }
}

/** A series without rejected values. */
export type Screened<Of extends StationSeries = StationSeries> = Of & {
  buckets: readonly Samples[]
  /** 1 where the sun is at or below the horizon. */
  is_night: Uint8Array
  /** By instrument: 1 for rejected samples. */
  taken: readonly Record<'out_of_range' | 'stuck' | 'disagrees', Uint8Array>[]
}

/** The samples of one bucket: those from `from` to before `to`. */
interface Samples {
  start_ms: number
  from: number
  to: number
}

/**
 * The stations of one plant without rejected values: each instrument is screened by itself and
 * against the others of the same five minutes. A bucket depends only on samples within
 * `stuck_reach_ms`.
 *
 * @param witnesses other stations of the site (`witnessesOf`)
 */
export function believed<Of extends StationSeries>(
  stations: readonly Of[],
  witnesses: readonly StationSeries[],
  skies: Skies,
): Screened<Of>[] {
  const own = stations.map((each) => screened(each, skies))
  const others = witnesses.map((each) => screened(each, skies))
  const ofBucket = Map.groupBy(
    own.flatMap((station) => station.buckets.map((samples) => ({ station, samples }))),
    ({ samples }) => samples.start_ms,
  )
  const votesAside = votesByBucket(others)
  for (const [start_ms, members] of ofBucket) {
    const votes = members.flatMap(({ station, samples: { from, to } }) =>
      votesOf(station, from, to).map((vote) => ({ ...vote, station, from, to })),
    )
    const out = outvoted(votes, votesAside.get(start_ms) ?? [], skies(start_ms))
    for (const { station, index, from, to } of out) {
      station.values[index]!.fill(Number.NaN, from, to)
      station.taken[index]!.disagrees.fill(1, from, to)
    }
  }
  return own
}

function votesByBucket(stations: readonly Screened[]): Map<number, Vote[]> {
  const votes = new Map<number, Vote[]>()
  for (const station of stations) {
    for (const { start_ms, from, to } of station.buckets) {
      votes.set(start_ms, [...(votes.get(start_ms) ?? []), ...votesOf(station, from, to)])
    }
  }
  return votes
}

/** The other stations of the site if a plant has only one irradiance instrument; else none. */
export function witnessesOf<Of extends { instruments: readonly Instrument[] }>(
  own: readonly Of[],
  all: readonly Of[],
): Of[] {
  const light_sensors = own.flatMap(({ instruments }) => instruments.filter(measuresLight))
  return light_sensors.length === 1 ? all.filter((station) => !own.includes(station)) : []
}

/** One station without impossible values and values of stuck instruments. */
export function screened<Of extends StationSeries>(series: Of, skies: Skies): Screened<Of> {
  const { instruments, times_ms } = series
  const buckets = bucketsOf(times_ms)
  const values = series.values.map((own) => Float64Array.from(own))
  // Samples of a bucket share the skies at its two ends.
  const around = buckets.map(({ start_ms }) => [skies(start_ms), skies(start_ms + bucket_ms)])
  const is_bright = new Uint8Array(times_ms.length)
  for (const [nth, { from, to }] of buckets.entries()) {
    is_bright.fill(Number(isBright(around[nth]![1] ?? null)), from, to)
  }
  const out_of_range = instruments.map((instrument, index) => {
    const marks = new Uint8Array(times_ms.length)
    for (const [nth, { from, to }] of buckets.entries()) {
      const isOut = outOfRange(instrument, around[nth]!)
      for (let at = from; at < to; at += 1) {
        const value = values[index]![at]!
        if (!Number.isNaN(value) && isOut(value)) marks[at] = 1
      }
    }
    remove(values[index]!, marks)
    return marks
  })
  const light_w_m2 = values
    .filter((_, index) => measuresLight(instruments[index]!))
    .map((own) => meansOf(own, buckets))
  const stuck = instruments.map((instrument, index) => {
    const clear_w_m2 = new Float64Array(times_ms.length).fill(Number.NaN)
    const is_dark = new Uint8Array(times_ms.length)
    const is_light_sensor = measuresLight(instrument)
    for (const [nth, { from, to }] of is_light_sensor ? buckets.entries() : []) {
      const sky = around[nth]![0] ?? null
      if (sky === null) continue
      clear_w_m2.fill(clearLight(instrument, sky), from, to)
      for (let at = from; at < to; at += 1) {
        is_dark[at] = Number(values[index]![at]! < dark_max_ratio * clear_w_m2[at]!)
      }
    }
    const causes_w_m2 = is_light_sensor ? [clear_w_m2] : light_w_m2
    const context = { times_ms, is_bright, is_dark, causes_w_m2 }
    return stuckSamples(instrument.quantity, values[index]!, context)
  })
  for (const [index, marks] of stuck.entries()) remove(values[index]!, marks)
  const taken = instruments.map((_, index) => ({
    out_of_range: out_of_range[index]!,
    stuck: stuck[index]!,
    disagrees: new Uint8Array(times_ms.length),
  }))
  return { ...series, values, buckets, is_night: nightOf(times_ms, buckets, skies), taken }
}

function remove(values: Float64Array, marks: Uint8Array): void {
  for (let at = 0; at < values.length; at += 1) if (marks[at]) values[at] = Number.NaN
}

function bucketsOf(times_ms: readonly number[]): Samples[] {
  const buckets: Samples[] = []
  for (let from = 0; from < times_ms.length; ) {
    const start_ms = startOf(times_ms[from]!)
    let to = from + 1
    while (to < times_ms.length && times_ms[to]! < start_ms + bucket_ms) to += 1
    buckets.push({ start_ms, from, to })
    from = to
  }
  return buckets
}

/** Of each sample the mean of its bucket. */
function meansOf(values: Float64Array, buckets: readonly Samples[]): Float64Array {
  const means = new Float64Array(values.length)
  for (const { from, to } of buckets) means.fill(meanOf(values, from, to) ?? Number.NaN, from, to)
  return means
}

/** Computed for each sample only in buckets with a sunrise or sunset. */
function nightOf(times_ms: readonly number[], buckets: readonly Samples[], skies: Skies) {
  const isDown = (time_ms: number) => (skies(time_ms)?.sun.elevation_deg ?? 1) <= 0
  const is_night = new Uint8Array(times_ms.length)
  for (const { start_ms, from, to } of buckets) {
    const before = isDown(start_ms)
    const is_steady = before === isDown(start_ms + bucket_ms)
    for (let at = from; at < to; at += 1) {
      is_night[at] = Number(is_steady ? before : isDown(times_ms[at]!))
    }
  }
  return is_night
}

/** An instrument and its mean over some minutes; null if missing or rejected already. */
interface Vote {
  instrument: Instrument
  value: number | null
}

/** The vote of an instrument of a station. */
export interface StationVote extends Vote {
  station_id: number
  index: number
}

/** The mean of each instrument over the samples from `from` to before `to`. */
export function votesOf(
  { station_id, instruments, values }: StationSeries,
  from: number,
  to: number,
) {
  return instruments.map(
    (instrument, index): StationVote => ({
      station_id,
      index,
      instrument,
      value: meanOf(values[index]!, from, to),
    }),
  )
}

function meanOf(values: Float64Array, from: number, to: number): number | null {
  let [sum, count] = [0, 0]
  for (let at = from; at < to; at += 1) {
    const value = values[at]!
    if (Number.isNaN(value)) continue
    sum += value
    count += 1
  }
  return count === 0 ? null : sum / count
}

/**
 * The votes contradicted by others: darkness while any irradiance instrument, including witnesses,
 * measures daylight, regardless of majorities; or a deviation from the median of at least three
 * instruments of the same kind.
 */
export function outvoted<Of extends Vote>(
  votes: readonly Of[],
  witnesses: readonly Vote[],
  sky: Sky | null,
): Set<Of> {
  const present = votes.filter(({ value }) => value !== null)
  const is_light = [...present, ...witnesses].some((vote) => seesDaylight(vote, sky))
  const out = new Set(present.filter((vote) => is_light && isDark(vote, sky)))
  const rest = present.filter((vote) => !out.has(vote))
  for (const group of Map.groupBy(rest, ({ instrument }) => kindOf(instrument)).values()) {
    const tolerance = tolerances[group[0]!.instrument.quantity]
    if (!tolerance || group.length < 3) continue
    const middle = median(group.map(({ value }) => value!))!
    const apart_max = Math.max(tolerance.absolute, tolerance.ratio * Math.abs(middle))
    for (const vote of group) if (Math.abs(vote.value! - middle) > apart_max) out.add(vote)
  }
  return out
}

const kindOf = ({ quantity, azimuth_deg, tilt_deg }: Instrument): string =>
  quantity === 'poa_irradiance_w_m2' ? `${quantity} ${azimuth_deg} ${tilt_deg}` : quantity

function isDark({ instrument, value }: Vote, sky: Sky | null): boolean {
  if (sky === null || !isBright(sky) || !measuresLight(instrument)) return false
  return value! < dark_max_ratio * clearLight(instrument, sky)
}

function seesDaylight({ instrument, value }: Vote, sky: Sky | null): boolean {
  if (sky === null || value === null || !measuresLight(instrument)) return false
  return value >= Math.max(light_min.w_m2, light_min.ratio * clearLight(instrument, sky))
}
