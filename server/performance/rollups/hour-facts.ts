/** Coverage, counter energy and five-minute means of an inverter's hour. */
import { intervals, type Span, sampleWeights } from '../../telemetry/energy.ts'
import { counterHour } from './counter-hour.ts'
import type { InverterHour, InverterSample } from './inverter-hour.ts'

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
  rated_kw: number,
): void {
  const by_power_kwh = cumulativeEnergy(samples)
  const counted = samples.flatMap(({ time_ms, energy_total_kwh }, nth) =>
    energy_total_kwh === null
      ? []
      : [{ time_ms, energy_total_kwh, by_power_kwh: by_power_kwh[nth]! }],
  )
  const { energy_kwh, open, first, last } = counterHour(counted, span, rated_kw)
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
