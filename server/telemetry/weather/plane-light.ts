/**
 * Irradiance and cell temperature on a surface of the plant, from the readings of its met station,
 * by IEC 61724-1 and IEC 61853: irradiance in the plane of the modules, irradiance behind the glass
 * and cell temperature.
 */
import type { Place } from '@heliograph/domain/place'
import type { Instrument, Station } from '@heliograph/domain/site'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { faiman, sapm_mountings, sapmCellTemperature } from '@heliograph/physics/cell-temperature'
import { clearSkyIrradiance } from '@heliograph/physics/clear-sky'
import { erbs } from '@heliograph/physics/decomposition'
import { martinRuizDiffuseModifier } from '@heliograph/physics/incidence-modifier'
import {
  type PlaneOfArrayIrradiance,
  planeOfArrayIrradiance,
} from '@heliograph/physics/plane-of-array'
import {
  extraterrestrialDni,
  type SolarPosition,
  solarPosition,
} from '@heliograph/physics/solar-position'
import {
  type HorizontalIrradiance,
  hayDavies,
  type Surface,
  sunDirection,
} from '@heliograph/physics/transposition'
import { isImpossibleDhi, isImpossibleIrradiance } from './outliers.ts'

/** A reading of the station: averages, and instrument values in the order of the list. */
export interface StationSample {
  time_ms: number
  instrument_values: readonly (number | null)[]
  ghi_w_m2: number | null
  dhi_w_m2: number | null
  module_temperature_c: number | null
  ambient_temperature_c: number | null
  wind_speed_m_s: number | null
}

type LightSource = 'reference_cell' | 'pyranometer' | 'transposed'
/** With `no_temperature` the irradiance is valid; otherwise nothing is. */
type NoLightReason = 'no_irradiance' | 'implausible_irradiance' | 'no_temperature'

export interface PlaneLight {
  /** On the glass, W/m2. */
  poa_irradiance_w_m2: number | null
  /** Behind the glass, after reflection by angle of incidence, W/m2. */
  effective_irradiance_w_m2: number | null
  cell_temperature_c: number | null
  /** Null at night, and without irradiance. */
  source: LightSource | null
  /** The reason for null values. */
  reason: NoLightReason | null
  /** The centre of the sun at or below the horizon, without refraction. */
  is_night: boolean
}

/** Allowed deviation in azimuth and tilt between an instrument and a surface. */
const plane_tolerance_deg = 5
/** Below this tilt a plane has no direction. */
const flat_deg = 1
/** Clear mid-latitude air, for plausibility limits and for estimates from one plane. */
const linke_turbidity = 3
const albedo_ratio = 0.2
/** With a lower sun horizontal measurements do not give the direct share. */
const zenith_deg_max = 87
const wind_default_m_s = 1
const cell_excess_k = sapm_mountings.open_rack_glass_polymer.delta_t_c
const temperature_min_c = -60
const temperature_max_c = 120

export interface Sky {
  sun: SolarPosition
  dni_extra_w_m2: number
  /** Clear-sky irradiance. */
  clear: HorizontalIrradiance
}

/** A surface and the indices of the instruments mounted like it. */
interface Plane {
  surface: Surface
  diffuse: ReturnType<typeof martinRuizDiffuseModifier>
  cells: readonly number[]
  pyranometers: readonly number[]
  thermometers: readonly number[]
}

type Irradiance = Pick<PlaneLight, 'source' | 'reason'> & {
  poa_w_m2: number | null
  effective_w_m2: number | null
}

/**
 * Returns a function from samples of `station` to the light on `surface`.
 *
 * Instruments within 5 degrees of the surface have priority: reference cells unchanged, since their
 * glass and cell already weight angle and spectrum; pyranometers (and combined instruments) minus
 * the reflection at the glass of their direct, sky and ground shares. Instruments of a kind are
 * averaged, and all of them for the irradiance on the glass. Without any, global horizontal
 * irradiance is transposed (`hayDavies`), split by measured diffuse irradiance or by `erbs`.
 * Slightly negative irradiance, the offset of a thermopile, counts as 0. Impossible values
 * (`isImpossibleIrradiance`) are ignored, and are the reason if no other value exists.
 *
 * Cells are 3 K per 1000 W/m2 warmer than the measured back of the modules; without that
 * measurement the Faiman model uses air temperature and wind (1 m/s if not measured). A module
 * thermometer with the orientation of the surface has priority over the average of the station. At
 * night irradiance is 0 regardless of the instruments.
 */
