/** Items of the string ranking and of the comparison of an inverter. */

import { hour_ms } from '@heliograph/domain/durations'
import { hoursOfLocalDate, localDate } from '@heliograph/domain/local-day'
import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import { orientationOf } from '../../plant/orientation.ts'
import type { StringVerdict } from '../diagnostics/string-health.ts'
import { addSums, type StringSums } from '../diagnostics/string-sums.ts'
import { coverageOf, excludedReason, type Period, periodHours, periodRecord } from '../period.ts'
import { byRank, comparable, ranked } from './ranking.ts'
import type { JudgedInverter } from './string-health.ts'
import type { ComparedString, StringEfficiency } from './string-schemas.ts'
import type { RankedString, StringHour, StringStep } from './string-store.ts'

const pct = (ratio: number | null, decimals = 2) =>
  ratio === null ? null : rounded(100 * ratio, decimals)

/** Share of the daylight of the period with readings of one string, 0 to 1. */
const coverageIn = (total: StringSums | null, at: number, period: Period): number | null =>
  coverageOf(total?.covered_s[at] ?? 0, period.daylight_s)

/** `steps` has at most one step per string. */
export function healthItems(
  inverters: readonly JudgedInverter[],
  steps: readonly StringStep[],
  period: Period,
) {
  const head = periodRecord(period)
  const stepsOf = Map.groupBy(steps, ({ inverter_id }) => inverter_id)
  return inverters.flatMap((inverter) => {
    const own = stepsOf.get(inverter.inverter_id)
    return inverter.strings.map((string, nth) => {
      const step = own?.find(({ string_index }) => string_index === string.string_index)
      return {
        ...head,
        ...healthItem(inverter, string, inverter.verdicts[nth]!, period),
        step_loss_pct: pct(step?.loss_ratio ?? null),
        step_loss_since_date: step?.onset_date ?? null,
      }
    })
  })
}

function healthItem(
  inverter: JudgedInverter,
  string: RankedString,
  verdict: StringVerdict,
  period: Period,
) {
  const coverage = coverageIn(inverter.total, string.string_index, period)
  const reason =
    verdict.reason === 'not_connected'
      ? verdict.reason
      : (excludedReason(coverage) ?? verdict.reason)
  // Without a judgement all results are null.
  const judged = <Of>(value: Of) => (reason === null ? value : null)
  const since = judged(verdict.below_since_day)
  return {
    inverter_id: string.inverter_id,
    inverter_name: inverter.inverter_name,
    logger_id: inverter.logger_id,
    string_index: string.string_index,
    mppt_index: string.mppt_index,
    orientation: orientationOf(string.azimuth_deg, string.tilt_deg),
    peer_group: inverter.layout.find((one) => one.string_index === string.string_index)!.group,
    peer_count: verdict.peer_count,
    compared_with: judged(verdict.compared_with),
    status: judged(verdict.status) ?? 'no_data',
    excluded_reason: reason,
    completeness_pct: pct(coverage),
    sample_count: Math.round(verdict.sample_count),
    health_score_pct: rounded(judged(verdict.health_score_pct), 2),
    deviation_pct: rounded(judged(verdict.deviation_pct), 2),
    current_ratio_to_peers: rounded(judged(verdict.current_ratio_to_peers), 4),
    voltage_ratio_to_peers: rounded(judged(verdict.voltage_ratio_to_peers), 4),
    z_score: rounded(judged(verdict.z_score), 2),
    affected_by_string_index: judged(verdict.affected_by_string_index),
    suspected_cause: judged(verdict.suspected_cause),
    confidence_pct: judged(verdict.confidence_pct),
    estimated_loss_kwh: rounded(judged(verdict.estimated_loss_kwh), 3),
    days_below_threshold: judged(verdict.days_below_threshold),
    below_since_date: since === null ? null : inverter.days[since]!.local_date,
    trend_pct_per_day: rounded(judged(verdict.trend_pct_per_day), 3),
  }
}

type EfficiencyItem = Static<typeof StringEfficiency>

