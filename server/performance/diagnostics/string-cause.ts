import { type Comparison, isDead } from './string-comparison.ts'

export const suspectedCauses = [
  'soiling',
  'shading',
  'fuse',
  'connector',
  'bypass_diode',
  'tracker',
  'snow',
  'unknown',
] as const

/** Comparison of a string at one hour of the day, over all days of the window. */
export interface HourOfString {
  /** Energy of the peers scaled to the string: the weight of the hour. */
  peer_kwh: number
  peer_current_a: number
  ratio: number
  own_ratio: number
  affected_by_string_index: number | null
}

/** Hours below this share of the best hour's energy are ignored. */
const hour_share_min = 0.2
/** An hour counts as shaded this far below the usual ratio of the string. */
const shade_depth_ratio = 0.05
const voltage_loss_ratio = 0.985
const correlation_min = 0.8
const standing_loss_max = 0.35
const hours_min = 4

/**
 * Likely cause of a fault of a string, from the pattern of its loss over the hours of the day, over
 * its current, and between current and voltage. A voltage loss that grows with the current is a bad
 * contact (`connector`); a voltage loss at all hours is a bypassed substring; a loss at some hours
 * is shade; a current loss at all hours is soiling. Without hours only current and voltage losses
 * are distinguished. Snow, failed cells, potential-induced degradation and stuck trackers cannot be
 * distinguished from these and are never reported.
 *
 * `confidence_pct` is coarse: 80 for a pattern that was right in more than 80 % of simulated
 * faults, which are easier than real ones; 50 when two causes look alike; 40 without hours; 0 for
 * `unknown`.
 */
export function suspectCause(
  comparison: Comparison,
  hours: readonly HourOfString[],
  all: readonly Comparison[],
  is_dead: boolean,
) {
  if (is_dead) return suspectOpen(comparison, all)
  if (comparison.compared_with !== 'peers') return unknown
  const is_voltage_low =
    comparison.affected_by_string_index === null &&
    (comparison.voltage_ratio ?? 1) < voltage_loss_ratio
  const significant = significantHours(hours)
  if (significant.length < hours_min) {
    return suspect(is_voltage_low ? 'bypass_diode' : 'soiling', 40)
  }
  if (is_voltage_low && followsCurrent(significant)) return suspect('connector', 80)
  if (shadeLoss(hours) > 0) return suspect('shading', 80)
  return is_voltage_low ? suspect('bypass_diode', 80) : suspect('soiling', 80)
}

function suspectOpen({ layout }: Comparison, all: readonly Comparison[]) {
  const connected = all.filter((other) => other.layout.is_connected)
  // When no string delivers current, the strings are not the cause.
  if (connected.every((other) => other.ratio === null || isDead(other))) return unknown
  const on_mppt = connected.filter((other) => other.layout.mppt_index === layout.mppt_index)
  // Two strings of an MPPT cannot overload each other and usually have no fuses.
  return suspect(on_mppt.length > 2 ? 'fuse' : 'connector', 50)
}

const suspect = (suspected_cause: (typeof suspectedCauses)[number], confidence_pct: number) => ({
  suspected_cause,
  confidence_pct,
})
const unknown = suspect('unknown', 0)

/**
 * Share of the energy lost in hours at least 5 % below the usual hour of the string and its peers;
 * 0 without such hours. Losses at every hour do not count.
 */
export function shadeLoss(hours: readonly HourOfString[]): number {
  const significant = significantHours(hours)
  if (significant.length < hours_min) return 0
  const usual = Math.min(1, weightedMedian(significant))
  const total_kwh = significant.reduce((sum, { peer_kwh }) => sum + peer_kwh, 0)
  const lost_kwh = significant
    .filter(({ own_ratio }) => own_ratio < usual - shade_depth_ratio)
    .reduce((sum, { own_ratio, peer_kwh }) => sum + (usual - own_ratio) * peer_kwh, 0)
  return lost_kwh / total_kwh
}

function significantHours(hours: readonly HourOfString[]): HourOfString[] {
  const most_kwh = Math.max(0, ...hours.map(({ peer_kwh }) => peer_kwh))
  return hours.filter(({ peer_kwh }) => peer_kwh >= hour_share_min * most_kwh)
}

/** Median of `own_ratio` weighted by energy. */
function weightedMedian(hours: readonly HourOfString[]): number {
  const sorted = hours.toSorted((a, b) => a.own_ratio - b.own_ratio)
  const half_kwh = sorted.reduce((sum, { peer_kwh }) => sum + peer_kwh, 0) / 2
  let sum_kwh = 0
  for (const { peer_kwh, own_ratio } of sorted) {
    sum_kwh += peer_kwh
    if (sum_kwh >= half_kwh) return own_ratio
  }
  return 1
}

/**
 * Whether the loss grows with the current from almost 0, as with a resistance. Bypassed cells lose
 * more at high current too when a partner fixes the voltage, but they lose at any current.
 */
function followsCurrent(hours: readonly HourOfString[]): boolean {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const mean_loss = mean(hours.map(({ own_ratio }) => 1 - own_ratio))
  const mean_a = mean(hours.map(({ peer_current_a }) => peer_current_a))
  let covariance = 0
  let of_loss = 0
  let of_current = 0
  for (const { own_ratio, peer_current_a } of hours) {
    const loss = 1 - own_ratio - mean_loss
    const current_a = peer_current_a - mean_a
    covariance += loss * current_a
    of_loss += loss ** 2
    of_current += current_a ** 2
  }
  const loss_without_current = mean_loss - (covariance / of_current) * mean_a
  const is_steady = covariance > correlation_min * Math.sqrt(of_loss * of_current)
  return is_steady && loss_without_current < standing_loss_max * mean_loss
}
