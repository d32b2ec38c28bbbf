/** Days of UTC: 24 hours each, at whole multiples of 24 hours in Unix time. */
import { day_ms } from './durations.ts'

/** UTC date of an instant (Unix ms or Date), YYYY-MM-DD. */
export const utcDate = (at: number | Date): string => new Date(at).toISOString().slice(0, 10)

/** Start of the UTC day of an instant, Unix ms. */
export const utcDayStart = (at: number | Date): number => Math.floor(Number(at) / day_ms) * day_ms

/** The date (YYYY-MM-DD) so many days later. Works for local dates too, as a date has no zone. */
export const addDays = (date: string, days: number): string =>
  utcDate(Date.parse(date) + days * day_ms)
