/** Sums of one inverter and its strings over a span, from the readings around it. */

import { pvwattsAcPower } from '@heliograph/physics/inverter-efficiency'
import { type Span, sampleWeights } from '../../telemetry/energy.ts'
import { isImpossibleModulePower, isImpossiblePower } from '../../telemetry/weather/outliers.ts'
import {
  type StringLayout,
  type StringSample,
  type StringSums,
  sumStrings,
} from '../diagnostics/string-sums.ts'
import {
  addCounter,
  addFacts,
  addSamples,
  addSun,
  emptyHour,
  heldBy,
  type InverterHour,
  type InverterRating,
  type InverterSample,
} from './inverter-hour.ts'
import { type InverterSun, nearest } from './plant-light.ts'
import type { PlantInverter, PlantString, RawInverter, RawStrings } from './raw.ts'

/** Default when the inventory has no efficiency: typical of plant inverters. */
const nominal_efficiency_ratio_usual = 0.975
/** Below this share of its rating an inverter does not feed. */
export const feeding_ratio = 0.005

export type InverterSpan = ReturnType<typeof sumInverter>

export interface Measured {
  readings: readonly RawInverter[]
  ranges: readonly RawStrings[]
  /** Null without met station readings or without a position. */
  sun: InverterSun | null
  /** Whether the sun is up; null without a position. */
  isDay: ((time_ms: number) => boolean) | null
  /** Whether an inverter must be awake; null without a position. */
  isAwake: ((time_ms: number) => boolean) | null
}

/** Null without readings within reach of the span. Implausible power counts as not measured. */
export function sumInverter(
  inverter: PlantInverter,
  { readings, ranges, sun, isDay, isAwake }: Measured,
  span: Span,
) {
  const rating = ratingOf(inverter)
  const times_ms = readings.map(({ time_ms }) => time_ms)
  const light = sun === null ? null : nearest(times_ms, sun.times_ms)
  const samples = readings.map(
    (reading, nth): InverterSample => ({
      ...withoutImplausible(reading, inverter),
      is_daylight: isDay?.(reading.time_ms) ?? null,
      light: sun === null || light![nth]! < 0 ? null : sun.lights[light![nth]!]!,
    }),
  )
  return {
    inverter: inverterHour(samples, { sun, isAwake, device: inverter }, span, rating),
    strings: stringSums(inverter, { samples, ranges, sun, isDay }, span, rating),
  }
}

function withoutImplausible(
  reading: RawInverter,
  { rated_ac_power_kw, dc_capacity_kwp }: PlantInverter,
): RawInverter {
  const { ac_power_kw, dc_power_kw } = reading
  const is_dc_impossible =
    dc_capacity_kwp > 0 && isImpossibleModulePower(dc_power_kw, dc_capacity_kwp)
  return {
    ...reading,
    ac_power_kw: isImpossiblePower(ac_power_kw, rated_ac_power_kw) ? null : ac_power_kw,
    dc_power_kw: is_dc_impossible ? null : dc_power_kw,
  }
}

function inverterHour(
  samples: readonly InverterSample[],
  { sun, isAwake, device }: Pick<Measured, 'sun' | 'isAwake'> & { device: PlantInverter },
  span: Span,
  rating: InverterRating,
): InverterHour | null {
  const sums = emptyHour()
  const weights_s = sampleWeights(samples.map(timeOf), span)
  addSamples(sums, samples, weights_s, rating)
  addFacts(sums, samples, weights_s, { span, isAwake })
  if (sun !== null) addSun(sums, sun.lights, sampleWeights(sun.times_ms, span), rating)
  addCounter(sums, samples, span, device)
  const is_empty =
    sums.energy_source === null && sums.counter_first_at === null && sums.sun_covered_s === 0
  return is_empty ? null : sums
}

export const timeOf = ({ time_ms }: { time_ms: number }) => time_ms

export function ratingOf({
  rated_ac_power_kw,
  nominal_efficiency_pct,
}: Pick<PlantInverter, 'rated_ac_power_kw' | 'nominal_efficiency_pct'>): InverterRating {
  const nominal_efficiency_ratio =
    nominal_efficiency_pct === null ? nominal_efficiency_ratio_usual : nominal_efficiency_pct / 100
  const rated_dc_power_kw = rated_ac_power_kw / nominal_efficiency_ratio
  const model = { rated_dc_w: rated_dc_power_kw, nominal_efficiency_ratio }
  return {
    rated_ac_power_kw,
    rated_dc_power_kw,
    acPower: (dc_power_kw) =>
      dc_power_kw >= rated_dc_power_kw
        ? dc_power_kw * nominal_efficiency_ratio
        : pvwattsAcPower(dc_power_kw, model),
  }
}

