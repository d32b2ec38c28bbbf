/** Days at a site, by its IANA time zone: 23, 24 or 25 hours long. */

const minute_ms = 60_000
const hour_ms = 60 * minute_ms
const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * The calendar day YYYY-MM-DD at an instant, Unix ms.
 *
 * @throws RangeError for a zone that does not exist
 */
export function localDate(time_ms: number, timezone: string): string {
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
  return format.format(time_ms)
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
