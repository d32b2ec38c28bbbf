/** A battery unit: what it is, whether it answers, and who commands it. */
import { chemistries, couplings } from '@heliograph/domain/battery'
import { significant } from '@heliograph/domain/significant'
import { utcDate } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import { id_max, LocationId, Nullable } from '../http/params.ts'
import { At, inventoried, iso, isStale } from '../plant/frame.ts'
import type { Situation } from '../plant/situation.ts'
import { scheduleStatus, scheduleStatuses } from './schedule-status.ts'
import type { LiveUnit, UnitFacts, UnitRow } from './unit-store.ts'

const closed = { additionalProperties: false } as const
const Text = (description: string) => Nullable(Type.String({ description }))
const Figure = (description: string) => Nullable(Type.Number({ description }))
const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const BessId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A battery unit of the site.',
})

const unitStatuses = ['online', 'standby', 'fault', 'maintenance', 'offline', 'unknown'] as const
type UnitStatus = (typeof unitStatuses)[number]

const statusRule =
  'The first that applies. `unknown`: nothing was ever measured. `offline`: the newest reading is ' +
  'stale. `fault`: the unit or one of its PCS says that it is in fault. `maintenance`: it can ' +
  'only be commanded by someone in front of it. `standby`: it is off, starting, disconnected or ' +
  'in standby. `online`: all else.'

const operatingModes = ['idle', 'schedule', 'manual', 'maintenance', 'off'] as const
type OperatingMode = (typeof operatingModes)[number]

const modeRule =
  'Who commands it, by what was measured and reported last; the first that applies. ' +
  '`maintenance`: someone in front of it. `off`: it is off or disconnected. `schedule`, `manual`: ' +
  'the source of the last setpoint in this hour, an approved schedule or an operator. `idle`: ' +
  'nobody.'

export type BatteryUnit = Static<typeof BatteryUnit>
export const BatteryUnit = Type.Object(
  {
    bess_id: BessId,
    name: Type.String(),
    location_id: Nullable(LocationId),
    logger_id: Nullable(
      Type.Integer({
        description: 'The plant through whose connection it feeds in; null: the one of the site.',
      }),
    ),
    manufacturer: Text('As the inventory has it, else as the device says.'),
    model: Text('As the inventory has it, else as the device says.'),
    serial_number: Text('As the device says, else as the inventory has it.'),
    chemistry: Type.Enum([...chemistries]),
    coupling: Type.Enum([...couplings]),
    rated_energy_kwh: Type.Number({ description: 'Energy between 0 and 100 % when new, kWh.' }),
    usable_energy_kwh: Type.Number({
      description:
        'Energy between `soc_min_pct` and `soc_max_pct` when new, kWh: of the datasheet, else the ' +
        'share of the rated energy.',
    }),
    rated_charge_power_kw: Type.Number({ description: 'Rated power of charging, kW; from 0.' }),
    rated_discharge_power_kw: Type.Number({
      description: 'Rated power of discharging, kW; from 0.',
    }),
    rated_capacity_ah: Figure('Rated capacity, Ah: of the inventory, else as the device says.'),
    nominal_voltage_v: Figure('Nominal DC voltage, V.'),
    c_rate: Type.Number({ description: 'Rated power of discharging by rated energy, 1/h.' }),
    roundtrip_efficiency_pct: Figure('Of the datasheet, from the grid to the grid, %.'),
    soc_min_pct: Type.Number({ description: 'Lower end of the operating window, %.' }),
    soc_max_pct: Type.Number({ description: 'Upper end of the operating window, %.' }),
    cluster_count: Count('Clusters, that is strings of modules.'),
    pcs_count: Count('Power conversion systems.'),
    module_count: Count('Modules, of all clusters.'),
    cell_count: Count('Cells, of all modules.'),
    bms_firmware: Text('Of the battery management system, as it says.'),
    ems_firmware: Text('Version of the edge agent that commands it.'),
    commissioned_date: Nullable(Type.String({ format: 'date' })),
    warranty_end_date: Nullable(Type.String({ format: 'date' })),
    warranty_throughput_kwh: Figure('Energy that the warranty covers, kWh.'),
    warranty_cycles: Figure('Full cycles that the warranty covers.'),
    status: Type.Enum([...unitStatuses], { description: statusRule }),
    operating_mode: Type.Enum([...operatingModes], { description: modeRule }),
    last_seen_at: Nullable(At('When it was read last; null if never.')),
    market_code: Text('Market that it is valued at, where that is not the one of its plant.'),
    schedule_status_today: Nullable(
      Type.Enum([...scheduleStatuses], {
        description:
          'Status of the schedule for today, a day in UTC: of the approved one, else of the ' +
          'proposed, else of the newest; null without any. See `status` of a schedule.',
      }),
    ),
    ...inventoried,
  },
  { ...closed, $id: 'BatteryUnit' },
)