function stringSums(
  inverter: PlantInverter,
  {
    samples,
    ranges,
    sun,
    isDay,
  }: Omit<Measured, 'readings' | 'isAwake'> & { samples: readonly InverterSample[] },
  span: Span,
  rating: InverterRating,
): StringSums | null {
  const instants = instantsOf(ranges)
  if (instants.length === 0 || inverter.strings.length === 0) return null
  for (const instant of instants) dropImplausible(instant, inverter.strings)
  const times_ms = instants.map(timeOf)
  const held = nearest(times_ms, samples.map(timeOf))
  const lit = sun === null ? null : nearest(times_ms, sun.times_ms)
  const assumed = inverter.strings.filter((string) => string.orientation_assumed)
  /** Strings with an assumed orientation have no expected power. */
  const expectedAt = (light: number) => {
    const expected_kw = sun!.expected_kw[light]!
    if (assumed.length === 0) return expected_kw
    const known = [...expected_kw]
    for (const { string_index } of assumed) known[string_index] = null
    return known
  }
  const strings = instants.map((instant, nth): StringSample => {
    const sample = samples[held[nth]!]
    const light = lit?.[nth] ?? -1
    return {
      ...instant,
      expected_kw: light < 0 ? null : expectedAt(light),
      poa_w_m2: light < 0 ? null : sun!.lights[light]!.poa_w_m2,
      is_limited: sample !== undefined && isLimited(sample, rating),
      is_daylight: isDay?.(instant.time_ms) ?? true,
    }
  })
  return sumStrings(layoutOf(inverter.strings), strings, span)
}

/**
 * Whether the inverter is limited or does not feed, so that its strings are below their maximum.
 */
function isLimited(sample: InverterSample, rating: InverterRating): boolean {
  const { ac_power_kw } = sample
  if (ac_power_kw === null) return false
  return heldBy(sample, rating) !== null || ac_power_kw < feeding_ratio * rating.rated_ac_power_kw
}

/**
 * Groups strings by orientation and panel model. Strings with an assumed orientation form one group
 * per panel model, which is divided later by measurements (`withMeasuredGroups`).
 */
export function layoutOf(
  strings: readonly Omit<PlantString, 'panel' | 'module_count'>[],
): StringLayout[] {
  return strings.map((string) => ({
    string_index: string.string_index,
    mppt_index: string.mppt_index,
    rated_kw: string.dc_capacity_kwp > 0 ? string.dc_capacity_kwp : 1,
    group: string.orientation_assumed
      ? `assumed/${string.params_id}`
      : [string.azimuth_deg, string.tilt_deg, string.params_id].join('/'),
    is_orientation_assumed: string.orientation_assumed,
    is_connected: string.connected,
  }))
}

interface Instant {
  time_ms: number
  current_a: (number | null)[]
  voltage_v: (number | null)[]
}

/** Drops voltage and current when their product is implausible: either may be wrong. */
function dropImplausible(
  { current_a, voltage_v }: Instant,
  strings: readonly Pick<PlantString, 'string_index' | 'dc_capacity_kwp'>[],
): void {
  for (const { string_index, dc_capacity_kwp } of strings) {
    const current = current_a[string_index] ?? null
    const voltage = voltage_v[string_index] ?? null
    if (current === null || voltage === null || !(dc_capacity_kwp > 0)) continue
    if (isImpossibleModulePower((current * voltage) / 1000, dc_capacity_kwp)) {
      current_a[string_index] = null
      voltage_v[string_index] = null
    }
  }
}

/**
 * Strings by instant. When several combiner boxes measure the strings at different times, the
 * instants are those of the first box with the nearest readings of the others.
 */
function instantsOf(ranges: readonly RawStrings[]): Instant[] {
  const boxes = [...Map.groupBy(ranges, ({ first_string_index }) => first_string_index).values()]
  const [first, ...others] = boxes.toSorted(
    (a, b) => a[0]!.first_string_index - b[0]!.first_string_index,
  )
  if (!first) return []
  const times_ms = first.map(timeOf)
  const instants = first.map(
    ({ time_ms }) => ({ time_ms, current_a: [], voltage_v: [] }) as Instant,
  )
  for (const [nth, range] of first.entries()) put(instants[nth]!, range)
  for (const box of others) {
    for (const [nth, at] of nearest(times_ms, box.map(timeOf)).entries()) {
      if (at >= 0) put(instants[nth]!, box[at]!)
    }
  }
  return instants
}

function put(instant: Instant, { first_string_index, current_a, voltage_v }: RawStrings): void {
  const place = (into: (number | null)[], values: readonly (number | null)[] | null) => {
    while (into.length < first_string_index) into.push(null)
    for (const [nth, value] of (values ?? []).entries()) into[first_string_index + nth] = value
  }
  place(instant.current_a, current_a)
  place(instant.voltage_v, voltage_v)
}
