/**
 * The windows of reads. An endpoint declares one of these rules instead of `start`, `end` or
 * `since` among its parameters, and its handler gets the window that the rule makes of them:
 * defaulted first, then bounded. No rule refuses a window for its length; each cuts it.
 *
 * - rows: bounded by the `limit` of the endpoint.
 * - span: at most 400 days from its start on; the answer says where to go on.
 * - sum: 400 days anywhere, or else the records of the site as far as the window goes.
 */
import { addDays, day_ms, utcDate } from '@heliograph/domain/utc-day'
import { type TProperties, Type } from 'typebox'
import { timeWindow } from './params.ts'
import {
  type AskedWindow,
  closedWindow,
  dateRange,
  forecastWindow,
  hour_ms,
  type SeriesWindow,
  seriesWindow,
} from './time-windows.ts'

/** Days that a span covers at most, and a sum whatever the site has recorded. */
export const window_days_max = 400

/** What the query of a request holds of its window, once it is valid. */
export interface AskedTimes extends AskedWindow {
  since?: string | undefined
  /** Of days; UTC where none is given. */
  timezone?: string | undefined
}

export interface WindowNeeds {
  now: Date
  /** When the records of the site begin; null where it has none. */
  firstRecord(): Promise<Date | null>
}

/** A bound is null where the rows alone bound the window. */
export interface Bounds {
  start: string | null
  end: string | null
}

export interface WindowRule<Window = unknown> {
  /** The parameters that it is made of. */
  query: TProperties
  resolve(asked: AskedTimes, needs: WindowNeeds): Window | Promise<Window>
}

/** A window of a series without a `limit`, at most `window_days_max` days long. */
export interface Span {
  start: string
  end: string
  /** The `start` of what was cut off; null where nothing was. Days where the bounds are days. */
  next_start: string | null
}

/** A window of a sum. */
export interface WholeWindow {
  start: string
  end: string
}

/** Rows with a `limit`; without a window the newest of so many hours. */
export const rowsWindow = (hours: number): WindowRule<SeriesWindow> => ({
  query: timeWindow,
  resolve: (asked, { now }) => seriesWindow(asked, now, hours),
})

/** Rows with a `limit`, all of them where a bound is not given. */
export const openWindow: WindowRule<Bounds> = {
  query: timeWindow,
  resolve: ({ start = null, end = null }) => ({ start, end }),
}

/** A series without a `limit`; the last hours without a window. It is cut between two items. */
export const spanWindow = (hours: number, item_ms = hour_ms): WindowRule<Span> => ({
  query: timeWindow,
  resolve: (asked, { now }) => spanOf(closedWindow(asked, now, hours), item_ms),
})

/** The same of what has no items to come. */
export const pastSpan = (hours: number): WindowRule<Span> => ({
  query: timeWindow,
  resolve(asked, { now }) {
    const window = closedWindow(asked, now, hours)
    const end = maxOf(window.start, minOf(window.end, now.toISOString()))
    return spanOf({ start: window.start, end })
  },
})

/** A forecast without a `limit`: from today 00:00Z for 48 hours without a window. */
export const forecastSpan: WindowRule<Span> = {
  query: timeWindow,
  resolve: (asked, { now }) => spanOf(forecastWindow(asked, now)),
}

/** A series without a `limit` from `since` up to now; the last hours without it. */
export const spanSince = (hours: number): WindowRule<Span> => ({
  query: {
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: `Hours that begin then or later; the last ${hours / 24} days where it is not given.`,
      }),
    ),
  },
  resolve: ({ since }, { now }) =>
    spanOf(closedWindow(since === undefined ? {} : { start: since }, now, hours)),
})

const day = (description: string) => Type.Optional(Type.String({ format: 'date', description }))
const days = {
  start: day('First day, UTC; that of the month of `end` where it is not given.'),
  end: day('Last day, UTC, inclusive; today where it is not given.'),
}

/** A series of whole days, both inclusive; the month to date where none are given. */
export const daysSpan: WindowRule<Span> = {
  query: days,
  resolve: (asked, { now }) => spanOfDays(dateRange(asked, now)),
}

/** The same of what has no items to come. */
export const pastDaysSpan: WindowRule<Span> = {
  query: days,
  resolve(asked, { now }) {
    const { start, end } = dateRange(asked, now)
    return spanOfDays({ start, end: maxOf(start, minOf(end, utcDate(now))) })
  },
}

/** A sum over time; of the last hours without a window. */
export const sumWindow = (hours: number): WindowRule<WholeWindow> => ({
  query: timeWindow,
  resolve(asked, needs) {
    const window = closedWindow(asked, needs.now, hours)
    return isLong(window) ? recordedOf(window, needs) : window
  },
})

/** A sum over whole days, both inclusive; of the month to date where none are given. */
export const daysSum: WindowRule<WholeWindow> = {
  query: days,
  async resolve(asked, needs) {
    const { start, end } = dateRange(asked, needs.now)
    if (!isLong({ start, end: addDays(end, 1) })) return { start, end }
    const recorded = await recordedOf({ start, end: addDays(end, 1) }, needs)
    const first = utcDate(Date.parse(recorded.start))
    // The last day is the one that holds the last instant of the window.
    const last = maxOf(first, utcDate(Date.parse(recorded.end) - 1))
    // In another time zone an instant is at most one day off its day of UTC.
    const spare_days = asked.timezone === undefined ? 0 : 1
    return {
      start: maxOf(start, addDays(first, -spare_days)),
      end: minOf(end, addDays(last, spare_days)),
    }
  },
}

/** Ends a span earlier, where nothing is known beyond; nothing is left to go on with then. */
export const endedBy = (span: Span, end: string): Span =>
  span.end <= end ? span : { start: span.start, end: maxOf(span.start, end), next_start: null }

/** What the `meta` of a span says beside its `count`. */
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

/** From the first record, where the window begins before it, to the end of the hour that runs. */
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
