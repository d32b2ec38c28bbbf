/** Timestamps of requests, default windows, and the `meta` of cut series. */
import { hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'

/** Default window lengths. */
export const default_hours = { telemetry: 24, diagnostics: 7 * 24, forecast: 48 } as const

const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[ +-]\d\d:\d\d)?$/
const first_ms = Date.UTC(1970, 0, 1)
const end_ms = Date.UTC(3000, 0, 1)

type TimeFault = 'naive_timestamp' | 'invalid_timestamp' | 'invalid_date' | 'out_of_range'

/**
 * Parses RFC 3339 with an offset, truncated to milliseconds, from 1970 to 2999. Dates and times
 * that do not exist are faults. So are leap seconds, which a time series cannot represent.
 */
export function parseTimestamp(text: string): Date | TimeFault {
  const match = timestamp.exec(text)
  if (!match) return 'invalid_timestamp'
  const [, year, month, day, hour, minute, second, fraction = '', offset] = match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return 'invalid_timestamp'
  const midnight = utcDay(Number(year), Number(month), Number(day))
  if (midnight === null) return 'invalid_timestamp'
  // An unescaped + in a URL arrives as a space.
  if (offset === undefined || offset.startsWith(' ')) return 'naive_timestamp'
  const offset_ms = parseOffset(offset)
  if (offset_ms === null) return 'invalid_timestamp'
  const of_day_ms = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + ms
  const instant_ms = midnight + of_day_ms - offset_ms
  return instant_ms >= first_ms && instant_ms < end_ms ? new Date(instant_ms) : 'out_of_range'
}

function parseOffset(offset: string): number | null {
  if (offset === 'Z' || offset === 'z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(4, 6))
  if (hours > 23 || minutes > 59) return null
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** Midnight UTC of a date in milliseconds; null when the date does not exist. */
function utcDay(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month > 0
  return exists ? date.getTime() : null
}

/** Parses YYYY-MM-DD, from 1970 to 2999, to midnight UTC. */
export function parseDate(text: string): Date | TimeFault {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const midnight = match ? utcDay(Number(match[1]), Number(match[2]), Number(match[3])) : null
  if (midnight === null) return 'invalid_date'
  return midnight >= first_ms && midnight < end_ms ? new Date(midnight) : 'out_of_range'
}

/** The validated bounds of a request, in UTC. */
export interface AskedWindow {
  start?: string | undefined
  end?: string | undefined
}

/** A half-open window [start, end) of a series. */
export interface SeriesWindow {
  /** null for no lower bound. */
  start: string | null
  end: string
  /** True to return the newest rows, because the request has no `start`. */
  newest: boolean
}

/**
 * The window of a series with a `limit`: the first rows from `start`, or the newest rows before
 * `end` without `start`. Defaults to the last `hours`.
 */
export function seriesWindow(asked: AskedWindow, now: Date, hours: number): SeriesWindow {
  const end = asked.end ?? now.toISOString()
  if (asked.start !== undefined)
    return { start: asked.start, end: later(asked.start, end), newest: false }
  if (asked.end !== undefined) return { start: null, end, newest: true }
  return { start: before(end, hours * hour_ms), end, newest: true }
}

/** The window of a series without a `limit`. `start` defaults to `hours` before `end`. */
export function closedWindow(asked: AskedWindow, now: Date, hours: number) {
  const end = asked.end ?? now.toISOString()
  if (asked.start !== undefined) return { start: asked.start, end: later(asked.start, end) }
  return { start: before(end, hours * hour_ms), end }
}

/**
 * The window of a forecast. Defaults to 48 hours from today 00:00Z. With only an `end` before
 * today, it covers the 48 hours before `end`.
 */
export function forecastWindow({ start, end }: AskedWindow, now: Date) {
  const today = `${utcDate(now)}T00:00:00.000Z`
  const span_ms = default_hours.forecast * hour_ms
  const from = start ?? (end === undefined || end > today ? today : before(end, span_ms))
  return { start: from, end: end ?? new Date(Date.parse(from) + span_ms).toISOString() }
}

/** A range of inclusive days. Defaults to the month to date. */
export function dateRange(asked: AskedWindow, now: Date) {
  const end = asked.end ?? later(asked.start ?? '', utcDate(now))
  return { start: asked.start ?? `${end.slice(0, 8)}01`, end }
}

/** The later instant: a future start results in an empty window, never in a reversed one. */
const later = (a: string, b: string) => (a > b ? a : b)

const before = (instant: string, span_ms: number) =>
  new Date(Math.max(first_ms, Date.parse(instant) - span_ms)).toISOString()

/**
 * The `meta` of a series. `first_time` and `last_time` are those of the returned rows. Stores with
 * several rows per instant must return all rows of the last instant, so that the next request
 * neither repeats nor skips a row.
 */
export function seriesMeta(
  window: Pick<SeriesWindow, 'newest'>,
  rows: { count: number; returned: number; first_time: string | null; last_time: string | null },
) {
  const truncated = rows.count > rows.returned
  const { first_time, last_time } = rows
  return {
    count: rows.count,
    truncated,
    next_start:
      truncated && !window.newest && last_time !== null
        ? new Date(Date.parse(last_time) + 1).toISOString()
        : null,
    previous_end:
      truncated && window.newest && first_time !== null ? new Date(first_time).toISOString() : null,
  }
}