export function planeLightOf(
  place: Place,
  station: Pick<Station, 'instruments'>,
  surface: Surface,
): (sample: StationSample) => PlaneLight {
  const plane = planeOf(station, surface)
  const pressure_pa = pressureAtAltitude(place.elevation_m)
  return (sample) => {
    const sky = skyAt(place, pressure_pa, sample.time_ms)
    const is_night = sky.sun.elevation_deg <= 0
    const { poa_w_m2, effective_w_m2, source, reason } = is_night
      ? { poa_w_m2: 0, effective_w_m2: 0, source: null, reason: null }
      : irradiance(plane, sample, sky)
    const cell_temperature_c = poa_w_m2 === null ? null : cellTemperature(plane, sample, poa_w_m2)
    return {
      poa_irradiance_w_m2: poa_w_m2,
      effective_irradiance_w_m2: effective_w_m2,
      cell_temperature_c,
      source,
      reason: reason ?? (cell_temperature_c === null ? 'no_temperature' : null),
      is_night,
    }
  }
}

function planeOf({ instruments }: Pick<Station, 'instruments'>, surface: Surface): Plane {
  const indices = (accept: (instrument: Instrument) => boolean): number[] =>
    instruments.flatMap((instrument, index) =>
      accept(instrument) && isOnPlane(instrument, surface) ? [index] : [],
    )
  const isPoa = ({ quantity }: Instrument) => quantity === 'poa_irradiance_w_m2'
  return {
    surface,
    diffuse: martinRuizDiffuseModifier(surface.tilt_deg),
    cells: indices((each) => isPoa(each) && each.type === 'reference_cell'),
    pyranometers: indices((each) => isPoa(each) && each.type !== 'reference_cell'),
    thermometers: indices(({ quantity }) => quantity === 'module_temperature_c'),
  }
}

/** False for an instrument without a known orientation. */
function isOnPlane({ azimuth_deg, tilt_deg }: Instrument, surface: Surface): boolean {
  if (tilt_deg === undefined || Math.abs(tilt_deg - surface.tilt_deg) > plane_tolerance_deg) {
    return false
  }
  if (Math.max(tilt_deg, surface.tilt_deg) < flat_deg) return true
  if (azimuth_deg === undefined) return false
  const turn = Math.abs(azimuth_deg - surface.azimuth_deg) % 360
  return Math.min(turn, 360 - turn) <= plane_tolerance_deg
}

/** The sun at an instant and clear-sky irradiance in clear mid-latitude air. */
export function skyAt(place: Place, pressure_pa: number, time_ms: number): Sky {
  const { latitude, longitude, elevation_m } = place
  const sun = solarPosition(time_ms, latitude, longitude, { elevation_m, pressure_pa })
  const dni_extra_w_m2 = extraterrestrialDni(sun.distance_au)
  const clear = clearSkyIrradiance({
    apparent_zenith_deg: sun.apparent_zenith_deg,
    pressure_pa,
    linke_turbidity,
    altitude_m: elevation_m,
    dni_extra_w_m2,
  })
  return { sun, dni_extra_w_m2, clear: { ...clear, dni_extra_w_m2, albedo_ratio } }
}

