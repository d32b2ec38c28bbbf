/** The current state of the plant: sums and counts over the devices in service. */

import { significant } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { inverterCommState, isOffline } from '../plant/communication.ts'
import { energyToday, sumAll, sumKnown } from '../plant/energy-today.ts'
import { ageInSeconds, isStale, liveQualities } from '../plant/frame.ts'
import { type HealthAlerts, siteHealth } from '../plant/health.ts'
import type { Inverter, InverterRow } from '../plant/inverter.ts'
import { energyOf, type LoggerRow } from '../plant/logger.ts'
import type { StringStatus } from '../plant/pv-string.ts'
import { quantity } from '../plant/quantities.ts'
import { health } from '../plant/site.ts'
import { isNight, type Situation } from '../plant/situation.ts'
import type { StationRow } from '../telemetry/weather/store.ts'
import { curtailmentNow } from './curtailment.ts'
import { PlantEnergy } from './energy.ts'
import type { MeterRow } from './store.ts'

export type PlantStatus = Static<typeof PlantStatus>
export const PlantStatus = Named('PlantStatus', {
  measured_at: field.AtOrNull('The oldest fresh reading in the sums; null without any.'),
  age_s: field.FromZeroOrNull('Seconds since `measured_at`.', 6.4),
  quality: field.OneOf(
    liveQualities,
    '`good`: the sums contain a good reading of every inverter that is not asleep; `suspect`: ' +
      'some are missing or not good; `estimated`: no fresh reading and the sun is below the ' +
      'horizon, so `ac_power_kw` is 0; `stale`: no fresh reading; `missing`: nothing was ever ' +
      'measured.',
  ),
  ac_power_kw: field.NumOrNull(
    'Sum over the inverters with a fresh reading, kW; positive towards the grid. Without a fresh ' +
      'reading 0 while the sun is below the horizon, else null.',
    921.4,
  ),
  dc_power_kw: field.NumOrNull(
    'DC power of the inverters in `ac_power_kw`, kW; null unless all of them report it.',
    939.1,
  ),
  reactive_power_kvar: field.NumOrNull(
    'Reactive power of the inverters in `ac_power_kw`, kvar; positive is injected. Null unless all ' +
      'of them report it.',
    -5.2,
  ),
  power_inverter_count: field.Count('Inverters in `ac_power_kw`.', 11),
  available_power_kw: field.NumOrNull(
    'Power available without limits from the inverters in `ac_power_kw`, kW; null unless all of ' +
      'them report it.',
    978.8,
  ),
  curtailed_power_kw: field.NumOrNull(
    'Available minus delivered power of the inverters under a row of /curtailment, kW. Covers ' +
      'only inverters that report their available power, so the true value may be higher.',
    57.4,
  ),
  export_power_kw: field.NumOrNull('Export at the grid connection, kW; 0 while importing.', 914.8),
  import_power_kw: field.NumOrNull('Import at the grid connection, kW; 0 while exporting.', 0),
  grid_frequency_hz: field.NumOrNull(
    'Grid frequency at the meter, else the mean of the inverters, Hz.',
    50.01,
  ),
  ...energyToday,
  energy_today_inverter_count: field.Count('Inverters in `energy_today_kwh`.', 11),
  ...PlantEnergy.properties,
  specific_yield_today_kwh_kwp: field.FromZeroOrNull(
    '`energy_today_kwh` by the DC capacity of the inverters in it.',
    2.41,
  ),
  day_start_at: field.At('Local midnight, the start of today.', '2026-06-20T22:00:00.000Z'),
  poa_irradiance_w_m2: quantity('poa_irradiance_w_m2'),
  module_temperature_c: quantity('module_temperature_c'),
  ambient_temperature_c: quantity('ambient_temperature_c'),
  loggers_online: field.Count('Loggers with data within 15 minutes, or asleep.', 3),
  loggers_total: field.Count('Loggers in service.', 3),
  inverters_producing: field.Count('Inverters connected and delivering power.', 10),
  inverters_standby: field.Count('Inverters connected, neither delivering power nor in fault.'),
  inverters_faulted: field.Count('Inverters connected and in fault.', 1),
  inverters_asleep: field.Count('Inverters with `comm_state` `asleep`.'),
  inverters_offline: field.Count('Inverters with `comm_state` `disconnected`.', 1),
  inverters_unknown: field.Count('Inverters with `comm_state` `unknown`.'),
  inverters_total: field.Count('Inverters in service: the sum of the six counts above.', 12),
  strings_ok: field.Count('Strings with status `ok`.', 130),
  strings_zero_current: field.Count('Strings with status `zero_current`.', 2),
  strings_reverse_current: field.Count('Strings with status `reverse_current`.'),
  strings_asleep: field.Count('Strings with status `asleep`.'),
  strings_no_data: field.Count('Strings with status `no_data`.', 12),
  strings_total: field.Count('Connected strings: the sum of the five counts above.', 144),
  ...health,
  is_daylight: field.FlagOrNull(
    'Whether the sun is at least 3° above the horizon, where inverters wake up.',
    true,
  ),
  sun_elevation_deg: field.NumOrNull('Elevation of the sun at the site, degrees.', 58.2),
})

