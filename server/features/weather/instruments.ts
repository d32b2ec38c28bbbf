/** Which instruments of a plant's met stations are believed, and why the others are not. */
import { median } from '@heliograph/domain/median'
import type { Instrument } from '@heliograph/domain/site'
import { pressureAtAltitude } from '@heliograph/physics/atmosphere'
import { hayDavies, type Surface } from '@heliograph/physics/transposition'
import { isImpossibleDhi, isImpossibleIrradiance } from '../../diagnostics/outliers.ts'
import { type Place, type Sky, skyAt } from '../../diagnostics/plane-light.ts'
import { staleSamples } from '../../diagnostics/stale.ts'

export type Quantity = Instrument['quantity']

export const rejectReasons = ['not_measured', 'out_of_range', 'stuck', 'disagrees'] as const
export type RejectReason = (typeof rejectReasons)[number]

/** What must not have changed for so long to be stuck; a little less than the hour looked at. */
export const look_back_ms = 3_600_000
const stuck = { samples_min: 6, duration_min_s: 3000 }
/** With the sun lower than this light and warmth may rightly stand still. */
const lively_elevation_deg = 5
/** Of a cloudless sky's light the darkest clouds leave more than this. */
const clouds_pass_min_ratio = 0.01

/** What can be measured outdoors, in the unit of the name. Irradiance is judged by the sky. */
const ranges: Readonly<Partial<Record<Quantity, readonly [min: number, max: number]>>> = {
  module_temperature_c: [-60, 120],
  ambient_temperature_c: [-60, 60],
  relative_humidity_pct: [0, 105],
  pressure_hpa: [300, 1100],
  wind_speed_m_s: [0, 75],
  wind_direction_deg: [0, 360],
  rain_mm: [0, Number.POSITIVE_INFINITY],
}

/** How far instruments of one quantity may stand apart: the larger of the two. */
const tolerances: Readonly<Partial<Record<Quantity, { absolute: number; ratio: number }>>> = {
  poa_irradiance_w_m2: { absolute: 50, ratio: 0.15 },
  ghi_w_m2: { absolute: 50, ratio: 0.15 },
  dhi_w_m2: { absolute: 50, ratio: 0.15 },
  module_temperature_c: { absolute: 10, ratio: 0 },
  ambient_temperature_c: { absolute: 5, ratio: 0 },
  relative_humidity_pct: { absolute: 15, ratio: 0 },
  pressure_hpa: { absolute: 5, ratio: 0 },
  wind_speed_m_s: { absolute: 3, ratio: 0.5 },
}

export const rejectionRule =
  '`not_measured`: no value although the station answers; `out_of_range`: beyond what is ' +
  'physically possible, of irradiance beyond 1.2 times that of a cloudless sky plus 50 W/m² or ' +
  'below -10 W/m²; `stuck`: irradiance or a temperature that has not changed for 50 minutes ' +
  'with the sun above 5°; `disagrees`: five minutes of it are further from the median of three ' +
  'or more of its quantity and plane than 15 % and 50 W/m² (module temperature 10 K, air 5 K, ' +
  'humidity 15 %, pressure 5 hPa, wind speed half and 3 m/s), or of two that are as far apart ' +
  'it is the one that sees less than a hundredth of a cloudless sky.'

const is_irradiance: ReadonlySet<Quantity> = new Set<Quantity>([
  'poa_irradiance_w_m2',
  'ghi_w_m2',
  'dhi_w_m2',
])
const is_lively: ReadonlySet<Quantity> = new Set<Quantity>([
  ...is_irradiance,
  'module_temperature_c',
  'ambient_temperature_c',
])

/** The sky over a place by instant; null where the place is not known. Instants are remembered. */
export function skiesOf(place: Place | null): (time_ms: number) => Sky | null {
  if (place === null) return () => null
  const pressure_pa = pressureAtAltitude(place.elevation_m)
  const known = new Map<number, Sky>()
  return (time_ms) => {
    const sky = known.get(time_ms) ?? skyAt(place, pressure_pa, time_ms)
    known.set(time_ms, sky)
    return sky
  }
}

/** How an irradiance instrument is mounted; null where site.yaml does not say. */
export function surfaceOf({ quantity, azimuth_deg, tilt_deg }: Instrument): Surface | null {
  if (quantity !== 'poa_irradiance_w_m2') return { azimuth_deg: 180, tilt_deg: 0 }
  if (tilt_deg === undefined) return null
  if (azimuth_deg === undefined) return tilt_deg === 0 ? { azimuth_deg: 180, tilt_deg } : null
  return { azimuth_deg, tilt_deg }
}

