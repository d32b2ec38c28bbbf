/**
 * Sums of an inverter over an hour. They add up over hours and inverters; all yields, ratios and
 * losses of the API are quotients of such sums.
 */
import { intervals, type Span, sampleWeights } from '../../telemetry/energy.ts'
import { limitLoss, type Output, type OutputLimits, outputState } from '../diagnostics/clipping.ts'
import { type CountedDevice, counterHour } from './counter-hour.ts'
import type { RawInverter } from './raw.ts'

/** Additive sums under the names of their columns in `inverter_hours`. */
export const inverterSums = [
  /** Seconds with known AC power, in total and in daylight. */
  'covered_s',
  'daylight_covered_s',
  'ac_energy_kwh',
  'dc_energy_kwh',
  'night_consumption_kwh',
  /** Irradiance and expected energy, with or without readings of the inverter. */
  'sun_covered_s',
  'insolation_kwh_m2',
  'expected_energy_kwh',
  /** Over instants with known AC and DC power. */
  'conversion_dc_kwh',
  'conversion_ac_kwh',
  'conversion_expected_kwh',
  /** Over instants with known irradiance and power; `warm` also with known temperature. */
  'reference_kwh_m2',
  'reference_ac_kwh',
  'reference_expected_kwh',
  'warm_reference_kwh_m2',
  'warm_reference_ac_kwh',
  'curtailed_reference_kwh_m2',
  'curtailed_reference_ac_kwh',
  /** Seconds with enough irradiance to run and known power; `down_s` those without power. */
  'demanded_s',
  'down_s',
  'downtime_loss_kwh',
  'clipped_s',
  'clipping_loss_kwh',
  'curtailed_s',
  'curtailment_loss_kwh',
  'derated_s',
  'derating_loss_kwh',
  'fault_s',
] as const
export type InverterSum = (typeof inverterSums)[number]

/** Load bins of ten percent of the DC rating; the last bin includes all higher loads. */
export const load_bin_count = 10

export type InverterHour = ReturnType<typeof emptyHour>

export interface InverterRating {
  rated_ac_power_kw: number
  /** DC power at which the inverter reaches its AC rating. */
  rated_dc_power_kw: number
  /** AC power from DC power by the model of its efficiency, without the limit of its rating. */
  acPower(dc_power_kw: number): number
}

/** A reading of the inverter with the irradiance at that time. */
export interface InverterSample extends RawInverter {
  /** From the position of the sun; null when the position of the site is unknown. */
  is_daylight: boolean | null
  light: InverterLight | null
}

/** Irradiance and expected power of the strings of an inverter at an instant. */
export interface InverterLight {
  is_daylight: boolean
  /** Plane-of-array irradiance weighted by capacity; null when unknown. */
  poa_w_m2: number | null
  /** Temperature factor of the power: 1 + gamma (T - 25 C). */
  temperature_factor: number | null
  expected_dc_kw: number | null
}

/** Minimum irradiance for performance ratios, and irradiance at which an inverter must run. */
const dim_w_m2 = 20
const bright_w_m2 = 100
const running_ratio = 0.01
/** Higher limits count as no limit, because the read-back has the accuracy of a meter. */
const unlimited_pct = 99.5

/** Cause that limits an inverter at an instant; the inverter derates by itself. */
export type HeldBy = 'curtailment' | 'rating' | 'derating' | null

type LimitedSample = Pick<InverterSample, 'state' | 'ac_power_kw' | 'power_limit_pct' | 'light'>

export function heldBy(sample: LimitedSample, rating: InverterRating): HeldBy {
  const state = outputState(...outputOf(sample, rating))
  if (state === 'curtailed') return 'curtailment'
  if (state === 'clipped') return 'rating'
  return state === 'free' && sample.state === 'throttled' ? 'derating' : null
}

function outputOf(
  { ac_power_kw, power_limit_pct, light }: LimitedSample,
  { rated_ac_power_kw, acPower }: InverterRating,
): [Output, OutputLimits] {
  const expected_dc_kw = light?.expected_dc_kw ?? null
  const expected_kw = expected_dc_kw === null ? null : acPower(expected_dc_kw)
  const is_limited = power_limit_pct !== null && power_limit_pct < unlimited_pct
  const curtailed_to_kw = is_limited ? (rated_ac_power_kw * power_limit_pct) / 100 : null
  return [
    { power_kw: ac_power_kw, expected_kw },
    { rated_kw: rated_ac_power_kw, curtailed_to_kw },
  ]
}

