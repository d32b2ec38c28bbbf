/** Items of the health matrix. */
import { rounded } from '@heliograph/domain/significant'
import { orientationOf } from '../../plant/orientation.ts'
import type { StringVerdict } from '../diagnostics/string-health.ts'
import type { StringSums } from '../diagnostics/string-sums.ts'
import { coverageOf, excludedReason, type Period, periodRecord } from '../period.ts'
import type { JudgedInverter } from './string-health.ts'
import type { RankedString, StringStep } from './string-store.ts'

export const pct = (ratio: number | null, decimals = 2) =>
  ratio === null ? null : rounded(100 * ratio, decimals)

/** Share of the daylight of the period with readings of one string, 0 to 1. */
export const coverageIn = (total: StringSums | null, at: number, period: Period): number | null =>
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
