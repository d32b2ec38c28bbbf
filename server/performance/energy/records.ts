/** Items of the energy endpoints, from the hours of loggers. */

import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import type { Static } from 'typebox'
import { isoTime } from '../../storage/values.ts'
import { decodeStrings, type StoredStrings } from '../rollups/string-codec.ts'
import {
  type Bounds,
  byHour,
  completenessOf,
  figuresOf,
  isPartial,
  kwh,
  type Now,
  percent,
} from './figures.ts'
import type { LoggerHourInFull, LoggerInService } from './logger-hours.ts'
import type { DaySummary, LoggerHourRecord, StringHour } from './schemas.ts'

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
function sumOf(rows: readonly LoggerHourInFull[], name: 'insolation_kwh_m2' | 'sample_count') {
  const known = rows.flatMap((row) => row[name] ?? [])
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const insolationOf = (rows: readonly LoggerHourInFull[]) =>
  rounded(sumOf(rows, 'insolation_kwh_m2'), 4)

function productionOf(rows: readonly LoggerHourInFull[]) {
  const times = (name: 'first_production_at' | 'last_production_at') =>
    rows.flatMap((row) => row[name]?.toISOString() ?? []).sort()
  return {
    first_production_at: times('first_production_at')[0] ?? null,
    last_production_at: times('last_production_at').at(-1) ?? null,
  }
}

export function daySummary(
  day: number,
  loggers: readonly LoggerInService[],
  rows: readonly LoggerHourInFull[],
  now: Now,
): Static<typeof DaySummary> {
  const span = { start_ms: day, end_ms: day + day_ms }
  const by_logger = Map.groupBy(rows, ({ logger_id }) => logger_id)
  const parts = loggers.map((logger) => ({ logger, own: by_logger.get(logger.logger_id) ?? [] }))
  const data = parts.map(({ logger, own }) => ({
    date: utcDate(day),
    day_start_at: isoTime(day),
    day_end_at: isoTime(day + day_ms),
    logger_id: logger.logger_id,
    logger_name: logger.logger_name,
    ...loggerSpan(span, logger, own, now),
  }))
  const hours = parts.map(({ logger, own }) => ({ logger, rows: byHour(own) }))
  return {
    data,
    meta: {
      count: data.length,
      totals: {
        ...figuresOf(hours, span, now).figures,
        ...productionOf(rows),
        loggers_known: data.filter(({ energy_kwh }) => energy_kwh !== null).length,
      },
    },
  }
}

/** Every hour that starts in the span, with or without data. */
export function loggerHours(
  { start_ms, end_ms }: Bounds,
  logger: LoggerInService,
  rows: readonly LoggerHourInFull[],
  now: Now,
): Static<typeof LoggerHourRecord>[] {
  const known = byHour(rows)
  const items: Static<typeof LoggerHourRecord>[] = []
  for (let hour = start_ms; hour < end_ms; hour += hour_ms) {
    const span = { start_ms: hour, end_ms: hour + hour_ms }
    const { figures, is_lit } = figuresOf([{ logger, rows: known }], span, now)
    const row = known.get(hour)
    items.push({
      logger_id: logger.logger_id,
      start_at: isoTime(hour),
      end_at: isoTime(hour + hour_ms),
      ...figures,
      poa_insolation_kwh_m2: is_lit && row ? insolationOf([row]) : null,
      avg_power_kw: figures.is_partial ? null : figures.energy_kwh,
      max_power_kw: kwh(row?.peak_power_kw ?? null),
      sample_count: row?.sample_count ?? null,
    })
  }
  return items
}

const known = (value: number) => (Number.isNaN(value) ? null : Math.round(value))

export function stringHours(
  stored: StoredStrings & { hour_at: Date },
  strings: readonly { string_index: number; dc_capacity_kwp: number }[],
  now: Now,
): Static<typeof StringHour>[] {
  const sums = decodeStrings(stored)
  const start_ms = stored.hour_at.getTime()
  const awake_s = now.awake(start_ms, now.now_ms)
  return strings.flatMap(({ string_index, dc_capacity_kwp }) => {
    const covered_s = sums.covered_s[string_index] ?? 0
    if (covered_s === 0) return []
    const energy_kwh = sums.energy_kwh[string_index]!
    const completeness = completenessOf(awake_s, covered_s)
    return {
      string_index,
      start_at: isoTime(start_ms),
      end_at: isoTime(start_ms + hour_ms),
      energy_kwh: rounded(energy_kwh, 4),
      avg_current_a: rounded((3600 * sums.charge_ah[string_index]!) / covered_s, 3),
      max_current_a: kwh(sums.current_a_max[string_index] ?? null),
      avg_voltage_v: rounded(sums.voltage_vs[string_index]! / covered_s, 2),
      specific_yield_kwh_kwp: dc_capacity_kwp > 0 ? rounded(energy_kwh / dc_capacity_kwp, 4) : null,
      sample_count: known(sums.energy_sample_count[string_index]!),
      completeness_pct: percent(completeness),
      is_partial: isPartial(start_ms + hour_ms <= now.now_ms, completeness),
      method: 'current_times_voltage' as const,
    }
  })
}
