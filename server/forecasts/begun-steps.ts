/** Begun steps keep the forecast that was issued before they began. */
import { rounded } from '@heliograph/domain/significant'
import type { NewRun, RunSeries } from './run-store.ts'
import { meanOver } from './step-means.ts'

const minute_ms = 60_000

/**
 * A new run of a day with its begun steps as the last run of that day has them, and the totals of
 * the whole. Without an earlier run the day is as the new run has it.
 */
export function keepBegunSteps(run: NewRun, earlier: NewRun | undefined): NewRun {
  if (!earlier) return run
  const since_ms = run.issued_at.getTime() - Date.parse(run.target_date)
  const begun_count = Math.ceil(since_ms / (run.resolution_minutes * minute_ms))
  if (begun_count <= 0) return run
  const kept = onSteps(earlier, run)
  const joined = <Value>(old: readonly Value[], next: readonly Value[]): Value[] => [
    ...old.slice(0, begun_count),
    ...next.slice(begun_count),
  ]
  return {
    ...run,
    ...totalsOf({ earlier, kept, run, begun_count }),
    p10_kw: joined(kept.p10_kw, run.p10_kw),
    p50_kw: joined(kept.p50_kw, run.p50_kw),
    p90_kw: joined(kept.p90_kw, run.p90_kw),
    poa_irradiance_w_m2: joined(kept.poa_irradiance_w_m2, run.poa_irradiance_w_m2),
    ambient_temperature_c: joined(kept.ambient_temperature_c, run.ambient_temperature_c),
    cloud_cover_pct: joined(kept.cloud_cover_pct, run.cloud_cover_pct),
    is_night: joined(kept.is_night, run.is_night),
  }
}

/** The series of a run on the steps of another one: weather may come in other steps than before. */
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

interface Parts {
  earlier: NewRun
  /** The series of `earlier` on the steps of `run`. */
  kept: RunSeries
  run: NewRun
  /** Steps that had begun. */
  begun_count: number
}

/**
 * The earlier totals with the steps to come as the new run has them. The spread of each part is
 * that of its quantiles, scaled as its run has scaled the spread of the day.
 */
function totalsOf({ earlier, kept, run, begun_count }: Parts) {
  const step_h = run.resolution_minutes / 60
  const sum = (powers: readonly number[]) => powers.reduce((total, kw) => total + kw * step_h, 0)
  const ahead = (powers: readonly number[]) => sum(powers.slice(begun_count))
  const spreadAhead = (of: NewRun, series: RunSeries, side: 'p10' | 'p90') => {
    const total_kwh = Math.abs(of[`total_${side}_kwh`] - of.total_p50_kwh)
    const most_kwh = Math.abs(sum(series[`${side}_kw`]) - sum(series.p50_kw))
    const ahead_kwh = Math.abs(ahead(series[`${side}_kw`]) - ahead(series.p50_kw))
    return most_kwh > 0 ? (total_kwh * ahead_kwh) / most_kwh : 0
  }
  const spread = (side: 'p10' | 'p90') =>
    Math.abs(earlier[`total_${side}_kwh`] - earlier.total_p50_kwh) -
    spreadAhead(earlier, kept, side) +
    spreadAhead(run, run, side)
  const p50_kwh = earlier.total_p50_kwh - ahead(kept.p50_kw) + ahead(run.p50_kw)
  return {
    total_p10_kwh: rounded(Math.max(0, p50_kwh - Math.max(0, spread('p10'))), 3),
    total_p50_kwh: rounded(Math.max(0, p50_kwh), 3),
    total_p90_kwh: rounded(Math.max(0, p50_kwh + Math.max(0, spread('p90'))), 3),
  }
}
