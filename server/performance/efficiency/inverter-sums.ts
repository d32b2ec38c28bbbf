import type { Queries } from '../../storage/database.ts'
import type { Period } from '../period.ts'
import { inverterSums, load_bin_count } from '../rollups/inverter-hour.ts'
import type { LoadSums } from './losses.ts'
import { combined, type Sums, type Yields, yieldsOf } from './yields.ts'

export interface InverterSumsRow extends Sums, LoadSums {
  inverter_id: number
  inverter_name: string
  logger_id: number
  logger_name: string
  rated_ac_power_kw: number
  dc_capacity_kwp: number
  nominal_efficiency_pct: number | null
  logger_rated_power_kw: number
  logger_dc_capacity_kwp: number
  guaranteed_yield_kwh_kwp: number | null
  guaranteed_performance_ratio_pct: number | null
  /** Orientations of its connected strings; null without any. */
  azimuth_min_deg: number | null
  azimuth_max_deg: number | null
  tilt_min_deg: number | null
  tilt_max_deg: number | null
  peak_power_kw: number | null
}

/** Inverters in service during the period, by id, with the sums of the hours that start in it. */
export const readInverterSums = (
  db: Queries,
  site_id: string,
  { start_at, end_at }: Period,
  logger_id?: number,
) =>
  db.query<InverterSumsRow>(invertersWithSums, [
    site_id,
    start_at.toISOString(),
    end_at.toISOString(),
    logger_id ?? null,
  ])

/**
 * Yields of a plant from its inverters with enough data; `completeness_pct` covers all inverters.
 */
export function plantYields(inverters: readonly InverterSumsRow[], period: Period): Yields {
  const of = (rows: readonly InverterSumsRow[]) => {
    const sums = combined(rows)
    return yieldsOf(sums, sums, period, rows.length)
  }
  const all = of(inverters)
  if (all.excluded_reason !== null) return all
  const known = inverters.filter((row) => yieldsOf(row, row, period, 1).excluded_reason === null)
  return { ...of(known), completeness_pct: all.completeness_pct }
}

const binSums = (column: string) =>
  `array[${Array.from({ length: load_bin_count }, (_, bin) => `sum(${column}[${bin + 1}])`).join(', ')}]`

const bins = ['load_s', 'load_dc_kwh', 'load_ac_kwh'] as const

const invertersWithSums = `
  SELECT i.inverter_id, i.name AS inverter_name, i.logger_id, l.name AS logger_name,
         i.rated_ac_power_kw, i.dc_capacity_kwp, i.nominal_efficiency_pct,
         l.rated_power_kw AS logger_rated_power_kw, l.dc_capacity_kwp AS logger_dc_capacity_kwp,
         l.guaranteed_yield_kwh_kwp, l.guaranteed_performance_ratio_pct, faces.*,
         ${inverterSums.map((name) => `coalesce(s.${name}, 0) AS ${name}`).join(', ')},
         ${bins.map((name) => `coalesce(s.${name}, '{}') AS ${name}`).join(', ')}, s.peak_power_kw,
         coalesce(gaps.energy_kwh, 0) AS gap_energy_kwh
  FROM inverters i
  JOIN loggers l ON l.site_id = i.site_id AND l.logger_id = i.logger_id
  LEFT JOIN (
    SELECT inverter_id, ${inverterSums.map((name) => `sum(${name}) AS ${name}`).join(', ')},
           ${bins.map((name) => `${binSums(name)} AS ${name}`).join(', ')},
           max(peak_power_kw) AS peak_power_kw
    FROM inverter_hours
    WHERE site_id = $1 AND hour_at >= $2 AND hour_at < $3
    GROUP BY inverter_id
  ) AS s ON s.inverter_id = i.inverter_id
  LEFT JOIN (
    SELECT inverter_id, sum(energy_kwh) AS energy_kwh
    FROM inverter_gap_hours
    WHERE site_id = $1 AND hour_at >= $2 AND hour_at < $3
    GROUP BY inverter_id
  ) AS gaps ON gaps.inverter_id = i.inverter_id
  LEFT JOIN LATERAL (
    SELECT min(azimuth_deg) AS azimuth_min_deg, max(azimuth_deg) AS azimuth_max_deg,
           min(tilt_deg) AS tilt_min_deg, max(tilt_deg) AS tilt_max_deg
    FROM strings t
    WHERE t.site_id = $1 AND t.inverter_id = i.inverter_id AND t.connected
      AND (t.retired_at IS NULL OR t.retired_at > $2)
  ) AS faces ON true
  WHERE i.site_id = $1 AND (i.retired_at IS NULL OR i.retired_at > $2) AND ($4::int IS NULL OR i.logger_id = $4)
  ORDER BY i.inverter_id`
