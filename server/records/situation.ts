/** What the live state of a site is judged by: the time, the sun, the local day, the poll rates. */
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

const minute_ms = 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * The first instant of the local day that `now` lies in, for an IANA time zone. Days of 23 and 25
 * hours come out right; a day whose midnight does not exist begins at the first instant that does.
 *
 * @throws RangeError for a zone that does not exist
 */
export function dayStart(now: Date, timezone: string): Date {
  const date = localDate(now, timezone)
  const isBefore = (ms: number) => localDate(new Date(ms), timezone) < date
  // The day began at most 25 hours ago, on a whole minute: bisect for the first one of this date.
  let before = Math.floor(now.getTime() / minute_ms) - 26 * 60
  let within = Math.floor(now.getTime() / minute_ms)
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2)
    if (isBefore(middle * minute_ms)) before = middle
    else within = middle
  }
  return new Date(within * minute_ms)
}

/** YYYY-MM-DD at the site. */
function localDate(instant: Date, timezone: string): string {
  let format = formats.get(timezone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    formats.set(timezone, format)
  }
  return format.format(instant)
}
