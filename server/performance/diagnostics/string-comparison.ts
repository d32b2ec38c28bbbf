import { median } from '@heliograph/domain/median'
import type { AdditiveQuantity, StringLayout, StringSums } from './string-sums.ts'

/** Reasons why a string cannot be rated. */
export const noDataReasons = [
  'not_connected',
  'no_samples',
  'no_light',
  'limited',
  'stale',
  'low_coverage',
  'too_few_samples',
  'too_few_peers',
  'peers_bad',
  'not_producing',
] as const
type NoDataReason = (typeof noDataReasons)[number]

/** Comparison of one string with its peers over the sums of a span. */
export interface Comparison {
  layout: StringLayout
  reason: NoDataReason | null
  compared_with: 'peers' | 'expected' | null
  /** Other usable strings of the group. */
  peer_count: number
  /** Measured share of the daylight; null without daylight. */
  coverage_ratio: number | null
  /** Energy over the compared time. */
  energy_kwh: number | null
  /** Energy of the peers over the same time, scaled by rated power, or expected energy. */
  reference_kwh: number | null
  ratio: number | null
  current_ratio: number | null
  voltage_ratio: number | null
  /** As `ratio`, without the loss caused by an MPPT partner. */
  own_ratio: number | null
  /** MPPT partner that moves the shared voltage off the maximum power point of this string. */
  affected_by_string_index: number | null
}

const coverage_min = 0.5
const group_min = 4
const zero_share_min = 0.95
const bad_ratio = 0.85
/** Strings below this ratio are dead. */
export const dead_ratio = 0.05

/** Smaller differences of current deficits are within the accuracy of string sensors. */
const deficit_difference_min = 0.01

/** Excess of the short-circuit current over the MPP current; median of crystalline panels. */
const current_rise_max = 0.06

/**
 * Compares the strings of one inverter over the span of `sums`. The reference is the peers
 * (connected strings of the group) when at least 4 strings of the group including itself are usable
 * and half of them healthy, else the expected power, else none, with a reason. Weakness of more
 * than half of the peers is visible only against the expected power. `samples_min` is the minimum
 * number of samples of a usable string.
 */
export function compareStrings(
  layout: readonly StringLayout[],
  sums: StringSums,
  samples_min: number,
): Comparison[] {
  const comparisons = layout.map((string) => startOf(string, sums, samples_min))
  const connected = comparisons.filter(({ layout: { is_connected } }) => is_connected)
  for (const group of Map.groupBy(connected, ({ layout }) => layout.group).values()) {
    compareGroup(group, sums)
  }
  for (const partners of Map.groupBy(connected, ({ layout }) => layout.mppt_index).values()) {
    for (const comparison of partners) separate(comparison, partners)
  }
  return comparisons
}

/** Comparison without results, with the reason when data are insufficient. */
function startOf(layout: StringLayout, sums: StringSums, samples_min: number): Comparison {
  const at = (quantity: AdditiveQuantity) => sums[quantity][layout.string_index] ?? 0
  const light_s = at('light_s')
  return {
    layout,
    reason: layout.is_connected ? lackOf(at, samples_min) : 'not_connected',
    compared_with: null,
    peer_count: 0,
    coverage_ratio: light_s > 0 && layout.is_connected ? at('known_s') / light_s : null,
    energy_kwh: null,
    reference_kwh: null,
    ratio: null,
    current_ratio: null,
    voltage_ratio: null,
    own_ratio: null,
    affected_by_string_index: null,
  }
}

function lackOf(
  at: (quantity: AdditiveQuantity) => number,
  samples_min: number,
): NoDataReason | null {
  const light_s = at('light_s')
  const is_lacking = at('sample_count') < samples_min || at('known_s') < coverage_min * light_s
  if (!is_lacking) return null
  if (at('covered_s') === 0) return 'no_samples'
  const missing_s = light_s - at('known_s')
  if (at('stale_s') > missing_s / 2) return 'stale'
  if (at('limited_s') > light_s) return 'limited'
  if (light_s === 0) return 'no_light'
  if (at('sample_count') === 0) return 'no_samples'
  return at('known_s') < coverage_min * light_s ? 'low_coverage' : 'too_few_samples'
}

