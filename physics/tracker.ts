import { incidenceAngle, type SunDirection, type Surface } from './transposition.ts'

/** A row of modules on one axis, beside like rows. */
export interface TrackerAxis {
  /** Compass direction of the axis, clockwise from north: 0 or 180 for one from north to south. */
  azimuth_deg: number
  /** Slope of the axis, -90 to 90: positive when it falls towards `azimuth_deg`. */
  tilt_deg: number
  /** Largest rotation to either side, 0 to 180. */
  rotation_deg_max: number
  /** Whether the rows turn back from the sun when they would shade one another. */
  backtracks: boolean
  /** Width of a row by the distance of the axes, up to 1; a row alone, 0 and less, shades none. */
  ground_coverage_ratio: number
  /**
   * Slope of the line from axis to axis, across them; positive when it falls to the side to which a
   * positive rotation faces. 0, level, by default.
   */
  cross_axis_tilt_deg?: number
}

interface TrackerPosition {
  /** Right-handed about the axis: 0 facing up; with an axis to the south positive faces west. */
  rotation_deg: number
  surface: Surface
  /** Angle of incidence of the sun on the modules, 0 to 180. */
  incidence_deg: number
}

const degree = Math.PI / 180

/**
 * How a single-axis tracker at this rotation lies. K. Anderson and M. Mikofski, "Slope-aware
 * backtracking for single-axis trackers", NREL/TP-5K00-76626, 2020: the normal of the modules in
 * the axes of the ground. A tracker that lies level gets the azimuth 90 degrees left of its axis,
 * that of its turn to the east when it points south.
 */
export function trackerSurface(axis: TrackerAxis, rotation_deg: number): Surface {
  const rotation = rotation_deg * degree
  const along = Math.sin(axis.tilt_deg * degree) * Math.cos(rotation)
  const across = Math.sin(rotation)
  const up = Math.cos(axis.tilt_deg * degree) * Math.cos(rotation)
  const horizontal = Math.hypot(along, across)
  const turn_deg = horizontal === 0 ? -90 : Math.atan2(across, along) / degree
  return {
    tilt_deg: Math.atan2(horizontal, up) / degree,
    azimuth_deg: (((axis.azimuth_deg + turn_deg) % 360) + 360) % 360,
  }
}

/**
 * Where a single-axis tracker turns under the sun (apparent zenith angle), with or without
 * backtracking. Anderson and Mikofski, the same report: the rotation that faces the sun from its
 * direction in the axes of the tracker, backtracking by equations 14 to 16. Null with the sun below
 * the horizon, a zenith angle above 90: where a tracker stows is its maker's affair. The limits of
 * rotation count from facing up.
 */
export function trackSun(axis: TrackerAxis, sun: SunDirection): TrackerPosition | null {
  if (sun.zenith_deg > 90) return null
  const zenith = sun.zenith_deg * degree
  const turn = (sun.azimuth_deg - axis.azimuth_deg) * degree
  const axis_tilt = axis.tilt_deg * degree
  const across = Math.sin(zenith) * Math.sin(turn)
  const along = Math.sin(zenith) * Math.cos(turn)
  const above = along * Math.sin(axis_tilt) + Math.cos(zenith) * Math.cos(axis_tilt)
  const ideal_deg = Math.atan2(across, above) / degree
  const wanted_deg = ideal_deg - (axis.backtracks ? backtrackAngle(axis, ideal_deg) : 0)
  const rotation_deg = Math.min(axis.rotation_deg_max, Math.max(-axis.rotation_deg_max, wanted_deg))
  const surface = trackerSurface(axis, rotation_deg)
  return { rotation_deg, surface, incidence_deg: incidenceAngle(surface, sun) }
}

/** How far to turn back from facing the sun, signed as `ideal_deg`; 0 where no row is shaded. */
function backtrackAngle(axis: TrackerAxis, ideal_deg: number): number {
  const cross_axis_deg = axis.cross_axis_tilt_deg ?? 0
  const shadow =
    Math.abs(Math.cos((ideal_deg - cross_axis_deg) * degree)) /
    (axis.ground_coverage_ratio * Math.cos(cross_axis_deg * degree))
  return shadow >= 0 && shadow < 1 ? (Math.sign(ideal_deg) * Math.acos(shadow)) / degree : 0
}