/** Largest group first; best string first within a group. */
export function efficiencyItems(
  inverters: readonly JudgedInverter[],
  period: Period,
): EfficiencyItem[] {
  const head = periodRecord(period)
  const found = inverters.flatMap((inverter) =>
    inverter.strings.flatMap((string, nth) =>
      string.connected ? [{ inverter, string, verdict: inverter.verdicts[nth]! }] : [],
    ),
  )
  const groups = [...Map.groupBy(found, ({ string }) => `${string.azimuth_deg}/${string.tilt_deg}`)]
  groups.sort((a, b) => b[1].length - a[1].length)
  return groups.flatMap(([group, members]) => {
    const metrics = members.map(({ inverter, string }) => energyOf(inverter.total, string, period))
    const yields = comparable(
      metrics.map(({ specific_yield_kwh_kwp }) => specific_yield_kwh_kwp),
      metrics.map(({ completeness_pct }) => completeness_pct),
    )
    const ranks = ranked(yields)
    const { middle, z_scores } = robustScores(yields)
    const items = members.map(({ inverter, string, verdict }, nth): EfficiencyItem => {
      const { avg_current_a, max_current_a: _, avg_voltage_v: __, ...energy } = metrics[nth]!
      return {
        ...head,
        orientation: orientationOf(string.azimuth_deg, string.tilt_deg),
        group,
        group_size: members.length,
        inverter_id: string.inverter_id,
        string_index: string.string_index,
        logger_id: inverter.logger_id,
        dc_capacity_kwp: string.dc_capacity_kwp,
        ...energy,
        group_median_kwh_kwp: rounded(middle, 4),
        deviation_from_median_pct: ranks[nth]!.deviation_pct,
        avg_current_a,
        z_score: rounded(z_scores[nth]!, 2),
        rank: ranks[nth]!.rank,
        percentile_pct: ranks[nth]!.percentile,
        status: energy.excluded_reason === null ? verdict.status : 'no_data',
      }
    })
    return byRank(items)
  })
}

/** Deviations from the median in units of 1.4826 MAD, at least 1 % of the median. */
function robustScores(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null)
  const middle = median(known)
  if (middle === null || middle <= 0) return { middle, z_scores: values.map(() => null) }
  const mad = median(known.map((value) => Math.abs(value - middle)))!
  const unit = Math.max(1.4826 * mad, 0.01 * middle)
  return {
    middle,
    z_scores: values.map((value) => (value === null ? null : (value - middle) / unit)),
  }
}

/** Energy, current and voltage of one string; null when less than half of the daylight has data. */
function energyOf(total: StringSums | null, string: RankedString, period: Period) {
  const at = string.string_index
  const covered_s = total?.covered_s[at] ?? 0
  const coverage = coverageIn(total, at, period)
  const excluded_reason = excludedReason(coverage)
  const known = total !== null && excluded_reason === null
  const energy_kwh = known ? total.energy_kwh[at]! : null
  return {
    completeness_pct: pct(coverage),
    excluded_reason,
    energy_kwh: rounded(energy_kwh, 3),
    specific_yield_kwh_kwp:
      energy_kwh === null || string.dc_capacity_kwp <= 0
        ? null
        : rounded(energy_kwh / string.dc_capacity_kwp, 4),
    avg_current_a: known ? rounded((3600 * total.charge_ah[at]!) / covered_s, 3) : null,
    avg_voltage_v: known ? rounded(total.voltage_vs[at]! / covered_s, 1) : null,
    max_current_a: known ? rounded(total.current_a_max[at] ?? null, 2) : null,
  }
}

/** Longer periods are returned by day. */
const hourly_series_max = 8 * 24

