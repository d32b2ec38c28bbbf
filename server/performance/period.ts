/** The period of a diagnosis and its daylight. */

import { hour_ms, minute_ms } from '@heliograph/domain/durations'
import { type Position, placeOf } from '@heliograph/domain/place'
import { rounded } from '@heliograph/domain/significant'
import { solarPosition } from '@heliograph/physics/solar-position'
import * as field from '../http/fields.ts'
import { Metric } from '../http/params.ts'

/** Whole hours that overlap the window, up to the present. */
export interface Period {
  start_at: Date
  end_at: Date
  is_running: boolean
  /** Time with the sun above the horizon; null when the position of the site is unknown. */
  daylight_s: number | null
}

/** Upper bound of the change of the sun's elevation anywhere on earth. */
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
 * A minute counts as day when the centre of the sun is above the horizon in its middle, as in
 * `daylightAt` of the roll-ups. With another rule a fully measured day would not be 100 % complete,
 * or a gap could go unnoticed.
 */
function daylight(start_ms: number, end_ms: number, position: Position): number | null {
  const place = placeOf(position)
  if (place === null) return null
  const { latitude, longitude, elevation_m } = place
  let daylight_ms = 0
  for (let from_ms = start_ms; from_ms < end_ms; ) {
    const middle_ms = from_ms + minute_ms / 2
    const { elevation_deg } = solarPosition(middle_ms, latitude, longitude, { elevation_m })
    // Skips the minutes that the sun needs at least to reach the horizon.
    const minutes = 1 + Math.floor(Math.abs(elevation_deg) / steepest_deg_per_minute)
    const to_ms = Math.min(end_ms, from_ms + minutes * minute_ms)
    if (elevation_deg > 0) daylight_ms += to_ms - from_ms
    from_ms = to_ms
  }
  return daylight_ms / 1000
}

export const periodHours = ({ start_at, end_at }: Period): number =>
  (end_at.getTime() - start_at.getTime()) / hour_ms

/** Minimum share of the daylight with data; below it metrics are null. */
export const coverage_min_ratio = 0.5

/** Share of the daylight with data, 0 to 1; null without daylight. */
export function coverageOf(daylight_covered_s: number, daylight_s: number | null): number | null {
  if (daylight_s === null || daylight_s <= 0) return null
  return Math.min(1, daylight_covered_s / daylight_s)
}

export const excludedReasons = ['no_daylight', 'insufficient_data'] as const
type ExcludedReason = (typeof excludedReasons)[number]

/** Reason why metrics are null; null when they are available. */
export function excludedReason(coverage: number | null): ExcludedReason | null {
  if (coverage === null) return 'no_daylight'
  return coverage < coverage_min_ratio ? 'insufficient_data' : null
}

export const periodNote =
  'Covers all whole hours that overlap the window, up to the present; see `start_at` and `end_at`. ' +
  'The current hour is updated every five minutes. The window defaults to the last 7 days; a ' +
  'window of more than 400 days is limited to the time with records. Metrics are `null` when less ' +
  'than half of the daylight has data; see `excluded_reason`.'

/** First fields of every item of a diagnosis. */
export const periodFields = {
  start_at: field.At('Start of the period, inclusive.', '2026-06-14T00:00:00.000Z'),
  end_at: field.At('End of the period, exclusive.', '2026-06-21T00:00:00.000Z'),
  daylight_h: Metric('Hours of the period with the sun above the horizon.', 112.5),
}

export function periodRecord({ start_at, end_at, daylight_s }: Period) {
  return {
    start_at: start_at.toISOString(),
    end_at: end_at.toISOString(),
    daylight_h: daylight_s === null ? null : rounded(daylight_s / 3600, 2),
  }
}
