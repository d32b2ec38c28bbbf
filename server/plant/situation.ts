/** The basis for the live state of a site: time, sun, local day and poll intervals. */
import { day_ms } from '@heliograph/domain/durations'
import { dayStart } from '@heliograph/domain/local-day'
import {
  asleep_below_deg,
  drowsy_ms,
  type Place,
  type Position,
  placeOf,
} from '@heliograph/domain/place'
import { defaultPollIntervals, type PollIntervals } from '@heliograph/domain/site'
import { solarPosition } from '@heliograph/physics/solar-position'
import { ageInSeconds, edge_silence_s_max, offline_s } from './frame.ts'

/** The position is null until the edge has announced the inventory. */
export interface SiteFacts extends Position {
  timezone: string
  poll: PollIntervals | null
  /** When an edge agent of the site was last seen. */
  edge_seen_at: Date | null
}

export interface Situation {
  now: Date
  /** Midnight at the site. */
  day_start_at: Date
  /** Null without the position of the site. */
  sun_elevation_deg: number | null
  poll: Required<PollIntervals>
  /** Every edge agent of the site was last seen too long ago. */
  is_edge_offline: boolean
  /** Loggers without data since then are offline; see `offlineBefore`. */
  offline_before_at: Date
}

/** What tells whether a reading is stale. */
export type Polled = Pick<Situation, 'now' | 'poll'>

export function situationOf(facts: SiteFacts, now: Date): Situation {
  const place = placeOf(facts)
  return {
    now,
    day_start_at: dayStart(now, facts.timezone),
    sun_elevation_deg: place && sunElevation(place, now),
    poll: { ...defaultPollIntervals, ...facts.poll },
    is_edge_offline:
      facts.edge_seen_at !== null && ageInSeconds(facts.edge_seen_at, now) > edge_silence_s_max,
    offline_before_at: offlineBefore(place, facts.edge_seen_at, now),
  }
}

const step_ms = 300_000
const searched_ms = day_ms

/**
 * The instant since which inverters had to be awake for `offline_s` in total, to five minutes: a
 * logger whose devices all sleep sends nothing. One day at most, for months without sun. While the
 * edge is offline the night does not count as sleep.
 */
function offlineBefore(place: Place | null, edge_seen_at: Date | null, now: Date): Date {
  const now_ms = now.getTime()
  const is_edge_online = edge_seen_at !== null && ageInSeconds(edge_seen_at, now) <= offline_s
  const isAwake = (time_ms: number) =>
    place === null ||
    !is_edge_online ||
    [0, -drowsy_ms, drowsy_ms].every(
      (aside_ms) => sunElevation(place, new Date(time_ms + aside_ms)) >= asleep_below_deg,
    )
  let [age_ms, awake_ms] = [0, 0]
  while (awake_ms < offline_s * 1000 && age_ms < searched_ms) {
    if (isAwake(now_ms - age_ms - step_ms / 2)) awake_ms += step_ms
    age_ms += step_ms
  }
  return new Date(now_ms - age_ms)
}

const sunElevation = ({ latitude, longitude, elevation_m }: Place, now: Date) =>
  solarPosition(now.getTime(), latitude, longitude, { elevation_m }).apparent_elevation_deg

/** Whether inverters may sleep; false without the position of the site. */
export function isNight({ sun_elevation_deg }: Situation): boolean {
  return sun_elevation_deg !== null && sun_elevation_deg < asleep_below_deg
}