export function comparedItems(
  inverter: JudgedInverter,
  hours: readonly StringHour[],
  period: Period,
  timezone: string,
): Static<typeof ComparedString>[] {
  const buckets = bucketsOf(hours, period, timezone)
  const currents = inverter.strings.map(({ string_index }) =>
    hours.map(({ sums }) => meanCurrent(sums, string_index)),
  )
  return inverter.strings.map((string, nth) => {
    const verdict = inverter.verdicts[nth]!
    const { group } = inverter.layout[nth]!
    const metrics = energyOf(inverter.total, string, period)
    const excluded_reason = metrics.excluded_reason ?? verdict.reason
    const known = excluded_reason === null
    const peers = currents.filter((_, at) => {
      const { group: other, is_connected } = inverter.layout[at]!
      return other === group && is_connected
    })
    return {
      ...periodRecord(period),
      string_index: string.string_index,
      mppt_index: string.mppt_index,
      dc_capacity_kwp: string.dc_capacity_kwp,
      orientation: orientationOf(string.azimuth_deg, string.tilt_deg),
      ...metrics,
      excluded_reason,
      current_ratio_to_median: known ? rounded(verdict.current_ratio_to_peers, 4) : null,
      deviation_pct: known ? rounded(verdict.deviation_pct, 2) : null,
      correlation_with_median: correlation(currents[nth]!, hourlyMedians(peers, hours.length)),
      zero_current_min:
        inverter.total === null || metrics.excluded_reason !== null
          ? null
          : rounded((inverter.total.zero_current_s[string.string_index] ?? 0) / 60, 1),
      status: known ? verdict.status : 'no_data',
      affected_by_string_index: known ? verdict.affected_by_string_index : null,
      series: buckets.map(({ start_at, end_at, sums }) => ({
        start_at,
        end_at,
        avg_current_a: rounded(meanCurrent(sums, string.string_index), 3),
      })),
    }
  })
}

/** Hours or days with sums, clipped to the period. */
function bucketsOf(hours: readonly StringHour[], period: Period, timezone: string) {
  const [first_ms, last_ms] = [period.start_at.getTime(), period.end_at.getTime()]
  const bucket = (from_ms: number, to_ms: number, sums: StringSums) => ({
    start_at: new Date(Math.max(from_ms, first_ms)).toISOString(),
    end_at: new Date(Math.min(to_ms, last_ms)).toISOString(),
    sums,
  })
  if (periodHours(period) <= hourly_series_max) {
    return hours.map(({ hour_at, sums }) =>
      bucket(hour_at.getTime(), hour_at.getTime() + hour_ms, sums),
    )
  }
  const days = Map.groupBy(hours, ({ hour_at }) => localDate(hour_at.getTime(), timezone))
  return [...days].map(([date, day]) => {
    const { from_ms, to_ms } = hoursOfLocalDate(date, timezone)
    return bucket(from_ms, to_ms, addSums(day.map(({ sums }) => sums)))
  })
}

function meanCurrent(sums: StringSums, at: number): number | null {
  const covered_s = sums.covered_s[at] ?? 0
  return covered_s > 0 ? (3600 * sums.charge_ah[at]!) / covered_s : null
}

function hourlyMedians(strings: readonly (number | null)[][], hours: number): (number | null)[] {
  return Array.from({ length: hours }, (_, hour) =>
    median(strings.map((currents) => currents[hour]!).filter((value) => value !== null)),
  )
}

/**
 * Pearson correlation over the hours with a median above zero; null for fewer than 3 hours or a
 * constant series.
 */
function correlation(own: readonly (number | null)[], middle: readonly (number | null)[]) {
  const pairs = own.flatMap((value, hour): [number, number][] => {
    const other = middle[hour]!
    return value === null || other === null || other <= 0 ? [] : [[value, other]]
  })
  if (pairs.length < 3) return null
  const mean = (of: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[of], 0) / pairs.length
  const [x, y] = [mean(0), mean(1)]
  let [xy, xx, yy] = [0, 0, 0]
  for (const [a, b] of pairs) {
    xy += (a - x) * (b - y)
    xx += (a - x) ** 2
    yy += (b - y) ** 2
  }
  return xx > 0 && yy > 0 ? rounded(xy / Math.sqrt(xx * yy), 4) : null
}
