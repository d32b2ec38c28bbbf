import { median } from '@heliograph/domain/median'
import { type HourOfString, shadeLoss, suspectCause } from './string-cause.ts'
import { type Comparison, compareStrings, dead_ratio } from './string-comparison.ts'
import type { StringLayout, StringSums } from './string-sums.ts'

export const stringStatuses = [
  'healthy',
  'watch',
  'underperforming',
  'critical',
  'dead',
  'no_data',
] as const
type StringStatus = (typeof stringStatuses)[number]

/** Power ratio to the peers below which a string has the status of the name. */
export const health_thresholds = {
  watch: 0.97,
  underperforming: 0.95,
  critical: 0.85,
  dead: dead_ratio,
} as const

/** Optional sums of parts of the window, for results over time. */
interface JudgedParts {
  /** One per local day in order; the last may be incomplete. */
  days?: readonly StringSums[]
  /** One per hour of the day, over all days or the last few. */
  hours?: readonly StringSums[]
}

export type StringVerdict = ReturnType<typeof judgeStrings>[number]

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
) {
  const hours = hoursOf(layout, parts.hours ?? [])
  const compared = compareStrings(layout, sums, samples_min)
  const shares = hours.map(partnerShare)
  const assessed = (comparisons: readonly Comparison[]) =>
    assess(comparisons.map((comparison, at) => refine(comparison, shares[at] ?? null)))
  const days = (parts.days ?? []).map((day) => assessed(compareStrings(layout, day, samples_min)))
  return assessed(compared).map((assessment, at) => {
    const of_string = hours[at] ?? []
    const of_days = days.map((day) => alike(day[at]!, assessment))
    const rated_days = of_days.filter(({ own_ratio }) => own_ratio !== null)
    const last_day = lastDayOf(rated_days)
    const judged = last_day === null ? [assessment] : [assessment, last_day]
    const last = rated_days.slice(-persistent_days)
    const is_persistent = last.length === persistent_days && last.every(isBelow)
    const levels = judged.map((each) => levelOf(each, is_persistent))
    const status = statusOf(assessment, levels, of_string)
    const is_culprit = status !== 'healthy' && status !== 'no_data'
    return {
      ...metricsOf(assessment, status),
      /** The lower of `own_ratio` over the window and the last day, 0 to 100 %. */
      health_score_pct: scoreOf(judged),
      sample_count: sums.sample_count[assessment.layout.string_index] ?? 0,
      is_culprit,
      ...(is_culprit
        ? suspectCause(assessment, of_string, compared, status === 'dead')
        : { suspected_cause: null, confidence_pct: null }),
      days_below_threshold: parts.days === undefined ? null : of_days.filter(isBelow).length,
      /** Index in `days` of the first day of the current run below the threshold. */
      below_since_day: belowSince(of_days),
      trend_pct_per_day: trendOf(of_days),
    }
  })
}

/** Robust z-score of `own_ratio` in the group; null unless compared with peers. */
type Assessment = Comparison & { z_score: number | null }

