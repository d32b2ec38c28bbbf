/** An MPPT with its parallel strings at a common voltage. */
import { type LitString, litBestVoltages, litCurrent, litOpenVoltage } from './string.ts'

/**
 * Strings whose best voltages differ by less than this share are operated at their mean, which
 * costs less than 1e-6 of their power; others are searched.
 */
const alike_ratio = 0.004
/** Step of the search, relative to the voltage: within 5e-4 of the highest power for all faults. */
const scan_ratio = 0.01
const search_steps_max = 40
const search_width_ratio = 4e-4
const limit_tolerance = 2e-4
const golden = (Math.sqrt(5) - 1) / 2

export function powerAtVoltage(strings: readonly LitString[], voltage_v: number): number {
  let current_a = 0
  for (const string of strings) current_a += litCurrent(string, voltage_v)
  return current_a * voltage_v
}

/** Open-circuit voltage of the strings together, 0 without any. */
export function openVoltage(strings: readonly LitString[]): number {
  return strings.reduce((highest, string) => Math.max(highest, litOpenVoltage(string)), 0)
}

/**
 * Voltage at maximum power of all strings together. A weak string shifts its neighbours from their
 * own maxima, as in a real plant.
 */
export function bestVoltage(strings: readonly LitString[]): number {
  const own_v = strings.flatMap((string) => litBestVoltages(string))
  if (own_v.length === 0) return 0
  const mean_v = own_v.reduce((sum, voltage) => sum + voltage, 0) / own_v.length
  const spread_v = Math.max(...own_v) - Math.min(...own_v)
  if (spread_v <= alike_ratio * mean_v) return mean_v
  return searched(strings, own_v)
}

/**
 * Power rises below the lowest of their maxima and falls above the highest; the sum may have
 * several maxima in between. Starts from the best of these points and some between them, then
 * searches by golden section.
 */
function searched(strings: readonly LitString[], own_v: readonly number[]): number {
  const power = (voltage_v: number) => powerAtVoltage(strings, voltage_v)
  const [from, to] = [Math.min(...own_v), Math.max(...own_v)]
  const steps = Math.ceil((to - from) / (scan_ratio * to)) + 2
  const scan = Array.from(
    { length: steps - 1 },
    (_, nth) => from + ((to - from) * (nth + 1)) / steps,
  )
  const points_v = [...own_v, ...scan].sort((a, b) => a - b)
  const powers = points_v.map(power)
  const at = powers.indexOf(Math.max(...powers))
  const best_v = points_v[at]!
  let low = points_v[at - 1] ?? best_v
  let high = points_v[at + 1] ?? best_v
  let left = high - golden * (high - low)
  let right = low + golden * (high - low)
  let left_w = power(left)
  let right_w = power(right)
  for (let step = 0; step < search_steps_max; step += 1) {
    if (high - low <= search_width_ratio * best_v) break
    if (left_w > right_w) {
      high = right
      right = left
      right_w = left_w
      left = high - golden * (high - low)
      left_w = power(left)
    } else {
      low = left
      left = right
      left_w = right_w
      right = low + golden * (high - low)
      right_w = power(right)
    }
  }
  const [found_v, found_w] = left_w > right_w ? [left, left_w] : [right, right_w]
  return found_w > powers[at]! ? found_v : best_v
}

/**
 * Voltages at which several MPPTs together deliver at most `limit_w`: all move from their best
 * voltage towards the open circuit by the same share, found by false position (the Illinois
 * variant), which ends slightly below the limit.
 */
export function limitedVoltages(
  trackers: readonly (readonly LitString[])[],
  { best_v, best_w, limit_w }: { best_v: readonly number[]; best_w: number; limit_w: number },
): number[] {
  const open_v = trackers.map((strings) => openVoltage(strings))
  const moved = (share: number) => best_v.map((best, nth) => best + (open_v[nth]! - best) * share)
  const excess = (share: number) => {
    const voltage_v = moved(share)
    return (
      trackers.reduce((sum, strings, nth) => sum + powerAtVoltage(strings, voltage_v[nth]!), 0) -
      limit_w
    )
  }
  let low = { share: 0, weight_w: best_w - limit_w }
  let high = { share: 1, weight_w: -limit_w }
  let short_w = limit_w
  let last_was_above: boolean | null = null
  for (let step = 0; step < search_steps_max && short_w > limit_tolerance * limit_w; step += 1) {
    const span = high.share - low.share
    const share = low.share + (span * low.weight_w) / (low.weight_w - high.weight_w)
    const over_w = excess(share)
    const is_above = over_w > 0
    if (is_above) {
      low = { share, weight_w: over_w }
      if (last_was_above === true) high.weight_w /= 2
    } else {
      high = { share, weight_w: over_w }
      short_w = -over_w
      if (last_was_above === false) low.weight_w /= 2
    }
    last_was_above = is_above
  }
  return moved(high.share)
}
