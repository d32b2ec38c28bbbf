/**
 * What the edge would read from the simulated devices at an instant, without the wires between:
 * for history, of which there is too much to read it over Modbus. A test across programs holds
 * it against what the edge does read.
 */
import { plotAverages } from '@heliograph/domain/instruments'
import {
  emptyReading,
  type InverterReading,
  type MeterReading,
  type StringReading,
  type WeatherReading,
} from '@heliograph/domain/readings'
import type { Inverter } from '@heliograph/domain/site'
import { stringsOf } from '@heliograph/domain/site'
import type { Counters } from './counters.ts'
import { evt1_hw_test_failure, nominal_voltage_v } from './devices/sunspec.ts'
import type { Simulation, SiteSnapshot } from './site.ts'

export interface SiteReadings {
  inverter: InverterReading[]
  string: StringReading[]
  weather: WeatherReading[]
  meter: MeterReading[]
}

const round = (value: number, decimals: number): number => {
  const steps = 10 ** decimals
  return Math.round(value * steps) / steps
}

export function readingsAt(
  simulation: Simulation,
  snapshot: SiteSnapshot,
  counters: Counters,
): SiteReadings {
  const { site } = simulation
  const frame = { measured_at: snapshot.time_ms, quality: 'good' } as const
  const inverters = site.loggers.flatMap((logger) => logger.inverters)
  const stations = site.loggers.flatMap((logger) => logger.stations ?? [])
  return {
    inverter: inverters.map((inverter, nth) => ({
      ...frame,
      inverter_id: inverter.inverter_id,
      ...inverterValues(snapshot, nth, counters),
    })),
    string: inverters.map((inverter, nth) => ({
      ...frame,
      inverter_id: inverter.inverter_id,
      first_string_index: 0,
      ...stringValues(inverter, snapshot, nth),
    })),
    weather: stations.map((station, nth) => {
      const { instrument_values } = snapshot.stations[nth]!
      return {
        ...frame,
        station_id: station.station_id,
        ...plotAverages(station.instruments, instrument_values),
        instrument_values,
      }
    }),
    meter: (site.meters ?? []).map(({ meter_id }) => ({
      ...frame,
      meter_id,
      ...meterValues(snapshot, counters),
    })),
  }
}

function inverterValues(snapshot: SiteSnapshot, nth: number, counters: Counters) {
  const now = snapshot.inverters[nth]!
  const counter = counters.inverters[now.inverter_id]!
  const line_v = nominal_voltage_v * snapshot.voltage_ratio
  const power_kw = round(now.ac_power_kw, 2)
  const current_a = round((Math.abs(now.ac_power_kw) * 1000) / (Math.sqrt(3) * line_v), 2)
  const dc_a = now.mppt_current_a.reduce((sum, value) => sum + value, 0)
  const open_v = Math.max(0, ...now.mppt_voltage_v)
  return {
    ...emptyReading('inverter'),
    state: now.state,
    state_vendor_code: null,
    ac_power_kw: power_kw,
    reactive_power_kvar: 0,
    apparent_power_kva: Math.abs(power_kw),
    power_factor: power_kw === 0 ? null : 1,
    frequency_hz: round(snapshot.frequency_hz, 2),
    voltage_l1_l2_v: round(line_v, 1),
    voltage_l2_l3_v: round(line_v, 1),
    voltage_l3_l1_v: round(line_v, 1),
    voltage_l1_n_v: round(line_v / Math.sqrt(3), 1),
    voltage_l2_n_v: round(line_v / Math.sqrt(3), 1),
    voltage_l3_n_v: round(line_v / Math.sqrt(3), 1),
    current_l1_a: current_a,
    current_l2_a: current_a,
    current_l3_a: current_a,
    dc_power_kw: round(now.dc_power_kw, 2),
    dc_voltage_v: round(dc_a > 0 ? (now.dc_power_kw * 1000) / dc_a : open_v, 1),
    dc_current_a: round(dc_a, 2),
    energy_total_kwh: round(counter.ac_kwh, 3),
    cabinet_temperature_c: round(now.cabinet_temperature_c, 1),
    heatsink_temperature_c: round(now.heatsink_temperature_c, 1),
    insulation_resistance_kohm: round(now.insulation_resistance_kohm, 0),
    available_power_kw: round(now.available_power_kw, 2),
    power_limit_pct: now.power_limit_pct === null ? null : round(now.power_limit_pct, 1),
    alarm_1: now.state === 'fault' ? evt1_hw_test_failure : 0,
    alarm_2: 0,
    alarm_3: 0,
    alarm_4: 0,
    alarm_5: 0,
    mppt_voltage_v: now.mppt_voltage_v.map((value) => round(value, 1)),
    mppt_current_a: now.mppt_current_a.map((value) => round(value, 2)),
    mppt_power_kw: now.mppt_current_a.map((value, mppt) =>
      round((value * now.mppt_voltage_v[mppt]!) / 1000, 3),
    ),
    mppt_temperature_c: now.mppt_voltage_v.map(() => round(now.cabinet_temperature_c, 0)),
    mppt_energy_total_kwh: counter.mppt_kwh.map((value) => round(value, 3)),
  }
}

function stringValues(inverter: Inverter, snapshot: SiteSnapshot, nth: number) {
  const { string_current_a, mppt_voltage_v } = snapshot.inverters[nth]!
  return {
    current_a: string_current_a.map((value) => round(value, 2)),
    voltage_v: stringsOf(inverter).map(({ mppt_index }) => round(mppt_voltage_v[mppt_index]!, 1)),
  }
}

function meterValues(snapshot: SiteSnapshot, counters: Counters) {
  const power_kw = snapshot.export_power_kw
  const line_v = nominal_voltage_v * snapshot.voltage_ratio
  const phase_v = round(line_v / Math.sqrt(3), 1)
  const current_a = round((Math.abs(power_kw) * 1000) / (Math.sqrt(3) * line_v), 1)
  return {
    active_power_kw: round(power_kw, 1),
    reactive_power_kvar: 0,
    apparent_power_kva: round(Math.abs(power_kw), 1),
    power_factor: power_kw === 0 ? null : 1,
    frequency_hz: round(snapshot.frequency_hz, 2),
    voltage_l1_n_v: phase_v,
    voltage_l2_n_v: phase_v,
    voltage_l3_n_v: phase_v,
    voltage_l1_l2_v: round(line_v, 1),
    voltage_l2_l3_v: round(line_v, 1),
    voltage_l3_l1_v: round(line_v, 1),
    current_l1_a: current_a,
    current_l2_a: current_a,
    current_l3_a: current_a,
    energy_export_kwh: round(counters.export_kwh, 2),
    energy_import_kwh: round(counters.import_kwh, 2),
  }
}
