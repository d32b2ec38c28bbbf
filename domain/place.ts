/** Position of a site, and the sun elevation at which its inverters wake. */

export interface Place {
  /** Degrees, north positive. */
  latitude: number
  /** Degrees, east positive. */
  longitude: number
  /** Above sea level. */
  elevation_m: number
}

/** A place whose values may be unknown. */
export type Position = { [Part in keyof Place]: number | null }

/** Null for an unknown position; an unknown elevation defaults to sea level. */
export function placeOf({ latitude, longitude, elevation_m }: Position): Place | null {
  if (latitude === null || longitude === null) return null
  return { latitude, longitude, elevation_m: elevation_m ?? 0 }
}

/** Sun elevation below which inverters sleep and need not answer. */
export const asleep_below_deg = 3
/**
 * Inverters wake and fall asleep by the light on their modules, which clouds and hills delay.
 * Within this time of the night, communication loss is not a fault.
 */
export const drowsy_ms = 15 * 60_000
