import { median } from '@heliograph/domain/median'
import { type HourOfString, type SuspectedCause, shadeLoss, suspectCause } from './string-cause.ts'
import {
  type Comparison,
  compareStrings,
  dead_ratio,
  type NoDataReason,
} from './string-comparison.ts'
import type { StringLayout, StringSums } from './string-sums.ts'

type StringStatus = 'healthy' | 'watch' | 'underperforming' | 'critical' | 'dead' | 'no_data'

/** Power ratio to the peers below which a string has the status of the name. */
export const health_thresholds = {
  watch: 0.97,
  underperforming: 0.95,
  critical: 0.85,
  dead: dead_ratio,
} as const

/** Optional sums of parts of the window, for results over time. */
export interface JudgedParts {
  /** One per local day in order; the last may be incomplete. */
  days?: readonly StringSums[]
  /** One per hour of the day, over all days or the last few. */
  hours?: readonly StringSums[]
}

/** Null values are unknown. */
export interface StringVerdict {
  string_index: number
  status: StringStatus
  /** Reason why the string is not rated; else null. */
  reason: NoDataReason | null
  compared_with: 'peers' | 'expected' | null
  peer_count: number
  coverage_ratio: number | null
  sample_count: number
  /** Energy per rated power relative to the peers, or relative to the expected energy. */
  ratio: number | null
  /** As `ratio`, without losses caused by an MPPT partner; determines the status. */
  own_ratio: number | null
  deviation_pct: number | null
  current_ratio_to_peers: number | null
  voltage_ratio_to_peers: number | null
  /** Robust z-score of `own_ratio` in the group; only when compared with peers. */
  z_score: number | null
  /** Energy below the reference over the compared time; 0 for a healthy string. */
  estimated_loss_kwh: number | null
  /** Whether the string itself is at fault. */
  is_culprit: boolean
  /** String on the same MPPT that causes a loss of this string. */
  affected_by_string_index: number | null
  suspected_cause: SuspectedCause | null
  confidence_pct: number | null
  /** The lower of `own_ratio` over the window and the last day, 0 to 100 %. */
  health_score_pct: number | null
  days_below_threshold: number | null
  /** Index in `days` of the first day of the current run below the threshold. */
  below_since_day: number | null
  /** Theil-Sen slope of the daily `own_ratio`; requires 3 days. */
  trend_pct_per_day: number | null
}

const samples_min = 12
/** Minimum for single hours, which have few samples and little weight. */
const samples_of_hour_min = 3
const z_max = -2.5
const spread_min = 0.01
const persistent_days = 3
const trend_days_min = 3
const shade_loss_min = 0.01
/** Minimum loss caused by a reported MPPT partner. */
const affected_min = 0.005
/** Expected power is as accurate as the irradiance, 2 to 3 %. */
const expected_tolerance = 0.03

/**
 * Rates the strings of one inverter from the sums of a window, by `own_ratio` and
 * `health_thresholds`. Below 0.95 a string is underperforming only with a z-score below -2.5, or
 * when it was below 0.97 on each of the last 3 days; otherwise, and between 0.95 and 0.97, it is on
 * watch, as is a string below its peers with losses at some hours only. With `days` the last day
 * (if it has half of a usual day's energy) can only worsen the status. Against expected power there
 * is no group, and the thresholds of watch and underperforming are 0.03 lower. Windows without
 * daylight, fully limited or with fewer than 12 samples give `no_data`.
 */
export function judgeStrings(
  layout: readonly StringLayout[],
  sums: StringSums,
  parts: JudgedParts = {},
): StringVerdict[] {
  const hours = hoursOf(layout, parts.hours ?? [])
  const compared = compareStrings(layout, sums, samples_min)
  const shares = hours.map(partnerShare)
  const refined = (comparisons: readonly Comparison[]) =>
    comparisons.map((comparison, at) => refine(comparison, shares[at] ?? null))
  const window = assess(refined(compared))
  const days = (parts.days ?? []).map((day) =>
    assess(refined(compareStrings(layout, day, samples_min))),
  )
  return window.map((assessment, at) => {
    const of_string = hours[at] ?? []
    const of_days = days.map((day) => alike(day[at] as Assessment, assessment))
    const last_day = lastDayOf(of_days)
    const judged = last_day === null ? [assessment] : [assessment, last_day]
    const is_persistent = isPersistent(of_days)
    const levels = judged.map((each) => levelOf(each, is_persistent))
    const status = statusOf(assessment, levels, of_string)
    const is_culprit = status !== 'healthy' && status !== 'no_data'
    const { layout: string } = assessment.comparison
    return {
      ...metricsOf(assessment, status),
      health_score_pct: scoreOf(judged),
      sample_count: sums.sample_count[string.string_index] ?? 0,
      is_culprit,
      ...(is_culprit
        ? suspectCause(assessment.comparison, of_string, compared, status === 'dead')
        : { suspected_cause: null, confidence_pct: null }),
      days_below_threshold: parts.days === undefined ? null : of_days.filter(isBelow).length,
      below_since_day: belowSince(of_days),
      trend_pct_per_day: trendOf(of_days),
    }
  })
}

