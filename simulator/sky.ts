import type { Place } from '@heliograph/domain/place'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { faiman } from '@heliograph/physics/cell-temperature'
import { clearSkyIrradiance } from '@heliograph/physics/clear-sky'
import { erbs } from '@heliograph/physics/decomposition'
import { martinRuizDiffuseModifier } from '@heliograph/physics/incidence-modifier'
import { planeOfArrayIrradiance } from '@heliograph/physics/plane-of-array'
import {
  extraterrestrialDni,
  type SolarPosition,
  solarPosition,
  sunEarthDistance,
} from '@heliograph/physics/solar-position'
import {
  type HorizontalIrradiance,
  type Surface,
  sunDirection,
} from '@heliograph/physics/transposition'
import type { Weather } from './weather.ts'

const linke_turbidity = 3.2
const albedo_ratio = 0.2
/** Excess of cell over module back temperature at 1000 W/m², open rack (SAPM). */
const cell_excess_k = 3

export interface Sun {
  position: SolarPosition
  dni_extra_w_m2: number
}

export interface PlaneOfArray {
  poa_irradiance_w_m2: number
  /** After reflection at the glass, at the cells. */
  effective_irradiance_w_m2: number
  /** The same behind an obstacle that hides the sun and the bright sky around it. */
  shaded_irradiance_w_m2: number
  module_temperature_c: number
  cell_temperature_c: number
}

export function sunAt(place: Place, time_ms: number): Sun {
  const { latitude, longitude, elevation_m } = place
  return {
    position: solarPosition(time_ms, latitude, longitude, { elevation_m }),
    dni_extra_w_m2: extraterrestrialDni(sunEarthDistance(time_ms)),
  }
}

/** Global, direct and diffuse irradiance under the present clouds. */
export function horizontalIrradiance(
  place: Place,
  sun: Sun,
  weather: Pick<Weather, 'clear_sky_index'>,
): HorizontalIrradiance {
  const { apparent_zenith_deg } = sun.position
  const { dni_extra_w_m2 } = sun
  const clear = clearSkyIrradiance({
    apparent_zenith_deg,
    pressure_pa: pressureAtAltitude(place.elevation_m),
    linke_turbidity,
    altitude_m: place.elevation_m,
    dni_extra_w_m2,
  })
  const ghi_w_m2 = clear.ghi_w_m2 * weather.clear_sky_index
  // Light added by clouds comes from them, not from the sun.
  const added_w_m2 = clear.ghi_w_m2 * Math.max(0, weather.clear_sky_index - 1)
  const parts = erbs(ghi_w_m2 - added_w_m2, apparent_zenith_deg, dni_extra_w_m2)
  return {
    ghi_w_m2,
    dni_w_m2: parts.dni_w_m2,
    dhi_w_m2: parts.dhi_w_m2 + added_w_m2,
    dni_extra_w_m2,
    albedo_ratio,
  }
}

export function planeOfArray(
  surface: Surface,
  sun: Sun,
  horizontal: HorizontalIrradiance,
  weather: Weather,
): PlaneOfArray {
  const diffuse = martinRuizDiffuseModifier(surface.tilt_deg)
  const plane = planeOfArrayIrradiance(surface, sunDirection(sun.position), horizontal, diffuse)
  const ground_w_m2 = plane.ground_w_m2 * diffuse.ground_ratio
  const even_sky_w_m2 = evenSky(surface, horizontal) * diffuse.sky_ratio
  const poa_irradiance_w_m2 = plane.global_w_m2
  const module_temperature_c = faiman({
    poa_w_m2: poa_irradiance_w_m2,
    air_temperature_c: weather.ambient_temperature_c,
    wind_speed_m_s: weather.wind_speed_m_s,
  })
  return {
    poa_irradiance_w_m2,
    effective_irradiance_w_m2: plane.effective_w_m2,
    shaded_irradiance_w_m2: even_sky_w_m2 + ground_w_m2,
    module_temperature_c,
    cell_temperature_c: module_temperature_c + (cell_excess_k * poa_irradiance_w_m2) / 1000,
  }
}

/** The isotropic part of the sky light of `hayDavies`. */
function evenSky({ tilt_deg }: Surface, horizontal: HorizontalIrradiance): number {
  const { dhi_w_m2, dni_w_m2, dni_extra_w_m2 } = horizontal
  const seen = (1 + Math.cos((tilt_deg * Math.PI) / 180)) / 2
  return dhi_w_m2 * (1 - dni_w_m2 / dni_extra_w_m2) * seen
}
