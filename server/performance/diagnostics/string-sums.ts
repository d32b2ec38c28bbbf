import { type Interval, intervals, type Span } from '../../telemetry/energy.ts'
import { mediansOfOthers } from './peer-medians.ts'
import { staleSamples } from './stale.ts'

export interface StringLayout {
  string_index: number
  mppt_index: number
  /** Rated power of its panels, above 0. */
  rated_kw: number
  /**
   * Peer group: strings with the same orientation, panel model and number of parallel rows. Lengths
   * may differ.
   */
  group: string
  /** Whether the orientation is assumed; `withMeasuredGroups` divides the group then. */
  is_orientation_assumed?: boolean
  /** False for an input without a string, which shows the MPPT voltage and no current. */
  is_connected: boolean
}

/** One instant of an inverter; lists are by `string_index`, null when not measured. */
export interface StringSample {
  time_ms: number
  current_a: readonly (number | null)[]
  voltage_v: readonly (number | null)[]
  /** Expected power of each string; null without irradiance. */
  expected_kw: readonly (number | null)[] | null
  /** Plane-of-array irradiance of the plant's sensor, which may differ from that of a group. */
  poa_w_m2: number | null
  /** The inverter was clipped, curtailed or not feeding, off the maximum power point. */
  is_limited: boolean
  /** False at night; night readings are ignored. */
  is_daylight?: boolean
}

/** Sums of a span that add up over time, one number per `string_index`; 0 without data. */
export const additive_quantities = [
  /** V I by the trapezoidal rule over all covered daylight, at any irradiance. */
  'energy_kwh',
  'charge_ah',
  /** Volt seconds; divided by `covered_s` the mean voltage. */
  'voltage_vs',
  /** Daylight seconds with known current and voltage. */
  'covered_s',
  /** Time with enough irradiance on the group and without limits, in which strings are rated. */
  'light_s',
  /** Limited time that is not known to be dark. */
  'limited_s',
  /** Part of `light_s` with hardly any current although peers or irradiance indicate current. */
  'zero_current_s',
  /** Part of `light_s` with a stale current, which counts as not measured. */
  'stale_s',
  /** Part of `light_s` with known, not stale current and voltage, and its samples. */
  'known_s',
  'sample_count',
  /** Part of `light_s` in which the string and at least three peers are known. */
  'compared_s',
  'compared_kwh',
  /** Over the same instants: rated power times the median specific power of the peers. */
  'peer_kwh',
  'compared_ah',
  /** Over the same instants: median current of the peers. */
  'peer_ah',
  'compared_vs',
  /** Over the same instants: rated power times the median voltage per rated power of the peers. */
  'peer_vs',
  /** Part of `light_s` with known current, voltage and expected power. */
  'with_expected_s',
  'compared_with_expected_kwh',
  'expected_kwh',
  /** Daylight samples in the span with current and voltage; NaN when not counted. */
  'energy_sample_count',
] as const
export type AdditiveQuantity = (typeof additive_quantities)[number]

export type StringSums = Record<AdditiveQuantity, number[]> & {
  /** Null when never measured. */
  current_a_max: (number | null)[]
}

/**
 * Shares of the rated power above which a string has irradiance, and above which it has current.
 */
const light_ratio = 0.15
const zero_ratio = 0.01
const poa_light_w_m2 = 150

const joules_per_kwh = 3_600_000

/**
 * Sums of one span over the strings of one inverter. Sums of consecutive parts of a span add up to
 * the span. `samples` ascend in time and should reach `reach_ms` of domain beyond both ends. The
 * lists cover the largest `string_index` of the layout; missing strings have 0, and unconnected
 * inputs have energy but are never compared.
 *
 * A string is compared at an instant when its group has irradiance (some string delivers 15 % of
 * its rated power, or should by `expected_kw`, or no string has current at 150 W/m² or more), the
 * inverter is not limited, its current and voltage are known and not stale, and the median specific
 * power V I / rated of at least three peers is above 15 % too, so that dead peers do not count.
 */
export function sumStrings(
  layout: readonly StringLayout[],
  samples: readonly StringSample[],
  span: Span,
): StringSums {
  const sums = noSums(1 + Math.max(-1, ...layout.map(({ string_index }) => string_index)))
  const times_ms = samples.map(({ time_ms }) => time_ms)
  const covered = intervals(times_ms, span)
  const moments = momentsOf(samples, covered, span)
  for (const { string_index } of layout) {
    sumEnergy(string_index, samples, covered, sums)
    for (const { index, is_in_span } of moments) {
      if (!is_in_span) continue
      const sample = samples[index] as StringSample
      const current_a = sample.current_a[string_index] ?? null
      raise(sums.current_a_max, string_index, current_a)
      const is_known = current_a !== null && (sample.voltage_v[string_index] ?? null) !== null
      if (is_known && sample.is_daylight !== false) add(sums.energy_sample_count, string_index, 1)
    }
  }
  const connected = layout.filter(({ is_connected }) => is_connected)
  for (const members of Map.groupBy(connected, ({ group }) => group).values()) {
    const repeats = members.map(({ string_index }) => repeatsOf(string_index, samples, times_ms))
    compareGroup(members, samples, moments, repeats, sums)
  }
  return sums
}

