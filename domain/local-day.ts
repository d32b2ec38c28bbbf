/** Local days and times of a site by its IANA time zone. Days have 23, 24 or 25 hours. */
import { hour_ms, minute_ms } from './durations.ts'

/// <reference lib="esnext.temporal" />

const localTime = (time_ms: number, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(time_ms)).toZonedDateTimeISO(timezone)

/**
 * Local date (YYYY-MM-DD) of an instant, Unix ms.
 *
 * @throws RangeError for an unknown time zone
 */
export const localDate = (time_ms: number, timezone: string): string =>
  localTime(time_ms, timezone).toPlainDate().toString()

/**
 * First instant of the local day of `now`; later than midnight where the clock skips midnight.
 *
 * @throws RangeError for an unknown time zone
 */
export const dayStart = (now: Date, timezone: string): Date =>
  new Date(localTime(now.getTime(), timezone).startOfDay().epochMilliseconds)

/**
 * The UTC hours that begin on a local date, as `[from_ms, to_ms)`. In time zones with a half-hour
 * offset, the hour around midnight belongs to the day before.
 */
export function hoursOfLocalDate(
  date: string,
  timezone: string,
): { from_ms: number; to_ms: number } {
  const day = Temporal.PlainDate.from(date)
  const firstHour = (of: Temporal.PlainDate) =>
    Math.ceil(of.toZonedDateTime(timezone).epochMilliseconds / hour_ms) * hour_ms
  return { from_ms: firstHour(day), to_ms: firstHour(day.add({ days: 1 })) }
}

/**
 * Local time of an instant, to the minute, written as Unix ms of the same time in UTC.
 *
 * @throws RangeError for an unknown time zone
 */
export function shownAt(time_ms: number, timezone: string): number {
  const offset_ms = localTime(time_ms, timezone).offsetNanoseconds / 1e6
  return Math.floor((time_ms + offset_ms) / minute_ms) * minute_ms
}

/**
 * The instant, Unix ms, of a local date (YYYY-MM-DD) and time (HH:MM). A repeated time is the first
 * one, a skipped time is taken by the offset before the change (RFC 5545, section 3.3.5).
 *
 * @throws RangeError for an unknown time zone
 */
export const localInstant = (date: string, time: string, timezone: string): number =>
  Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(timezone).epochMilliseconds

/** The spelling of a time zone in the IANA database; null for an unknown one. */
export function knownTimezone(name: string): string | null {
  // Temporal accepts offsets as zones, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
