/** The battery units of a site with their newest readings. */
import type { Battery, BatterySetup, BatteryState, Pcs } from '@heliograph/domain/battery'
import type { DispatchReport } from '@heliograph/domain/dispatch'
import { type BessReading, type PcsReading, readingKinds } from '@heliograph/domain/readings'
import type { Measurement } from '../plant/frame.ts'
import type { Queries } from '../storage/database.ts'
import type { Row } from '../storage/records.ts'
import { type ActiveAlarm, activeAlarms } from './active-alarms.ts'
import { type Condition, readConditions } from './conditions.ts'
import { type Dispatched, dispatchedOf } from './schedule-status.ts'
import type { StoredSchedule } from './schedules.ts'

type Words = 'state' | 'contactor_state' | 'fire_system_state' | 'control_place'
type Measured<Of extends { measured_at: number }> = Omit<
  Of,
  'measured_at' | 'quality' | 'bess_id' | 'pcs_idx' | Words | 'grid_mode'
>

export interface UnitFacts extends Row<Omit<Battery, 'bms' | 'pcs'>> {
  pcs: readonly Pick<Pcs, 'pcs_idx' | 'rated_power_kw'>[]
  created_at: Date
  updated_at: Date
  retired_at: Date | null
}

/** Counters at local midnight, or the nearest reading. */
interface DayCounters {
  day_first_at: Date | null
  day_first_charged_kwh: number | null
  day_first_discharged_kwh: number | null
}

/** The last setpoint reported by an edge, in force from the start of its hour or quarter hour. */
interface LastDispatch {
  clamp_reason: DispatchReport['clamp_reason']
  clamped_from_at: Date | null
  command_source: DispatchReport['source'] | null
  command_from_at: Date | null
}

export interface UnitRow
  extends UnitFacts,
    Measurement,
    Measured<BessReading>,
    DayCounters,
    LastDispatch {
  state: BatteryState | null
  contactor_state: 'open' | 'closed' | 'precharge' | null
  fire_system_state: 'normal' | 'warning' | 'alarm' | 'fault' | null
  control_place: 'local' | 'remote' | null
  protection: BatterySetup['protection'] | null
  bms_firmware: string | null
  ems_firmware: string | null
  /** State of the schedule of today (UTC); null without one. */
  schedule_state: StoredSchedule['state'] | null
  schedule_dispatched: Dispatched | null
}

export interface PcsRow extends Measurement, Measured<PcsReading> {
  bess_id: number
  pcs_idx: number
  rated_power_kw: number
  state: string | null
  grid_mode: 'on_grid' | 'off_grid' | 'islanding' | null
  control_place: 'local' | 'remote' | null
}

export interface LiveUnit {
  row: UnitRow
  pcs: PcsRow[]
  alarms: ActiveAlarm[]
}

interface UnitsAsked {
  site_id: string
  /** Local midnight. */
  day_start_at: Date
  now: Date
  bess_id?: number
  in_service?: boolean
}

/** Units by id, live. `conditions` can be passed by callers that read them as well. */
export async function readUnits(
  db: Queries,
  asked: UnitsAsked,
  conditions?: Promise<Condition[]>,
): Promise<LiveUnit[]> {
  const { site_id, day_start_at, now, bess_id = null, in_service = false } = asked
  const [rows, pcs, known] = await Promise.all([
    db.query<UnitRow>(units, [site_id, day_start_at, now, bess_id, in_service]),
    readPcs(db, site_id, bess_id),
    conditions ?? readConditions(db, { site_id, bess_id, only_set: true }),
  ])
  return rows.map((row) => ({
    row,
    pcs: pcs.filter((one) => one.bess_id === row.bess_id),
    alarms: activeAlarms(row, known),
  }))
}

/** Every PCS of the inventory by unit and index, with its newest reading. */
export const readPcs = (db: Queries, site_id: string, bess_id: number | null): Promise<PcsRow[]> =>
  db.query<PcsRow>(pcsLatest, [site_id, bess_id])

const columnsOf = (kind: 'bess' | 'pcs', table: string) =>
  Object.keys(readingKinds[kind].columns)
    .map((name) => `${table}.${name}`)
    .join(', ')

/** A reading up to this long before midnight gives the counters at midnight. */
const at_midnight_minutes = 15

const counters = `
  SELECT r.measured_at, r.charged_total_kwh, r.discharged_total_kwh FROM bess_readings r
  WHERE r.site_id = $1 AND r.bess_id = b.bess_id
    AND (r.charged_total_kwh IS NOT NULL OR r.discharged_total_kwh IS NOT NULL)`

const lastDispatch = `
  SELECT t.source, t.clamp_reason, coalesce(t.interval_start_at, t.issued_at) AS from_at
  FROM battery_dispatches t
  WHERE t.site_id = $1 AND t.bess_id = b.bess_id AND t.issued_at <= $3
    AND t.status NOT IN ('failed', 'expired')
  ORDER BY t.issued_at DESC`

