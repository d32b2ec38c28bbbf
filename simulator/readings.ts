/**
 * Readings of the simulated devices at an instant, for history, which is too much to read over
 * Modbus. A test compares them with readings of the edge.
 */
import { plotAverages } from '@heliograph/domain/instruments'
import {
  columnsOf,
  emptyReading,
  type InverterReading,
  type MeterReading,
  type ReadingKind,
  type StringReading,
  type WeatherReading,
} from '@heliograph/domain/readings'
import type { Inverter } from '@heliograph/domain/site'
import { stringsOf } from '@heliograph/domain/site'
import type { Counters } from './counters.ts'
import { alarmWords, type Grid, phasesAt, toNeutral, unityPower } from './grid-side.ts'
import type { InverterSnapshot, Simulation, SiteSnapshot } from './site.ts'

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

/** Rounds the numbers of a reading to the decimals of their unit, the last part of their name. */
function rounder(kind: ReadingKind, decimals: Readonly<Record<string, number>>) {
  const columns = columnsOf(kind).flatMap((name) => {
    const places = decimals[name.slice(name.lastIndexOf('_') + 1)]
    return places === undefined ? [] : [{ name, places }]
  })
  return <Of extends object>(values: Of): Of => {
    const rounded = { ...values } as Record<string, unknown>
    for (const { name, places } of columns) {
      const value = rounded[name]
      if (typeof value === 'number') rounded[name] = round(value, places)
    }
    return rounded as Of
  }
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
      ...roundedMeter(measuredMeter(snapshot, counters)),
    })),
  }
}

/** An inverter at full precision; registers and history round it. */
export function measuredInverter(
  { inverter_id, string_current_a, ...now }: InverterSnapshot,
  grid: Grid,
) {
  const dc_a = now.mppt_current_a.reduce((sum, value) => sum + value, 0)
  const open_v = Math.max(0, ...now.mppt_voltage_v)
  return {
    ...now,
    ...unityPower(now.ac_power_kw),
    ...phasesAt(now.ac_power_kw, grid),
    ...toNeutral(grid),
    dc_voltage_v: dc_a > 0 ? (now.dc_power_kw * 1000) / dc_a : open_v,
    dc_current_a: dc_a,
    ...alarmWords(now.state === 'fault'),
  }
}

const roundedInverter = rounder('inverter', {
  kw: 2,
  hz: 2,
  v: 1,
  a: 2,
  kwh: 3,
  c: 1,
  kohm: 0,
  pct: 1,
})

function inverterValues(snapshot: SiteSnapshot, nth: number, counters: Counters) {
  const now = snapshot.inverters[nth]!
  const { ac_kwh, mppt_kwh } = counters.inverters[now.inverter_id]!
  const measured = { ...measuredInverter(now, snapshot), energy_total_kwh: ac_kwh }
  return {
    ...emptyReading('inverter'),
    ...roundedInverter(measured),
    ...unityPower(round(now.ac_power_kw, 2)),
    mppt_voltage_v: now.mppt_voltage_v.map((value) => round(value, 1)),
    mppt_current_a: now.mppt_current_a.map((value) => round(value, 2)),
    mppt_power_kw: now.mppt_current_a.map((value, mppt) =>
      round((value * now.mppt_voltage_v[mppt]!) / 1000, 3),
    ),
    mppt_temperature_c: now.mppt_voltage_v.map(() => round(now.cabinet_temperature_c, 0)),
    mppt_energy_total_kwh: mppt_kwh.map((value) => round(value, 3)),
  }
}

function stringValues(inverter: Inverter, snapshot: SiteSnapshot, nth: number) {
  const { string_current_a, mppt_voltage_v } = snapshot.inverters[nth]!
  return {
    current_a: string_current_a.map((value) => round(value, 2)),
    voltage_v: stringsOf(inverter).map(({ mppt_index }) => round(mppt_voltage_v[mppt_index]!, 1)),
  }
}

const roundedMeter = rounder('meter', { kw: 1, kva: 1, hz: 2, v: 1, a: 1, kwh: 2 })

/** A meter at the grid connection, full precision. */
export function measuredMeter(snapshot: SiteSnapshot, { export_kwh, import_kwh }: Counters) {
  const { ac_power_kw: active_power_kw, ...power } = unityPower(snapshot.export_power_kw)
  return {
    active_power_kw,
    ...power,
    ...phasesAt(active_power_kw, snapshot),
    ...toNeutral(snapshot),
    energy_export_kwh: export_kwh,
    energy_import_kwh: import_kwh,
  }
}