export function emptyHour() {
  const zeros = Object.fromEntries(inverterSums.map((name) => [name, 0]))
  const bins = () => new Array<number>(load_bin_count).fill(0)
  return {
    ...(zeros as Record<InverterSum, number>),
    /** `mixed`: counter, and power where the counter has no readings. */
    energy_source: null as 'inverter_counter' | 'integrated_power' | 'mixed' | null,
    /** Highest AC power; null when not measured. */
    peak_power_kw: null as number | null,
    /** Samples with known AC power within the hour. */
    sample_count: 0,
    /** Seconds with known AC power in which the inverter must be awake. */
    awake_covered_s: 0,
    first_production_at: null as Date | null,
    last_production_at: null as Date | null,
    /** Five-minute means of the AC power; null when unknown. */
    slot_power_kw: [] as (number | null)[],
    /** First and last counter reading within the hour. */
    counter_first_at: null as Date | null,
    counter_first_kwh: null as number | null,
    counter_last_at: null as Date | null,
    counter_last_kwh: null as number | null,
    /** Energy by power before the first and after the last counter reading, if not counted. */
    head_kwh: 0,
    head_covered_s: 0,
    tail_kwh: 0,
    tail_covered_s: 0,
    load_s: bins(),
    load_dc_kwh: bins(),
    load_ac_kwh: bins(),
  }
}

/**
 * Adds samples weighted by the seconds that they represent (`weights_s`, same length): half of each
 * covered interval beside a sample within the hour. This is the trapezoidal rule; gaps have no
 * weight.
 */
export function addSamples(
  sums: InverterHour,
  samples: readonly InverterSample[],
  weights_s: ArrayLike<number>,
  rating: InverterRating,
): void {
  for (const [nth, sample] of samples.entries()) {
    const seconds = weights_s[nth]!
    if (seconds > 0) addSample(sums, sample, seconds, rating)
  }
  if (sums.covered_s > 0) sums.energy_source = 'integrated_power'
}

/** Adds insolation and expected energy with the same weights, also without inverter readings. */
export function addSun(
  sums: InverterHour,
  lights: readonly InverterLight[],
  weights_s: ArrayLike<number>,
  rating: InverterRating,
): void {
  for (const [nth, { is_daylight, poa_w_m2, expected_dc_kw }] of lights.entries()) {
    const hours = weights_s[nth]! / 3600
    if (!(hours > 0) || poa_w_m2 === null) continue
    if (is_daylight) sums.sun_covered_s += weights_s[nth]!
    sums.insolation_kwh_m2 += (poa_w_m2 * hours) / 1000
    if (expected_dc_kw !== null) {
      sums.expected_energy_kwh += deliverable(expected_dc_kw, rating) * hours
    }
  }
}

function addSample(
  sums: InverterHour,
  sample: InverterSample,
  seconds: number,
  rating: InverterRating,
): void {
  const hours = seconds / 3600
  const { ac_power_kw, dc_power_kw, light } = sample
  if (dc_power_kw !== null) sums.dc_energy_kwh += Math.max(0, dc_power_kw) * hours
  if (sample.state === 'fault') sums.fault_s += seconds
  if (ac_power_kw === null) return
  sums.covered_s += seconds
  if (sample.is_daylight) sums.daylight_covered_s += seconds
  else if (sample.is_daylight === false)
    sums.night_consumption_kwh += Math.max(0, -ac_power_kw) * hours
  sums.ac_energy_kwh += Math.max(0, ac_power_kw) * hours
  if (sums.peak_power_kw === null || ac_power_kw > sums.peak_power_kw) {
    sums.peak_power_kw = ac_power_kw
  }
  if (dc_power_kw !== null) addConversion(sums, { ac_power_kw, dc_power_kw }, seconds, rating)
  if (!sample.is_daylight || light === null || light.poa_w_m2 === null) return
  const known = { ...light, poa_w_m2: light.poa_w_m2 }
  const moment = { ac_power_kw, seconds, rating, held_by: heldBy(sample, rating) }
  addReference(sums, known, moment)
  addLosses(sums, sample, known, moment)
}