/** Irradiance of a cloudless sky on a surface, or, where it is not known, on one facing the sun. */
export function clearIrradiance(surface: Surface | null, { sun, clear }: Sky): number {
  const direction = { zenith_deg: sun.apparent_zenith_deg, azimuth_deg: sun.azimuth_deg }
  const facing = { azimuth_deg: sun.azimuth_deg, tilt_deg: Math.min(90, direction.zenith_deg) }
  return hayDavies(surface ?? facing, direction, clear).global_w_m2
}

/** Whether a value cannot be under any of the skies between which it was measured. */
export function isOutOfRange(
  instrument: Instrument,
  value: number,
  skies: readonly (Sky | null)[],
): boolean {
  const { quantity } = instrument
  const range = ranges[quantity]
  if (range) return !(value >= range[0] && value <= range[1])
  for (const sky of skies) {
    if (sky === null || !isImpossibleLight(instrument, value, sky)) return false
  }
  return true
}

function isImpossibleLight(instrument: Instrument, value: number, sky: Sky): boolean {
  if (instrument.quantity === 'dhi_w_m2') {
    const { dni_extra_w_m2, sun } = sky
    // The offset of a thermopile at night is no fault, as with the other instruments.
    return value < -10 || (value > 0 && isImpossibleDhi(value, { dni_extra_w_m2, ...sun }))
  }
  return isImpossibleIrradiance(value, clearIrradiance(surfaceOf(instrument), sky))
}

/** Whether light and warmth cannot rightly stand still for long. */
export const isBright = (sky: Sky | null): boolean =>
  sky !== null && sky.sun.elevation_deg > lively_elevation_deg

/**
 * Marks with 1 the samples of an instrument that is stuck; `is_bright` says of which `isBright`
 * holds, NaN is not measured. Whether one is marked depends on nothing further from it than
 * `look_back_ms`.
 */
export function stuckSamples(
  { quantity }: Instrument,
  values: Float64Array,
  times_ms: readonly number[],
  is_bright: Uint8Array,
): Uint8Array {
  if (!is_lively.has(quantity)) return new Uint8Array(values.length)
  const lively = new Array<number | null>(values.length).fill(null)
  for (let at = 0; at < values.length; at += 1) {
    if (is_bright[at] && !Number.isNaN(values[at])) lively[at] = values[at]!
  }
  return Uint8Array.from(staleSamples(lively, times_ms, stuck), Number)
}

/** An instrument and its mean over some minutes; null where it has none, or is rejected already. */
export interface Vote {
  instrument: Instrument
  value: number | null
}

/** Of instruments that measure one thing side by side, those that the others contradict. */
export function outvoted<Of extends Vote>(votes: readonly Of[], sky: Sky | null): Set<Of> {
  const present = votes.filter(({ value }) => value !== null)
  const alike = Map.groupBy(present, ({ instrument }) => kindOf(instrument))
  const out = new Set<Of>()
  for (const group of alike.values()) {
    const tolerance = tolerances[group[0]!.instrument.quantity]
    if (!tolerance || group.length < 2) continue
    const middle = median(group.map(({ value }) => value!))!
    const apart_max = Math.max(tolerance.absolute, tolerance.ratio * Math.abs(middle))
    if (group.length >= 3) {
      for (const vote of group) if (Math.abs(vote.value! - middle) > apart_max) out.add(vote)
      continue
    }
    const [one, other] = group as [Of, Of]
    if (Math.abs(one.value! - other.value!) <= apart_max) continue
    const dark = group.filter((vote) => isTooDark(vote, sky))
    if (dark.length === 1) out.add(dark[0]!)
  }
  return out
}

const kindOf = ({ quantity, azimuth_deg, tilt_deg }: Instrument): string =>
  quantity === 'poa_irradiance_w_m2' ? `${quantity} ${azimuth_deg} ${tilt_deg}` : quantity

function isTooDark({ instrument, value }: Vote, sky: Sky | null): boolean {
  if (sky === null || !isBright(sky) || !is_irradiance.has(instrument.quantity)) return false
  return value! < clouds_pass_min_ratio * clearIrradiance(surfaceOf(instrument), sky)
}
