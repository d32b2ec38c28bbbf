/** Irradiance and expected power of the strings of an inverter at the instants of a met station. */

import { cached } from '@heliograph/domain/cached'
import { minute_ms } from '@heliograph/domain/durations'
import { plotAverages } from '@heliograph/domain/instruments'
import { asleep_below_deg, type Place } from '@heliograph/domain/place'
import { type SolarPosition, solarPosition } from '@heliograph/physics/solar-position'
import type { Surface } from '@heliograph/physics/transposition'
import { skiesOf } from '../../telemetry/weather/instrument-limits.ts'
import {
  type PlaneLight,
  planeLightOf,
  type StationSample,
} from '../../telemetry/weather/plane-light.ts'
import { believed, witnessesOf } from '../../telemetry/weather/station-screening.ts'
import { expectedPowerKw } from '../diagnostics/expected-string.ts'
import type { InverterLight } from './inverter-hour.ts'
import type { PlantInverter, PlantStation, PlantString, RawWeather } from './raw.ts'

/** Maximum time between a reading of a met station and a matching reading of a device. */
export const apart_ms_max = 150_000

/** Position of the sun, cached by minute. */
function sunAt({ latitude, longitude, elevation_m }: Place): (time_ms: number) => SolarPosition {
  const inMinute = cached((minute: number) =>
    solarPosition((minute + 0.5) * minute_ms, latitude, longitude, { elevation_m }),
  )
  return (time_ms) => inMinute(Math.floor(time_ms / minute_ms))
}

export type Daylight = NonNullable<ReturnType<typeof daylightAt>>

export function daylightAt(place: Place | null) {
  if (place === null) return null
  const sun = sunAt(place)
  return {
    /** Whether the centre of the sun is above the horizon. */
    isDay: (time_ms: number) => sun(time_ms).elevation_deg > 0,
    /** Whether the sun is so high that an inverter must be awake. */
    isAwake: (time_ms: number) => sun(time_ms).apparent_elevation_deg >= asleep_below_deg,
    /** Sine of the elevation of the sun, 0 below the horizon. */
    height: (time_ms: number) =>
      Math.max(0, Math.sin((sun(time_ms).elevation_deg * Math.PI) / 180)),
  }
}

export type PlantLight = ReturnType<typeof plantLight>

/** The met stations of the plant of an inverter, or all of the site if the plant has none. */
export function stationsFor(
  { logger_id }: Pick<PlantInverter, 'logger_id'>,
  stations: readonly PlantStation[],
): readonly PlantStation[] {
  const own = stations.filter((station) => station.logger_id === logger_id)
  return own.length > 0 ? own : stations
}

/** Stations of an inverter and the stations that take part in their screening. */
export function stationsAround(
  inverter: Pick<PlantInverter, 'logger_id'>,
  stations: readonly PlantStation[],
): PlantStation[] {
  const own = stationsFor(inverter, stations)
  return [...own, ...witnessesOf(own, stations)]
}

/**
 * Readings of stations without implausible values, screened per plant as in /weather. `readings`
 * must reach 30 minutes beyond the requested time.
 */
export function screenedReadings(
  place: Place,
  stations: readonly PlantStation[],
  readings: ReadonlyMap<number, readonly RawWeather[]>,
): Map<number, RawWeather[]> {
  const series = stations.map(({ station_id, instruments, logger_id }) => {
    const own = readings.get(station_id) ?? []
    const values = instruments.map((_, index) =>
      Float64Array.from(own, ({ instrument_values }) => instrument_values[index] ?? Number.NaN),
    )
    return { station_id, logger_id, instruments, times_ms: own.map((each) => each.time_ms), values }
  })
  const skies = skiesOf(place)
  const plants = [...Map.groupBy(series, ({ logger_id }) => logger_id).values()]
  const screened = plants.flatMap((own) => believed(own, witnessesOf(own, series), skies))
  return new Map(
    screened
      .filter(({ station_id }) => readings.has(station_id))
      .map(({ station_id, times_ms, values }) => [
        station_id,
        times_ms.map((time_ms, at) => ({
          time_ms,
          instrument_values: values.map((own) => (Number.isNaN(own[at]!) ? null : own[at]!)),
        })),
      ]),
  )
}

/** Irradiance on any surface as one station measured it, at the instants of its readings. */
export function plantLight(place: Place, station: PlantStation, readings: readonly RawWeather[]) {
  const samples = readings.map(
    ({ time_ms, instrument_values }): StationSample => ({
      time_ms,
      instrument_values,
      ...plotAverages(station.instruments, instrument_values),
    }),
  )
  const on = cached(
    (surface: Surface) => samples.map(planeLightOf(place, station, surface)),
    ({ azimuth_deg, tilt_deg }) => `${azimuth_deg}/${tilt_deg}`,
  )
  return { times_ms: samples.map(({ time_ms }) => time_ms), on }
}