/** A comparison with its z-score in the group. */
interface Assessment {
  comparison: Comparison
  z_score: number | null
}

/** Adds robust z-scores to the strings compared with peers. */
function assess(comparisons: readonly Comparison[]): Assessment[] {
  const groups = Map.groupBy(comparisons, ({ layout: { group } }) => group)
  const scales = new Map(
    [...groups].map(([group, members]) => {
      const ratios = members
        .filter(({ compared_with }) => compared_with === 'peers')
        .flatMap(({ own_ratio }) => own_ratio ?? [])
      const middle = median(ratios) ?? 1
      const spread = 1.4826 * (median(ratios.map((ratio) => Math.abs(ratio - middle))) ?? 0)
      return [group, { middle, spread: Math.max(spread, spread_min) }]
    }),
  )
  return comparisons.map((comparison) => {
    const { compared_with, own_ratio, layout } = comparison
    const scale = scales.get(layout.group)
    const z_score =
      compared_with === 'peers' && own_ratio !== null && scale !== undefined
        ? (own_ratio - scale.middle) / scale.spread
        : null
    return { comparison, z_score }
  })
}

/** Hours with a comparison with peers, for each string of the layout. */
function hoursOf(layout: readonly StringLayout[], hours: readonly StringSums[]): HourOfString[][] {
  const judged = hours.map((sums) => ({
    sums,
    comparisons: compareStrings(layout, sums, samples_of_hour_min),
  }))
  return layout.map((_, at) =>
    judged.flatMap(({ sums, comparisons }) => hourOf(comparisons[at] as Comparison, sums)),
  )
}

function hourOf(comparison: Comparison, sums: StringSums): HourOfString[] {
  const { compared_with, reference_kwh, ratio, own_ratio, affected_by_string_index } = comparison
  if (compared_with !== 'peers' || reference_kwh === null) return []
  if (ratio === null || own_ratio === null) return []
  const { string_index } = comparison.layout
  const peer_ah = sums.peer_ah[string_index] as number
  const peer_current_a = (peer_ah * 3600) / (sums.compared_s[string_index] as number)
  return [{ peer_kwh: reference_kwh, peer_current_a, ratio, own_ratio, affected_by_string_index }]
}

/** Share of a string's loss caused by an MPPT partner. */
interface PartnerShare {
  /** Share of the energy of the peers, and share of the loss; 0 to 1. */
  of_energy: number
  of_loss: number
  affected_by_string_index: number | null
}

/**
 * Computed hour by hour: a partner shaded in the evening reduces the voltage then and hardly
 * affects that of the day. Null without hours.
 */
function partnerShare(hours: readonly HourOfString[]): PartnerShare | null {
  const costs = hours.map(({ own_ratio, ratio, peer_kwh, affected_by_string_index }) => ({
    cost_kwh: (own_ratio - ratio) * peer_kwh,
    lost_kwh: (1 - ratio) * peer_kwh,
    affected_by_string_index,
  }))
  const cost_kwh = costs.reduce((sum, cost) => sum + cost.cost_kwh, 0)
  const lost_kwh = costs.reduce((sum, cost) => sum + cost.lost_kwh, 0)
  if (costs.length === 0) return null
  const peer_kwh = hours.reduce((sum, hour) => sum + hour.peer_kwh, 0)
  const costliest = costs.toSorted((a, b) => b.cost_kwh - a.cost_kwh)[0]
  return {
    of_energy: cost_kwh / peer_kwh,
    of_loss: lost_kwh > 0 ? Math.min(1, cost_kwh / lost_kwh) : 0,
    affected_by_string_index: costliest?.affected_by_string_index ?? null,
  }
}

/**
 * Comparison without the partner's share of the loss. The hours may cover only some days with other
 * irradiance, so that the larger of the shares of energy and of loss counts.
 */
function refine(comparison: Comparison, partner: PartnerShare | null): Comparison {
  const { compared_with, ratio, own_ratio } = comparison
  if (partner === null || compared_with !== 'peers' || ratio === null || own_ratio === null) {
    return comparison
  }
  return {
    ...comparison,
    own_ratio: ratio + Math.max(partner.of_energy, partner.of_loss * (1 - ratio)),
    affected_by_string_index: partner.affected_by_string_index,
  }
}