/** Adds sums of one inverter over time; missing entries of shorter lists count as 0. */
export function addSums(parts: readonly StringSums[]): StringSums {
  const total = noSums(Math.max(0, ...parts.map(({ energy_kwh }) => energy_kwh.length)))
  for (const part of parts) {
    for (const quantity of additive_quantities) {
      const values = part[quantity]
      const sums = total[quantity]
      for (let index = 0; index < values.length; index += 1) {
        sums[index] = (sums[index] as number) + (values[index] as number)
      }
    }
    for (let index = 0; index < part.current_a_max.length; index += 1) {
      raise(total.current_a_max, index, part.current_a_max[index] ?? null)
    }
  }
  return total
}

function noSums(length: number): StringSums {
  const zeros = Object.fromEntries(
    additive_quantities.map((quantity) => [quantity, new Array<number>(length).fill(0)]),
  ) as Omit<StringSums, 'current_a_max'>
  return { ...zeros, current_a_max: new Array<null>(length).fill(null) }
}

function add(list: number[], index: number, value: number): void {
  list[index] = (list[index] as number) + value
}

function raise(list: (number | null)[], index: number, value: number | null): void {
  const highest = list[index] ?? null
  if (value !== null && (highest === null || value > highest)) list[index] = value
}

/** Samples with a stale current; limited samples may repeat. */
function repeatsOf(index: number, samples: readonly StringSample[], times_ms: readonly number[]) {
  const currents = samples.map(({ is_limited, current_a }) =>
    is_limited ? null : (current_a[index] ?? null),
  )
  return staleSamples(currents, times_ms)
}

/** Trapezoidal rule; an interval with a null at either end is not covered. */
function sumEnergy(
  index: number,
  samples: readonly StringSample[],
  covered: readonly Interval[],
  sums: StringSums,
): void {
  for (const { from, to, start_ms, end_ms } of covered) {
    const before = samples[from] as StringSample
    const after = samples[to] as StringSample
    const current_a = before.current_a[index] ?? null
    const voltage_v = before.voltage_v[index] ?? null
    const next_current_a = after.current_a[index] ?? null
    const next_voltage_v = after.voltage_v[index] ?? null
    if (current_a === null || voltage_v === null) continue
    if (next_current_a === null || next_voltage_v === null) continue
    if (before.is_daylight === false && after.is_daylight === false) continue
    // Position of the middle of the covered part between the two samples.
    const after_share =
      ((start_ms + end_ms) / 2 - before.time_ms) / (after.time_ms - before.time_ms)
    const before_share = 1 - after_share
    const duration_s = (end_ms - start_ms) / 1000
    const power_w =
      before_share * current_a * voltage_v + after_share * next_current_a * next_voltage_v
    add(sums.covered_s, index, duration_s)
    add(sums.energy_kwh, index, (power_w * duration_s) / joules_per_kwh)
    const mean_a = before_share * current_a + after_share * next_current_a
    add(sums.charge_ah, index, (mean_a * duration_s) / 3600)
    const mean_v = before_share * voltage_v + after_share * next_voltage_v
    add(sums.voltage_vs, index, mean_v * duration_s)
  }
}

interface Moment {
  index: number
  weight_s: number
  is_in_span: boolean
}

/** The time between two samples counts half for each, independent of the known strings. */
function momentsOf(
  samples: readonly StringSample[],
  covered: readonly Interval[],
  span: Span,
): Moment[] {
  const weights_s = new Float64Array(samples.length)
  for (const { from, to, start_ms, end_ms } of covered) {
    const half_s = (end_ms - start_ms) / 2000
    weights_s[from] = (weights_s[from] as number) + half_s
    weights_s[to] = (weights_s[to] as number) + half_s
  }
  return samples
    .map(({ time_ms }, index) => ({
      index,
      weight_s: weights_s[index] as number,
      is_in_span: time_ms >= span.start_ms && time_ms < span.end_ms,
    }))
    .filter(({ weight_s, is_in_span }) => weight_s > 0 || is_in_span)
}

/**
 * Values of the strings of a group at a moment, by index in the group; NaN when unknown. Flat
 * arrays, reused for every moment.
 */