function irradiance(plane: Plane, sample: StationSample, sky: Sky): Irradiance {
  const { surface, cells, pyranometers } = plane
  const clear = hayDavies(surface, sunDirection(sky.sun), sky.clear)
  const measuredBy = (which: readonly number[]) =>
    mean(which.map((index) => plausible(sample.instrument_values[index], clear.global_w_m2)))
  const cell = measuredBy(cells)
  const pyranometer = measuredBy(pyranometers)
  if (cell !== null) {
    const poa_w_m2 = measuredBy([...cells, ...pyranometers])
    return { poa_w_m2, effective_w_m2: cell, source: 'reference_cell', reason: null }
  }
  const ghi = plausible(sample.ghi_w_m2, sky.clear.ghi_w_m2)
  if (pyranometer !== null) {
    // Without horizontal irradiance the clearness of the plane estimates that of the sky.
    const clearness = clear.global_w_m2 > 0 ? Math.min(1, pyranometer / clear.global_w_m2) : 0
    const light =
      ghi === null
        ? transposed(plane, sky, sky.clear.ghi_w_m2 * clearness, null)
        : transposed(plane, sky, ghi, sample.dhi_w_m2)
    const effective_w_m2 = pyranometer * passRatio(plane, light)
    return { poa_w_m2: pyranometer, effective_w_m2, source: 'pyranometer', reason: null }
  }
  if (ghi !== null) {
    const light = transposed(plane, sky, ghi, sample.dhi_w_m2)
    const effective_w_m2 = light.global_w_m2 * passRatio(plane, light)
    return { poa_w_m2: light.global_w_m2, effective_w_m2, source: 'transposed', reason: null }
  }
  const read = [...cells, ...pyranometers].map((index) => sample.instrument_values[index])
  const isRead = [...read, sample.ghi_w_m2].some((value) => value !== null && value !== undefined)
  const reason = isRead ? 'implausible_irradiance' : 'no_irradiance'
  return { poa_w_m2: null, effective_w_m2: null, source: null, reason }
}

/** Ratio of the irradiance that passes the glass, for the shares of `light`. */
function passRatio({ diffuse }: Plane, light: PlaneOfArrayIrradiance): number {
  return light.global_w_m2 <= 0 ? diffuse.sky_ratio : light.effective_w_m2 / light.global_w_m2
}

function transposed(
  { surface, diffuse }: Plane,
  { sun, dni_extra_w_m2 }: Sky,
  ghi_w_m2: number,
  measured_dhi_w_m2: number | null,
): PlaneOfArrayIrradiance {
  const { zenith_deg } = sun
  const modelled = erbs(ghi_w_m2, zenith_deg, dni_extra_w_m2)
  const isSplit =
    isMeasured(measured_dhi_w_m2) &&
    zenith_deg <= zenith_deg_max &&
    !isImpossibleDhi(measured_dhi_w_m2, { dni_extra_w_m2, zenith_deg })
  const dhi_w_m2 = isSplit ? Math.min(ghi_w_m2, Math.max(0, measured_dhi_w_m2)) : modelled.dhi_w_m2
  const cos_zenith = Math.cos((zenith_deg * Math.PI) / 180)
  const dni_w_m2 = isSplit
    ? Math.min(dni_extra_w_m2, (ghi_w_m2 - dhi_w_m2) / cos_zenith)
    : modelled.dni_w_m2
  const horizontal = { ghi_w_m2, dni_w_m2, dhi_w_m2, dni_extra_w_m2, albedo_ratio }
  return planeOfArrayIrradiance(surface, sunDirection(sun), horizontal, diffuse)
}

function cellTemperature({ thermometers }: Plane, sample: StationSample, poa_w_m2: number) {
  const { instrument_values, ambient_temperature_c, wind_speed_m_s } = sample
  const module_c =
    mean(thermometers.map((index) => plausibleTemperature(instrument_values[index]))) ??
    plausibleTemperature(sample.module_temperature_c)
  if (module_c !== null) return sapmCellTemperature(module_c, poa_w_m2, cell_excess_k)
  const air_temperature_c = plausibleTemperature(ambient_temperature_c)
  if (air_temperature_c === null) return null
  const wind = isMeasured(wind_speed_m_s) ? wind_speed_m_s : wind_default_m_s
  return faiman({ poa_w_m2, air_temperature_c, wind_speed_m_s: wind })
}

function isMeasured(value: number | null | undefined): value is number {
  return value !== null && value !== undefined && Number.isFinite(value)
}

/** The irradiance, at least 0; null if not measured or impossible. */
function plausible(value: number | null | undefined, clear_w_m2: number): number | null {
  return isMeasured(value) && !isImpossibleIrradiance(value, clear_w_m2) ? Math.max(0, value) : null
}

function plausibleTemperature(value: number | null | undefined): number | null {
  const isPlausible = isMeasured(value) && value >= temperature_min_c && value <= temperature_max_c
  return isPlausible ? value : null
}

function mean(values: readonly (number | null)[]): number | null {
  let sum = 0
  let count = 0
  for (const value of values) {
    if (value === null) continue
    sum += value
    count += 1
  }
  return count === 0 ? null : sum / count
}