function compareGroup(group: readonly Comparison[], sums: StringSums): void {
  const usable = group.filter(({ reason }) => reason === null)
  const value = ({ layout }: Comparison, quantity: AdditiveQuantity) =>
    sums[quantity][layout.string_index] as number
  const expectedRatio = (comparison: Comparison): number | null =>
    value(comparison, 'with_expected_s') >= coverage_min * value(comparison, 'known_s') &&
    value(comparison, 'expected_kwh') > 0
      ? value(comparison, 'compared_with_expected_kwh') / value(comparison, 'expected_kwh')
      : null
  const expected_median = median(usable.flatMap((each) => expectedRatio(each) ?? []))
  const are_healthy = expected_median === null || expected_median >= bad_ratio
  const isZero = (comparison: Comparison) =>
    value(comparison, 'zero_current_s') >= zero_share_min * value(comparison, 'known_s')
  const has_no_current = usable.every(isZero)

  for (const comparison of usable) {
    comparison.peer_count = usable.length - 1
    const known_s = value(comparison, 'known_s')
    const has_peers =
      usable.length >= group_min && value(comparison, 'compared_s') >= coverage_min * known_s
    const expected_ratio = expectedRatio(comparison)
    if (has_peers && are_healthy) {
      comparison.compared_with = 'peers'
      comparison.energy_kwh = value(comparison, 'compared_kwh')
      comparison.reference_kwh = value(comparison, 'peer_kwh')
      comparison.ratio = comparison.energy_kwh / comparison.reference_kwh
      comparison.current_ratio = value(comparison, 'compared_ah') / value(comparison, 'peer_ah')
      comparison.voltage_ratio = value(comparison, 'compared_vs') / value(comparison, 'peer_vs')
    } else if (expected_ratio !== null) {
      comparison.compared_with = 'expected'
      comparison.energy_kwh = value(comparison, 'compared_with_expected_kwh')
      comparison.reference_kwh = value(comparison, 'expected_kwh')
      comparison.ratio = expected_ratio
    } else if (isZero(comparison) && !has_no_current) {
      // No median is needed: other strings of the group carry current.
      comparison.compared_with = 'peers'
      comparison.ratio = 0
    } else if (has_no_current) {
      comparison.reason = 'not_producing'
    } else {
      comparison.reason = usable.length < group_min ? 'too_few_peers' : 'peers_bad'
    }
    comparison.own_ratio = comparison.ratio
  }
}

/**
 * Removes the loss caused by an MPPT partner. Strings of an MPPT share its voltage: a string with
 * bypassed cells or a bad contact pulls the voltage below the maximum power point of the others. A
 * healthy string then carries more current than its peers, as on its curve, and the faulty one
 * less; so the voltage loss belongs to the string with the largest current deficit.
 */
function separate(comparison: Comparison, partners: readonly Comparison[]): void {
  const deficit = deficitOf(comparison)
  const { ratio } = comparison
  if (deficit === null || ratio === null) return
  // An open string does not affect the voltage.
  const others = partners.filter((other) => other !== comparison && !isDead(other))
  const worst = others
    .filter((other) => (deficitOf(other) ?? 0) - deficit > deficit_difference_min)
    .toSorted((a, b) => (deficitOf(b) as number) - (deficitOf(a) as number))[0]
  // A partner without data is at fault when this string is clearly healthy.
  const unseen = others.find((other) => deficitOf(other) === null)
  const culprit = worst ?? (deficit < deficit_difference_min ? unseen : undefined)
  const own_ratio = Math.min(1, 1 - deficit)
  if (culprit === undefined || own_ratio <= ratio) return
  comparison.own_ratio = own_ratio
  comparison.affected_by_string_index = culprit.layout.string_index
}

export const isDead = ({ ratio }: Comparison) => ratio !== null && ratio < dead_ratio

/** Current deficit relative to a healthy string at that voltage. */
function deficitOf({ current_ratio, voltage_ratio }: Comparison): number | null {
  if (current_ratio === null || voltage_ratio === null) return null
  return 1 - current_ratio / soundCurrent(voltage_ratio)
}

/**
 * Current of a healthy string relative to its MPP current, from its voltage relative to its MPP
 * voltage. At the MPP d(VI)/dV is 0, so that a small voltage decrease gives an equal current
 * increase; at lower voltage the current saturates towards the short-circuit current.
 */
function soundCurrent(voltage_ratio: number): number {
  return 1 + current_rise_max * (1 - Math.exp((voltage_ratio - 1) / current_rise_max))
}
