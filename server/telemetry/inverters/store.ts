import type { AlarmingDevice } from '../../plant/alarm-tables.ts'
import type { InverterFilter, InverterRow } from '../../plant/inverter.ts'
import type { Queries } from '../../storage/database.ts'
import { expanded, latestColumns } from '../rows.ts'

/**
 * Inverters by id, with their latest reading and the energy counter at the start of the day: the
 * last value of the two days before `day_start_at`, else the first value since. The energy of the
 * hours is read where that counter is no basis, for example after a rise across midnight without
 * readings, or of an inverter that was exchanged since.
 */
export const liveInverters = async (
  db: Queries,
  site_id: string,
  day_start_at: Date,
  { inverter_id, logger_id, in_service = false }: InverterFilter = {},
) => {
  const values = [site_id, day_start_at, inverter_id ?? null, logger_id ?? null, in_service]
  const rows = await db.query<InverterRow>({ name: 'inverters_live', text: live }, values)
  return rows.map((row) => expanded('inverter', row))
}

/** Each pair of driver and manufacturer of the inverters in service, or that of one inverter. */
export const alarmingDevices = (db: Queries, site_id: string, inverter_id?: number) =>
  db.query<AlarmingDevice>(
    `SELECT DISTINCT i.driver, coalesce(i.manufacturer, d.manufacturer) AS manufacturer
     FROM inverters i
     LEFT JOIN device_status d
       ON d.site_id = i.site_id AND d.kind = 'inverter' AND d.id = i.inverter_id::text
     WHERE i.site_id = $1
       AND CASE WHEN $2::int IS NULL THEN i.retired_at IS NULL ELSE i.inverter_id = $2 END
     ORDER BY 1, 2`,
    [site_id, inverter_id ?? null],
  )

const [, ...measured] = latestColumns('inverter').map((name) => `l.${name}`)

const counterOfDay = `
  SELECT r.measured_at, r.energy_total_kwh FROM inverter_readings r
  WHERE r.site_id = $1 AND r.inverter_id = i.inverter_id AND r.energy_total_kwh IS NOT NULL`

const live = `
  -- Materialized so that they run once, not once per inverter, whatever the planner estimates.
  WITH plants AS MATERIALIZED (
    SELECT p.logger_id, greatest(max(g.measured_at), max(l.measured_at)) AS data_at
    FROM inverters p
    LEFT JOIN inverter_latest l ON l.site_id = p.site_id AND l.inverter_id = p.inverter_id
    LEFT JOIN logger_latest g ON g.site_id = p.site_id AND g.logger_id = p.logger_id
    WHERE p.site_id = $1
    GROUP BY p.logger_id
  ), by_power AS MATERIALIZED (
    SELECT DISTINCT inverter_id FROM inverter_hours
    WHERE site_id = $1 AND hour_at >= $2 AND energy_source <> 'inverter_counter'
  )
  SELECT
    i.inverter_id, i.logger_id, i.location_id, i.name,
    coalesce(i.manufacturer, d.manufacturer) AS manufacturer,
    coalesce(i.model, d.model) AS model,
    coalesce(d.serial_number, i.serial_number) AS serial_number,
    d.firmware_version, i.driver, i.modbus_unit_id, i.installed_date, i.phase_count,
    i.rated_ac_power_kw, i.max_dc_voltage_v, i.mppt_count, i.string_count, i.dc_capacity_kwp,
    i.created_at, i.updated_at, i.retired_at,
    l.received_at, ${measured.join(', ')},
    d.comm_state AS edge_comm_state, plants.data_at AS logger_data_at,
    since.measured_at AS day_first_at, since.energy_total_kwh AS day_first_energy_kwh,
    hours.energy_kwh AS day_hours_energy_kwh
  FROM inverters i
  JOIN plants ON plants.logger_id = i.logger_id
  LEFT JOIN inverter_latest l ON l.site_id = i.site_id AND l.inverter_id = i.inverter_id
  LEFT JOIN device_status d
    ON d.site_id = i.site_id AND d.kind = 'inverter' AND d.id = i.inverter_id::text
  LEFT JOIN LATERAL (
    ${counterOfDay}
      AND r.measured_at < $2 AND r.measured_at >= $2::timestamptz - interval '2 days'
    ORDER BY r.measured_at DESC LIMIT 1
  ) before ON true
  LEFT JOIN LATERAL (
    ${counterOfDay} AND r.measured_at >= $2
      AND (before.measured_at IS NULL OR before.measured_at < $2 - interval '1 hour')
    ORDER BY r.measured_at LIMIT 1
  ) first ON true
  -- A rise across midnight without readings is shared by both days. Falling asleep and waking up
  -- explain three minutes of rated power. An exchanged inverter has another counter.
  CROSS JOIN LATERAL (
    SELECT coalesce(first.energy_total_kwh - before.energy_total_kwh
        > 0.05 * i.rated_ac_power_kw, false)
      OR EXISTS (
        SELECT FROM device_exchanges x
        WHERE x.site_id = $1 AND x.kind = 'inverter' AND x.device_id = i.inverter_id::text
          AND x.changed_at > coalesce(before.measured_at, first.measured_at)
      ) AS is_unusable
  ) counter
  CROSS JOIN LATERAL (
    SELECT CASE WHEN NOT is_unusable THEN coalesce(before.measured_at, first.measured_at) END
        AS measured_at,
      CASE WHEN NOT is_unusable THEN coalesce(before.energy_total_kwh, first.energy_total_kwh) END
        AS energy_total_kwh
  ) since
  -- Only where the counter is no basis: it fell, rose by more than the rated power allows, or may
  -- have stood still.
  LEFT JOIN LATERAL (
    SELECT sum(parts.energy_kwh) AS energy_kwh FROM (
      SELECT ac_energy_kwh AS energy_kwh FROM inverter_hours
      WHERE site_id = $1 AND inverter_id = i.inverter_id AND hour_at >= $2
        AND energy_source IS NOT NULL
      UNION ALL
      SELECT energy_kwh FROM inverter_gap_hours
      WHERE site_id = $1 AND inverter_id = i.inverter_id AND hour_at >= $2
    ) parts
    WHERE counter.is_unusable OR l.energy_total_kwh < since.energy_total_kwh
      OR l.energy_total_kwh - since.energy_total_kwh
        > i.rated_ac_power_kw / 3600 * date_part('epoch', l.measured_at - since.measured_at)
      OR i.inverter_id IN (SELECT inverter_id FROM by_power)
  ) hours ON true
  WHERE i.site_id = $1
    AND ($3::int IS NULL OR i.inverter_id = $3)
    AND ($4::int IS NULL OR i.logger_id = $4)
    AND (NOT $5::boolean OR i.retired_at IS NULL)
  ORDER BY i.inverter_id`
