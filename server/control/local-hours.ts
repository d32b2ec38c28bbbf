/** Hours of the clock at the site, as they lie in time. */

const hour_ms = 3_600_000
/** Since 1972 every time zone is whole quarters of an hour from UTC. */
const step_ms = hour_ms / 4

interface LocalHours {
  /** YYYY-MM-DD, of the calendar at the site. */
  date: string
  /** 0 to 23. */
  start_hour: number
  /** 1 to 24, after `start_hour`. */
  end_hour: number
}

/**
 * From the first to the last instant, Unix ms and half-open, at which the clock at the site shows
 * that date and an hour from `start_hour` to before `end_hour`. An hour that the clock skips is not
 * in it, one that it shows twice is in it twice; null where it shows none of them.
 *
 * @throws RangeError for a zone that does not exist
 */
export function hoursOnTheClock(
  { date, start_hour, end_hour }: LocalHours,
  timezone: string,
): { start_ms: number; end_ms: number } | null {
  const shown = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  })
  const first = `${date}, ${pad(start_hour)}`
  const last = `${date}, ${pad(end_hour - 1)}`
  // No zone is further from UTC than 14 hours.
  const from_ms = Date.parse(`${date}T00:00:00Z`) - 15 * hour_ms
  let start_ms: number | null = null
  let end_ms = from_ms
  for (let at = from_ms; at < from_ms + 54 * hour_ms; at += step_ms) {
    const text = shown.format(at)
    if (text < first || text > last) continue
    start_ms ??= at
    end_ms = at + step_ms
  }
  return start_ms === null ? null : { start_ms, end_ms }
}

const pad = (hour: number) => String(hour).padStart(2, '0')