interface Points {
  current_a: Float64Array
  /** Voltage per rated kW, so that strings of different lengths compare. */
  voltage_v_kw: Float64Array
  specific: Float64Array
}

function pointsFor(count: number): Points {
  return {
    current_a: new Float64Array(count),
    voltage_v_kw: new Float64Array(count),
    specific: new Float64Array(count),
  }
}

/** Adds the comparison of the connected strings of one group. */
function compareGroup(
  members: readonly StringLayout[],
  samples: readonly StringSample[],
  moments: readonly Moment[],
  repeats: readonly (readonly boolean[])[],
  sums: StringSums,
): void {
  const points = pointsFor(members.length)
  const others = pointsFor(members.length)
  for (const moment of moments) {
    const sample = samples[moment.index] as StringSample
    const is_dark = sample.poa_w_m2 !== null && sample.poa_w_m2 < poa_light_w_m2
    if (sample.is_limited) {
      if (is_dark) continue
      for (const { string_index } of members) add(sums.limited_s, string_index, moment.weight_s)
      continue
    }
    const highest = readPoints(members, sample, moment.index, repeats, points)
    const has_no_current = highest < zero_ratio && sample.poa_w_m2 !== null && !is_dark
    const is_light = highest >= light_ratio || has_no_current
    mediansOfOthers(points.current_a, others.current_a)
    mediansOfOthers(points.voltage_v_kw, others.voltage_v_kw)
    mediansOfOthers(points.specific, others.specific)
    for (let at = 0; at < members.length; at += 1) {
      const member = members[at] as StringLayout
      const expected_kw = sample.expected_kw?.[member.string_index] ?? null
      const is_expected = expected_kw !== null && expected_kw >= light_ratio * member.rated_kw
      if (!is_light && !is_expected) continue
      add(sums.light_s, member.string_index, moment.weight_s)
      if (repeats[at]?.[moment.index]) add(sums.stale_s, member.string_index, moment.weight_s)
      comparePoint(member, at, moment, points, others, expected_kw, sums)
    }
  }
}

/** Fills `points` from the sample; returns the highest specific power, at least 0. */
function readPoints(
  members: readonly StringLayout[],
  { current_a, voltage_v }: StringSample,
  index: number,
  repeats: readonly (readonly boolean[])[],
  points: Points,
): number {
  let highest = 0
  for (let at = 0; at < members.length; at += 1) {
    const { string_index, rated_kw } = members[at] as StringLayout
    const is_repeat = repeats[at]?.[index] === true
    const current = is_repeat ? Number.NaN : (current_a[string_index] ?? Number.NaN)
    const voltage = voltage_v[string_index] ?? Number.NaN
    const specific = (current * voltage) / 1000 / rated_kw
    const is_known = !Number.isNaN(specific)
    points.current_a[at] = is_known ? current : Number.NaN
    points.voltage_v_kw[at] = is_known ? voltage / rated_kw : Number.NaN
    points.specific[at] = specific
    if (specific > highest) highest = specific
  }
  return highest
}

/** Adds the comparison of one string with its peers and with the expected power. */
function comparePoint(
  { string_index, rated_kw }: StringLayout,
  at: number,
  { weight_s, is_in_span }: Moment,
  points: Points,
  others: Points,
  expected_kw: number | null,
  sums: StringSums,
): void {
  const specific = points.specific[at] as number
  if (Number.isNaN(specific)) return
  const hours = weight_s / 3600
  const power_kw = specific * rated_kw
  add(sums.known_s, string_index, weight_s)
  if (is_in_span) add(sums.sample_count, string_index, 1)
  if (specific < zero_ratio) add(sums.zero_current_s, string_index, weight_s)
  if (expected_kw !== null) {
    add(sums.with_expected_s, string_index, weight_s)
    add(sums.compared_with_expected_kwh, string_index, power_kw * hours)
    add(sums.expected_kwh, string_index, expected_kw * hours)
  }
  const usual = others.specific[at] as number
  // The median is unknown, or most peers are dead.
  if (!(usual >= light_ratio)) return
  add(sums.compared_s, string_index, weight_s)
  add(sums.compared_kwh, string_index, power_kw * hours)
  add(sums.peer_kwh, string_index, usual * rated_kw * hours)
  add(sums.compared_ah, string_index, (points.current_a[at] as number) * hours)
  add(sums.peer_ah, string_index, (others.current_a[at] as number) * hours)
  const voltage_v_kw = points.voltage_v_kw[at] as number
  add(sums.compared_vs, string_index, voltage_v_kw * rated_kw * weight_s)
  add(sums.peer_vs, string_index, (others.voltage_v_kw[at] as number) * rated_kw * weight_s)
}
