/** Metrics of a plant over full hours, such as those of a day. */
import { rounded } from '@heliograph/domain/significant'
import { type Bounds, byHour, figuresOf, type Now } from './figures.ts'
import type { LoggerHourInFull, LoggerInService } from './logger-hours.ts'

/** `rows` are the hours of the logger in the span. */
export function loggerSpan(
  span: Bounds,
  logger: LoggerInService,
  rows: readonly LoggerHourInFull[],
  now: Now,
) {
  const { dc_capacity_kwp } = logger
  const { figures, is_lit } = figuresOf([{ logger, rows: byHour(rows) }], span, now)
  const { energy_kwh } = figures
  const peak = rows.reduce<LoggerHourInFull | null>(
    (best, row) =>
      row.peak_power_kw !== null && row.peak_power_kw > (best?.peak_power_kw ?? -Infinity)
        ? row
        : best,
    null,
  )
  return {
    ...figures,
    specific_yield_kwh_kwp:
      energy_kwh === null || !(dc_capacity_kwp > 0)
        ? null
        : rounded(energy_kwh / dc_capacity_kwp, 4),
    poa_insolation_kwh_m2: is_lit ? insolationOf(rows) : null,
    peak_power_kw: rounded(peak?.peak_power_kw ?? null, 3),
    peak_power_at: peak?.peak_power_at?.toISOString() ?? null,
    ...productionOf(rows),
    sample_count: sumOf(rows, 'sample_count'),
  }
}

/** Null when no hour has the value. */
function sumOf(
  rows: readonly LoggerHourInFull[],
  name: 'insolation_kwh_m2' | 'sample_count',
): number | null {
  const known = rows.flatMap((row) => row[name] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

export const insolationOf = (rows: readonly LoggerHourInFull[]) =>
  rounded(sumOf(rows, 'insolation_kwh_m2'), 4)

export function productionOf(rows: readonly LoggerHourInFull[]) {
  const times = (name: 'first_production_at' | 'last_production_at') =>
    rows.flatMap((row) => row[name]?.toISOString() ?? []).sort()
  return {
    first_production_at: times('first_production_at')[0] ?? null,
    last_production_at: times('last_production_at').at(-1) ?? null,
  }
}
