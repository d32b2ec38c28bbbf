/** Days of UTC: 24 hours each, at whole multiples of 24 hours in Unix time. */
import { day_ms } from './durations.ts'

/** UTC date of an instant (Unix ms or Date), YYYY-MM-DD. */
export const utcDate = (at: number | Date): string => new Date(at).toISOString().slice(0, 10)

/** Start of the UTC day of an instant, Unix ms. */
export const utcDayStart = (at: number | Date): number => Math.floor(Number(at) / day_ms) * day_ms

/** Whether a text is a day that exists, such as 2027-01-31. */
export function isDate(text: string): boolean {
  const start_ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  // `Date.parse` may read the 30th of February as the 2nd of March.
  return !Number.isNaN(start_ms) && utcDate(start_ms) === text
}

/** The date (YYYY-MM-DD) so many days later. Works for local dates too, as a date has no zone. */
export const addDays = (date: string, days: number): string =>
  utcDate(Date.parse(date) + days * day_ms)