export interface PlantReadings {
  loggers: readonly LoggerRow[]
  inverters: readonly InverterRow[]
  strings: readonly { status: StringStatus }[]
  meters: readonly MeterRow[]
  stations: readonly StationRow[]
  energy: PlantEnergy
  alerts: HealthAlerts
}

/** @param readings those of devices in service */
export function plantStatus(readings: PlantReadings, situation: Situation): PlantStatus {
  const { loggers, inverters } = readings
  const { sun_elevation_deg } = situation
  return {
    ...sumsOf(inverters, situation),
    curtailed_power_kw: curtailmentNow(readings, situation).curtailed_now_kw,
    ...gridOf(readings, situation),
    ...energyOf(inverters, situation),
    ...readings.energy,
    day_start_at: situation.day_start_at.toISOString(),
    ...weatherOf(readings.stations, situation),
    ...countsOf(inverters, situation),
    ...stringCounts(readings.strings),
    ...siteHealth(readings, situation),
    loggers_online: loggers.filter((logger) => isOnline(logger, situation)).length,
    loggers_total: loggers.length,
    is_daylight: sun_elevation_deg === null ? null : !isNight(situation),
    sun_elevation_deg: significant(sun_elevation_deg),
  }
}

const isOnline = (logger: LoggerRow, situation: Situation) => !isOffline(logger.data_at, situation)

const isFresh = ({ measured_at }: { measured_at: Date | null }, poll_s: number, now: Date) =>
  !isStale(measured_at, poll_s, now)

function sumsOf(inverters: readonly InverterRow[], situation: Situation) {
  const { now, poll } = situation
  const fresh = inverters.filter((inverter) => isFresh(inverter, poll.inverter_s, now))
  const powered = fresh.filter(({ ac_power_kw }) => ac_power_kw !== null)
  const oldest_ms = Math.min(...fresh.map(({ measured_at }) => measured_at!.getTime()))
  const expected = inverters.filter((one) => inverterCommState(one, situation) !== 'asleep')
  const is_whole = powered.length >= expected.length
  const is_good = is_whole && fresh.every(({ quality }) => quality === 'good')
  const was_measured = inverters.some(({ measured_at }) => measured_at !== null)
  const { sun_elevation_deg } = situation
  const is_dark = sun_elevation_deg !== null && sun_elevation_deg < 0
  const is_estimated = powered.length === 0 && was_measured && is_dark
  return {
    measured_at: fresh.length > 0 ? new Date(oldest_ms).toISOString() : null,
    age_s: fresh.length > 0 ? ageInSeconds(new Date(oldest_ms), now) : null,
    quality: qualityOf({ was_measured, is_estimated, is_fresh: fresh.length > 0, is_good }),
    ac_power_kw: is_estimated ? 0 : sumKnown(fresh.map(({ ac_power_kw }) => ac_power_kw)),
    dc_power_kw: sumAll(powered.map(({ dc_power_kw }) => dc_power_kw)),
    reactive_power_kvar: sumAll(powered.map(({ reactive_power_kvar }) => reactive_power_kvar)),
    available_power_kw: sumAll(powered.map(({ available_power_kw }) => available_power_kw)),
    power_inverter_count: powered.length,
  }
}

