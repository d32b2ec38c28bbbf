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

/** Start of a local day: in some zones the change of the clocks skips midnight. */
export const dayStart = (date: string, timezone: string): number =>
  instantOf(`${date}T00:00`, timezone) ??
  instantOf(`${date}T01:00`, timezone) ??
  Date.parse(`${date}T00:00:00Z`)

export const addDays = (date: string, days: number) =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

export const isDate = (text: string | null | undefined): text is string =>
  !!text &&
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  Number.isFinite(Date.parse(`${text}T00:00:00Z`)) &&
  // 30 February would be 2 March.
  addDays(text, 0) === text

export interface Span {
  start_ms: number
  end_ms: number
}

export const daysFrom = (date: string, days: number, timezone: string): Span => ({
  start_ms: dayStart(date, timezone),
  end_ms: dayStart(addDays(date, days), timezone),
})

export function utcDays({ start_ms, end_ms }: Span): string[] {
  const day_ms = 86_400_000
  const first = Math.floor(start_ms / day_ms)
  const last = Math.ceil(end_ms / day_ms)
  return Array.from({ length: last - first }, (_, nth) =>
    new Date((first + nth) * day_ms).toISOString().slice(0, 10),
  )
}

interface Lasting {
  start_at: string
  end_at: string
}

/** Tells whether an hour, a price period or another part of an answer contains an instant. */
export const lastsAt =
  (at_ms: number) =>
  ({ start_at, end_at }: Lasting): boolean =>
    Date.parse(start_at) <= at_ms && at_ms < Date.parse(end_at)

export const isWithin = ({ start_ms, end_ms }: Span, at: string): boolean =>
  Date.parse(at) >= start_ms && Date.parse(at) < end_ms

export const windowOf = ({ start_ms, end_ms }: Span) => ({
  start: new Date(start_ms).toISOString(),
  end: new Date(end_ms).toISOString(),
})
