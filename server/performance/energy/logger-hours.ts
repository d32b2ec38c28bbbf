import type { Queries } from '../../storage/database.ts'
import { isoTime } from '../../storage/values.ts'
import type { Span } from '../../telemetry/energy.ts'
import type { LoggerHour, PackedHours } from '../rollups/logger-days.ts'

export interface LoggerInService {
  logger_id: number
  logger_name: string
  dc_capacity_kwp: number
  /** Inverters in service at the start. */
  inverter_count: number
}

export interface LoggerHourInFull extends LoggerHour {
  logger_id: number
  hour_at: Date
  sample_count: number | null
  insolation_kwh_m2: number | null
  peak_power_kw: number | null
  peak_power_at: Date | null
  first_production_at: Date | null
  last_production_at: Date | null
}

interface HoursRequest extends Span {
  /** Null for all. */
  logger_ids: readonly number[] | null
}

const values = (site_id: string, { start_ms, end_ms, logger_ids }: HoursRequest) => [
  site_id,
  isoTime(start_ms),
  isoTime(end_ms),
  logger_ids,
]

/** Loggers by id; retired ones are included up to the day on which they were retired. */
export const readLoggers = (db: Queries, site_id: string, { start_ms, logger_ids }: HoursRequest) =>
  db.query<LoggerInService>(
    `SELECT l.logger_id, l.name AS logger_name, l.dc_capacity_kwp,
            (SELECT count(*)::int FROM inverters i
             WHERE i.site_id = $1 AND i.logger_id = l.logger_id
               AND (i.retired_at IS NULL OR i.retired_at > $2)) AS inverter_count
     FROM loggers l
     WHERE site_id = $1 AND (retired_at IS NULL OR retired_at > $2)
       AND ($3::int[] IS NULL OR logger_id = any($3))
     ORDER BY logger_id`,
    [site_id, isoTime(start_ms), logger_ids],
  )

/** Hours that start in the window, by logger and time. */
export const readLoggerHours = (db: Queries, site_id: string, request: HoursRequest) =>
  db.query<LoggerHourInFull>(
    `SELECT logger_id, hour_at, inverter_count, energy_kwh, estimated_energy_kwh, energy_source,
            sample_count, awake_covered_s, sun_covered_s, expected_energy_kwh,
            curtailment_loss_kwh, insolation_kwh_m2, peak_power_kw, peak_power_at,
            first_production_at, last_production_at
     FROM logger_hours
     WHERE site_id = $1 AND hour_at >= $2 AND hour_at < $3
       AND ($4::int[] IS NULL OR logger_id = any($4))
     ORDER BY logger_id, hour_at`,
    values(site_id, request),
  )

/** Packed hours of the UTC days that start in the window, by logger. */
export async function readLoggerDays(db: Queries, site_id: string, request: HoursRequest) {
  const rows = await db.query<{ logger_id: number; hours: PackedHours }>(
    `SELECT logger_id, string_agg(hours, ''::bytea) AS hours FROM logger_days
     WHERE site_id = $1 AND day_at >= $2 AND day_at < $3
       AND ($4::int[] IS NULL OR logger_id = any($4))
     GROUP BY logger_id`,
    values(site_id, request),
  )
  return new Map(rows.map(({ logger_id, hours }) => [logger_id, hours]))
}

/** Strings of an inverter by index, retired ones included. */
export const readStringCapacities = (db: Queries, site_id: string, inverter_id: number) =>
  db.query<{ string_index: number; dc_capacity_kwp: number }>(
    `SELECT string_index, dc_capacity_kwp FROM strings
     WHERE site_id = $1 AND inverter_id = $2 ORDER BY string_index`,
    [site_id, inverter_id],
  )
