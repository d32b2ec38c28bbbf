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
 * An inverter wakes and falls asleep by the light on its modules: clouds and hills keep it from
 * waking with the sun. So close to the night its silence tells nothing.
 */
export const drowsy_ms = 15 * 60_000
