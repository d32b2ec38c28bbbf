/** What a unit is set to, as it was read: thresholds of protection, limits, registers. */
import { hash } from 'node:crypto'
import { type BatterySetup, protectionParameters } from '@heliograph/domain/battery'
import { heartbeatTimeout } from '@heliograph/domain/heartbeat'
import type { PollIntervals } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { At, iso } from '../../plant/frame.ts'
import type { UnitFacts } from '../unit-store.ts'
import { BessId } from '../units.ts'

const closed = { additionalProperties: false } as const
const Figure = (description: string) => Nullable(Type.Number({ description }))

export type Protection = Static<typeof Protection>
export const Protection = Type.Object(
  {
    parameter: Type.Enum([...protectionParameters]),
    level: Type.Enum(['pre_alarm', 'level_1', 'level_2'], {
      description: 'Pre-alarm, then the first and the second level, which is the graver.',
    }),
    trip_value: Type.Number({ description: 'Where it trips, in `unit`.' }),
    recover_value: Figure('Where it recovers, in `unit`.'),
    unit: Type.Enum(['mV', 'V', 'A', 'C', 'pct', 'kohm', 'Hz']),
    delay_ms: Figure('How long the value has to be beyond, ms.'),
    action: Type.Enum(['warn', 'derate', 'stop', 'open_contactor']),
    source: Type.Enum(['bms', 'pcs', 'ems'], { description: 'What protects.' }),
    read_at: At('When the edge read it last from the device, changed or not.'),
  },
  { ...closed, $id: 'BatteryProtection' },
)

const Register = Type.Object(
  {
    address: Type.Integer({ minimum: 0, maximum: 65_535 }),
    name: Type.String(),
    value: Figure('In `unit`.'),
    unit: Nullable(Type.String()),
  },
  { ...closed, $id: 'BatterySetupRegister' },
)

export type Setup = Static<typeof Setup>
export const Setup = Type.Object(
  {
    bess_id: BessId,
    read_at: Nullable(At('When the edge read it last from the device, changed or not.')),
    changed_at: Nullable(At('Since when it is set as it is.')),
    rated_energy_kwh: Figure('As the device says, kWh.'),
    rated_capacity_ah: Figure('As the device says, Ah.'),
    nominal_voltage_v: Figure('Of the inventory, V.'),
    max_charge_power_kw: Figure('Most that it charges, as the device says, kW.'),
    max_discharge_power_kw: Figure('Most that it discharges, as the device says, kW.'),
    soc_min_pct: Figure('Lower end of the window that the device is set to, %.'),
    soc_max_pct: Figure('Upper end of the window that the device is set to, %.'),
    soc_reserve_pct: Figure('Reserve that the device is set to, %.'),
    ramp_rate_kw_s: Figure(
      'How fast it follows a setpoint, kW/s: as the device says, else of the inventory.',
    ),
    heartbeat_timeout_s: Figure(
      'How long it goes on without a heartbeat, s: as the device says, else how long its own may ' +
        'stand still until the edge holds it for lost.',
    ),
    bms_firmware: Nullable(Type.String({ description: 'Of its management system.' })),
    bms_address: Nullable(
      Type.String({ description: 'Connection and Modbus unit of its management system.' }),
    ),
    timezone: Type.String({ description: 'Of the site.' }),
    raw_registers: Type.Array(Register, { description: 'As read, by address; for engineers.' }),
    config_hash: Nullable(
      Type.String({ description: 'Digest of all that was read: it changes when anything does.' }),
    ),
  },
  { ...closed, $id: 'BatterySetup' },
)

export interface SetupRow {
  read_at: Date | null
  changed_at: Date | null
  setup: Omit<BatterySetup, 'bess_id' | 'read_at'> | null
  bms_connection: string | null
  bms_unit_id: number | null
  timezone: string
}

export function setupRecord(
  unit: UnitFacts,
  row: SetupRow,
  { battery_s }: Pick<Required<PollIntervals>, 'battery_s'>,
): Setup {
  const { setup, bms_connection, bms_unit_id } = row
  return {
    bess_id: unit.bess_id,
    read_at: iso(row.read_at),
    changed_at: iso(row.changed_at),
    rated_energy_kwh: setup?.rated_energy_kwh ?? null,
    rated_capacity_ah: setup?.rated_capacity_ah ?? null,
    nominal_voltage_v: unit.nominal_voltage_v,
    max_charge_power_kw: setup?.rated_charge_power_kw ?? null,
    max_discharge_power_kw: setup?.rated_discharge_power_kw ?? null,
    soc_min_pct: setup?.soc_min_pct ?? null,
    soc_max_pct: setup?.soc_max_pct ?? null,
    soc_reserve_pct: setup?.soc_reserve_pct ?? null,
    ramp_rate_kw_s: setup?.ramp_rate_kw_s ?? unit.ramp_rate_kw_s,
    heartbeat_timeout_s: setup?.heartbeat_timeout_s ?? heartbeatTimeout(battery_s),
    bms_firmware: setup?.bms_firmware ?? null,
    bms_address: bms_connection === null ? null : `${bms_connection}/${bms_unit_id}`,
    timezone: row.timezone,
    raw_registers: (setup?.raw_registers ?? []).toSorted((a, b) => a.address - b.address),
    // jsonb has one order of keys, whatever order they came in.
    config_hash: setup && hash('sha256', JSON.stringify(setup), 'hex'),
  }
}

const levels = ['pre_alarm', 'level_1', 'level_2'] as const

/** By parameter, in the order of the enumeration, and level. */
export function protectionRecords({ setup, read_at }: SetupRow): Protection[] {
  if (setup === null || read_at === null) return []
  const order = ({ parameter, level }: BatterySetup['protection'][number]) =>
    protectionParameters.indexOf(parameter) * levels.length + levels.indexOf(level)
  return setup.protection
    .toSorted((a, b) => order(a) - order(b))
    .map((threshold) => ({ ...threshold, read_at: read_at.toISOString() }))
}
