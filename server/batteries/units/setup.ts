/** Settings of a unit as read from the device: protection thresholds, limits, registers. */
import { hash } from 'node:crypto'
import { type BatterySetup, protectionParameters } from '@heliograph/domain/battery'
import { heartbeatTimeout } from '@heliograph/domain/heartbeat'
import type { PollIntervals } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { At, iso } from '../../plant/frame.ts'
import { BessId } from '../units.ts'

const closed = { additionalProperties: false } as const
const Metric = (description: string) => Nullable(Type.Number({ description }))

export type Protection = Static<typeof Protection>
export const Protection = Type.Object(
  {
    parameter: Type.Enum([...protectionParameters]),
    level: Type.Enum(['pre_alarm', 'level_1', 'level_2'], {
      description: 'Pre-alarm, first level, or second level (the most severe).',
    }),
    trip_value: Type.Number({ description: 'Value at which it trips, in `unit`.' }),
    recover_value: Metric('Value at which it recovers, in `unit`.'),
    unit: Type.Enum(['mV', 'V', 'A', 'C', 'pct', 'kohm', 'Hz']),
    delay_ms: Metric('How long the value must be beyond the threshold, ms.'),
    action: Type.Enum(['warn', 'derate', 'stop', 'open_contactor']),
    source: Type.Enum(['bms', 'pcs', 'ems'], { description: 'The protecting device.' }),
    read_at: At('When the edge last read it from the device.'),
  },
  { ...closed, $id: 'BatteryProtection' },
)

const Register = Type.Object(
  {
    address: Type.Integer({ minimum: 0, maximum: 65_535 }),
    name: Type.String(),
    value: Metric('In `unit`.'),
    unit: Nullable(Type.String()),
  },
  { ...closed, $id: 'BatterySetupRegister' },
)

export type Setup = Static<typeof Setup>
export const Setup = Type.Object(
  {
    bess_id: BessId,
    read_at: Nullable(At('When the edge last read them from the device.')),
    changed_at: Nullable(At('When the settings last changed.')),
    rated_energy_kwh: Metric('As reported by the device, kWh.'),
    rated_capacity_ah: Metric('As reported by the device, Ah.'),
    nominal_voltage_v: Metric('As in the inventory, V.'),
    max_charge_power_kw: Metric('Maximum charging power reported by the device, kW.'),
    max_discharge_power_kw: Metric('Maximum discharging power reported by the device, kW.'),
    soc_min_pct: Metric('Lower end of the operating window set in the device, %.'),
    soc_max_pct: Metric('Upper end of the operating window set in the device, %.'),
    soc_reserve_pct: Metric('Reserve set in the device, %.'),
    ramp_rate_kw_s: Metric(
      'Ramp rate of setpoints, kW/s: as reported by the device, else as in the inventory.',
    ),
    heartbeat_timeout_s: Metric(
      'How long the device runs on without a heartbeat, s: as reported by the device, else how ' +
        'long its own heartbeat may stop before the edge declares communication lost.',
    ),
    bms_firmware: Nullable(Type.String({ description: 'Firmware of the BMS.' })),
    bms_address: Nullable(Type.String({ description: 'Connection and Modbus unit of the BMS.' })),
    timezone: Type.String({ description: 'IANA time zone of the site.' }),
    raw_registers: Type.Array(Register, { description: 'Registers as read, by address.' }),
    config_hash: Nullable(
      Type.String({ description: 'Digest of all settings; changes when any setting changes.' }),
    ),
  },
  { ...closed, $id: 'BatterySetup' },
)

export interface SetupRow {
  bess_id: number
  nominal_voltage_v: number | null
  ramp_rate_kw_s: number | null
  read_at: Date | null
  changed_at: Date | null
  setup: Omit<BatterySetup, 'bess_id' | 'read_at'> | null
  bms_connection: string | null
  bms_unit_id: number | null
  timezone: string
}

export function setupRecord(
  row: SetupRow,
  { battery_s }: Pick<Required<PollIntervals>, 'battery_s'>,
): Setup {
  const { setup, bms_connection, bms_unit_id } = row
  return {
    bess_id: row.bess_id,
    read_at: iso(row.read_at),
    changed_at: iso(row.changed_at),
    rated_energy_kwh: setup?.rated_energy_kwh ?? null,
    rated_capacity_ah: setup?.rated_capacity_ah ?? null,
    nominal_voltage_v: row.nominal_voltage_v,
    max_charge_power_kw: setup?.rated_charge_power_kw ?? null,
    max_discharge_power_kw: setup?.rated_discharge_power_kw ?? null,
    soc_min_pct: setup?.soc_min_pct ?? null,
    soc_max_pct: setup?.soc_max_pct ?? null,
    soc_reserve_pct: setup?.soc_reserve_pct ?? null,
    ramp_rate_kw_s: setup?.ramp_rate_kw_s ?? row.ramp_rate_kw_s,
    heartbeat_timeout_s: setup?.heartbeat_timeout_s ?? heartbeatTimeout(battery_s),
    bms_firmware: setup?.bms_firmware ?? null,
    bms_address: bms_connection === null ? null : `${bms_connection}/${bms_unit_id}`,
    timezone: row.timezone,
    raw_registers: (setup?.raw_registers ?? []).toSorted((a, b) => a.address - b.address),
    // The order of keys is stable, as jsonb normalises it.
    config_hash: setup && hash('sha256', JSON.stringify(setup), 'hex'),
  }
}

const levels = ['pre_alarm', 'level_1', 'level_2'] as const

/** Thresholds by parameter (in the order of the enumeration) and level. */
export function protectionRecords({ setup, read_at }: SetupRow): Protection[] {
  if (setup === null || read_at === null) return []
  const order = ({ parameter, level }: BatterySetup['protection'][number]) =>
    protectionParameters.indexOf(parameter) * levels.length + levels.indexOf(level)
  return setup.protection
    .toSorted((a, b) => order(a) - order(b))
    .map((threshold) => ({ ...threshold, read_at: read_at.toISOString() }))
}
