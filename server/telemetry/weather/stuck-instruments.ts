/**
 * Instruments that repeat one value. Irradiance changes with the sun at every sample, and module
 * temperature with irradiance. Air temperature, humidity and pressure may be constant at their
 * resolution for hours and are only compared with other instruments (`outvoted`): at real stations
 * the air temperature was constant by day for up to two hours at a resolution of 0.1 K and six at
 * 1 K, even while irradiance changed by 400 W/m2.
 */
import type { Quantity } from './instrument-limits.ts'

/** A sample is judged by samples within this time before and after. */
const stuck_reach_ms = 1_500_000
const samples_min = 6
/** Shorter than the reach, since minute samples may miss its bounds by one. */
const duration_min_ms = 1_440_000
/** Below this steady overcast may repeat values at a resolution of 1 W/m2. */
const steady_max_w_m2 = 50

interface Rule {
  samples_min: number
  /** Lower values may repeat. */
  value_min: number
  /** Required change of the irradiance; null: the quantity changes by itself. */
  moved_min_w_m2: number | null
}

const light: Rule = {
  samples_min,
  value_min: steady_max_w_m2,
  // Around noon clear-sky irradiance is constant for half an hour within 2 W/m2.
  moved_min_w_m2: 3,
}
const rules: Readonly<Partial<Record<Quantity, Rule>>> = {
  poa_irradiance_w_m2: light,
  ghi_w_m2: light,
  dhi_w_m2: light,
  // 150 W/m2 changes the module temperature by some 2 K within five minutes.
  module_temperature_c: { samples_min, value_min: Number.NEGATIVE_INFINITY, moved_min_w_m2: 150 },
  // Coarse anemometers and minute means repeat values in light wind.
  wind_speed_m_s: { samples_min: 20, value_min: 3, moved_min_w_m2: null },
}

/** Conditions at each sample of an instrument. */
interface StuckContext {
  times_ms: readonly number[]
  /** 1 if the sun is so high that irradiance must change. */
  is_bright: Uint8Array
  /** 1 if irradiance is lower than under the darkest clouds: then even 0 may not repeat. */
  is_dark: Uint8Array
  /** Series that drive the quantity, W/m2; NaN if unknown. */
  causes_w_m2: readonly Float64Array[]
}

/**
 * Marks with 1 the samples that are one of at least six equal values (wind: 20) over 24 minutes by
 * day although a driving series changed. NaN is not measured. Steps beyond five minutes are too
 * coarse to judge.
 */
export function stuckSamples(
  quantity: Quantity,
  values: Float64Array,
  { times_ms, is_bright, is_dark, causes_w_m2 }: StuckContext,
): Uint8Array {
  const marks = new Uint8Array(values.length)
  const rule = rules[quantity]
  if (!rule) return marks
  for (let start = 0; start < values.length; ) {
    const value = values[start]!
    let end = start + 1
    if (is_bright[start]) {
      while (end < values.length && is_bright[end] && values[end] === value) end += 1
    }
    const isSpan = (from: number, to: number) =>
      to - from + 1 >= rule.samples_min && times_ms[to]! - times_ms[from]! >= duration_min_ms
    const counts = is_bright[start] && (value >= rule.value_min || is_dark[start])
    let [from, to] = [start, start]
    for (let at = start; counts && isSpan(start, end - 1) && at < end; at += 1) {
      while (times_ms[from]! < times_ms[at]! - stuck_reach_ms) from += 1
      while (to + 1 < end && times_ms[to + 1]! <= times_ms[at]! + stuck_reach_ms) to += 1
      const moved_min_w_m2 = is_dark[at] ? null : rule.moved_min_w_m2
      if (isSpan(from, to) && hasMoved(causes_w_m2, from, to, moved_min_w_m2)) marks[at] = 1
    }
    start = end
  }
  return marks
}

function hasMoved(
  causes_w_m2: readonly Float64Array[],
  from: number,
  to: number,
  moved_min_w_m2: number | null,
): boolean {
  if (moved_min_w_m2 === null) return true
  return causes_w_m2.some((cause) => {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (let at = from; at <= to; at += 1) {
      if (cause[at]! < least) least = cause[at]!
      if (cause[at]! > most) most = cause[at]!
    }
    return most - least >= moved_min_w_m2
  })
}
