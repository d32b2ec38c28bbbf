/** An inverter with its latest measurements. */

import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { type CommState, severities } from '@heliograph/domain/link'
import type { InverterReading, Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { InverterId, LocationId, LoggerId, Named, Nullable } from '../http/params.ts'
import { type Stored, served } from '../storage/records.ts'
import { alarmTableOf, noTable } from './alarm-tables.ts'
import { inverterCommRule, inverterCommState, inverterCommStates } from './communication.ts'
import { type DayCounter, energyToday, energyTodayOf } from './energy-today.ts'
import { frame, frameOf, inventoried } from './frame.ts'
import { measured, quantity } from './quantities.ts'
import type { Situation } from './situation.ts'

const {
  mppt_voltage_v: _voltage,
  mppt_current_a: _current,
  mppt_power_kw: _power,
  mppt_temperature_c: _temperature,
  mppt_energy_total_kwh: _energy,
  ...measuredOfInverter
} = measured('inverter')

type Mppt = Static<typeof Mppt>
const Mppt = Named('Mppt', {
  mppt_index: field.Count('MPPT input, counted from 0.'),
  dc_voltage_v: quantity('dc_voltage_v'),
  dc_current_a: quantity('dc_current_a'),
  dc_power_kw: quantity('dc_power_kw'),
  temperature_c: field.NumOrNull('Temperature of the MPPT, °C.'),
  energy_total_kwh: quantity('energy_total_kwh'),
})

export type Inverter = Static<typeof Inverter>
export const Inverter = Named('Inverter', {
  inverter_id: InverterId,
  logger_id: LoggerId,
  location_id: Nullable(LocationId),
  name: Type.String({ examples: ['E-3'] }),
  manufacturer: field.TextOrNull(
    'From the inventory, else as reported by the device.',
    'Example Power',
  ),
  model: field.TextOrNull('From the inventory, else as reported by the device.', 'EP 100'),
  serial_number: field.TextOrNull(
    'As reported by the device, else from the inventory.',
    'EP100-2207',
  ),
  firmware_version: field.TextOrNull('As reported by the device.', '2.14'),
  driver: field.Text('The driver of the edge agent for this inverter.', 'sunspec'),
  modbus_unit_id: Type.Integer({ minimum: 0, maximum: 255, examples: [3] }),
  installed_date: Nullable(Type.String({ format: 'date', examples: ['2024-03-12'] })),
  phase_count: Type.Integer({ minimum: 1, maximum: 3, examples: [3] }),
  rated_ac_power_kw: field.Num('Rated AC power, kW.', 100),
  max_dc_voltage_v: field.NumOrNull('Maximum DC voltage, V.', 1500),
  mppt_count: Type.Integer({ minimum: 0, examples: [1] }),
  string_count: Type.Integer({ minimum: 0, examples: [4] }),
  dc_capacity_kwp: field.Num('DC capacity of the connected panels at STC, kWp.', 43.7),
  ...frame,
  comm_state: field.OneOf(inverterCommStates, inverterCommRule),
  ...measuredOfInverter,
  mppts: Type.Array(Mppt, { description: 'One item for each measured MPPT.' }),
  efficiency_pct: field.NumOrNull('AC by DC power of this reading, %; null below 2 % load.', 98.2),
  ...energyToday,
  specific_yield_today_kwh_kwp: field.FromZeroOrNull(
    '`energy_today_kwh` by `dc_capacity_kwp`.',
    2.34,
  ),
  active_alarm_codes: Type.Array(Type.String(), {
    description: 'Codes of the active alarms; `alarm_1_bit_7` for a bit that no table lists.',
    examples: [['OVER_TEMP']],
  }),
  active_alarm_count: Type.Integer({ minimum: 0, examples: [1] }),
  highest_alarm_severity: Nullable(Type.Enum([...severities], { examples: ['major'] })),
  ...inventoried,
})

/** Fields that are computed from the row. */
type Computed =
  | 'age_s'
  | 'quality'
  | 'comm_state'
  | 'mppts'
  | 'efficiency_pct'
  | 'energy_today_kwh'
  | 'energy_source'
  | 'specific_yield_today_kwh_kwp'
  | 'active_alarm_codes'
  | 'active_alarm_count'
  | 'highest_alarm_severity'

type MpptColumn = Extract<keyof InverterReading, `mppt_${string}`>

/** The inventory, the latest reading and the energy counter at the start of the day. */
export interface InverterRow
  extends Stored<Omit<Inverter, Computed>>,
    Pick<InverterReading, MpptColumn>,
    Omit<DayCounter, 'energy_total_kwh'> {
  quality: Quality | null
  edge_comm_state: CommState | null
  logger_data_at: Date | null
}

export interface InverterFilter {
  inverter_id?: number
  logger_id?: number
  /** Excludes retired inverters. */
  in_service?: boolean
}

export function inverterRecord(row: InverterRow, situation: Situation): Inverter {
  const energy = energyTodayOf(row, situation.day_start_at)
  return served(Inverter, {
    ...row,
    ...frameOf(row, situation.poll.inverter_s, situation.now),
    comm_state: inverterCommState(row, situation),
    mppts: mpptsOf(row),
    efficiency_pct: efficiencyOf(row),
    ...energy,
    specific_yield_today_kwh_kwp: perPeak(energy.energy_today_kwh, row.dc_capacity_kwp),
    ...alarmsOf(row),
  })
}

/** Energy by DC capacity, kWh/kWp; null if either is missing. */
export function perPeak(energy_kwh: number | null, capacity_kwp: number): number | null {
  return energy_kwh === null || capacity_kwp <= 0 ? null : significant(energy_kwh / capacity_kwp)
}

function mpptsOf(row: InverterRow): Mppt[] {
  const arrays = [row.mppt_voltage_v, row.mppt_current_a, row.mppt_power_kw]
  const count = Math.max(0, ...arrays.map((values) => values?.length ?? 0))
  return Array.from({ length: count }, (_, mppt_index) => ({
    mppt_index,
    dc_voltage_v: row.mppt_voltage_v?.[mppt_index] ?? null,
    dc_current_a: row.mppt_current_a?.[mppt_index] ?? null,
    dc_power_kw: row.mppt_power_kw?.[mppt_index] ?? null,
    temperature_c: row.mppt_temperature_c?.[mppt_index] ?? null,
    energy_total_kwh: row.mppt_energy_total_kwh?.[mppt_index] ?? null,
  }))
}

/** Below this load the efficiency is noise. */
const efficiency_load_ratio_min = 0.02

function efficiencyOf({ ac_power_kw, dc_power_kw, rated_ac_power_kw }: InverterRow): number | null {
  if (ac_power_kw === null || dc_power_kw === null) return null
  const is_loaded = dc_power_kw >= efficiency_load_ratio_min * rated_ac_power_kw
  return is_loaded ? significant((100 * ac_power_kw) / dc_power_kw) : null
}

function alarmsOf(row: InverterRow) {
  const words = [row.alarm_1, row.alarm_2, row.alarm_3, row.alarm_4, row.alarm_5]
  if (!words.some(Boolean)) {
    return { active_alarm_codes: [], active_alarm_count: 0, highest_alarm_severity: null }
  }
  const decoded = decodeAlarms(alarmTableOf(row) ?? noTable, words)
  const active_alarm_codes = [
    ...decoded.alarms.map(({ code }) => code),
    ...decoded.unknown_bits.map(({ word, bit }) => `alarm_${word}_bit_${bit}`),
  ]
  return {
    active_alarm_codes,
    active_alarm_count: active_alarm_codes.length,
    highest_alarm_severity: decoded.highest_severity,
  }
}
