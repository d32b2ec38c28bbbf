/** Items of the health matrix. */
import { rounded } from '@heliograph/domain/significant'
import { orientationOf } from '../../plant/orientation.ts'
import type { StringSums } from '../diagnostics/string-sums.ts'
import { coverageOf, excludedReason, type Period, periodRecord } from '../period.ts'
import type { JudgedInverter } from './string-health.ts'
import type { RankedString, StringStep } from './string-store.ts'

type Verdict = JudgedInverter['verdicts'][number]

export const pct = (ratio: number | null, decimals = 2) =>
  ratio === null ? null : rounded(100 * ratio, decimals)

export const orientationKey = ({ azimuth_deg, tilt_deg }: RankedString) =>
  `${azimuth_deg}/${tilt_deg}`

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
  verdict: Verdict,
  period: Period,
) {
  const coverage = coverageIn(inverter.total, string.string_index, period)
  const reason =
    verdict.reason === 'not_connected'
      ? verdict.reason
      : (excludedReason(coverage) ?? verdict.reason)
  const is_judged = reason === null
  const since = is_judged ? verdict.below_since_day : null
  return {
    inverter_id: string.inverter_id,
    inverter_name: inverter.inverter_name,
    logger_id: inverter.logger_id,
    string_index: string.string_index,
    mppt_index: string.mppt_index,
    orientation: orientationOf(string.azimuth_deg, string.tilt_deg),
    peer_group: inverter.layout.find((one) => one.string_index === string.string_index)!.group,
    peer_count: verdict.peer_count,
    compared_with: is_judged ? verdict.compared_with : null,
    status: is_judged ? verdict.status : 'no_data',
    excluded_reason: reason,
    completeness_pct: pct(coverage),
    sample_count: Math.round(verdict.sample_count),
    health_score_pct: is_judged ? rounded(verdict.health_score_pct, 2) : null,
    deviation_pct: is_judged ? rounded(verdict.deviation_pct, 2) : null,
    current_ratio_to_peers: is_judged ? rounded(verdict.current_ratio_to_peers, 4) : null,
    voltage_ratio_to_peers: is_judged ? rounded(verdict.voltage_ratio_to_peers, 4) : null,
    z_score: is_judged ? rounded(verdict.z_score, 2) : null,
    affected_by_string_index: is_judged ? verdict.affected_by_string_index : null,
    suspected_cause: is_judged ? verdict.suspected_cause : null,
    confidence_pct: is_judged ? verdict.confidence_pct : null,
    estimated_loss_kwh: is_judged ? rounded(verdict.estimated_loss_kwh, 3) : null,
    days_below_threshold: is_judged ? verdict.days_below_threshold : null,
    below_since_date: since === null ? null : inverter.days[since]!.local_date,
    trend_pct_per_day: is_judged ? rounded(verdict.trend_pct_per_day, 3) : null,
  }
}
