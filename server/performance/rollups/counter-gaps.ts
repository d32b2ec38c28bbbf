/** Distributes the energy of a counter over a gap of several hours to these hours. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import {
  type CountedDevice,
  type CounterReading,
  isCounterGap,
  riseBetween,
  stoodStill,
} from './counter-hour.ts'
import type { InverterHour } from './inverter-hour.ts'

/** Energy of longer gaps cannot be assigned to hours. */
export const gap_days_max = 7
const gap_ms_max = gap_days_max * day_ms
/** Step of the elevation of the sun. */
const step_ms = 300_000
/** Minimum share of the daylight with met station data to distribute by expected energy. */
const light_min_ratio = 0.5

export type GapSource = { hour_at: Date } & Pick<
  InverterHour,
  | 'ac_energy_kwh'
  | 'covered_s'
  | 'sun_covered_s'
  | 'expected_energy_kwh'
  | 'counter_first_at'
  | 'counter_first_kwh'
  | 'counter_last_at'
  | 'counter_last_kwh'
> & { [Name in 'head_kwh' | 'head_covered_s' | 'tail_kwh' | 'tail_covered_s']: number | null }

interface GapHour {
  gap_start_at: Date
  hour_at: Date
  energy_kwh: number
}

/** Sine of the elevation of the sun, 0 below the horizon; null without a position. */
export type SunHeight = ((time_ms: number) => number) | null

/**
 * Distributes the counter rise over each gap in `hours` (ascending), minus the energy measured by
 * power in the gap. Weights of the unmeasured time are the expected energy when met station data
 * exist, else the elevation of the sun, else time. The hours add up to the rise of the counter.
 * Gaps of more than 7 days, resets, exchanges and overflows that look like resets yield nothing.
 */
export function shareGaps(
  hours: readonly GapSource[],
  device: CountedDevice,
  sun: SunHeight,
): GapHour[] {
  const shared: GapHour[] = []
  let from = -1
  for (const [to, hour] of hours.entries()) {
    if (hour.counter_first_at === null) continue
    if (from >= 0) shared.push(...shareGap(hours.slice(from, to + 1), device, sun))
    from = to
  }
  return shared
}

function shareGap(hours: readonly GapSource[], device: CountedDevice, sun: SunHeight): GapHour[] {
  const [first, last] = [hours[0]!, hours.at(-1)!]
  const before = reading(first.counter_last_at, first.counter_last_kwh)
  const after = reading(last.counter_first_at, last.counter_first_kwh)
  const first_ms = first.hour_at.getTime()
  const is_gap = isCounterGap(before, after, { start_ms: first_ms, end_ms: first_ms + hour_ms })
  if (!is_gap || after.time_ms - before.time_ms > gap_ms_max) return []
  const rise_kwh = riseBetween(before, after, device)
  if (rise_kwh === null) return []
  const parts = partsOf(hours, before.time_ms, after.time_ms)
  const known_kwh = parts.reduce((sum, part) => sum + part.known_kwh, 0)
  const known_s = parts.reduce((sum, part) => sum + part.known_s, 0)
  // A counter that stood still is no evidence for the unmeasured time.
  const meanwhile = { rise_kwh, by_power_kwh: known_kwh, measured_s: known_s }
  if (stoodStill(before.energy_total_kwh, meanwhile, device)) return []
  const left_kwh = Math.max(0, rise_kwh - known_kwh)
  const weights = weightsOf(parts, sun)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return parts.map(({ hour, start_ms, end_ms }, nth) => ({
    gap_start_at: new Date(before.time_ms),
    hour_at: new Date(hour),
    energy_kwh:
      total > 0
        ? (left_kwh * weights[nth]!) / total
        : (left_kwh * (end_ms - start_ms)) / (after.time_ms - before.time_ms),
  }))
}

const reading = (at: Date | null, energy_total_kwh: number | null): CounterReading => ({
  time_ms: at!.getTime(),
  energy_total_kwh: energy_total_kwh!,
})

interface Part {
  hour: number
  start_ms: number
  end_ms: number
  /** Energy and seconds measured by power in this part. */
  known_kwh: number
  known_s: number
  /** Null when the hour has no sums. */
  source: GapSource | null
}

function partsOf(hours: readonly GapSource[], start_ms: number, end_ms: number): Part[] {
  const sources = new Map(hours.map((source) => [source.hour_at.getTime(), source]))
  const [first, last] = [hours[0]!, hours.at(-1)!]
  const parts: Part[] = []
  for (let hour = first.hour_at.getTime(); hour < end_ms; hour += hour_ms) {
    const source = sources.get(hour) ?? null
    parts.push({
      hour,
      start_ms: Math.max(hour, start_ms),
      end_ms: Math.min(hour + hour_ms, end_ms),
      ...measuredIn(source, source === first ? 'tail' : source === last ? 'head' : 'whole'),
      source,
    })
  }
  return parts
}

function measuredIn(source: GapSource | null, part: 'tail' | 'head' | 'whole') {
  if (source === null) return { known_kwh: 0, known_s: 0 }
  if (part === 'whole') return { known_kwh: source.ac_energy_kwh, known_s: source.covered_s }
  return { known_kwh: source[`${part}_kwh`] ?? 0, known_s: source[`${part}_covered_s`] ?? 0 }
}

function weightsOf(parts: readonly Part[], sun: SunHeight): number[] {
  const free_s = parts.map(({ start_ms, end_ms, known_s }) =>
    Math.max(0, (end_ms - start_ms) / 1000 - known_s),
  )
  if (sun === null) return free_s
  const heights = parts.map((part) => meanHeight(part.start_ms, part.end_ms, sun))
  const has_irradiance = parts.every(({ hour, source }, nth) => {
    if (heights[nth]! === 0) return true
    return source !== null && source.sun_covered_s >= light_min_ratio * daylightOf(hour, sun)
  })
  const rates = has_irradiance
    ? parts.map(({ source }) => source?.expected_energy_kwh ?? 0)
    : heights
  for (const candidates of [rates, heights]) {
    const weights = candidates.map((rate, nth) => rate * free_s[nth]!)
    if (weights.some((weight) => weight > 0)) return weights
  }
  return free_s
}

function meanHeight(start_ms: number, end_ms: number, sun: NonNullable<SunHeight>): number {
  const steps = Math.max(1, Math.ceil((end_ms - start_ms) / step_ms))
  const length_ms = (end_ms - start_ms) / steps
  let sum = 0
  for (let nth = 0; nth < steps; nth += 1) sum += sun(start_ms + (nth + 0.5) * length_ms)
  return sum / steps
}

/** Seconds of an hour with the sun above the horizon. */
function daylightOf(hour: number, sun: NonNullable<SunHeight>): number {
  let daylight_ms = 0
  for (let at = hour; at < hour + hour_ms; at += step_ms) {
    if (sun(at + step_ms / 2) > 0) daylight_ms += step_ms
  }
  return daylight_ms / 1000
}
