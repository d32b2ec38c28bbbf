/**
 * Time windows of reads. An endpoint declares one of these rules instead of the parameters `start`,
 * `end` or `since`. Its handler receives the window with defaults applied and bounded. No rule
 * rejects a window for its length:
 *
 * - rows: the `limit` of the endpoint bounds the answer.
 * - span: at most 400 days from `start`; the answer contains the `start` of the rest.
 * - sum: 400 days at any time. A longer window is clipped to the records of the site.
 */

import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { addDays, utcDate } from '@heliograph/domain/utc-day'
import { type TProperties, Type } from 'typebox'
import * as field from './fields.ts'
import { timeWindow } from './params.ts'
import {
  type AskedWindow,
  closedWindow,
  dateRange,
  forecastWindow,
  type SeriesWindow,
  seriesWindow,
} from './time-windows.ts'

/** Maximum length of a span, and of a sum that is not clipped to the records of the site. */
export const window_days_max = 400

/** The validated window parameters of a request. */
export interface AskedTimes extends AskedWindow {
  since?: string | undefined
  /** Time zone of windows of days; UTC by default. */
  timezone?: string | undefined
}

export interface WindowNeeds {
  now: Date
  /** Start of the records of the site; null when it has none. */
  firstRecord(): Promise<Date | null>
}

/** A null bound is open. */
export interface Bounds {
  start: string | null
  end: string | null
}

export interface WindowRule<Window = unknown> {
  query: TProperties
  resolve(asked: AskedTimes, needs: WindowNeeds): Window | Promise<Window>
}

/** A window of a series without a `limit`, at most `window_days_max` days long. */
export interface Span {
  start: string
  end: string
  /** The `start` of the part that was cut off, or null. A day when the bounds are days. */
  next_start: string | null
}

export interface WholeWindow {
  start: string
  end: string
}

/** A series with a `limit`. Defaults to the newest rows of the last `hours`. */
export const rowsWindow = (hours: number): WindowRule<SeriesWindow> => ({
  query: timeWindow,
  resolve: (asked, { now }) => seriesWindow(asked, now, hours),
})

/** A series with a `limit`. Missing bounds are open. */
export const openWindow: WindowRule<Bounds> = {
  query: timeWindow,
  resolve: ({ start = null, end = null }) => ({ start, end }),
}

/** A series without a `limit`, cut between two items. Defaults to the last `hours`. */
export const spanWindow = (hours: number, item_ms = hour_ms): WindowRule<Span> => ({
  query: timeWindow,
  resolve: (asked, { now }) => spanOf(closedWindow(asked, now, hours), item_ms),
})

/** `spanWindow` for series that have no future items. */
export const pastSpan = (hours: number): WindowRule<Span> => ({
  query: timeWindow,
  resolve(asked, { now }) {
    const window = closedWindow(asked, now, hours)
    const end = maxOf(window.start, minOf(window.end, now.toISOString()))
    return spanOf({ start: window.start, end })
  },
})

/** A forecast without a `limit`. Defaults to 48 hours from today 00:00Z. */
export const forecastSpan: WindowRule<Span> = {
  query: timeWindow,
  resolve: (asked, { now }) => spanOf(forecastWindow(asked, now)),
}

/** A series without a `limit` from `since` to now. Defaults to the last `hours`. */
export const spanSince = (hours: number): WindowRule<Span> => ({
  query: {
    since: Type.Optional(
      field.At(
        `Returns hours that start at this instant or later. Defaults to the last ${hours / 24} days.`,
      ),
    ),
  },
  resolve: ({ since }, { now }) =>
    spanOf(closedWindow(since === undefined ? {} : { start: since }, now, hours)),
})

const day = (description: string) => Type.Optional(field.Day(description))
const days = {
  start: day('First day, UTC. Defaults to the first day of the month of `end`.'),
  end: day('Last day, UTC, inclusive. Defaults to today.'),
}

/** A series of whole days, both inclusive. Defaults to the month to date. */
export const daysSpan: WindowRule<Span> = {
  query: days,
  resolve: (asked, { now }) => spanOfDays(dateRange(asked, now)),
}

/** `daysSpan` for series that have no future items. */
export const pastDaysSpan: WindowRule<Span> = {
  query: days,
  resolve(asked, { now }) {
    const { start, end } = dateRange(asked, now)
    return spanOfDays({ start, end: maxOf(start, minOf(end, utcDate(now))) })
  },
}

/** A sum over time. Defaults to the last `hours`. */
export const sumWindow = (hours: number): WindowRule<WholeWindow> => ({
  query: timeWindow,
  resolve(asked, needs) {
    const window = closedWindow(asked, needs.now, hours)
    return isLong(window) ? recordedOf(window, needs) : window
  },
})

/** A sum over whole days, both inclusive. Defaults to the month to date. */
export const daysSum: WindowRule<WholeWindow> = {
  query: days,
  async resolve(asked, needs) {
    const { start, end } = dateRange(asked, needs.now)
    if (!isLong({ start, end: addDays(end, 1) })) return { start, end }
    const recorded = await recordedOf({ start, end: addDays(end, 1) }, needs)
    const first = utcDate(Date.parse(recorded.start))
    // The last day contains the last instant of the window.
    const last = maxOf(first, utcDate(Date.parse(recorded.end) - 1))
    // In another time zone an instant lies at most one day off its UTC day.
    const spare_days = asked.timezone === undefined ? 0 : 1
    return {
      start: maxOf(start, addDays(first, -spare_days)),
      end: minOf(end, addDays(last, spare_days)),
    }
  },
}

/** Ends a span at the last known item. An ended span has no `next_start`. */
export const endedBy = (span: Span, end: string): Span =>
  span.end <= end ? span : { start: span.start, end: maxOf(span.start, end), next_start: null }

/** The `meta` of a span, beside its `count`. */
export const spanMeta = ({ next_start }: Span) => ({
  truncated: next_start !== null,
  next_start,
})

function spanOf({ start, end }: WholeWindow, item_ms = hour_ms): Span {
  const longest_ms = Date.parse(start) + window_days_max * day_ms
  const cut_ms = Math.floor(longest_ms / item_ms) * item_ms
  if (Date.parse(end) <= cut_ms) return { start, end, next_start: null }
  const next_start = new Date(cut_ms).toISOString()
  return { start, end: next_start, next_start }
}

function spanOfDays({ start, end }: WholeWindow): Span {
  const next_start = addDays(start, window_days_max)
  if (end < next_start) return { start, end, next_start: null }
  return { start, end: addDays(next_start, -1), next_start }
}

const isLong = ({ start, end }: WholeWindow) =>
  Date.parse(end) - Date.parse(start) > window_days_max * day_ms

/** Clips a window to the time from the first record to the end of the current hour. */
async function recordedOf(
  { start, end }: WholeWindow,
  { now, firstRecord }: WindowNeeds,
): Promise<WholeWindow> {
  const first = (await firstRecord()) ?? now
  const start_ms = Math.min(Math.max(Date.parse(start), first.getTime()), Date.parse(end))
  const now_ms = Math.ceil(now.getTime() / hour_ms) * hour_ms
  const end_ms = Math.max(start_ms, Math.min(Date.parse(end), now_ms))
  return { start: new Date(start_ms).toISOString(), end: new Date(end_ms).toISOString() }
}

const maxOf = (a: string, b: string) => (a > b ? a : b)
const minOf = (a: string, b: string) => (a < b ? a : b)
