/** What the live state of a site is judged by: the time, the sun, the local day, the poll rates. */
import { dayStart } from '@heliograph/domain/local-day'
import { defaultPollIntervals, type PollIntervals } from '@heliograph/domain/site'
import { solarPosition } from '@heliograph/physics/solar-position'

export interface SiteFacts {
  timezone: string
  /** null until the edge has announced the inventory. */
  latitude: number | null
  longitude: number | null
  elevation_m: number | null
  poll: PollIntervals | null
}

export interface Situation {
  now: Date
  /** Midnight at the site. */
  day_start_at: Date
  /** As seen from the site; null where its position is not known. */
  sun_elevation_deg: number | null
  poll: Required<PollIntervals>
}

/** Below this the sun does not wake an inverter: one that does not answer is asleep. */
export const asleep_below_deg = 3

export function situationOf(facts: SiteFacts, now: Date): Situation {
  const { latitude, longitude, elevation_m } = facts
  return {
    now,
    day_start_at: dayStart(now, facts.timezone),
    sun_elevation_deg:
      latitude === null || longitude === null
        ? null
        : solarPosition(now.getTime(), latitude, longitude, { elevation_m: elevation_m ?? 0 })
            .apparent_elevation_deg,
    poll: { ...defaultPollIntervals, ...facts.poll },
  }
}

/** Whether inverters may sleep. Where the position of the site is not known, none may. */
export function isNight({ sun_elevation_deg }: Situation): boolean {
  return sun_elevation_deg !== null && sun_elevation_deg < asleep_below_deg
}
