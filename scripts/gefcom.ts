/**
 * The solar track of the Global Energy Forecasting Competition 2014: three plants side by side,
 * hour by hour, with the forecasts of the ECMWF. Task k is the k-th month from April 2013, forecast
 * from all that came before. T. Hong et al., "Probabilistic energy forecasting: Global Energy
 * Forecasting Competition 2014 and beyond", International Journal of Forecasting 32(3), 2016.
 */

import { existsSync, readFileSync } from 'node:fs'
import { hour_ms } from '@heliograph/domain/durations'
import { type FeatureTable, featureTable } from '@heliograph/forecast/feature-table'
import type { Plant } from '@heliograph/forecast/plant'
import { plantPhysics } from '@heliograph/forecast/plant-physics'
import { productionFeatures } from '@heliograph/forecast/production-features'
import type { WeatherStep } from '@heliograph/forecast/weather-step'

/** A plant, its power as a share of the rated power, and the forecast data of each hour. */
export interface GefcomZone {
  zone: number
  table: FeatureTable
  power: Float64Array
  start_ms: Float64Array
  is_night: Uint8Array
}

/** Tilt and azimuth of the panels, as published by the organisers. */
const surfaces = [
  [36, 38],
  [35, 327],
  [21, 31],
] as const
const place = { latitude: -35.275, longitude: 149.114, elevation_m: 595 }

/** The plants of the zones, scaled to 1 kW. */
export const gefcomPlants: readonly Plant[] = surfaces.map(([tilt_deg, azimuth_deg]) => ({
  rated_power_kw: 1,
  dc_capacity_kwp: 1,
  place,
  arrays: [{ tilt_deg, azimuth_deg, dc_capacity_kwp: 1 }],
}))

/** The forecasts of the weather service, columns by its own short names. */
type Service = Record<string, Float64Array>

/** Folder of the data beside the checkout; null if it is absent. */
export function gefcomFolder(): URL | null {
  const folder = new URL('../../shared/data/forecast/', import.meta.url)
  return existsSync(new URL('gefcom2014_solar_zone1.csv', folder)) ? folder : null
}

/**
 * All hours of all plants. The second and third have no weather of their own and use the first's.
 */
export function readGefcom(folder: URL): GefcomZone[] {
  const rows = readCsv(new URL('gefcom2014_solar_zone1.csv', folder))
  const start_ms = Float64Array.from(rows, (row) => timeOf(row['TIMESTAMP']!) - hour_ms)
  const names = ['tclw', 'tciw', 'SP', 'r', 'TCC', '10u', '10v', '2T', 'SSRD', 'STRD', 'TSR', 'TP']
  const service: Service = Object.fromEntries(
    names.map((name) => [name, Float64Array.from(rows, (row) => Number(row[name]))]),
  )
  const power = readPower(folder)
  return gefcomPlants.map((plant, i) => {
    const of_zone = power.get(i + 1)!
    return {
      zone: i + 1,
      start_ms,
      power: start_ms.map((time_ms) => of_zone.get(time_ms) ?? Number.NaN),
      ...features(i + 1, plant, start_ms, service),
    }
  })
}

/** Power by the start of its hour, for each zone. */
export function readPower(folder: URL): Map<number, Map<number, number>> {
  const zones = new Map(surfaces.map((_, i) => [i + 1, new Map<number, number>()]))
  for (const row of readCsv(new URL('gefcom2014_solar_power_zones1-3.csv', folder))) {
    const power = row['POWER'] === '' ? Number.NaN : Number(row['POWER'])
    zones.get(Number(row['ZONEID']))!.set(timeOf(row['TIMESTAMP']!) - hour_ms, power)
  }
  return zones
}

export function readCsv(file: URL): Record<string, string>[] {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/)
  const names = head!.split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']))
  })
}

/** "20120401 01:00", the end of an hour. */
function timeOf(text: string): number {
  const [, year, month, day, hour] = /^(\d{4})(\d\d)(\d\d) (\d+):/.exec(text)!
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour))
}

function features(
  zone: number,
  plant: Plant,
  start_ms: Float64Array,
  service: Service,
): { table: FeatureTable; is_night: Uint8Array } {
  const steps = Array.from(start_ms, (from, i) => {
    const step = { start_ms: from, end_ms: from + hour_ms }
    // The sums of the service restart at midnight.
    return { ...step, weather: weatherOf(step, service, i), lead_time_h: i % 24 }
  })
  const physics = plantPhysics(
    plant,
    steps,
    steps.map(({ weather }) => weather),
  )
  const dayOf = (step: { start_ms: number }) =>
    Math.floor((step.start_ms + (place.longitude / 15) * hour_ms) / (24 * hour_ms))
  const table = productionFeatures({ steps, physics, dayOf })
  const columns = Object.fromEntries(table.names.map((name, i) => [name, table.columns[i]!]))
  const { SSRD, TSR, TP, SP, STRD, tclw, tciw } = service as Record<string, Float64Array>
  const u = service['10u']!
  const v = service['10v']!
  const through = SSRD!.map((light, i) => light / Math.max(1, TSR![i]!))
  const rh = service['r']!
  return {
    is_night: physics.is_night,
    table: featureTable({
      ...columns,
      zone: SSRD!.map(() => zone),
      through,
      through_before: shifted(through, -1),
      through_after: shifted(through, 1),
      ghi_before: shifted(SSRD!, -1),
      ghi_after: shifted(SSRD!, 1),
      humidity_before: shifted(rh, -1),
      humidity_after: shifted(rh, 1),
      net_top: TSR!,
      pressure: SP!,
      thermal: STRD!,
      water: tclw!,
      ice: tciw!,
      rain: TP!.map((sum, i) => (i % 24 === 0 ? sum : sum - TP![i - 1]!)),
      wind_east: u,
      wind_north: v,
    }),
  }
}

function weatherOf(step: { start_ms: number; end_ms: number }, service: Service, i: number) {
  const speed = Math.hypot(service['10u']![i]!, service['10v']![i]!)
  return {
    ...step,
    // J/m2 of the hour.
    ghi_w_m2: service['SSRD']![i]! / 3600,
    dni_w_m2: null,
    dhi_w_m2: null,
    temperature_c: service['2T']![i]! - 273.15,
    wind_speed_m_s: speed,
    cloud_cover_pct: 100 * service['TCC']![i]!,
    relative_humidity_pct: service['r']![i]!,
  } satisfies WeatherStep
}

function shifted(values: Float64Array, by: number): Float64Array {
  return values.map((_, i) => values[i + by] ?? Number.NaN)
}
