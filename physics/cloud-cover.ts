/**
 * Global irradiance under a sky of which a share is covered, of that under a clear one. F. Kasten
 * and G. Czeplak, "Solar and terrestrial radiation dependent on the amount and type of cloud",
 * Solar Energy 24(2), 1980: 1 - 0.75 N^3.4 for a cover of N eighths of the sky by eight, from ten
 * years of hours at Hamburg, whatever the elevation of the sun. It is the mean over kinds of
 * clouds: a sky that is covered passes 0.61 under cirrus and 0.16 under nimbostratus.
 * The cover is held to 0 to 1.
 */
export function coverTransmission(cover_ratio: number): number {
  return 1 - 0.75 * Math.min(1, Math.max(0, cover_ratio)) ** 3.4
}

/** The cover, 0 to 1, under which so much passes: the inverse, 1 at 0.25 and below, 0 from 1 on. */
export function coverAtTransmission(transmission_ratio: number): number {
  return (Math.min(0.75, Math.max(0, 1 - transmission_ratio)) / 0.75) ** (1 / 3.4)
}
