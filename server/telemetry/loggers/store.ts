import { readingKinds } from '@heliograph/domain/readings'
import type { EdgeRow, LoggerRow } from '../../plant/logger.ts'
import type { Queries } from '../../storage/database.ts'

/**
 * Loggers by id, with their latest reading, the common orientation of their strings and the lowest
 * curtailment row in force.
 */
export const liveLoggers = (db: Queries, site_id: string, now: Date) =>
  db.query<LoggerRow>(live, [site_id, now])

/** The edge agent that was last seen most recently; null before the first connection. */
export const servingEdge = (db: Queries, site_id: string) =>
  db.queryOne<EdgeRow>(
    `SELECT last_seen_at, agent_version, clock_offset_ms, journal_depth_frames, journal_oldest_at
     FROM edges WHERE site_id = $1 AND last_seen_at IS NOT NULL
     ORDER BY last_seen_at DESC LIMIT 1`,
    [site_id],
  )

const measured = Object.keys(readingKinds.logger.columns).map((name) => `l.${name}`)

const live = `
  WITH devices AS MATERIALIZED (
    SELECT i.logger_id, count(*) FILTER (WHERE i.retired_at IS NULL) AS inverter_count,
           max(l.measured_at) AS measured_at
    FROM inverters i
    LEFT JOIN inverter_latest l ON l.site_id = i.site_id AND l.inverter_id = i.inverter_id
    WHERE i.site_id = $1
    GROUP BY i.logger_id
  ), strings_of AS (
    SELECT inverter_id, count(*) AS string_count, sum(module_count) AS module_count,
           min(azimuth_deg) AS azimuth_min_deg, max(azimuth_deg) AS azimuth_max_deg,
           min(tilt_deg) AS tilt_min_deg, max(tilt_deg) AS tilt_max_deg
    FROM strings
    WHERE site_id = $1 AND retired_at IS NULL AND connected
    GROUP BY inverter_id
  ), panels AS (
    SELECT i.logger_id, sum(s.string_count)::int AS string_count,
           sum(s.module_count)::int AS module_count,
           min(s.azimuth_min_deg) AS azimuth_min_deg, max(s.azimuth_max_deg) AS azimuth_max_deg,
           min(s.tilt_min_deg) AS tilt_min_deg, max(s.tilt_max_deg) AS tilt_max_deg
    FROM inverters i JOIN strings_of s ON s.inverter_id = i.inverter_id
    WHERE i.site_id = $1 AND i.retired_at IS NULL
    GROUP BY i.logger_id
  ), limits AS (
    SELECT logger_id, min(max_power_kw) AS power_limit_kw, count(*)::int AS active_row_count
    FROM curtailment_rows
    WHERE site_id = $1 AND end_at > $2 AND start_at <= $2 AND released_at IS NULL
    GROUP BY logger_id
  )
  SELECT
    g.logger_id, g.name, g.plant_code, g.location_id, g.rated_power_kw, g.dc_capacity_kwp,
    g.commissioned_date, g.guaranteed_yield_kwh_kwp, g.created_at, g.updated_at, g.retired_at,
    l.measured_at, l.received_at, l.quality, ${measured.join(', ')},
    greatest(l.measured_at, devices.measured_at) AS data_at,
    coalesce(devices.inverter_count, 0) AS inverter_count,
    coalesce(panels.string_count, 0) AS string_count,
    coalesce(panels.module_count, 0) AS module_count,
    panels.azimuth_min_deg, panels.azimuth_max_deg, panels.tilt_min_deg, panels.tilt_max_deg,
    limits.power_limit_kw, coalesce(limits.active_row_count, 0) AS active_row_count
  FROM loggers g
  LEFT JOIN logger_latest l ON l.site_id = g.site_id AND l.logger_id = g.logger_id
  LEFT JOIN devices ON devices.logger_id = g.logger_id
  LEFT JOIN panels ON panels.logger_id = g.logger_id
  LEFT JOIN limits ON limits.logger_id = g.logger_id
  WHERE g.site_id = $1
  ORDER BY g.logger_id`
