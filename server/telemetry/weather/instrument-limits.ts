/** Plausible values of the instruments of a met station. */
import { cached } from '@heliograph/domain/cached'
import type { Place } from '@heliograph/domain/place'
import type { Instrument } from '@heliograph/domain/site'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { hayDavies, type Surface, sunDirection } from '@heliograph/physics/transposition'
import { isImpossibleDhi, isImpossibleIrradiance } from './outliers.ts'
import { type Sky, skyAt } from './plane-light.ts'

export type Quantity = Instrument['quantity']

/** The sky at any instant; null without the position of the site. */
export type Skies = (time_ms: number) => Sky | null

/** With a lower sun, constant or no irradiance is plausible. */
const bright_elevation_deg = 5

/** Outdoor ranges in the unit of the name. Irradiance is judged by the sky instead. */
const ranges: Readonly<Partial<Record<Quantity, readonly [min: number, max: number]>>> = {
  module_temperature_c: [-60, 120],
  ambient_temperature_c: [-60, 60],
  relative_humidity_pct: [0, 105],
  pressure_hpa: [300, 1100],
  wind_speed_m_s: [0, 75],
  wind_direction_deg: [0, 360],
  rain_mm: [0, Number.POSITIVE_INFINITY],
}

const irradiances: ReadonlySet<Quantity> = new Set<Quantity>([
  'poa_irradiance_w_m2',
  'ghi_w_m2',
  'dhi_w_m2',
])

export const measuresLight = ({ quantity }: Instrument): boolean => irradiances.has(quantity)

/** The sky over a place by instant, with a cache. */
export function skiesOf(place: Place | null): Skies {
  if (place === null) return () => null
  const pressure_pa = pressureAtAltitude(place.elevation_m)
  return cached((time_ms: number) => skyAt(place, pressure_pa, time_ms))
}

/** The plane of an irradiance instrument; null if `site.yaml` does not define it. */
export function surfaceOf({ quantity, azimuth_deg, tilt_deg }: Instrument): Surface | null {
  if (quantity !== 'poa_irradiance_w_m2') return { azimuth_deg: 180, tilt_deg: 0 }
  if (tilt_deg === undefined) return null
  if (azimuth_deg === undefined) return tilt_deg === 0 ? { azimuth_deg: 180, tilt_deg } : null
  return { azimuth_deg, tilt_deg }
}

/** Clear-sky irradiance on a surface; without one, on a surface facing the sun. */
export function clearIrradiance(surface: Surface | null, { sun, clear }: Sky): number {
  const direction = sunDirection(sun)
  const facing = { azimuth_deg: sun.azimuth_deg, tilt_deg: Math.min(90, direction.zenith_deg) }
  return hayDavies(surface ?? facing, direction, clear).global_w_m2
}

/** Clear-sky value of an irradiance instrument, W/m2. */
export function clearLight(instrument: Instrument, sky: Sky): number {
  if (instrument.quantity === 'dhi_w_m2') return sky.clear.dhi_w_m2
  return clearIrradiance(surfaceOf(instrument), sky)
}

/** Whether a value of an instrument is impossible under all of these skies (at least one). */
export function outOfRange(
  instrument: Instrument,
  skies: readonly (Sky | null)[],
): (value: number) => boolean {
  const range = ranges[instrument.quantity]
  if (range) return (value) => !(value >= range[0] && value <= range[1])
  const impossible = skies.map((sky) => sky && impossibleLight(instrument, sky))
  return (value) => impossible.every((isImpossible) => isImpossible?.(value) ?? false)
}

function impossibleLight(instrument: Instrument, sky: Sky): (value: number) => boolean {
  if (instrument.quantity === 'dhi_w_m2') {
    const { dni_extra_w_m2, sun } = sky
    // The night offset of a thermopile is no fault.
    return (value) =>
      value < -10 || (value > 0 && isImpossibleDhi(value, { dni_extra_w_m2, ...sun }))
  }
  const clear_w_m2 = clearIrradiance(surfaceOf(instrument), sky)
  return (value) => isImpossibleIrradiance(value, clear_w_m2)
}

/** Whether the sun is so high that constant or no irradiance is implausible. */
export const isBright = (sky: Sky | null): boolean =>
  sky !== null && sky.sun.elevation_deg > bright_elevation_deg
