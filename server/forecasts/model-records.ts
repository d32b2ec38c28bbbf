/** Models as records of the API: their metrics by window, and their status. */
import { day_ms } from '@heliograph/domain/durations'
import { significant } from '@heliograph/domain/significant'
import { scoresOf } from '@heliograph/forecast/score-sums'
import { nextRun } from './forecast-records.ts'
import type { ModelState, WindowSums } from './model-states.ts'
import type { ModelMetrics, ModelStatus } from './schemas.ts'

const trained_days_max = 7
const drift = { count_min: 50, error_ratio: 1.5, bias_ratio: 0.05 } as const

export function modelStatus(state: ModelState, now: Date): ModelStatus {
  const { kind, name, model, training } = state
  const drift_detected = hasDrifted(state)
  const is_old =
    model !== null && now.getTime() - model.trained_at.getTime() > trained_days_max * day_ms
  return {
    model: `${kind}:${name}`,
    kind,
    logger_id: state.logger_id,
    version: model === null ? null : String(model.version),
    status: statusOf(state, drift_detected || is_old),
    fallback_reason: state.absence,
    last_trial: trialOf(state),
    trained_at: model?.trained_at.toISOString() ?? null,
    training_from_at: model?.from_at ?? null,
    training_to_at: model?.to_at ?? null,
    training_sample_count: model?.sample_count ?? training?.sample_count ?? 0,
    excluded_sample_count: model?.excluded
      ? Object.values(model.excluded).reduce((sum, count) => sum + count, 0)
      : null,
    method: model?.method ?? null,
    training_s: model?.training_s ?? null,
    hold_out_days: model?.hold_out_days ?? null,
    last_run_at: state.last_run_at?.toISOString() ?? null,
    next_run_at: new Date(nextRun(now.getTime())).toISOString(),
    last_error: training?.error ?? null,
    metrics: state.windows.map((window) => metricsOf(window, state.rated_power_kw)),
    drift_detected,
  }
}

function statusOf(
  { model, training, absence }: ModelState,
  is_wrong: boolean,
): ModelStatus['status'] {
  if (training?.error != null || (model !== null && is_wrong)) return 'degraded'
  if (model !== null) return 'ok'
  return absence === 'physics_was_better' ? 'disabled' : 'insufficient_data'
}

function trialOf({ trial }: ModelState): ModelStatus['last_trial'] {
  if (trial === null) return null
  const { version, trained_at, is_worse, scores } = trial
  const known = (value: number | null) => (value === null ? null : significant(value))
  return {
    version: String(version),
    trained_at: trained_at.toISOString(),
    used: !is_worse,
    sample_count: scores.sample_count,
    pinball_loss_kw: known(scores.pinball_loss_kw),
    previous_pinball_loss_kw: known(scores.previous_pinball_loss_kw),
    mae_kw: known(scores.mae_kw),
    p10_p90_coverage_pct: known(scores.p10_p90_coverage_pct),
  }
}

function metricsOf(
  { window_days, lead_time, sums }: WindowSums,
  rated_kw: number | null,
): ModelMetrics {
  const scores = scoresOf(sums)
  const known = (value: number | null) => (value === null ? null : significant(value))
  const kw = (value: number | null) => (rated_kw === null ? null : known(value))
  const price = (value: number | null) => (rated_kw === null ? known(value) : null)
  const pct = (value: number | null) =>
    rated_kw === null || value === null ? null : significant((100 * value) / rated_kw)
  return {
    window_days,
    lead_time,
    mae_kw: kw(scores.mae),
    rmse_kw: kw(scores.rmse),
    nmae_pct: pct(scores.mae),
    nrmse_pct: pct(scores.rmse),
    mbe_kw: kw(scores.bias),
    mape_pct: kw(scores.mape_pct),
    r2_ratio: known(scores.r2),
    crps_kw: kw(scores.pinball === null ? null : 2 * scores.pinball),
    pinball_loss_kw: kw(scores.pinball),
    mae_per_mwh: price(scores.mae),
    rmse_per_mwh: price(scores.rmse),
    mbe_per_mwh: price(scores.bias),
    pinball_loss_per_mwh: price(scores.pinball),
    p10_p90_coverage_pct: known(scores.coverage_pct),
    skill_vs_persistence_pct: known(scores.skill_pct),
    sample_count: sums.count,
    hindcast_count: sums.hindcasts,
    curtailed_excluded_count: sums.curtailed,
  }
}

/** Judged by the day-ahead metrics, as the description of `drift_detected` says. */
function hasDrifted({ windows, rated_power_kw }: ModelState): boolean {
  const of = (days: number) =>
    windows.find(({ lead_time, window_days }) => lead_time === 'day_ahead' && window_days === days)
  const [week, quarter] = [of(7)?.sums, of(90)?.sums]
  if (!week || !quarter || week.count < drift.count_min) return false
  const [now, usual] = [scoresOf(week), scoresOf(quarter)]
  const is_biased =
    rated_power_kw !== null && Math.abs(now.bias!) > drift.bias_ratio * rated_power_kw
  return is_biased || now.mae! > drift.error_ratio * usual.mae!
}
