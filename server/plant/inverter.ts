/** An inverter with its latest measurements. */

import { type DecodedAlarms, decodeAlarms } from '@heliograph/domain/alarms/decode'
import { type CommState, severities } from '@heliograph/domain/link'
import type { InverterReading, Quality } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { InverterId, LocationId, LoggerId, Nullable } from '../http/params.ts'
import { alarmTableOf, noTable } from './alarm-tables.ts'
import { inverterCommRule, inverterCommState, inverterCommStates } from './communication.ts'
import { type DayCounter, energyToday, energyTodayOf } from './energy-today.ts'
import { frame, frameOf, inventoried, iso } from './frame.ts'
import { measured, quantity } from './quantities.ts'
import type { Situation } from './situation.ts'

const closed = { additionalProperties: false } as const
const Name = (description: string) => Nullable(Type.String({ description }))

const {
  mppt_voltage_v: _voltage,
  mppt_current_a: _current,
  mppt_power_kw: _power,
  mppt_temperature_c: _temperature,
  mppt_energy_total_kwh: _energy,
  ...measuredOfInverter
} = measured('inverter')

type Mppt = Static<typeof Mppt>
const Mppt = Type.Object(
  {
    mppt_index: Type.Integer({ minimum: 0, description: 'MPPT input, counted from 0.' }),
    dc_voltage_v: quantity('dc_voltage_v'),
    dc_current_a: quantity('dc_current_a'),
    dc_power_kw: quantity('dc_power_kw'),
    temperature_c: Nullable(Type.Number({ description: 'Temperature of the MPPT, °C.' })),
    energy_total_kwh: quantity('energy_total_kwh'),
  },
  { ...closed, $id: 'Mppt' },
)

export type Inverter = Static<typeof Inverter>
export const Inverter = Type.Object(
  {
    inverter_id: InverterId,
    logger_id: LoggerId,
    location_id: Nullable(LocationId),
    name: Type.String(),
    manufacturer: Name('From the inventory, else as reported by the device.'),
    model: Name('From the inventory, else as reported by the device.'),
    serial_number: Name('As reported by the device, else from the inventory.'),
    firmware_version: Name('As reported by the device.'),
    driver: Type.String({ description: 'The driver of the edge agent for this inverter.' }),
    modbus_unit_id: Type.Integer({ minimum: 0, maximum: 255 }),
    installed_date: Nullable(Type.String({ format: 'date' })),
    phase_count: Type.Integer({ minimum: 1, maximum: 3 }),
    rated_ac_power_kw: Type.Number({ description: 'Rated AC power, kW.' }),
    max_dc_voltage_v: Nullable(Type.Number({ description: 'Maximum DC voltage, V.' })),
    mppt_count: Type.Integer({ minimum: 0 }),
    string_count: Type.Integer({ minimum: 0 }),
    dc_capacity_kwp: Type.Number({
      description: 'DC capacity of the connected panels at STC, kWp.',
    }),
    ...frame,
    comm_state: Type.Enum([...inverterCommStates], { description: inverterCommRule }),
    ...measuredOfInverter,
    mppts: Type.Array(Mppt, { description: 'One item for each measured MPPT.' }),
    efficiency_pct: Nullable(
      Type.Number({ description: 'AC by DC power of this reading, %; null below 2 % load.' }),
    ),
    ...energyToday,
    specific_yield_today_kwh_kwp: Nullable(
      Type.Number({ minimum: 0, description: '`energy_today_kwh` by `dc_capacity_kwp`.' }),
    ),
    active_alarm_codes: Type.Array(Type.String(), {
      description: 'Codes of the active alarms; `alarm_1_bit_7` for a bit that no table lists.',
    }),
    active_alarm_count: Type.Integer({ minimum: 0 }),
    highest_alarm_severity: Nullable(Type.Enum([...severities])),
    ...inventoried,
  },
  { ...closed, $id: 'Inverter' },
)

type Values = Omit<InverterReading, 'inverter_id' | 'measured_at' | 'quality' | 'state'>

/** The inventory, the latest reading and the energy counter at the start of the day. */
export interface InverterRow extends Values, Omit<DayCounter, 'energy_total_kwh'> {
  inverter_id: number
  logger_id: number
  location_id: number | null
  name: string
  manufacturer: string | null
  model: string | null
  serial_number: string | null
  firmware_version: string | null
  driver: string
  modbus_unit_id: number
  installed_date: string | null
  phase_count: number
  max_dc_voltage_v: number | null
  mppt_count: number
  string_count: number
  dc_capacity_kwp: number
  created_at: Date
  updated_at: Date
  retired_at: Date | null
  state: Inverter['state']
  received_at: Date | null
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
  const {
    edge_comm_state: _comm,
    logger_data_at: _data,
    day_first_at: _first,
    day_first_energy_kwh: _counter,
    day_hours_energy_kwh: _hours,
    mppt_voltage_v: _v,
    mppt_current_a: _a,
    mppt_power_kw: _kw,
    mppt_temperature_c: _c,
    mppt_energy_total_kwh: _kwh,
    ...own
  } = row
  const energy = energyTodayOf(row, situation.day_start_at)
  return {
    ...own,
    ...frameOf(row, situation.poll.inverter_s, situation.now),
    comm_state: inverterCommState(row, situation),
    mppts: mpptsOf(row),
    efficiency_pct: efficiencyOf(row),
    ...energy,
    specific_yield_today_kwh_kwp: perPeak(energy.energy_today_kwh, row.dc_capacity_kwp),
    ...alarmsOf(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    retired_at: iso(row.retired_at),
  }
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
  if (words.every((word) => !word)) return noAlarms()
  const table = alarmTableOf(row) ?? noTable
  const decoded: DecodedAlarms = decodeAlarms(table, words)
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

const noAlarms = () => ({
  active_alarm_codes: [],
  active_alarm_count: 0,
  highest_alarm_severity: null,
})
