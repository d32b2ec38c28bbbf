/** What the values of a report look like to people, whatever file they are in. */
import { minute_ms } from '@heliograph/domain/durations'
import { localDate, shownAt } from '@heliograph/domain/local-day'
import type { Cell, Column, ReportDocument } from '../document.ts'

/** Where a template does not say how many decimals a number has. */
export const digits_max = 2

/** Not-a-number and instants that are none mean "not known", as null does. */
export function known(value: Cell | undefined): Cell {
  if (value === undefined) return null
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value
  return value
}

/** A column's name and what it is measured in: "Energy (kWh)". */
export const headingOf = ({ label, unit }: { label: string; unit?: string }): string =>
  unit ? `${label} (${unit})` : label

/** As many decimals as the values need, two at most; the same for all, so that points align. */
export function digitsOf(values: readonly Cell[], said?: number): number {
  if (said !== undefined) return Math.min(Math.max(Math.trunc(said), 0), 12)
  const decimals = values.map((value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return 0
    return Number(value.toFixed(digits_max)).toString().split('.')[1]?.length ?? 0
  })
  return decimals.reduce((most, one) => Math.max(most, one), 0)
}

/** Thousands apart by a no-break space and a real minus: neither is read as a decimal sign. */
export function numberText(value: number, digits: number): string {
  const [whole = '', decimals] = Math.abs(value).toFixed(digits).split('.')
  // Beyond 1e21 the digits come as an exponent, which has no thousands.
  const grouped = whole.includes('e') ? whole : whole.replace(/\B(?=(\d{3})+$)/g, '\u00a0')
  const text = decimals === undefined ? grouped : `${grouped}.${decimals}`
  return value < 0 && /[1-9]/.test(text) ? `\u2212${text}` : text
}

/** Minutes that the clocks of a zone are ahead of UTC at an instant. */
export function offsetMinutes(instant: Date, timezone: string): number {
  const minute = Math.floor(instant.getTime() / minute_ms) * minute_ms
  return Math.round((shownAt(instant.getTime(), timezone) - minute) / minute_ms)
}

export function offsetText(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
}

/** Whether all of them are days as documents have them, YYYY-MM-DD. */
export const areDays = (names: readonly string[]): boolean =>
  names.length > 0 && names.every((name) => /^\d{4}-\d{2}-\d{2}$/.test(name))

const day_formats = {
  with_year: dayFormat({ year: 'numeric' }),
  without_year: dayFormat({}),
}

function dayFormat(more: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    ...more,
  })
}

/** 22 Nov 2026 of 2026-11-22, as the pages of the platform write it; other texts as they are. */
export function dayName(date: string, style: keyof typeof day_formats = 'with_year'): string {
  const day = new Date(`${date}T00:00:00Z`)
  return areDays([date]) && !Number.isNaN(day.getTime()) ? day_formats[style].format(day) : date
}

/** 22 Nov 2026, 13:05, as the clocks of the site show it. */
export function instantName(instant: Date, timezone: string): string {
  const [date = '', clock = ''] = instantText(instant, timezone).split(' ')
  return `${dayName(date)}, ${clock}`
}

/** 2026-11-22 13:05, as the clocks of the site show it, for programs. */
export const instantText = (instant: Date, timezone: string): string =>
  new Date(shownAt(instant.getTime(), timezone)).toISOString().slice(0, 16).replace('T', ' ')

/** A day of the site's calendar, YYYY-MM-DD: given as such, or as an instant of that day. */
export const dayText = (value: Date, timezone: string): string =>
  localDate(value.getTime(), timezone)

/** A value as people read it; `digits` are decimals. Null is a dash. */
export function cellText(
  value: Cell,
  { kind, digits, timezone }: { kind?: Column['kind']; digits: number; timezone: string },
): string {
  if (value === null) return '\u2013'
  if (typeof value === 'number') return numberText(value, digits)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return kind === 'date' ? dayName(value) : value
  return kind === 'date' ? dayName(dayText(value, timezone)) : instantName(value, timezone)
}

/** The period as days where it begins and ends at midnights of the site, else as instants. */
export function periodText(document: ReportDocument): string {
  const { period_start_at, period_end_at, timezone } = document
  const [from, to] = [instantText(period_start_at, timezone), instantText(period_end_at, timezone)]
  if (!from.endsWith('00:00') || !to.endsWith('00:00')) {
    return [period_start_at, period_end_at].map((at) => instantName(at, timezone)).join(' to ')
  }
  const last = new Date(period_end_at.getTime() - minute_ms)
  return dayWords(timezone).formatRange(period_start_at, last)
}

const dayWords = (timezone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  })

/** The zone with its offset; with both where the clocks change within the period. */
export function zoneText({ timezone, period_start_at, period_end_at }: ReportDocument): string {
  const last = new Date(period_end_at.getTime() - minute_ms)
  const offsets = [period_start_at, last].map((at) => offsetText(offsetMinutes(at, timezone)))
  return `${timezone}, UTC${[...new Set(offsets)].join(' then UTC')}`
}

/** An instant with the offset that its clock time is meant in: 22 Nov 2026, 13:05 UTC+01:00. */
export const stampText = (instant: Date, timezone: string): string =>
  `${instantName(instant, timezone)} UTC${offsetText(offsetMinutes(instant, timezone))}`
