/** Values of a report as text, for all formats. */
import { minute_ms } from '@heliograph/domain/durations'
import { localDate, shownAt } from '@heliograph/domain/local-day'
import type { Cell, Column, ReportDocument } from '../document.ts'

/** Most decimals of a number without `digits`. */
export const digits_max = 2

/** NaN, infinity and invalid dates are unknown, as null is. */
export function known(value: Cell | undefined): Cell {
  if (value === undefined) return null
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value
  return value
}

/** "Energy (kWh)" */
export const headingOf = ({ label, unit }: Pick<Column, 'label' | 'unit'>): string =>
  unit ? `${label} (${unit})` : label

/** Decimals of all values, so that decimal points align: `said`, else as needed, at most two. */
export function digitsOf(values: readonly Cell[], said?: number): number {
  if (said !== undefined) return Math.min(Math.max(Math.trunc(said), 0), 12)
  const decimals = values.map((value) => {
    return typeof value === 'number' && Number.isFinite(value) ? decimalsOf(value, digits_max) : 0
  })
  return decimals.reduce((most, one) => Math.max(most, one), 0)
}

/** Decimals that a number needs, of `most` at most. */
export const decimalsOf = (value: number, most: number): number =>
  Number(value.toFixed(most)).toString().split('.')[1]?.length ?? 0

/** Separates thousands by a no-break space and writes a minus sign instead of a hyphen. */
export function numberText(value: number, digits: number): string {
  const [whole = '', decimals] = Math.abs(value).toFixed(digits).split('.')
  // From 1e21 on, `toFixed` writes an exponent.
  const grouped = whole.includes('e') ? whole : whole.replace(/\B(?=(\d{3})+$)/g, '\u00a0')
  const text = decimals === undefined ? grouped : `${grouped}.${decimals}`
  return value < 0 && /[1-9]/.test(text) ? `\u2212${text}` : text
}

/** Offset of a time zone from UTC at an instant, minutes. */
export function offsetMinutes(instant: Date, timezone: string): number {
  const minute = Math.floor(instant.getTime() / minute_ms) * minute_ms
  return Math.round((shownAt(instant.getTime(), timezone) - minute) / minute_ms)
}

export function offsetText(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
}

export const areDays = (names: readonly string[]): boolean =>
  names.length > 0 && names.every((name) => /^\d{4}-\d{2}-\d{2}$/.test(name))

const day_and_month = { day: 'numeric', month: 'short' } as const
const full_day = { ...day_and_month, year: 'numeric' } as const
const day_formats = {
  with_year: new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...full_day }),
  without_year: new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...day_and_month }),
}

/** 22 Nov 2026 for 2026-11-22, as on the pages of the platform; other texts unchanged. */
export function dayName(date: string, style: keyof typeof day_formats = 'with_year'): string {
  const day = new Date(`${date}T00:00:00Z`)
  return areDays([date]) && !Number.isNaN(day.getTime()) ? day_formats[style].format(day) : date
}

/** 22 Nov 2026, 13:05, in local time. */
export function instantName(instant: Date, timezone: string): string {
  const [date = '', clock = ''] = instantText(instant, timezone).split(' ')
  return `${dayName(date)}, ${clock}`
}

/** 2026-11-22 13:05, in local time. */
export const instantText = (instant: Date, timezone: string): string =>
  new Date(shownAt(instant.getTime(), timezone)).toISOString().slice(0, 16).replace('T', ' ')

/** null is a dash. */
export function cellText(
  value: Cell,
  { kind, digits, timezone }: { kind?: Column['kind']; digits: number; timezone: string },
): string {
  if (value === null) return '\u2013'
  if (typeof value === 'number') return numberText(value, digits)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return kind === 'date' ? dayName(value) : value
  return kind === 'date'
    ? dayName(localDate(value.getTime(), timezone))
    : instantName(value, timezone)
}

/** The period as days when it starts and ends at local midnight, else as instants. */
export function periodText(document: ReportDocument): string {
  const { period_start_at, period_end_at, timezone } = document
  const [from, to] = [instantText(period_start_at, timezone), instantText(period_end_at, timezone)]
  if (!from.endsWith('00:00') || !to.endsWith('00:00')) {
    return [period_start_at, period_end_at].map((at) => instantName(at, timezone)).join(' to ')
  }
  const last = new Date(period_end_at.getTime() - minute_ms)
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, ...full_day })
  return format.formatRange(period_start_at, last)
}

/** The time zone with its offset; with both offsets when they change within the period. */
export function zoneText({ timezone, period_start_at, period_end_at }: ReportDocument): string {
  const last = new Date(period_end_at.getTime() - minute_ms)
  const offsets = [period_start_at, last].map((at) => offsetText(offsetMinutes(at, timezone)))
  return `${timezone}, UTC${[...new Set(offsets)].join(' then UTC')}`
}

/** 22 Nov 2026, 13:05 UTC+01:00 */
export const stampText = (instant: Date, timezone: string): string =>
  `${instantName(instant, timezone)} UTC${offsetText(offsetMinutes(instant, timezone))}`
