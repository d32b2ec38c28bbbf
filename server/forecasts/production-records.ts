/** Forecast and actual production of a step as a record of the API. */
import { hour_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { outcomeOf } from './course.ts'
import type { ForecastHistory } from './production-history.ts'
import type { Production } from './schemas.ts'
import type { VintageStep } from './vintage-steps.ts'

/** Share of rated power below which an error in percent is meaningless. */
const relative_min_ratio = 0.01

export function productionItem(
  step: VintageStep,
  of: { logger_id: number | null; now_ms: number } & Pick<
    ForecastHistory,
    'course' | 'ratedPowerKw'
  >,
): Production {
  const { start_ms, end_ms, issued_ms } = step
  const hours = (end_ms - start_ms) / hour_ms
  const kwh = (kw: number | null) => (kw === null ? null : significant(kw * hours))
  const outcome = outcomeOf(of.course, start_ms, end_ms)
  const is_over = end_ms <= of.now_ms
  const actual_kwh = is_over ? outcome.energy_kwh : null
  const available_kwh = is_over ? outcome.available_kwh : null
  const [p10, p50, p90] = [kwh(step.p10_kw), kwh(step.p50_kw), kwh(step.p90_kw)]
  const error_kwh = p50 === null || available_kwh === null ? null : p50 - available_kwh
  const is_relative =
    available_kwh !== null &&
    available_kwh >= relative_min_ratio * of.ratedPowerKw(start_ms) * hours
  return {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
    logger_id: of.logger_id,
    forecast_run_at: issued_ms === null ? null : new Date(issued_ms).toISOString(),
    is_hindcast: step.is_hindcast,
    lead_time_h: issued_ms === null ? null : significant((start_ms - issued_ms) / hour_ms),
    p10_kwh: p10,
    p50_kwh: p50,
    p90_kwh: p90,
    actual_kwh: actual_kwh === null ? null : significant(actual_kwh),
    actual_available_kwh: available_kwh === null ? null : significant(available_kwh),
    error_kwh: error_kwh === null ? null : significant(error_kwh),
    error_pct:
      error_kwh === null || !is_relative ? null : significant((100 * error_kwh) / available_kwh),
    inside_band:
      available_kwh === null || p10 === null || p90 === null
        ? null
        : available_kwh >= p10 && available_kwh <= p90,
    curtailed: outcome.is_curtailed,
    completeness_pct: significant(outcome.completeness_pct),
  }
}
