/** Settings of a unit as read from the device: protection thresholds, limits, registers. */
import { hash } from 'node:crypto'
import { type BatterySetup, protectionParameters } from '@heliograph/domain/battery'
import { heartbeatTimeout } from '@heliograph/domain/heartbeat'
import type { PollIntervals } from '@heliograph/domain/site'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { served } from '../../storage/records.ts'
import { BessId } from '../units.ts'

const levels = ['pre_alarm', 'level_1', 'level_2'] as const

export type Protection = Static<typeof Protection>
export const Protection = Named('BatteryProtection', {
  parameter: Type.Enum([...protectionParameters]),
  level: field.OneOf(
    levels,
    'Pre-alarm, first level, or second level (the most severe).',
    'level_1',
  ),
  trip_value: field.Num('Value at which it trips, in `unit`.', 3600),
  recover_value: field.NumOrNull('Value at which it recovers, in `unit`.', 3500),
  unit: Type.Enum(['mV', 'V', 'A', 'C', 'pct', 'kohm', 'Hz']),
  delay_ms: field.NumOrNull('How long the value must be beyond the threshold, ms.'),
  action: Type.Enum(['warn', 'derate', 'stop', 'open_contactor'], { examples: ['stop'] }),
  source: field.OneOf(['bms', 'pcs', 'ems'], 'The protecting device.'),
  read_at: At('When the edge last read it from the device.'),
})

const Register = Named('BatterySetupRegister', {
  address: Type.Integer({ minimum: 0, maximum: 65_535, examples: [40_070] }),
  name: Type.String({ examples: ['WHRtg'] }),
  value: field.NumOrNull('In `unit`.', 400_000),
  unit: Nullable(Type.String({ examples: ['Wh'] })),
})

export type Setup = Static<typeof Setup>
export const Setup = Named('BatterySetup', {
  bess_id: BessId,
  read_at: field.AtOrNull('When the edge last read them from the device.'),
  changed_at: field.AtOrNull('When the settings last changed.', '2025-03-01T09:30:00.000Z'),
  rated_energy_kwh: field.NumOrNull('As reported by the device, kWh.', 400),
  rated_capacity_ah: field.NumOrNull('As reported by the device, Ah.'),
  nominal_voltage_v: field.NumOrNull('As in the inventory, V.'),
  max_charge_power_kw: field.NumOrNull('Maximum charging power reported by the device, kW.', 200),
  max_discharge_power_kw: field.NumOrNull('Maximum discharging power reported by the device, kW.'),
  soc_min_pct: field.NumOrNull('Lower end of the operating window set in the device, %.', 5),
  soc_max_pct: field.NumOrNull('Upper end of the operating window set in the device, %.', 95),
  soc_reserve_pct: field.NumOrNull('Reserve set in the device, %.', 10),
  ramp_rate_kw_s: field.NumOrNull(
    'Ramp rate of setpoints, kW/s: as reported by the device, else as in the inventory.',
  ),
  heartbeat_timeout_s: field.NumOrNull(
    'How long the device runs on without a heartbeat, s: as reported by the device, else how ' +
      'long its own heartbeat may stop before the edge declares communication lost.',
  ),
  bms_firmware: field.TextOrNull('Firmware of the BMS.', '3.2'),
  bms_address: field.TextOrNull('Connection and Modbus unit of the BMS.'),
  timezone: field.Text('IANA time zone of the site.', 'Europe/Berlin'),
  raw_registers: Type.Array(Register, { description: 'Registers as read, by address.' }),
  config_hash: field.TextOrNull('Digest of all settings; changes when any setting changes.'),
})

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
  const unread = Object.fromEntries(fields.map((name) => [name, null]))
  return served(Setup, {
    ...unread,
    ...setup,
    ...row,
    max_charge_power_kw: setup?.rated_charge_power_kw ?? null,
    max_discharge_power_kw: setup?.rated_discharge_power_kw ?? null,
    ramp_rate_kw_s: setup?.ramp_rate_kw_s ?? row.ramp_rate_kw_s,
    heartbeat_timeout_s: setup?.heartbeat_timeout_s ?? heartbeatTimeout(battery_s),
    bms_address: bms_connection === null ? null : `${bms_connection}/${bms_unit_id}`,
    raw_registers: (setup?.raw_registers ?? []).toSorted((a, b) => a.address - b.address),
    // The order of keys is stable, as jsonb normalises it.
    config_hash: setup && hash('sha256', JSON.stringify(setup), 'hex'),
  })
}

const fields = Object.keys(Setup.properties)

/** Thresholds by parameter (in the order of the enumeration) and level. */
export function protectionRecords({ setup, read_at }: SetupRow): Protection[] {
  if (setup === null || read_at === null) return []
  const order = ({ parameter, level }: BatterySetup['protection'][number]) =>
    protectionParameters.indexOf(parameter) * levels.length + levels.indexOf(level)
  return setup.protection
    .toSorted((a, b) => order(a) - order(b))
    .map((threshold) => ({ ...threshold, read_at: read_at.toISOString() }))
}