export function unitRecord({ row, pcs }: LiveUnit, situation: Situation): BatteryUnit {
  const modules = row.cluster_count * row.modules_per_cluster
  return {
    ...facts(row),
    usable_energy_kwh: usableEnergy(row),
    c_rate: significant(row.rated_discharge_power_kw / row.rated_energy_kwh),
    cluster_count: row.cluster_count,
    pcs_count: row.pcs.length,
    module_count: modules,
    cell_count: modules * row.cells_per_module,
    bms_firmware: row.bms_firmware,
    ems_firmware: row.ems_firmware,
    status: unitStatus({ row, pcs }, situation),
    operating_mode: operatingMode(row, situation.now),
    last_seen_at: iso(row.measured_at),
    schedule_status_today:
      row.schedule_state &&
      scheduleStatus(
        {
          state: row.schedule_state,
          target_date: utcDate(situation.now),
          dispatched: row.schedule_dispatched,
        },
        situation.now,
      ),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    retired_at: iso(row.retired_at),
  }
}

const facts = (row: UnitRow) => ({
  bess_id: row.bess_id,
  name: row.name,
  location_id: row.location_id,
  logger_id: row.logger_id,
  manufacturer: row.manufacturer,
  model: row.model,
  serial_number: row.serial_number,
  chemistry: row.chemistry as BatteryUnit['chemistry'],
  coupling: row.coupling as BatteryUnit['coupling'],
  rated_energy_kwh: row.rated_energy_kwh,
  rated_charge_power_kw: row.rated_charge_power_kw,
  rated_discharge_power_kw: row.rated_discharge_power_kw,
  rated_capacity_ah: row.rated_capacity_ah,
  nominal_voltage_v: row.nominal_voltage_v,
  roundtrip_efficiency_pct: row.roundtrip_efficiency_pct,
  soc_min_pct: row.soc_min_pct,
  soc_max_pct: row.soc_max_pct,
  commissioned_date: row.commissioned_date,
  warranty_end_date: row.warranty_end_date,
  warranty_throughput_kwh: row.warranty_throughput_kwh,
  warranty_cycles: row.warranty_cycles,
  market_code: row.market_code,
})

/** Of the datasheet, else what the operating window leaves of the rated energy, kWh. */
export const usableEnergy = (
  unit: Pick<UnitFacts, 'usable_energy_kwh' | 'rated_energy_kwh' | 'soc_min_pct' | 'soc_max_pct'>,
): number =>
  unit.usable_energy_kwh ??
  significant((unit.rated_energy_kwh * (unit.soc_max_pct - unit.soc_min_pct)) / 100)

/** The energy between 0 and 100 % with the capacity that is left, kWh. */
export const capacityOf = (
  unit: Parameters<typeof usableEnergy>[0] & { soh_pct: number | null },
): number => (usableEnergy(unit) / (unit.soc_max_pct - unit.soc_min_pct)) * (unit.soh_pct ?? 100)

export function unitStatus(
  { row, pcs }: Pick<LiveUnit, 'row' | 'pcs'>,
  { now, poll }: Pick<Situation, 'now' | 'poll'>,
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

/** What was commanded for an hour or a quarter of one is no longer in force after this. */
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

/** Whether a setpoint that was asked for from an instant on is one of this hour. */
export const isInForce = (from_at: Date | null, now: Date) =>
  from_at !== null && now.getTime() - from_at.getTime() < in_force_ms
