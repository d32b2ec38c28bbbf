/** Local days of a site. */
import { instantOf } from './site-clock.ts'

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

/** Span of a number of local days. */
export const daysFrom = (date: string, days: number, timezone: string): Span => ({
  start_ms: dayStart(date, timezone),
  end_ms: dayStart(addDays(date, days), timezone),
})