const units = {
  name: 'battery_units_live',
  text: `
    SELECT b.bess_id, b.name, b.location_id, b.logger_id,
      coalesce(b.manufacturer, d.manufacturer) AS manufacturer,
      coalesce(b.model, d.model) AS model,
      coalesce(d.serial_number, b.serial_number) AS serial_number,
      b.chemistry, b.coupling, b.rated_energy_kwh, b.usable_energy_kwh,
      b.rated_charge_power_kw, b.rated_discharge_power_kw,
      coalesce(b.rated_capacity_ah, (s.setup ->> 'rated_capacity_ah')::float8)
        AS rated_capacity_ah,
      b.nominal_voltage_v, b.roundtrip_efficiency_pct, b.soc_min_pct, b.soc_max_pct,
      b.soc_reserve_pct, b.ramp_rate_kw_s, b.power_curve, b.market_code, b.cluster_count,
      b.modules_per_cluster, b.cells_per_module, b.temperature_sensors_per_module,
      b.commissioned_date, b.warranty_end_date, b.warranty_throughput_kwh, b.warranty_cycles,
      b.pcs, b.created_at, b.updated_at, b.retired_at,
      l.measured_at, l.received_at, l.quality, ${columnsOf('bess', 'l')},
      s.setup -> 'protection' AS protection,
      coalesce(s.setup ->> 'bms_firmware', d.firmware_version) AS bms_firmware,
      (SELECT e.agent_version FROM edges e WHERE e.site_id = $1
       ORDER BY e.last_seen_at DESC NULLS LAST LIMIT 1) AS ems_firmware,
      since.measured_at AS day_first_at,
      since.charged_total_kwh AS day_first_charged_kwh,
      since.discharged_total_kwh AS day_first_discharged_kwh,
      newest.clamp_reason, newest.from_at AS clamped_from_at,
      newest.source AS command_source, newest.from_at AS command_from_at,
      today.state AS schedule_state,
      CASE WHEN today.approved_at IS NOT NULL THEN ${dispatchedOf('today')} END
        AS schedule_dispatched
    FROM batteries b
    LEFT JOIN bess_latest l ON l.site_id = b.site_id AND l.bess_id = b.bess_id
    LEFT JOIN battery_setups s ON s.site_id = b.site_id AND s.bess_id = b.bess_id
    LEFT JOIN device_status d
      ON d.site_id = b.site_id AND d.kind = 'bess' AND d.id = b.bess_id::text
    LEFT JOIN LATERAL (
      (${counters} AND r.measured_at <= $2
         AND r.measured_at >= $2::timestamptz - interval '${at_midnight_minutes} minutes'
       ORDER BY r.measured_at DESC LIMIT 1)
      UNION ALL
      (${counters} AND r.measured_at > $2 AND r.measured_at <= $3 ORDER BY r.measured_at LIMIT 1)
      ORDER BY measured_at LIMIT 1
    ) since ON NOT EXISTS (
      SELECT FROM device_exchanges x
      WHERE x.site_id = $1 AND x.kind = 'bess' AND x.device_id = b.bess_id::text
        AND x.changed_at > since.measured_at AND x.changed_at <= $3)
    LEFT JOIN LATERAL (
      SELECT * FROM battery_schedules p
      WHERE p.site_id = $1 AND p.bess_id = b.bess_id
        AND p.target_date = ($3::timestamptz AT TIME ZONE 'UTC')::date
      ORDER BY state = 'approved' DESC, state = 'proposed' DESC, schedule_id DESC LIMIT 1
    ) today ON true
    LEFT JOIN LATERAL (${lastDispatch} LIMIT 1) newest ON true
    WHERE b.site_id = $1
      AND ($4::int IS NULL OR b.bess_id = $4)
      AND (NOT $5::boolean OR b.retired_at IS NULL)
    ORDER BY b.bess_id`,
}

const pcsLatest = {
  name: 'battery_pcs_latest',
  text: `
    SELECT b.bess_id, p.pcs_idx, p.rated_power_kw, l.measured_at, l.received_at, l.quality,
      ${columnsOf('pcs', 'l')}
    FROM batteries b
    CROSS JOIN LATERAL jsonb_to_recordset(b.pcs) AS p (pcs_idx int, rated_power_kw float8)
    LEFT JOIN pcs_latest l
      ON l.site_id = b.site_id AND l.bess_id = b.bess_id AND l.pcs_idx = p.pcs_idx
    WHERE b.site_id = $1 AND ($2::int IS NULL OR b.bess_id = $2)
    ORDER BY b.bess_id, p.pcs_idx`,
}
