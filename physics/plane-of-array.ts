import { martinRuizDiffuseModifier, physicalModifier } from './incidence-modifier.ts'
import {
  type HorizontalIrradiance,
  hayDavies,
  incidenceAngle,
  type PlaneIrradiance,
  type SunDirection,
  type Surface,
} from './transposition.ts'

export interface PlaneOfArrayIrradiance extends PlaneIrradiance {
  /** Irradiance behind the glass: each component times its incidence angle modifier. */
  effective_w_m2: number
}

/**
 * Irradiance in the plane of an array and behind the glass of its modules, W/m2: `hayDavies` for
 * the plane, `physicalModifier` for the direct component, `martinRuizDiffuseModifier` for the sky
 * and ground components, each with its own ranges and source. `diffuse` depends on the tilt alone;
 * compute it once for a fixed plane.
 */
export function planeOfArrayIrradiance(
  surface: Surface,
  sun: SunDirection,
  horizontal: HorizontalIrradiance,
  diffuse = martinRuizDiffuseModifier(surface.tilt_deg),
): PlaneOfArrayIrradiance {
  const plane = hayDavies(surface, sun, horizontal)
  const effective_w_m2 =
    plane.direct_w_m2 * physicalModifier(incidenceAngle(surface, sun)) +
    // A tilt that sees no sky gets none, also of a diffuse irradiance so large that it overflowed.
    (diffuse.sky_ratio === 0 ? 0 : plane.sky_w_m2 * diffuse.sky_ratio) +
    plane.ground_w_m2 * diffuse.ground_ratio
  return { ...plane, effective_w_m2 }
}
