/** A battery unit: inventory, status and operating mode. */
import { chemistries, couplings } from '@heliograph/domain/battery'
import { significant } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { id_max, LocationId, Named, Nullable } from '../http/params.ts'
import { inventoried, isStale } from '../plant/frame.ts'
import type { Polled, Situation } from '../plant/situation.ts'
import { served } from '../storage/records.ts'
import { scheduleStatus, scheduleStatuses } from './schedule-status.ts'
import type { LiveUnit, UnitFacts, UnitRow } from './unit-store.ts'

export const BessId = field.Count('A battery unit of the site.', { maximum: id_max, examples: [1] })

export interface OfUnit {
  site: { site_id: string }
  params: { bess_id: number }
}

const unitStatuses = ['online', 'standby', 'fault', 'maintenance', 'offline', 'unknown'] as const
type UnitStatus = (typeof unitStatuses)[number]

const statusRule =
  'The first that applies. `unknown`: nothing was ever measured. `offline`: the newest reading is ' +
  'stale. `fault`: the unit or one of its PCS reports a fault. `maintenance`: it takes local ' +
  'commands only. `standby`: it is off, starting, disconnected or in standby. `online`: otherwise.'

const operatingModes = ['idle', 'schedule', 'manual', 'maintenance', 'off'] as const
type OperatingMode = (typeof operatingModes)[number]

const modeRule =
  'Source of its commands by the newest readings and reports; the first that applies. ' +
  '`maintenance`: local commands only. `off`: it is off or disconnected. `schedule`, `manual`: ' +
  'the last setpoint of this hour came from an approved schedule or an operator. `idle`: no ' +
  'setpoint in this hour.'

export type BatteryUnit = Static<typeof BatteryUnit>
export const BatteryUnit = Named('BatteryUnit', {
  bess_id: BessId,
  name: Type.String({ examples: ['Battery South'] }),
  location_id: Nullable(LocationId),
  logger_id: field.IntOrNull(
    'The plant whose connection it uses; null for the connection of the site.',
    1,
  ),
  manufacturer: field.TextOrNull('From the inventory, else as reported by the device.'),
  model: field.TextOrNull('From the inventory, else as reported by the device.', 'ES 400'),
  serial_number: field.TextOrNull('As reported by the device, else from the inventory.'),
  chemistry: Type.Enum([...chemistries]),
  coupling: Type.Enum([...couplings]),
  rated_energy_kwh: field.Num('Energy between 0 and 100 % when new, kWh.', 400),
  usable_energy_kwh: field.Num(
    'Energy between `soc_min_pct` and `soc_max_pct` when new, kWh: from the datasheet, else the ' +
      'share of the rated energy.',
    360,
  ),
  rated_charge_power_kw: field.Num('Rated charging power, kW; 0 or more.', 200),
  rated_discharge_power_kw: field.Num('Rated discharging power, kW; 0 or more.', 200),
  rated_capacity_ah: field.NumOrNull(
    'Rated capacity, Ah: from the inventory, else as reported by the device.',
  ),
  nominal_voltage_v: field.NumOrNull('Nominal DC voltage, V.'),
  c_rate: field.Num('Rated discharging power divided by rated energy, 1/h.', 0.5),
  roundtrip_efficiency_pct: field.NumOrNull(
    'Round-trip efficiency from grid to grid, from the datasheet, %.',
    88,
  ),
  soc_min_pct: field.Num('Lower end of the operating window, %.', 5),
  soc_max_pct: field.Num('Upper end of the operating window, %.', 95),
  cluster_count: field.Count('Clusters (strings of modules).', 2),
  pcs_count: field.Count('Power conversion systems.', 2),
  module_count: field.Count('Modules, of all clusters.', 28),
  cell_count: field.Count('Cells, of all modules.', 448),
  bms_firmware: field.TextOrNull('Firmware of the BMS, as reported.'),
  ems_firmware: field.TextOrNull('Version of the edge agent.'),
  commissioned_date: Nullable(Type.String({ format: 'date' })),
  warranty_end_date: Nullable(Type.String({ format: 'date' })),
  warranty_throughput_kwh: field.NumOrNull('Energy that the warranty covers, kWh.'),
  warranty_cycles: field.NumOrNull('Full cycles that the warranty covers.'),
  status: field.OneOf(unitStatuses, statusRule),
  operating_mode: field.OneOf(operatingModes, modeRule, 'schedule'),
  last_seen_at: field.AtOrNull('When it was last read; null if never.', '2026-06-21T10:00:05.000Z'),
  market_code: field.TextOrNull('Market of the unit; null for that of its plant.'),
  schedule_status_today: field.OneOfOrNull(
    scheduleStatuses,
    'Status of the schedule of today (UTC): the approved one, else the proposed, else the ' +
      'newest; null without any. See `status` of a schedule.',
    'dispatching',
  ),
  ...inventoried,
})

