/** Power of a plant at given weather by physics alone: from the sun to the inverter. */
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { faiman } from '@heliograph/physics/cell-temperature'
import { type ClearSky, clearSkyIrradiance } from '@heliograph/physics/clear-sky'
import { erbs } from '@heliograph/physics/decomposition'
import { martinRuizDiffuseModifier } from '@heliograph/physics/incidence-modifier'
import { pvwattsAcPower } from '@heliograph/physics/inverter-efficiency'
import { planeOfArrayIrradiance } from '@heliograph/physics/plane-of-array'
import { extraterrestrialDni, solarPositions } from '@heliograph/physics/solar-position'
import { takeElements } from './feature-table.ts'
import { type Plant, requirePlant, type Step, stepHours } from './plant.ts'
import type { WeatherStep } from './weather-step.ts'

/** One element per step; NaN where required irradiance is missing. */
export interface PlantPhysics {
  /** AC power relative to rated power, 0 to 1, after clipping. */
  ac_ratio: Float64Array
  /** The same before clipping: inverters clip above 1. */
  potential_ratio: Float64Array
  /** `potential_ratio` under a clear sky, at the air temperature of the weather. */
  clear_ratio: Float64Array
  /** Mean irradiance in the planes of the arrays, weighted by capacity, before reflection. */
  poa_w_m2: Float64Array
  /** Global irradiance relative to the clear sky, 0 to 1.5. */
  clear_index: Float64Array
  clear_ghi_w_m2: Float64Array
  /** Sun elevation at the centre of the step, without refraction. */
  elevation_deg: Float64Array
  azimuth_deg: Float64Array
  /** 1 if the sun stays below the horizon. */
  is_night: Uint8Array
}

const linke_turbidity = 3
const albedo_ratio = 0.2
/** Resolution of sun and irradiance within a step. */
const part_h = 0.125
/** Above any cloud enhancement in an hour: at dawn, forecast and clear sky hardly overlap. */
const clear_index_max = 1.5

/**
 * Defaults of PVWatts: A. P. Dobos, "PVWatts Version 5 Manual", NREL/TP-6A20-62641, 2014: losses of
 * 14 %, an inverter of 96 %, crystalline modules of today ("premium").
 */
const loss_ratio = 0.14
const inverter_ratio = 0.96
const power_per_k = -0.0035

/** Defaults for missing weather: air of the standard atmosphere, wind of a module's NOCT. */
const sea_level_c = 15
const lapse_k_m = 0.0065
const wind_m_s = 1

/**
 * The chain of PVWatts over steps: irradiance split (by the diffuse part of the forecast, else by
 * Erbs), transposed (Hay and Davies) onto each array, less reflection (De Soto; Martin and Ruiz for
 * the diffuse part), cell temperature (Faiman), all arrays on one inverter of the rated power.
 * Within a step irradiance follows the clear sky (Ineichen and Perez, Linke turbidity 3), so that
 * an hour of sunrise is not represented by its centre. `weather[i]` belongs to `steps[i]`; null if
 * there is none. Negative irradiance counts as 0. Throws a RangeError for a plant without capacity
 * and for different lengths.
 */
export function plantPhysics(
  plant: Plant,
  steps: readonly Step[],
  weather: readonly (WeatherStep | null)[],
): PlantPhysics {
  requirePlant(plant)
  if (weather.length !== steps.length) {
    throw new RangeError(`weather has ${weather.length} steps, not ${steps.length}`)
  }
  const parts = partsOf(steps)
  const { latitude, longitude, elevation_m } = plant.place
  const sun = solarPositions(parts.times_ms, latitude, longitude, { elevation_m })
  const pressure_pa = pressureAtAltitude(elevation_m)
  const instants = Array.from(parts.times_ms, (_, part): Instant => {
    const apparent_zenith_deg = sun.apparent_zenith_deg[part]!
    const dni_extra_w_m2 = extraterrestrialDni(sun.distance_au[part]!)
    const clear = clearSkyIrradiance({
      apparent_zenith_deg,
      pressure_pa,
      linke_turbidity,
      altitude_m: elevation_m,
      dni_extra_w_m2,
    })
    const azimuth_deg = sun.azimuth_deg[part]!
    return { zenith_deg: apparent_zenith_deg, azimuth_deg, dni_extra_w_m2, clear }
  })
  const physics = emptyPhysics(steps.length)
  const chain = chainOf(plant)
  for (let i = 0; i < steps.length; i++) {
    const [from, to] = [parts.first[i]!, parts.first[i + 1]!]
    const middle = (from + to) >> 1
    physics.elevation_deg[i] = sun.elevation_deg[middle]!
    physics.azimuth_deg[i] = sun.azimuth_deg[middle]!
    fillStep(physics, i, { instants: instants.slice(from, to), chain, weather: weather[i]! })
  }
  return physics
}

/** Centres of the parts of each step; those of step i begin at `first[i]`. */
function partsOf(steps: readonly Step[]): { times_ms: Float64Array; first: number[] } {
  const first = [0]
  const times_ms: number[] = []
  for (const step of steps) {
    const count = Math.max(1, Math.round(stepHours(step) / part_h))
    const part_ms = (step.end_ms - step.start_ms) / count
    for (let part = 0; part < count; part++) times_ms.push(step.start_ms + (part + 0.5) * part_ms)
    first.push(times_ms.length)
  }
  return { times_ms: Float64Array.from(times_ms), first }
}

interface Instant {
  zenith_deg: number
  azimuth_deg: number
  dni_extra_w_m2: number
  clear: ClearSky
}

interface Air {
  air_temperature_c: number
  wind_speed_m_s: number
}

interface StepLight {
  instants: readonly Instant[]
  chain: Chain
  weather: WeatherStep | null
}