export type InverterSun = ReturnType<typeof inverterSun>

/** Irradiance and expected power of an inverter and its strings at the instants of the station. */
export function inverterSun(inverter: Pick<PlantInverter, 'strings'>, plant: PlantLight) {
  const strings = inverter.strings.filter(({ connected }) => connected)
  const alike = [...Map.groupBy(strings, kindOf).values()].map((members) => ({
    members,
    lights: plant.on(members[0]!),
    gamma_per_c: temperatureCoefficient(members[0]!),
    capacity_kwp: members.reduce((sum, { dc_capacity_kwp }) => sum + dc_capacity_kwp, 0),
  }))
  const string_count = 1 + Math.max(-1, ...inverter.strings.map((each) => each.string_index))
  const lights: InverterLight[] = []
  /** By `string_index`; null when the panel or the irradiance of a string is unknown. */
  const expected_kw: (number | null)[][] = []
  for (let nth = 0; nth < plant.times_ms.length; nth += 1) {
    const of_strings = new Array<number | null>(string_count).fill(null)
    const parts = alike.map(({ members, lights, gamma_per_c, capacity_kwp }) => {
      const light = lights[nth]!
      const expected = expectedOf(members[0]!, light)
      for (const { string_index } of members) of_strings[string_index] = expected
      return { light, gamma_per_c, capacity_kwp, expected_kw: times(expected, members.length) }
    })
    lights.push(inverterLight(parts))
    expected_kw.push(of_strings)
  }
  return { times_ms: plant.times_ms, lights, expected_kw }
}

interface Part {
  light: PlaneLight
  gamma_per_c: number | null
  capacity_kwp: number
  expected_kw: number | null
}

function inverterLight(parts: readonly Part[]): InverterLight {
  const capacity_kwp = parts.reduce((sum, part) => sum + part.capacity_kwp, 0)
  const weighted = (of: (part: Part) => number | null): number | null => {
    let sum = 0
    for (const part of parts) {
      const value = of(part)
      if (value === null) return null
      sum += (value * part.capacity_kwp) / capacity_kwp
    }
    return parts.length === 0 ? null : sum
  }
  const expected_dc_kw = parts.reduce<number | null>(
    (sum, part) => (sum === null || part.expected_kw === null ? null : sum + part.expected_kw),
    0,
  )
  return {
    is_daylight: parts.some(({ light }) => !light.is_night),
    poa_w_m2: weighted(({ light }) => light.poa_irradiance_w_m2),
    temperature_factor: weighted(({ light, gamma_per_c }) =>
      gamma_per_c === null || light.cell_temperature_c === null
        ? null
        : 1 + gamma_per_c * (light.cell_temperature_c - 25),
    ),
    expected_dc_kw: parts.length === 0 ? null : expected_dc_kw,
  }
}

function expectedOf({ panel, module_count }: PlantString, light: PlaneLight): number | null {
  const { effective_irradiance_w_m2, cell_temperature_c, is_night } = light
  if (is_night) return 0
  if (panel === null || effective_irradiance_w_m2 === null || cell_temperature_c === null) {
    return null
  }
  return expectedPowerKw(
    { module: panel, module_count },
    { effective_irradiance_w_m2, cell_temperature_c },
  )
}

/** Power per degree, relative to 25 °C, by the model of the panel between 25 and 50 °C. */
function temperatureCoefficient({ panel }: PlantString): number | null {
  if (panel === null) return null
  const power = (cell_temperature_c: number) =>
    expectedPowerKw(
      { module: panel, module_count: 1 },
      { effective_irradiance_w_m2: 1000, cell_temperature_c },
    )
  return (power(50) / power(25) - 1) / 25
}

const times = (value: number | null, count: number) => (value === null ? null : value * count)

const kindOf = ({ azimuth_deg, tilt_deg, panel, module_count, dc_capacity_kwp }: PlantString) =>
  [azimuth_deg, tilt_deg, panel?.params_id ?? 'unknown', module_count, dc_capacity_kwp].join('/')

/** Key of the strings of an inverter; equal keys have equal expected power. */
export const stringsKey = ({ strings }: PlantInverter): string =>
  strings
    .map((string) => `${string.string_index} ${string.connected ? kindOf(string) : 'none'}`)
    .join(', ')

/**
 * Index of the nearest of `known_ms` for each of `times_ms`, -1 beyond `apart_ms_max`; both ascend.
 */
export function nearest(times_ms: readonly number[], known_ms: readonly number[]): number[] {
  let at = 0
  return times_ms.map((time_ms) => {
    while (
      at + 1 < known_ms.length &&
      Math.abs(known_ms[at + 1]! - time_ms) <= Math.abs(known_ms[at]! - time_ms)
    ) {
      at += 1
    }
    const known = known_ms[at]
    return known !== undefined && Math.abs(known - time_ms) <= apart_ms_max ? at : -1
  })
}
