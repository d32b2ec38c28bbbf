/** Time in requests: what a timestamp may be, which window is meant, and how a cut is told. */
import { utcDate } from '@heliograph/domain/utc-day'

export const hour_ms = 3_600_000

/** Windows when a request gives none. */
export const default_hours = { telemetry: 24, diagnostics: 7 * 24, forecast: 48 } as const

const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[ +-]\d\d:\d\d)?$/
const first_ms = Date.UTC(1970, 0, 1)
const end_ms = Date.UTC(3000, 0, 1)

type TimeFault = 'naive_timestamp' | 'invalid_timestamp' | 'invalid_date' | 'out_of_range'

/**
 * RFC 3339 with an offset, cut to milliseconds; 1970 to 2999. Days and hours that do not exist are
 * faults, the leap second too: it has no place in a time series.
 */
export function parseTimestamp(text: string): Date | TimeFault {
  const match = timestamp.exec(text)
  if (!match) return 'invalid_timestamp'
  const [, year, month, day, hour, minute, second, fraction = '', offset] = match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return 'invalid_timestamp'
  const midnight = utcDay(Number(year), Number(month), Number(day))
  if (midnight === null) return 'invalid_timestamp'
  // The + of an address that is not written %2B arrives as a space.
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

/** Midnight UTC of a day that exists, in milliseconds, else null. */
function utcDay(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month > 0
  return exists ? date.getTime() : null
}

/** YYYY-MM-DD, a day that exists, 1970 to 2999, as midnight UTC. */
export function parseDate(text: string): Date | TimeFault {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const midnight = match ? utcDay(Number(match[1]), Number(match[2]), Number(match[3])) : null
  if (midnight === null) return 'invalid_date'
  return midnight >= first_ms && midnight < end_ms ? new Date(midnight) : 'out_of_range'
}

/** As the query of an endpoint holds it once it is valid: every timestamp in UTC, ending in Z. */
export interface AskedWindow {
  start?: string | undefined
  end?: string | undefined
}

/** A half-open window [start, end) of a series. */
export interface SeriesWindow {
  /** null: no lower bound. */
  start: string | null
  end: string
  /** Rows nearest to the end are wanted, since the request did not say where to start. */
  newest: boolean
}

/**
 * The window of a series with a `limit`. With `start`: from there, first rows first. Without: the
 * newest rows before `end`. With nothing at all: the last hours before now.
 */
export function seriesWindow(asked: AskedWindow, now: Date, hours: number): SeriesWindow {
  const end = asked.end ?? now.toISOString()
  if (asked.start !== undefined)
    return { start: asked.start, end: later(asked.start, end), newest: false }
  if (asked.end !== undefined) return { start: null, end, newest: true }
  return { start: before(end, hours * hour_ms), end, newest: true }
}

/** The window of an endpoint without a `limit`: both bounds, the span by default from the end. */
export function closedWindow(asked: AskedWindow, now: Date, hours: number) {
  const end = asked.end ?? now.toISOString()
  if (asked.start !== undefined) return { start: asked.start, end: later(asked.start, end) }
  return { start: before(end, hours * hour_ms), end }
}

/**
 * Today 00:00Z and the hours that follow, where a forecast was asked for without a window. Where
 * only its end is given and today has not begun by then: as many hours before it.
 */
export function forecastWindow({ start, end }: AskedWindow, now: Date) {
  const today = `${utcDate(now)}T00:00:00.000Z`
  const span_ms = default_hours.forecast * hour_ms
  const from = start ?? (end === undefined || end > today ? today : before(end, span_ms))
  return { start: from, end: end ?? new Date(Date.parse(from) + span_ms).toISOString() }
}

/** Inclusive days; the month to date where none is given. */
export function dateRange(asked: AskedWindow, now: Date) {
  const end = asked.end ?? later(asked.start ?? '', utcDate(now))
  return { start: asked.start ?? `${end.slice(0, 8)}01`, end }
}

/** A start that is yet to come leaves an empty window, never a reversed one. */
const later = (a: string, b: string) => (a > b ? a : b)

const before = (instant: string, span_ms: number) =>
  new Date(Math.max(first_ms, Date.parse(instant) - span_ms)).toISOString()

/**
 * The `meta` of a series: how many rows match, and where to go on when the limit cut some off.
 * `first_time` and `last_time` are those of the rows returned. Where an instant can have several
 * rows, the store ends at a whole instant, so that going on neither repeats nor leaves out a row.
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