/** Ignores the ratio of a day with another reference than the window. */
function alike(day: Assessment, window: Assessment): Assessment {
  if (day.comparison.compared_with === window.comparison.compared_with) return day
  return { ...day, comparison: { ...day.comparison, own_ratio: null } }
}

/** Last rated day, if it has half of a usual day's energy. */
function lastDayOf(days: readonly Assessment[]): Assessment | null {
  const judged = days.filter(({ comparison }) => comparison.own_ratio !== null)
  const newest = judged.at(-1)
  const usual_kwh = median(judged.flatMap(({ comparison }) => comparison.reference_kwh ?? []))
  if (newest === undefined || usual_kwh === null) return newest ?? null
  // A dead string is rated without peers and has no reference energy.
  return (newest.comparison.reference_kwh ?? usual_kwh) >= usual_kwh / 2 ? newest : null
}

/** Whether the string was below the threshold on each of the last rated days. */
function isPersistent(days: readonly Assessment[]): boolean {
  const judged = days.filter(({ comparison }) => comparison.own_ratio !== null)
  const last = judged.slice(-persistent_days)
  return last.length === persistent_days && last.every(isBelow)
}

const severities = ['healthy', 'watch', 'underperforming', 'critical', 'dead'] as const

function statusOf(
  { comparison: { reason, own_ratio } }: Assessment,
  levels: readonly StringStatus[],
  hours: readonly HourOfString[],
): StringStatus {
  if (reason !== null) return 'no_data'
  const worst = severities.findLast((severity) => levels.includes(severity)) ?? 'healthy'
  const is_below_peers = own_ratio !== null && own_ratio < 1
  const is_shaded = is_below_peers && shadeLoss(hours) >= shade_loss_min
  return worst === 'healthy' && is_shaded ? 'watch' : worst
}

function scoreOf([window, last_day]: readonly Assessment[]): number | null {
  const own_ratio = window?.comparison.own_ratio ?? null
  if (own_ratio === null) return null
  const lowest = Math.min(own_ratio, last_day?.comparison.own_ratio ?? own_ratio)
  return 100 * Math.min(1, Math.max(0, lowest))
}

function levelOf({ comparison, z_score }: Assessment, is_persistent: boolean): StringStatus {
  const { own_ratio, compared_with } = comparison
  if (own_ratio === null) return 'healthy'
  const tolerance = compared_with === 'expected' ? expected_tolerance : 0
  const { watch, underperforming, critical, dead } = health_thresholds
  if (own_ratio < dead) return 'dead'
  if (own_ratio < critical) return 'critical'
  if (own_ratio >= watch - tolerance) return 'healthy'
  const stands_out = z_score === null || z_score < z_max
  const is_low = own_ratio < underperforming - tolerance && stands_out
  return is_low || is_persistent ? 'underperforming' : 'watch'
}

function isBelow({ comparison: { own_ratio, compared_with } }: Assessment): boolean {
  const tolerance = compared_with === 'expected' ? expected_tolerance : 0
  return own_ratio !== null && own_ratio < health_thresholds.watch - tolerance
}

/** Unrated days neither start nor end a run. */
function belowSince(days: readonly Assessment[]): number | null {
  let since: number | null = null
  for (const [day, assessment] of days.entries()) {
    if (assessment.comparison.own_ratio === null) continue
    since = isBelow(assessment) ? (since ?? day) : null
  }
  return since
}

/** Median of the slopes between all pairs of rated days, percentage points per day. */
function trendOf(days: readonly Assessment[]): number | null {
  const points = days.flatMap(({ comparison: { own_ratio } }, day) =>
    own_ratio === null ? [] : { day, own_ratio },
  )
  if (points.length < trend_days_min) return null
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => (to.own_ratio - from.own_ratio) / (to.day - from.day)),
  )
  return 100 * (median(slopes) as number)
}

function metricsOf({ comparison, z_score }: Assessment, status: StringStatus) {
  const { ratio, own_ratio, energy_kwh, reference_kwh } = comparison
  const is_affected = ratio !== null && own_ratio !== null && own_ratio - ratio >= affected_min
  const loses = status !== 'healthy' || is_affected
  return {
    string_index: comparison.layout.string_index,
    status,
    reason: comparison.reason,
    compared_with: comparison.compared_with,
    peer_count: comparison.peer_count,
    coverage_ratio: comparison.coverage_ratio,
    ratio,
    own_ratio,
    deviation_pct: ratio === null ? null : 100 * (ratio - 1),
    current_ratio_to_peers: comparison.current_ratio,
    voltage_ratio_to_peers: comparison.voltage_ratio,
    z_score,
    estimated_loss_kwh:
      energy_kwh === null || reference_kwh === null
        ? null
        : loses
          ? Math.max(0, reference_kwh - energy_kwh)
          : 0,
    affected_by_string_index: is_affected ? comparison.affected_by_string_index : null,
  }
}
