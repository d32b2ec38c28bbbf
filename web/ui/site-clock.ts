/** Converts between instants and the local time of a site, as form fields use it. */

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone)
  if (!format) {
    const two = '2-digit'
    format = new Intl.DateTimeFormat('en-GB', {
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      hourCycle: 'h23',
      timeZone: timezone,
    })
    formats.set(timezone, format)
  }
  return format
}

/** `2026-06-21T13:30`, as `<input type="datetime-local">` has it. */
export function clockAt(at_ms: number, timezone: string): string {
  const parts = formatOf(timezone).formatToParts(at_ms)
  const { year, month, day, hour, minute } = Object.fromEntries(
    parts.map(({ type, value }) => [type, value]),
  )
  return `${year}-${month}-${day}T${hour}:${minute}`
}

export const dayAt = (at_ms: number, timezone: string) => clockAt(at_ms, timezone).slice(0, 10)

/** Null for a local time that does not exist. The first instant when a local time occurs twice. */
export function instantOf(clock: string, timezone: string): number | null {
  const wanted_ms = Date.parse(`${clock}Z`)
  if (Number.isNaN(wanted_ms)) return null
  const day_ms = 86_400_000
  const offsets = [wanted_ms - day_ms, wanted_ms + day_ms].map(
    (at_ms) => Date.parse(`${clockAt(at_ms, timezone)}Z`) - Math.floor(at_ms / 60_000) * 60_000,
  )
  const found = offsets
    .map((offset_ms) => wanted_ms - offset_ms)
    .filter((at_ms) => clockAt(at_ms, timezone) === clock.slice(0, 16))
  return found.length === 0 ? null : Math.min(...found)
}

/** A date whose local fields show the time of another zone, for code without zone support. */
export function asLocal(at_ms: number, timezone: string): Date {
  const minute_ms = Math.floor(at_ms / 60_000) * 60_000
  // A text without a zone is parsed as local time.
  return new Date(Date.parse(clockAt(minute_ms, timezone)) + at_ms - minute_ms)
}
