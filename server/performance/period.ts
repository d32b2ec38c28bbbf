/** The period that a diagnosis is of, and how much of it was day. */
import { type Position, placeOf } from '@heliograph/domain/place'
import { rounded } from '@heliograph/domain/significant'
import { solarPosition } from '@heliograph/physics/solar-position'
import { Type } from 'typebox'
import { hour_ms } from '../http/time-windows.ts'

/** Diagnoses are made of whole hours, those that the window touches, and of what has passed. */
export interface Period {
  start_at: Date
  end_at: Date
  /** It ends with the present. */
  is_running: boolean
  /** With the sun above the horizon; null where the position of the site is not known. */
  daylight_s: number | null
}

const minute_ms = 60_000
/** No faster does the sun climb or sink anywhere. */
const steepest_deg_per_minute = 15.1 / 60

export function periodOf(
  window: { start: string; end: string },
  facts: Position,
  now: Date,
): Period {
  const start_ms = Math.floor(Date.parse(window.start) / hour_ms) * hour_ms
  const asked_ms = Math.ceil(Date.parse(window.end) / hour_ms) * hour_ms
  const end_ms = Math.max(start_ms, Math.min(asked_ms, now.getTime()))
  return {
    start_at: new Date(start_ms),
    end_at: new Date(end_ms),
    is_running: asked_ms >= now.getTime() && start_ms < now.getTime(),
    daylight_s: daylight(start_ms, end_ms, facts),
  }
}

/**
 * By the rule of the roll-ups, which is that of `daylightAt`: a minute is day if in its middle the
 * centre of the sun is above the horizon. Counted otherwise, a day that was read in full would not
 * be the whole of it, and a gap could hide in the difference.
 */
function daylight(start_ms: number, end_ms: number, position: Position): number | null {
  const place = placeOf(position)
  if (place === null) return null
  const { latitude, longitude, elevation_m } = place
  let daylight_ms = 0
  for (let from_ms = start_ms; from_ms < end_ms; ) {
    const middle_ms = from_ms + minute_ms / 2
    const { elevation_deg } = solarPosition(middle_ms, latitude, longitude, { elevation_m })
    // Far from the horizon it takes the sun many minutes to get there.
    const minutes = 1 + Math.floor(Math.abs(elevation_deg) / steepest_deg_per_minute)
    const to_ms = Math.min(end_ms, from_ms + minutes * minute_ms)
    if (elevation_deg > 0) daylight_ms += to_ms - from_ms
    from_ms = to_ms
  }
  return daylight_ms / 1000
}

export const periodHours = ({ start_at, end_at }: Period): number =>
  (end_at.getTime() - start_at.getTime()) / hour_ms

/** The least part of the day that a figure must stand on; below it there is none. */
export const coverage_min_ratio = 0.5

/** What part of the daylight is known, 0 to 1; null where none was to be had. */
export function coverageOf(daylight_covered_s: number, daylight_s: number | null): number | null {
  if (daylight_s === null || daylight_s <= 0) return null
  return Math.min(1, daylight_covered_s / daylight_s)
}

export const excludedReasons = ['no_daylight', 'insufficient_data'] as const
export type ExcludedReason = (typeof excludedReasons)[number]

/** Why nothing can be said; null when something can. */
export function excludedReason(coverage: number | null): ExcludedReason | null {
  if (coverage === null) return 'no_daylight'
  return coverage < coverage_min_ratio ? 'insufficient_data' : null
}

export const periodNote =
  'A diagnosis is of whole hours: those which the window touches, as far as they have passed. ' +
  '`start_at` and `end_at` say which. The hour that is running is summed up every five minutes. ' +
  'Without a window: the last 7 days; one of more than 400 days is as long as the site has ' +
  'records. Where less than half of the daylight is known a figure is ' +
  '`null`, and `excluded_reason` says so.'

/** What every item of a diagnosis begins with. */
export const periodFields = {
  start_at: Type.String({ format: 'date-time', description: 'Start of the period, inclusive.' }),
  end_at: Type.String({ format: 'date-time', description: 'End of the period, exclusive.' }),
  daylight_h: Type.Union([Type.Number(), Type.Null()], {
    description: 'Hours of the period with the sun above the horizon.',
  }),
}

export function periodRecord({ start_at, end_at, daylight_s }: Period) {
  return {
    start_at: start_at.toISOString(),
    end_at: end_at.toISOString(),
    daylight_h: daylight_s === null ? null : rounded(daylight_s / 3600, 2),
  }
}
