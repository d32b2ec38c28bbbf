import { median } from '@heliograph/domain/median'
import type { StringLayout, StringSums } from './string-sums.ts'

/** Why a string cannot be judged. */
export type NoDataReason =
  | 'not_connected'
  | 'no_samples'
  | 'no_light'
  | 'limited'
  | 'stale'
  | 'low_coverage'
  | 'too_few_samples'
  | 'too_few_peers'
  | 'peers_bad'
  | 'not_producing'

/** What the sums of a span say of one string beside the others. */
export interface Comparison {
  layout: StringLayout
  reason: NoDataReason | null
  compared_with: 'peers' | 'expected' | null
  /** The other strings of the group that could be judged. */
  peer_count: number
  /** Of the time with light, that with a measurement; null without light. */
  coverage_ratio: number | null
  /** What it gave over the time compared. */
  energy_kwh: number | null
  /** What its peers gave then, scaled by rated power, or what was expected. */
  reference_kwh: number | null
  /** Energy by reference. */
  ratio: number | null
  current_ratio: number | null
  voltage_ratio: number | null
  /** Likewise `ratio`, but without what an MPPT partner costs it. */
  own_ratio: number | null
  /** The partner that pulls the voltage they share away from where this string is best. */
  affected_by_string_index: number | null
}

const coverage_min = 0.5
const group_min = 4
const zero_share_min = 0.95
const bad_ratio = 0.85
/** What gives less than this share is dead. */
export const dead_ratio = 0.05

/** Current deficits nearer than this cannot be told apart: sensors of strings differ by as much. */
const deficit_difference_min = 0.01

/** Short-circuit current above that at the best power; median of the crystalline panels on sale. */
const current_rise_max = 0.06

/**
 * Compares the strings of one inverter over the span of `sums`. A string is compared with its
 * peers, the connected strings of its group, when at least 4 of the group, itself among them, are
 * usable and half of them sound; else with the expected power; else it has a reason why not. Peers
 * that carry nothing show as such; that more than half of them are merely weak is seen only beside
 * the expected power. `samples_min` is how many samples make a string usable.
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

/** The comparison before anything is compared: is there enough to go by? */
function startOf(layout: StringLayout, sums: StringSums, samples_min: number): Comparison {
  const at = (quantity: SumName) => sums[quantity][layout.string_index] ?? 0
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

type SumName = Exclude<keyof StringSums, 'current_a_max'>

function lackOf(at: (quantity: SumName) => number, samples_min: number): NoDataReason | null {
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
  const value = ({ layout }: Comparison, quantity: SumName) =>
    sums[quantity][layout.string_index] as number
  const expectedRatio = (comparison: Comparison): number | null =>
    value(comparison, 'with_expected_s') >= coverage_min * value(comparison, 'known_s') &&
    value(comparison, 'expected_kwh') > 0
      ? value(comparison, 'compared_with_expected_kwh') / value(comparison, 'expected_kwh')
      : null
  const expected_median = median(
    usable.map(expectedRatio).filter((ratio): ratio is number => ratio !== null),
  )
  const are_sound = expected_median === null || expected_median >= bad_ratio
  const isZero = (comparison: Comparison) =>
    value(comparison, 'zero_current_s') >= zero_share_min * value(comparison, 'known_s')
  const is_silent = usable.every(isZero)

  for (const comparison of usable) {
    comparison.peer_count = usable.length - 1
    const known_s = value(comparison, 'known_s')
    const has_peers =
      usable.length >= group_min && value(comparison, 'compared_s') >= coverage_min * known_s
    const expected_ratio = expectedRatio(comparison)
    if (has_peers && are_sound) {
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
    } else if (isZero(comparison) && !is_silent) {
      // No median to go by, and none is needed: others of the group do carry current.
      comparison.compared_with = 'peers'
      comparison.ratio = 0
    } else if (is_silent) {
      comparison.reason = 'not_producing'
    } else {
      comparison.reason = usable.length < group_min ? 'too_few_peers' : 'peers_bad'
    }
    comparison.own_ratio = comparison.ratio
  }
}

/**
 * Takes from a string's loss what an MPPT partner costs it. Strings of an MPPT share its voltage:
 * one that has lost cells to a bypass diode, or has a bad contact, pulls it below where the others
 * are best. A sound string then carries more than the current of its peers, as its curve has it,
 * and the faulty one less; so the loss of voltage is that of the string whose current falls
 * furthest short.
 */
function separate(comparison: Comparison, partners: readonly Comparison[]): void {
  const deficit = deficitOf(comparison)
  const { ratio } = comparison
  if (deficit === null || ratio === null) return
  // An open string carries nothing, and pulls at nothing.
  const others = partners.filter((other) => other !== comparison && !isDead(other))
  const worst = others
    .filter((other) => (deficitOf(other) ?? 0) - deficit > deficit_difference_min)
    .toSorted((a, b) => (deficitOf(b) as number) - (deficitOf(a) as number))[0]
  // A partner of which nothing is known is the one at fault where this string is plainly sound.
  const unseen = others.find((other) => deficitOf(other) === null)
  const culprit = worst ?? (deficit < deficit_difference_min ? unseen : undefined)
  const own_ratio = Math.min(1, 1 - deficit)
  if (culprit === undefined || own_ratio <= ratio) return
  comparison.own_ratio = own_ratio
  comparison.affected_by_string_index = culprit.layout.string_index
}

function isDead({ ratio }: Comparison): boolean {
  return ratio !== null && ratio < dead_ratio
}

/** How far the current falls short of what a sound string would carry at that voltage. */
function deficitOf({ current_ratio, voltage_ratio }: Comparison): number | null {
  if (current_ratio === null || voltage_ratio === null) return null
  return 1 - current_ratio / soundCurrent(voltage_ratio)
}

/**
 * Current of a sound string by that at its best power, from its voltage by that at its best power.
 * At the best power d(VI)/dV is 0, so a little voltage less is as much current more; further down
 * the current saturates towards that of the short circuit.
 */
function soundCurrent(voltage_ratio: number): number {
  return 1 + current_rise_max * (1 - Math.exp((voltage_ratio - 1) / current_rise_max))
}
