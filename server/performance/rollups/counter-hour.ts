/** Energy of one hour from the counter of a device. */
import { counterIncrease, counterStep } from '@heliograph/domain/counter'
import { reach_ms } from '@heliograph/domain/reach'
import { isExchanged } from '../../plant/device-exchanges.ts'
import type { Span } from '../../telemetry/energy.ts'

export interface CounterReading {
  time_ms: number
  energy_total_kwh: number
}

/** The device whose counter is read, or the devices one after the other. */
export interface CountedDevice {
  rated_ac_power_kw: number
  /** When other devices took its place, Unix ms: each has a counter of its own. */
  exchanged_ms: readonly number[]
}

/** A reading of the counter with the energy integrated from power. */
interface CounterSample extends CounterReading {
  /** Energy by measured power since the first sample, kWh. */
  by_power_kwh: number
}

/**
 * A counter stands still when the measured energy exceeds this many counter steps plus this share
 * of the rated energy. A coarse counter moves when it is one step behind. Below 1 % of its rating
 * an inverter may measure power that its counter does not count.
 */
const still_steps = 1.25
const still_rated_ratio = 0.01
/** A counter was only late when its next rise is this share of the measured energy. */
const caught_up_ratio = 0.5

/**
 * Maximum distance of two readings on either side of an hour boundary: both hours see both readings
 * and share the rise by time. Readings further apart form a gap.
 */
const counter_near_ms = reach_ms

/**
 * Energy within a span from the rises between its readings. A rise across a boundary of the span is
 * shared by time when its readings are near each other. `readings` ascend and reach
 * `counter_near_ms` beyond both boundaries. The energies of consecutive spans and the gaps between
 * them (`isCounterGap`) add up to the rise of the counter. Time in which the counter stood still
 * while power was measured is not covered.
 *
 * Returns the energy, null without readings, after a reset or an exchange, the parts of the span
 * that the counter does not cover (`open`, ascending), and the first and last reading in the span.
 */
export function counterHour(readings: readonly CounterSample[], span: Span, device: CountedDevice) {
  const still = standingStill(readings, device)
  const inside = readings.filter(({ time_ms }) => time_ms >= span.start_ms && time_ms < span.end_ms)
  // A gap lies between two readings of a counter that moves.
  const moving = inside.filter((reading) => !still.has(reading))
  const ends = { first: moving[0], last: moving.at(-1) }
  const open: Span[] = []
  let energy_kwh: number | null = null
  let covered_until_ms = span.start_ms
  for (let nth = 1; nth < readings.length; nth += 1) {
    const before = readings[nth - 1]!
    const after = readings[nth]!
    const start_ms = Math.max(before.time_ms, span.start_ms)
    const end_ms = Math.min(after.time_ms, span.end_ms)
    const crosses = before.time_ms < span.start_ms || after.time_ms > span.end_ms
    const elapsed_ms = after.time_ms - before.time_ms
    if (start_ms >= end_ms || (crosses && elapsed_ms > counter_near_ms)) continue
    const is_same = after.energy_total_kwh === before.energy_total_kwh
    if (is_same && still.has(before) && still.has(after)) continue
    const rise_kwh = riseBetween(before, after, device)
    if (rise_kwh === null) return { energy_kwh: null, open: [span], ...ends }
    energy_kwh = (energy_kwh ?? 0) + (rise_kwh * (end_ms - start_ms)) / elapsed_ms
    if (start_ms > covered_until_ms) open.push({ start_ms: covered_until_ms, end_ms: start_ms })
    covered_until_ms = end_ms
  }
  if (covered_until_ms < span.end_ms) open.push({ start_ms: covered_until_ms, end_ms: span.end_ms })
  return { energy_kwh, open, ...ends }
}

/** Readings between which the counter stood still while power was measured. */
function standingStill(
  readings: readonly CounterSample[],
  device: CountedDevice,
): Set<CounterSample> {
  const still = new Set<CounterSample>()
  let from = 0
  for (let to = 1; to <= readings.length; to += 1) {
    const first = readings[from]!
    if (readings[to]?.energy_total_kwh === first.energy_total_kwh) continue
    // The next rise shows whether the counter was only late.
    const last = readings[to] ?? readings[to - 1]!
    const meanwhile = {
      // Implausible rises count as 0.
      rise_kwh: riseBetween(readings[to - 1]!, last, device) ?? 0,
      by_power_kwh: last.by_power_kwh - first.by_power_kwh,
      measured_s: (last.time_ms - first.time_ms) / 1000,
    }
    if (to - from > 1 && stoodStill(first.energy_total_kwh, meanwhile, device)) {
      for (const reading of readings.slice(from, to)) still.add(reading)
    }
    from = to
  }
  return still
}

/** Whether a counter stood still, from its rise and the energy measured by power. */
export function stoodStill(
  energy_total_kwh: number,
  {
    rise_kwh,
    by_power_kwh,
    measured_s,
  }: { rise_kwh: number; by_power_kwh: number; measured_s: number },
  { rated_ac_power_kw }: Pick<CountedDevice, 'rated_ac_power_kw'>,
): boolean {
  const allowed_kwh =
    still_steps * counterStep(energy_total_kwh) +
    (still_rated_ratio * rated_ac_power_kw * measured_s) / 3600
  return by_power_kwh > allowed_kwh && rise_kwh < caught_up_ratio * by_power_kwh
}

/** Whether the rise after the last reading of an hour is a gap that no hour counts. */
export function isCounterGap(before: CounterReading, after: CounterReading, hour: Span): boolean {
  return after.time_ms > hour.end_ms && after.time_ms - before.time_ms > counter_near_ms
}

/** Null after a reset, and for readings of different devices. */
export function riseBetween(
  before: CounterReading,
  after: CounterReading,
  { rated_ac_power_kw, exchanged_ms }: CountedDevice,
): number | null {
  if (isExchanged(exchanged_ms, before.time_ms, after.time_ms)) return null
  return counterIncrease(before.energy_total_kwh, after.energy_total_kwh, {
    elapsed_s: (after.time_ms - before.time_ms) / 1000,
    rated_kw: rated_ac_power_kw,
  })
}
