/**
 * When a report is due and what time it is about, on the clocks of a zone. Reports are planned by
 * people, in local time; everything else knows instants only.
 */
/// <reference lib="esnext.temporal" />
import type { TemplatePeriod } from './template.ts'

export const frequencies = ['daily', 'weekly', 'monthly', 'quarterly'] as const
type Frequency = (typeof frequencies)[number]

export const reportPeriods = [
  'previous_day',
  'previous_week',
  'previous_month',
  'month_to_date',
  'year_to_date',
] as const
export type ReportPeriod = (typeof reportPeriods)[number]

/** The length of time that a template must make sense over to be ordered for a period. */
export const templatePeriodOf: Readonly<Record<ReportPeriod, TemplatePeriod>> = {
  previous_day: 'day',
  previous_week: 'week',
  previous_month: 'month',
  month_to_date: 'month',
  year_to_date: 'year',
}

type DayOfMonth = number | 'last'

export interface ReportSchedule {
  frequency: Frequency
  /** Of a weekly one: 1 is Monday, 7 is Sunday. */
  day_of_week: number | null
  /** Of a monthly one, and in the first month of a quarter of a quarterly one: 1 to 28, or last. */
  day_of_month: DayOfMonth | null
  /** HH:MM on the clocks of the zone. */
  time_of_day: string
  /** IANA name. */
  timezone: string
}

const months_of_quarter = 3
/** No day is left out for longer than a quarter, and no clock is set by more than a day. */
const days_ahead_max = 100

/**
 * The first instant after `after` at which a report is due. A time that the clocks skip is due at
 * the first instant after the gap, one that they show twice at the first of the two.
 *
 * @throws RangeError for a zone that does not exist
 */
export function nextRunAt(schedule: ReportSchedule, after: Date): Date {
  const { timezone, time_of_day } = schedule
  const today = localDay(after, timezone)
  for (let days = 0; days <= days_ahead_max; days += 1) {
    const day = today.add({ days })
    if (!isDueOn(schedule, day)) continue
    const due_ms = instantOf(day, time_of_day, timezone)
    if (due_ms > after.getTime()) return new Date(due_ms)
  }
  throw new Error(`no day is due within ${days_ahead_max} days: ${JSON.stringify(schedule)}`)
}

function isDueOn(schedule: ReportSchedule, day: Temporal.PlainDate): boolean {
  const { frequency, day_of_week, day_of_month } = schedule
  if (frequency === 'daily') return true
  if (frequency === 'weekly') return day.dayOfWeek === day_of_week
  if (frequency === 'quarterly' && (day.month - 1) % months_of_quarter !== 0) return false
  return day.day === (day_of_month === 'last' ? day.daysInMonth : day_of_month)
}

function instantOf(day: Temporal.PlainDate, time_of_day: string, timezone: string): number {
  const wanted = day.toPlainDateTime(Temporal.PlainTime.from(time_of_day))
  const earlier = wanted.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  if (earlier.toPlainDateTime().equals(wanted)) return earlier.epochMilliseconds
  // It lies before the gap, as long as the gap lasts.
  return earlier.getTimeZoneTransition('next')!.epochMilliseconds
}

export interface Occurrence {
  due_at: Date
  /** Those before it that were missed too and are made up for by it alone. */
  missed_count: number
}

/** The newest instant up to `now` at which a report was due, from the one that was due next on. */
export function newestDue(schedule: ReportSchedule, next_run_at: Date, now: Date): Occurrence {
  let due_at = next_run_at
  let missed_count = 0
  for (let next = nextRunAt(schedule, due_at); next <= now; next = nextRunAt(schedule, due_at)) {
    due_at = next
    missed_count += 1
  }
  return { due_at, missed_count }
}

/**
 * The whole days [start_at, end_at) that a report of an instant is about, by the days of the zone.
 * Weeks begin on Monday. To date means to the end of yesterday, and of what yesterday belongs to:
 * on the first of a month `month_to_date` is all of the month before.
 *
 * @throws RangeError for a zone that does not exist
 */
export function periodOf(
  period: ReportPeriod,
  at: Date,
  timezone: string,
): { start_at: Date; end_at: Date } {
  const today = localDay(at, timezone)
  const [start, end] = daysOf(period, today)
  const midnight = (day: Temporal.PlainDate) =>
    new Date(day.toZonedDateTime(timezone).epochMilliseconds)
  return { start_at: midnight(start), end_at: midnight(end) }
}

function daysOf(
  period: ReportPeriod,
  today: Temporal.PlainDate,
): [start: Temporal.PlainDate, end: Temporal.PlainDate] {
  const yesterday = today.subtract({ days: 1 })
  const month_start = today.with({ day: 1 })
  const week_start = today.subtract({ days: today.dayOfWeek - 1 })
  switch (period) {
    case 'previous_day':
      return [yesterday, today]
    case 'previous_week':
      return [week_start.subtract({ weeks: 1 }), week_start]
    case 'previous_month':
      return [month_start.subtract({ months: 1 }), month_start]
    case 'month_to_date':
      return [yesterday.with({ day: 1 }), today]
    case 'year_to_date':
      return [yesterday.with({ month: 1, day: 1 }), today]
  }
}

/** Days of a zone as [start_at, end_at); `first` and `last`, YYYY-MM-DD, are both part of it. */
export function wholeDays(
  { first, last }: { first: string; last: string },
  timezone: string,
): { start_at: Date; end_at: Date } {
  const midnight = (day: Temporal.PlainDate) =>
    new Date(day.toZonedDateTime(timezone).epochMilliseconds)
  return {
    start_at: midnight(Temporal.PlainDate.from(first)),
    end_at: midnight(Temporal.PlainDate.from(last).add({ days: 1 })),
  }
}

/** The first and the last local day of a period, YYYY-MM-DD. */
export function localDays(
  { start_at, end_at }: { start_at: Date; end_at: Date },
  timezone: string,
): { first: string; last: string } {
  const last_instant = new Date(end_at.getTime() - 1)
  return {
    first: localDate(start_at, timezone),
    last: localDate(last_instant, timezone),
  }
}

const localDay = (at: Date, timezone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone).toPlainDate()

/** YYYY-MM-DD. */
export const localDate = (at: Date, timezone: string): string => localDay(at, timezone).toString()