const deliverable = (expected_dc_kw: number, rating: InverterRating): number =>
  Math.min(rating.rated_ac_power_kw, rating.acPower(expected_dc_kw))

/** Efficiency uses instants with both AC and DC power, which are sampled at different times. */
function addConversion(
  sums: InverterHour,
  { ac_power_kw, dc_power_kw }: { ac_power_kw: number; dc_power_kw: number },
  seconds: number,
  rating: InverterRating,
): void {
  const load = dc_power_kw / rating.rated_dc_power_kw
  if (load <= running_ratio) return
  const hours = seconds / 3600
  sums.conversion_dc_kwh += dc_power_kw * hours
  sums.conversion_ac_kwh += ac_power_kw * hours
  sums.conversion_expected_kwh += deliverable(dc_power_kw, rating) * hours
  const bin = Math.min(load_bin_count - 1, Math.floor(load * load_bin_count))
  sums.load_s[bin]! += seconds
  sums.load_dc_kwh[bin]! += dc_power_kw * hours
  sums.load_ac_kwh[bin]! += ac_power_kw * hours
}

interface Moment {
  ac_power_kw: number
  seconds: number
  rating: InverterRating
  held_by: HeldBy
}

type KnownLight = InverterLight & { poa_w_m2: number }

/** Energy and insolation over the same instants, for performance ratios. */
function addReference(
  sums: InverterHour,
  { poa_w_m2, temperature_factor, expected_dc_kw }: KnownLight,
  { ac_power_kw, seconds, held_by, rating }: Moment,
): void {
  if (poa_w_m2 < dim_w_m2) return
  const hours = seconds / 3600
  const sun_kwh_m2 = (poa_w_m2 * hours) / 1000
  const ac_kwh = Math.max(0, ac_power_kw) * hours
  sums.reference_kwh_m2 += sun_kwh_m2
  sums.reference_ac_kwh += ac_kwh
  if (expected_dc_kw !== null) {
    sums.reference_expected_kwh += deliverable(expected_dc_kw, rating) * hours
  }
  if (temperature_factor !== null) {
    sums.warm_reference_kwh_m2 += sun_kwh_m2 * temperature_factor
    sums.warm_reference_ac_kwh += ac_kwh
  }
  if (held_by === 'curtailment') {
    sums.curtailed_reference_kwh_m2 += sun_kwh_m2
    sums.curtailed_reference_ac_kwh += ac_kwh
  }
}

/**
 * Adds lost time, each instant to one cause, and lost energy when the expected power is known. At a
 * curtailed instant the part above the rating is a clipping loss.
 */
function addLosses(
  sums: InverterHour,
  sample: InverterSample,
  { poa_w_m2, expected_dc_kw }: KnownLight,
  { ac_power_kw, seconds, rating, held_by }: Moment,
): void {
  const hours = seconds / 3600
  const possible_kw = expected_dc_kw === null ? 0 : deliverable(expected_dc_kw, rating)
  const lost_kwh = Math.max(0, possible_kw - Math.max(0, ac_power_kw)) * hours
  const is_bright = poa_w_m2 > bright_w_m2
  if (is_bright) sums.demanded_s += seconds
  if (held_by === 'rating' || held_by === 'curtailment') {
    if (held_by === 'rating') sums.clipped_s += seconds
    else sums.curtailed_s += seconds
    const loss = limitLoss(...outputOf(sample, rating))
    sums.clipping_loss_kwh += (loss?.clipping_kw ?? 0) * hours
    sums.curtailment_loss_kwh += (loss?.curtailment_kw ?? 0) * hours
  } else if (is_bright && ac_power_kw < running_ratio * rating.rated_ac_power_kw) {
    sums.down_s += seconds
    sums.downtime_loss_kwh += lost_kwh
  } else if (held_by === 'derating') {
    sums.derated_s += seconds
    sums.derating_loss_kwh += lost_kwh
  }
}

export const slot_ms = 300_000

/**
 * Adds the number of samples, the covered time in which the inverter must be awake, the first and
 * last production and the five-minute means of the power.
 */
