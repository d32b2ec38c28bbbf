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

/** Shares of what the peers give below which a string has the status of the name. */
export const health_thresholds = {
  watch: 0.97,
  underperforming: 0.95,
  critical: 0.85,
  dead: dead_ratio,
} as const

/**
 * Sums of the parts of the window, where the caller has them. Without them nothing is said of time.
 */
export interface JudgedParts {
  /** One for each local day, in order; the last may be unfinished. */
  days?: readonly StringSums[]
  /** One for each hour of the day that has any, over all days or the last few. */
  hours?: readonly StringSums[]
}

/** Null is what cannot be said. */
export interface StringVerdict {
  string_index: number
  status: StringStatus
  /** Why there is no verdict; null with one. */
  reason: NoDataReason | null
  compared_with: 'peers' | 'expected' | null
  peer_count: number
  coverage_ratio: number | null
  sample_count: number
  /** Energy by that of the peers, per rated power, or by the expected energy. */
  ratio: number | null
  /** Likewise, but without what an MPPT partner costs the string: what the status is judged by. */
  own_ratio: number | null
  deviation_pct: number | null
  current_ratio_to_peers: number | null
  voltage_ratio_to_peers: number | null
  /** Robust z-score of `own_ratio` in the group; only beside peers. */
  z_score: number | null
  /** The energy that the string falls short of over the time compared; 0 for a healthy string. */
  estimated_loss_kwh: number | null
  /** The string itself is at fault. */
  is_culprit: boolean
  /** The string loses because of this one, which shares its MPPT. */
  affected_by_string_index: number | null
  suspected_cause: SuspectedCause | null
  confidence_pct: number | null
  /** 0 to 100: in percent the lower of `own_ratio` and that of the last day. */
  health_score_pct: number | null
  days_below_threshold: number | null
  /** Index in `days` of the first of those that the string was below it to the last day judged. */
  below_since_day: number | null
  /** Slope of the daily `own_ratio` (Theil and Sen); from 3 days on. */
  trend_pct_per_day: number | null
}

const samples_min = 12
/** Hours of one day are short; an hour of a few samples weighs little. */
const samples_of_hour_min = 3
const z_max = -2.5
const spread_min = 0.01
const persistent_days = 3
const trend_days_min = 3
const shade_loss_min = 0.01
/** What a partner must cost a string for it to be named. */
const affected_min = 0.005
/** Expected power is no better known than the irradiance, within 2 to 3 %. */
const expected_tolerance = 0.03

/**
 * Judges the strings of one inverter over a window, from the sums of the window. The figures are
 * those of `health_thresholds`, by `own_ratio`: below 0.95 only what stands out from its group too
 * (z below -2.5), or was below 0.97 on each of the last 3 days, is underperforming; what is not,
 * and all between 0.95 and 0.97, is on watch, and so is a string below its peers that loses at
 * some hours only.
 * With `days` the last day (if it brought half of a usual day's energy) may make it worse, never
 * better. Beside expected power there is no group, and the thresholds of watch and underperforming
 * are 0.03 lower. Sums of a window without light, wholly limited or with fewer than 12 samples give
 * `no_data`.
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
      ...figuresOf(assessment, status),
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

/** A comparison, and how it stands in its group. */
interface Assessment {
  comparison: Comparison
  z_score: number | null
}

/** Adds the robust z-scores of the strings that are compared with peers. */
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

/** For each string of the layout the hours at which it can be compared with its peers. */
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

/** What part of a string's loss its partner costs it, and which partner. */
interface PartnerShare {
  /** Of the energy of the peers, and of what was lost; 0 to 1. */
  of_energy: number
  of_loss: number
  affected_by_string_index: number | null
}

/**
 * Told apart hour by hour: a partner that is shaded in the evening pulls the voltage down then, and
 * hardly shows in that of the day. Null where no hour says anything.
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
  const dearest = costs.toSorted((a, b) => b.cost_kwh - a.cost_kwh)[0]
  return {
    of_energy: cost_kwh / peer_kwh,
    of_loss: lost_kwh > 0 ? Math.min(1, cost_kwh / lost_kwh) : 0,
    affected_by_string_index: dearest?.affected_by_string_index ?? null,
  }
}

/**
 * The same comparison, without the partner's part of the loss. The hours may be of some days only,
 * in another light than the rest: the part counts of the energy or of the loss, by which is more.
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

/** A day that is compared with something else than the window says nothing beside it. */
function alike(day: Assessment, window: Assessment): Assessment {
  if (day.comparison.compared_with === window.comparison.compared_with) return day
  return { ...day, comparison: { ...day.comparison, own_ratio: null } }
}

/** The last day that could be judged, if it brought half of a usual day's energy. */
function lastDayOf(days: readonly Assessment[]): Assessment | null {
  const judged = days.filter(({ comparison }) => comparison.own_ratio !== null)
  const newest = judged.at(-1)
  const usual_kwh = median(judged.flatMap(({ comparison }) => comparison.reference_kwh ?? []))
  if (newest === undefined || usual_kwh === null) return newest ?? null
  // A dead string needs no peers to be judged, and has no energy of theirs beside it.
  return (newest.comparison.reference_kwh ?? usual_kwh) >= usual_kwh / 2 ? newest : null
}

/** Below the threshold on each of the last days that could be judged. */
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

/** A day that could not be judged neither ends such a run nor begins one. */
function belowSince(days: readonly Assessment[]): number | null {
  let since: number | null = null
  for (const [day, assessment] of days.entries()) {
    if (assessment.comparison.own_ratio === null) continue
    since = isBelow(assessment) ? (since ?? day) : null
  }
  return since
}

/** Median of the slopes between all pairs of days that were judged, percent points a day. */
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

function figuresOf({ comparison, z_score }: Assessment, status: StringStatus) {
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
