/** Steps that have started keep the forecast issued before they started. */
import { minute_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { type NewRun, type RunSeries, seriesNames } from './run-store.ts'

/**
 * The new run of a day with its started steps, and totals, merged from the previous run of that
 * day; unchanged without a previous run.
 */
export function keepStartedSteps(run: NewRun, earlier: NewRun | undefined): NewRun {
  if (!earlier) return run
  const since_ms = run.issued_at.getTime() - Date.parse(run.target_date)
  const started_count = Math.ceil(since_ms / (run.resolution_minutes * minute_ms))
  if (started_count <= 0) return run
  const old = onSteps(earlier, run)
  const series = seriesNames.map((name) => [
    name,
    [...old[name].slice(0, started_count), ...run[name].slice(started_count)],
  ])
  return {
    ...run,
    ...totalsOf({ earlier, old, run, started_count }),
    ...(Object.fromEntries(series) as unknown as RunSeries),
  }
}

function onSteps(run: NewRun, other: NewRun): RunSeries {
  if (run.resolution_minutes === other.resolution_minutes) return run
  const ratio = other.resolution_minutes / run.resolution_minutes
  const means = (values: readonly number[]) =>
    other.p50_kw.map((_, nth) => meanOver(values, nth * ratio, (nth + 1) * ratio))
  const power = (values: readonly number[]) => means(values).map((kw) => rounded(kw, 3))
  const weather = (values: readonly (number | null)[]) =>
    means(values.map((value) => value ?? Number.NaN)).map((mean) =>
      Number.isNaN(mean) ? null : mean,
    )
  return {
    p10_kw: power(run.p10_kw),
    p50_kw: power(run.p50_kw),
    p90_kw: power(run.p90_kw),
    poa_irradiance_w_m2: weather(run.poa_irradiance_w_m2),
    ambient_temperature_c: weather(run.ambient_temperature_c),
    cloud_cover_pct: weather(run.cloud_cover_pct),
    is_night: means(run.is_night.map(Number)).map((share) => share === 1),
  }
}

/** Mean of steps [from, to), which may be fractions; values beyond the last step are 0. */
export function meanOver(values: readonly number[], from: number, to: number): number {
  let sum = 0
  for (let nth = Math.floor(from); nth < to; nth += 1) {
    sum += (values[nth] ?? 0) * (Math.min(to, nth + 1) - Math.max(from, nth))
  }
  return sum / (to - from)
}

interface Parts {
  earlier: NewRun
  old: RunSeries
  run: NewRun
  started_count: number
}

/**
 * The earlier totals, with the future steps replaced by those of the new run. The spread of each
 * part follows its quantiles, scaled by the ratio that its run uses for the whole day.
 */
function totalsOf({ earlier, old, run, started_count }: Parts) {
  const step_h = run.resolution_minutes / 60
  const sum = (powers: readonly number[]) => powers.reduce((total, kw) => total + kw * step_h, 0)
  const ahead = (powers: readonly number[]) => sum(powers.slice(started_count))
  const spreadAhead = (of: NewRun, series: RunSeries, side: 'p10' | 'p90') => {
    const total_kwh = Math.abs(of[`total_${side}_kwh`] - of.total_p50_kwh)
    const most_kwh = Math.abs(sum(series[`${side}_kw`]) - sum(series.p50_kw))
    const ahead_kwh = Math.abs(ahead(series[`${side}_kw`]) - ahead(series.p50_kw))
    return most_kwh > 0 ? (total_kwh * ahead_kwh) / most_kwh : 0
  }
  const spread = (side: 'p10' | 'p90') =>
    Math.abs(earlier[`total_${side}_kwh`] - earlier.total_p50_kwh) -
    spreadAhead(earlier, old, side) +
    spreadAhead(run, run, side)
  const p50_kwh = earlier.total_p50_kwh - ahead(old.p50_kw) + ahead(run.p50_kw)
  return {
    total_p10_kwh: rounded(Math.max(0, p50_kwh - Math.max(0, spread('p10'))), 3),
    total_p50_kwh: rounded(Math.max(0, p50_kwh), 3),
    total_p90_kwh: rounded(Math.max(0, p50_kwh + Math.max(0, spread('p90'))), 3),
  }
}