function assess(comparisons: readonly Comparison[]): Assessment[] {
  const toPeers = ({ compared_with, own_ratio }: Comparison) =>
    compared_with === 'peers' ? own_ratio : null
  const scales = new Map(
    [...Map.groupBy(comparisons, ({ layout }) => layout.group)].map(([group, members]) => {
      const ratios = members.flatMap((member) => toPeers(member) ?? [])
      const middle = median(ratios) ?? 1
      const spread = 1.4826 * (median(ratios.map((ratio) => Math.abs(ratio - middle))) ?? 0)
      return [group, { middle, spread: Math.max(spread, spread_min) }]
    }),
  )
  return comparisons.map((comparison) => {
    const { middle, spread } = scales.get(comparison.layout.group)!
    const own_ratio = toPeers(comparison)
    const z_score = own_ratio === null ? null : (own_ratio - middle) / spread
    return { ...comparison, z_score }
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

/**
 * Share of the energy of the peers, and of the loss, that a partner costs, 0 to 1. Computed hour by
 * hour: a partner shaded in the evening reduces the voltage then and hardly affects that of the
 * day. Null without hours.
 */
function partnerShare(hours: readonly HourOfString[]) {
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
function refine(comparison: Comparison, partner: ReturnType<typeof partnerShare>): Comparison {
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
const alike = (day: Assessment, window: Assessment): Assessment =>
  day.compared_with === window.compared_with ? day : { ...day, own_ratio: null }

/** Last rated day, if it has half of a usual day's energy. */
function lastDayOf(days: readonly Assessment[]): Assessment | null {
  const newest = days.at(-1)
  const usual_kwh = median(days.flatMap(({ reference_kwh }) => reference_kwh ?? []))
  if (newest === undefined || usual_kwh === null) return newest ?? null
  // A dead string is rated without peers and has no reference energy.
  return (newest.reference_kwh ?? usual_kwh) >= usual_kwh / 2 ? newest : null
}

function statusOf(
  { reason, own_ratio }: Assessment,
  levels: readonly StringStatus[],
  hours: readonly HourOfString[],
): StringStatus {
  if (reason !== null) return 'no_data'
  const worst = stringStatuses.findLast((status) => levels.includes(status)) ?? 'healthy'
  const is_below_peers = own_ratio !== null && own_ratio < 1
  const is_shaded = is_below_peers && shadeLoss(hours) >= shade_loss_min
  return worst === 'healthy' && is_shaded ? 'watch' : worst
}

function scoreOf([window, last_day]: readonly Assessment[]): number | null {
  const own_ratio = window?.own_ratio ?? null
  if (own_ratio === null) return null
  const lowest = Math.min(own_ratio, last_day?.own_ratio ?? own_ratio)
  return 100 * Math.min(1, Math.max(0, lowest))
}

/** Added to ratios: expected power is as accurate as the irradiance, 2 to 3 %. */
const toleranceOf = ({ compared_with }: Comparison) => (compared_with === 'expected' ? 0.03 : 0)

function levelOf(assessment: Assessment, is_persistent: boolean): StringStatus {
  const { own_ratio, z_score } = assessment
  if (own_ratio === null) return 'healthy'
  const { underperforming, critical, dead } = health_thresholds
  if (own_ratio < dead) return 'dead'
  if (own_ratio < critical) return 'critical'
  if (!isBelow(assessment)) return 'healthy'
  const stands_out = z_score === null || z_score < z_max
  const is_low = own_ratio < underperforming - toleranceOf(assessment) && stands_out
  return is_low || is_persistent ? 'underperforming' : 'watch'
}

const isBelow = (assessment: Assessment) =>
  assessment.own_ratio !== null &&
  assessment.own_ratio < health_thresholds.watch - toleranceOf(assessment)

/** Unrated days neither start nor end a run. */
function belowSince(days: readonly Assessment[]): number | null {
  let since: number | null = null
  for (const [day, assessment] of days.entries()) {
    if (assessment.own_ratio === null) continue
    since = isBelow(assessment) ? (since ?? day) : null
  }
  return since
}

/** Theil-Sen slope: median of the slopes between all pairs of rated days, points per day. */
function trendOf(days: readonly Assessment[]): number | null {
  const points = days.flatMap(({ own_ratio }, day) =>
    own_ratio === null ? [] : { day, own_ratio },
  )
  if (points.length < trend_days_min) return null
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => (to.own_ratio - from.own_ratio) / (to.day - from.day)),
  )
  return 100 * median(slopes)!
}

function metricsOf(assessment: Assessment, status: StringStatus) {
  const { ratio, own_ratio, energy_kwh, reference_kwh } = assessment
  const is_affected = ratio !== null && own_ratio !== null && own_ratio - ratio >= affected_min
  const loses = status !== 'healthy' || is_affected
  const is_known = energy_kwh !== null && reference_kwh !== null
  return {
    string_index: assessment.layout.string_index,
    status,
    reason: assessment.reason,
    compared_with: assessment.compared_with,
    peer_count: assessment.peer_count,
    coverage_ratio: assessment.coverage_ratio,
    ratio,
    /** As `ratio`, without losses caused by an MPPT partner; determines the status. */
    own_ratio,
    deviation_pct: ratio === null ? null : 100 * (ratio - 1),
    current_ratio_to_peers: assessment.current_ratio,
    voltage_ratio_to_peers: assessment.voltage_ratio,
    z_score: assessment.z_score,
    /** Energy below the reference over the compared time; 0 for a healthy string. */
    estimated_loss_kwh: is_known ? (loses ? Math.max(0, reference_kwh - energy_kwh) : 0) : null,
    affected_by_string_index: is_affected ? assessment.affected_by_string_index : null,
  }
}