export function addFacts(
  sums: InverterHour,
  samples: readonly InverterSample[],
  weights_s: ArrayLike<number>,
  { span, isAwake }: { span: Span; isAwake: ((time_ms: number) => boolean) | null },
): void {
  const length = Math.ceil((span.end_ms - span.start_ms) / slot_ms)
  const slots = Array.from({ length }, () => ({ seconds: 0, kws: 0 }))
  for (const [nth, { time_ms, ac_power_kw }] of samples.entries()) {
    if (ac_power_kw === null) continue
    const seconds = weights_s[nth]!
    if (isAwake?.(time_ms)) sums.awake_covered_s += seconds
    if (time_ms < span.start_ms || time_ms >= span.end_ms) continue
    sums.sample_count += 1
    if (ac_power_kw > 0) {
      sums.first_production_at ??= new Date(time_ms)
      sums.last_production_at = new Date(time_ms)
    }
    const slot = slots[Math.floor((time_ms - span.start_ms) / slot_ms)]!
    slot.seconds += seconds
    slot.kws += ac_power_kw * seconds
  }
  sums.slot_power_kw = slots.map(({ seconds, kws }) => (seconds > 0 ? kws / seconds : null))
}

/**
 * Takes the energy from the counter where the counter covers the hour, and from power elsewhere,
 * also while the counter stands still. `addSamples` must run before.
 */
export function addCounter(
  sums: InverterHour,
  samples: readonly InverterSample[],
  span: Span,
  device: CountedDevice,
): void {
  const by_power_kwh = cumulativeEnergy(samples)
  const counted = samples.flatMap(({ time_ms, energy_total_kwh }, nth) =>
    energy_total_kwh === null
      ? []
      : [{ time_ms, energy_total_kwh, by_power_kwh: by_power_kwh[nth]! }],
  )
  const { energy_kwh, open, first, last } = counterHour(counted, span, device)
  if (energy_kwh !== null) {
    const rest = open.map((part) => energyByPower(samples, part))
    sums.ac_energy_kwh = rest.reduce((sum, part) => sum + part.energy_kwh, energy_kwh)
    const is_whole = rest.every(({ covered_s }) => covered_s === 0)
    sums.energy_source = is_whole ? 'inverter_counter' : 'mixed'
  }
  if (!first || !last) return
  sums.counter_first_at = new Date(first.time_ms)
  sums.counter_first_kwh = first.energy_total_kwh
  sums.counter_last_at = new Date(last.time_ms)
  sums.counter_last_kwh = last.energy_total_kwh
  if (open[0]?.start_ms === span.start_ms) {
    const head = energyByPower(samples, { start_ms: span.start_ms, end_ms: first.time_ms })
    sums.head_kwh = head.energy_kwh
    sums.head_covered_s = head.covered_s
  }
  if (open.at(-1)?.end_ms === span.end_ms) {
    const tail = energyByPower(samples, { start_ms: last.time_ms, end_ms: span.end_ms })
    sums.tail_kwh = tail.energy_kwh
    sums.tail_covered_s = tail.covered_s
  }
}

/** Energy by power from the first sample to each of them, kWh. */
function cumulativeEnergy(samples: readonly InverterSample[]): Float64Array {
  const [first, last] = [samples[0], samples.at(-1)]
  const energy_kwh = new Float64Array(samples.length)
  if (!first || !last) return energy_kwh
  const times_ms = samples.map(timeOf)
  for (const { to } of intervals(times_ms, { start_ms: first.time_ms, end_ms: last.time_ms })) {
    const kw = deliveredPower(samples[to - 1]!) + deliveredPower(samples[to]!)
    energy_kwh[to] = (kw / 2) * ((times_ms[to]! - times_ms[to - 1]!) / 3_600_000)
  }
  for (let nth = 1; nth < energy_kwh.length; nth += 1) energy_kwh[nth]! += energy_kwh[nth - 1]!
  return energy_kwh
}

const deliveredPower = ({ ac_power_kw }: InverterSample): number => Math.max(0, ac_power_kw ?? 0)

/** Delivered energy only, excluding gaps, as in the sums. */
function energyByPower(samples: readonly InverterSample[], span: Span) {
  const weights_s = sampleWeights(samples.map(timeOf), span)
  const sum = { energy_kwh: 0, covered_s: 0 }
  for (const [nth, sample] of samples.entries()) {
    if (sample.ac_power_kw === null) continue
    sum.energy_kwh += (deliveredPower(sample) * weights_s[nth]!) / 3600
    sum.covered_s += weights_s[nth]!
  }
  return sum
}

const timeOf = ({ time_ms }: InverterSample) => time_ms