function qualityOf(
  is: Record<'was_measured' | 'is_estimated' | 'is_fresh' | 'is_good', boolean>,
): PlantStatus['quality'] {
  if (!is.was_measured) return 'missing'
  if (is.is_estimated) return 'estimated'
  if (!is.is_fresh) return 'stale'
  return is.is_good ? 'good' : 'suspect'
}

function gridOf({ meters, inverters }: PlantReadings, { now, poll }: Situation) {
  const fresh = meters.filter((meter) => isFresh(meter, poll.meter_s, now))
  // A sum without one of the meters would be wrong.
  const is_whole = fresh.length === meters.length
  const power_kw = is_whole ? sumAll(fresh.map(({ active_power_kw }) => active_power_kw)) : null
  const awake = inverters.filter((inverter) => isFresh(inverter, poll.inverter_s, now))
  return {
    export_power_kw: power_kw === null ? null : Math.max(0, power_kw),
    import_power_kw: power_kw === null ? null : Math.max(0, -power_kw),
    grid_frequency_hz:
      meanKnown(fresh.map(({ frequency_hz }) => frequency_hz)) ??
      meanKnown(awake.map(({ frequency_hz }) => frequency_hz)),
  }
}

function weatherOf(stations: readonly StationRow[], { now, poll }: Situation) {
  const fresh = stations.filter((station) => isFresh(station, poll.weather_s, now))
  return {
    poa_irradiance_w_m2: meanKnown(fresh.map((station) => station.poa_irradiance_w_m2)),
    module_temperature_c: meanKnown(fresh.map((station) => station.module_temperature_c)),
    ambient_temperature_c: meanKnown(fresh.map((station) => station.ambient_temperature_c)),
  }
}

function countsOf(inverters: readonly InverterRow[], situation: Situation) {
  const states = inverters.map((inverter) =>
    countedAs({ ...inverter, comm_state: inverterCommState(inverter, situation) }),
  )
  const count = (counted: CountedState) => states.filter((state) => state === counted).length
  return {
    inverters_producing: count('producing'),
    inverters_standby: count('standby'),
    inverters_faulted: count('faulted'),
    inverters_asleep: count('asleep'),
    inverters_offline: count('disconnected'),
    inverters_unknown: count('unknown'),
    inverters_total: inverters.length,
  }
}

/** The states of inverters in service that the status counts. */
export const countedStates = [
  'producing',
  'standby',
  'faulted',
  'asleep',
  'disconnected',
  'unknown',
] as const
type CountedState = (typeof countedStates)[number]

export function countedAs(
  inverter: Pick<Inverter, 'comm_state' | 'state' | 'ac_power_kw'>,
): CountedState {
  const { comm_state } = inverter
  if (comm_state !== 'connected') return comm_state
  if (inverter.state === 'fault') return 'faulted'
  return (inverter.ac_power_kw ?? 0) > 0 ? 'producing' : 'standby'
}

function stringCounts(strings: readonly { status: StringStatus }[]) {
  const count = (status: StringStatus) => strings.filter((one) => one.status === status).length
  return {
    strings_ok: count('ok'),
    strings_zero_current: count('zero_current'),
    strings_reverse_current: count('reverse_current'),
    strings_asleep: count('asleep'),
    strings_no_data: count('no_data'),
    strings_total: strings.length - count('disconnected'),
  }
}

function meanKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  const sum = sumKnown(known)
  return sum === null ? null : significant(sum / known.length)
}