function fillStep(physics: PlantPhysics, i: number, { instants, chain, weather }: StepLight) {
  const clear_ghi = mean(instants, ({ clear }) => clear.ghi_w_m2)
  const ghi = weather?.ghi_w_m2 ?? Number.NaN
  physics.clear_ghi_w_m2[i] = clear_ghi
  if (clear_ghi <= 0) {
    physics.is_night[i] = 1
    physics.clear_index[i] = Number.NaN
    return
  }
  const air = {
    air_temperature_c: weather?.temperature_c ?? chain.usual_air_c,
    wind_speed_m_s: weather?.wind_speed_m_s ?? wind_m_s,
  }
  const index = Math.min(clear_index_max, Math.max(0, ghi) / clear_ghi)
  const dhi = weather?.dhi_w_m2 ?? Number.NaN
  const diffuse_ratio = ghi > 0 ? Math.min(1, Math.max(0, dhi) / ghi) : Number.NaN
  const under = instants.map((instant) =>
    chain.output(instant, partsUnder(instant, index, diffuse_ratio), air),
  )
  physics.clear_index[i] = index
  physics.ac_ratio[i] = mean(under, ({ potential_ratio }) => Math.min(1, potential_ratio))
  physics.potential_ratio[i] = mean(under, ({ potential_ratio }) => potential_ratio)
  physics.poa_w_m2[i] = mean(under, ({ poa_w_m2 }) => poa_w_m2)
  physics.clear_ratio[i] = mean(
    instants,
    (instant) => chain.output(instant, instant.clear, air).potential_ratio,
  )
}

/** Irradiance of an instant at a share of the clear sky's, split as in the forecast of its step. */
function partsUnder(instant: Instant, clear_index: number, diffuse_ratio: number): ClearSky {
  const ghi_w_m2 = instant.clear.ghi_w_m2 * clear_index
  if (Number.isNaN(diffuse_ratio)) {
    return { ghi_w_m2, ...erbs(ghi_w_m2, instant.zenith_deg, instant.dni_extra_w_m2) }
  }
  const cos_zenith = Math.cos((instant.zenith_deg * Math.PI) / 180)
  const beam_w_m2 = ghi_w_m2 * (1 - diffuse_ratio)
  // With a low sun, a mean split would exceed the possible beam.
  const dni_w_m2 = Math.min(instant.dni_extra_w_m2, beam_w_m2 / Math.max(cos_zenith, 1e-3))
  return { ghi_w_m2, dni_w_m2, dhi_w_m2: Math.max(0, ghi_w_m2 - dni_w_m2 * cos_zenith) }
}

interface Chain {
  usual_air_c: number
  output(sun: Instant, light: ClearSky, air: Air): { poa_w_m2: number; potential_ratio: number }
}

function chainOf({ arrays, place, rated_power_kw, dc_capacity_kwp }: Plant): Chain {
  const array_kwp = arrays.reduce((sum, { dc_capacity_kwp: kwp }) => sum + kwp, 0)
  const planes = arrays.map((array) => ({
    array,
    share: array.dc_capacity_kwp / array_kwp,
    diffuse: martinRuizDiffuseModifier(array.tilt_deg),
  }))
  /**
   * Power at 1000 W/m² and 25 °C, relative to the input at which the inverters reach their rating.
   */
  const load_stc = (dc_capacity_kwp * (1 - loss_ratio) * inverter_ratio) / rated_power_kw
  return {
    usual_air_c: sea_level_c - lapse_k_m * place.elevation_m,
    output(sun, light, air) {
      let poa_w_m2 = 0
      let load = 0
      for (const { array, share, diffuse } of planes) {
        const horizontal = { ...light, dni_extra_w_m2: sun.dni_extra_w_m2, albedo_ratio }
        const plane = planeOfArrayIrradiance(array, sun, horizontal, diffuse)
        const cell_c = faiman({ poa_w_m2: plane.global_w_m2, ...air })
        poa_w_m2 += share * plane.global_w_m2
        load += (share * load_stc * plane.effective_w_m2 * warmth(cell_c)) / 1000
      }
      return { poa_w_m2, potential_ratio: load >= 1 ? load : acRatio(load) }
    },
  }
}

const warmth = (cell_c: number) => Math.max(0, 1 + power_per_k * (cell_c - 25))

const acRatio = (load: number) =>
  pvwattsAcPower(load, { rated_dc_w: 1, nominal_efficiency_ratio: inverter_ratio }) / inverter_ratio

function mean<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0) / values.length
}

function emptyPhysics(count: number): PlantPhysics {
  const column = () => new Float64Array(count)
  return {
    ac_ratio: column(),
    potential_ratio: column(),
    clear_ratio: column(),
    poa_w_m2: column(),
    clear_index: column(),
    clear_ghi_w_m2: column(),
    elevation_deg: column(),
    azimuth_deg: column(),
    is_night: new Uint8Array(count),
  }
}

/** Physics of some of the steps. */
export function takePhysics(physics: PlantPhysics, rows: readonly number[]): PlantPhysics {
  const column = (values: Float64Array) => takeElements(values, rows)
  return {
    ac_ratio: column(physics.ac_ratio),
    potential_ratio: column(physics.potential_ratio),
    clear_ratio: column(physics.clear_ratio),
    poa_w_m2: column(physics.poa_w_m2),
    clear_index: column(physics.clear_index),
    clear_ghi_w_m2: column(physics.clear_ghi_w_m2),
    elevation_deg: column(physics.elevation_deg),
    azimuth_deg: column(physics.azimuth_deg),
    is_night: Uint8Array.from(rows, (row) => physics.is_night[row]!),
  }
}
