/** Converts dates between the text of a field, `23 Nov 2026, 06:00`, and ISO 8601. */
import { formatTime } from './format.ts'
import { isDate } from './site-clock.ts'

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** `2026-11-23T06:00` to `23 Nov 2026, 06:00`; other texts are returned unchanged. */
export function textOfDate(value: string): string {
  const [date, clock] = value.split('T')
  if (!isDate(date) || (clock !== undefined && !isClock(clock.slice(0, 5)))) return value
  const day = formatTime(`${date}T00:00:00Z`, 'UTC', 'date')
  return clock === undefined ? day : `${day}, ${clock.slice(0, 5)}`
}

const isClock = (text: string) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text)

/** `23 Nov 2026`, `23.11.2026`, `23/11/2026` or `2026-11-23` to `2026-11-23`; else null. */
export function dateOfText(text: string): string | null {
  const found =
    /^(?<d>\d{1,2})[ .-]*(?<name>[a-z]{3})[a-z]*\.?[ ,-]*(?<y>\d{4})$/i.exec(text.trim()) ??
    /^(?<d>\d{1,2})[./ ](?<m>\d{1,2})[./ ](?<y>\d{4})$/.exec(text.trim()) ??
    /^(?<y>\d{4})-(?<m>\d{1,2})-(?<d>\d{1,2})$/.exec(text.trim())
  const { d = '', m, y = '', name } = found?.groups ?? {}
  const month = name === undefined ? Number(m) : months.indexOf(name.toLowerCase()) + 1
  const date = `${y}-${String(month).padStart(2, '0')}-${d.padStart(2, '0')}`
  return isDate(date) ? date : null
}

/** `23 Nov 2026, 06:00` to `2026-11-23T06:00`; null without a valid date and time. */
export function dateTimeOfText(text: string): string | null {
  const [, day = '', hour = '', minute = ''] =
    /^(.*?)(?:[T ]|, *)\s*(\d{1,2}):(\d{2})(?::\d{2})?$/.exec(text.trim()) ?? []
  const date = dateOfText(day.replace(/,$/, ''))
  const clock = `${hour.padStart(2, '0')}:${minute}`
  return date !== null && isClock(clock) ? `${date}T${clock}` : null
}
