/** Days of UTC: of 24 hours each, at whole multiples of them in Unix time. */

export const day_ms = 86_400_000

/** The day of an instant (Unix ms, or a Date), YYYY-MM-DD. */
export const utcDate = (at: number | Date): string => new Date(at).toISOString().slice(0, 10)

/** When the day of an instant began, Unix ms. */
export const utcDayStart = (at: number | Date): number => Math.floor(Number(at) / day_ms) * day_ms

/** The calendar date YYYY-MM-DD so many days later; of any calendar, as dates have no zone. */
export const addDays = (date: string, days: number): string =>
  utcDate(Date.parse(date) + days * day_ms)