export function unitRecord({ row, pcs }: LiveUnit, situation: Situation): BatteryUnit {
  const module_count = row.cluster_count * row.modules_per_cluster
  return served(BatteryUnit, {
    ...row,
    usable_energy_kwh: usableEnergy(row),
    c_rate: significant(row.rated_discharge_power_kw / row.rated_energy_kwh),
    pcs_count: row.pcs.length,
    module_count,
    cell_count: module_count * row.cells_per_module,
    status: unitStatus({ row, pcs }, situation),
    operating_mode: operatingMode(row, situation.now),
    last_seen_at: row.measured_at,
    schedule_status_today: scheduleStatusToday(row, situation.now),
  })
}

function scheduleStatusToday({ schedule_state: state, schedule_dispatched }: UnitRow, now: Date) {
  if (state === null) return null
  const today = { state, target_date: utcDate(now), dispatched: schedule_dispatched }
  return scheduleStatus(today, now)
}

/** Usable energy when new, kWh: from the datasheet, else the share of the rated energy. */
export const usableEnergy = (
  unit: Pick<UnitFacts, 'usable_energy_kwh' | 'rated_energy_kwh' | 'soc_min_pct' | 'soc_max_pct'>,
): number =>
  unit.usable_energy_kwh ??
  significant((unit.rated_energy_kwh * (unit.soc_max_pct - unit.soc_min_pct)) / 100)

/** Energy between 0 and 100 % at the present state of health, kWh. */
export const capacityOf = (
  unit: Parameters<typeof usableEnergy>[0] & { soh_pct: number | null },
): number => (usableEnergy(unit) / (unit.soc_max_pct - unit.soc_min_pct)) * (unit.soh_pct ?? 100)

export function unitStatus(
  { row, pcs }: Pick<LiveUnit, 'row' | 'pcs'>,
  { now, poll }: Polled,
): UnitStatus {
  if (row.measured_at === null) return 'unknown'
  if (isStale(row.measured_at, poll.battery_s, now)) return 'offline'
  const faulted = pcs.some(
    ({ state, measured_at }) => state === 'fault' && !isStale(measured_at, poll.battery_s, now),
  )
  if (row.state === 'fault' || faulted) return 'fault'
  if (row.control_place === 'local') return 'maintenance'
  return resting.has(row.state) ? 'standby' : 'online'
}

const resting = new Set<UnitRow['state']>(['off', 'initializing', 'standby', 'disconnected'])

/** Setpoints are for an hour or a quarter hour and expire after this time. */
const in_force_ms = 3_600_000

export function operatingMode(row: UnitRow, now: Date): OperatingMode {
  if (row.control_place === 'local') return 'maintenance'
  if (row.state === 'off' || row.state === 'disconnected') return 'off'
  if (!isInForce(row.command_from_at, now)) return 'idle'
  switch (row.command_source) {
    case 'schedule':
      return 'schedule'
    case 'operator':
      return 'manual'
    default:
      return 'idle'
  }
}

/** Whether a setpoint from an instant on has not expired. */
export const isInForce = (from_at: Date | null, now: Date) =>
  from_at !== null && now.getTime() - from_at.getTime() < in_force_ms
