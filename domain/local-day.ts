/** Days at a site, by its IANA time zone: 23, 24 or 25 hours long. */
/// <reference lib="esnext.temporal" />
import { day_ms } from './utc-day.ts'

const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const dates = formatsOf('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' })
const clocks = formatsOf('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** A format for each zone: making one takes many times as long as using it. */
function formatsOf(locale: string, options: Intl.DateTimeFormatOptions) {
  const formats = new Map<string, Intl.DateTimeFormat>()
  return (timezone: string): Intl.DateTimeFormat => {
    let format = formats.get(timezone)
    if (!format) {
      format = new Intl.DateTimeFormat(locale, { timeZone: timezone, ...options })
      formats.set(timezone, format)
    }
    return format
  }
}

/**
 * The calendar day YYYY-MM-DD at an instant, Unix ms.
 *
 * @throws RangeError for a zone that does not exist
 */
export function localDate(time_ms: number, timezone: string): string {
  return dates(timezone).format(time_ms)
}

/**
 * The first instant of the local day that `now` lies in. Days of 23 and 25 hours come out right; a
 * day whose midnight does not exist begins at the first instant that does.
 *
 * @throws RangeError for a zone that does not exist
 */
export function dayStart(now: Date, timezone: string): Date {
  const date = localDate(now.getTime(), timezone)
  const isBefore = (ms: number) => localDate(ms, timezone) < date
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

/**
 * The UTC hours that begin on a local date, as [from_ms, to_ms): the hours of the day, but for
 * zones off by half an hour, where the hour around midnight belongs to the day before it.
 */
export function hoursOfLocalDate(
  date: string,
  timezone: string,
): { from_ms: number; to_ms: number } {
  const first = (not_before: (day: string) => boolean) => {
    // No zone is further from UTC than 14 hours.
    let ms = Date.parse(`${date}T00:00:00Z`) - 15 * hour_ms
    while (!not_before(localDate(ms, timezone))) ms += hour_ms
    return ms
  }
  return { from_ms: first((day) => day >= date), to_ms: first((day) => day > date) }
}

/**
 * What the clocks of a zone show at an instant, to the minute, as if it were UTC: Unix ms.
 *
 * @throws RangeError for a zone that does not exist
 */
export function shownAt(time_ms: number, timezone: string): number {
  const clock = clocks(timezone).format(time_ms)
  return Date.parse(`${localDate(time_ms, timezone)}T${clock}:00Z`)
}

/**
 * The instant, Unix ms, at which the clocks of a zone show HH:MM on a date YYYY-MM-DD. Where they
 * show it twice it is the first, and where they skip it the one by their offset before the change:
 * RFC 5545, section 3.3.5.
 *
 * @throws RangeError for a zone that does not exist
 */
export function localInstant(date: string, time: string, timezone: string): number {
  const wanted_ms = Date.parse(`${date}T${time}:00Z`)
  const byOffsetAt = (time_ms: number) => wanted_ms + time_ms - shownAt(time_ms, timezone)
  const isShown = (time_ms: number) => shownAt(time_ms, timezone) === wanted_ms
  // No zone is a day from UTC: these lie on either side of any change of the clocks.
  const before_ms = byOffsetAt(wanted_ms - day_ms)
  if (isShown(before_ms)) return before_ms
  const after_ms = byOffsetAt(wanted_ms + day_ms)
  return isShown(after_ms) ? after_ms : before_ms
}

/** The name as the IANA database writes it; null where it has none such. */
export function knownTimezone(name: string): string | null {
  // Temporal takes an offset for a zone, which knows no summer.
  if (!/^[A-Za-z]/.test(name)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
