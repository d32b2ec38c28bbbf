/** Where a site lies, and how high the sun must stand there to wake its inverters. */

export interface Place {
  /** Degrees, north positive. */
  latitude: number
  /** Degrees, east positive. */
  longitude: number
  /** Above sea level. */
  elevation_m: number
}

/** A place as far as it is known. */
export type Position = { [Part in keyof Place]: number | null }

/** null where the position is not known; of an unknown height it is taken to be at sea level. */
export function placeOf({ latitude, longitude, elevation_m }: Position): Place | null {
  if (latitude === null || longitude === null) return null
  return { latitude, longitude, elevation_m: elevation_m ?? 0 }
}

/** Below this the sun does not wake an inverter: one that does not answer is asleep. */
export const asleep_below_deg = 3
/**
 * An inverter wakes and falls asleep by the light on its modules: clouds and hills keep it from
 * waking with the sun. So close to the night its silence tells nothing.
 */
export const drowsy_ms = 15 * 60_000
