/** Due times and periods of reports in local time. */
/// <reference lib="esnext.temporal" />
import { localDate } from '@heliograph/domain/local-day'
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
  /** For `weekly`: 1 is Monday, 7 is Sunday. */
  day_of_week: number | null
  /** For `monthly`, and for `quarterly` in the first month of a quarter: 1 to 28, or last. */
  day_of_month: DayOfMonth | null
  /** HH:MM, local. */
  time_of_day: string
  /** IANA name. */
  timezone: string
}

const months_of_quarter = 3
/** More than a quarter and a clock change of a day. */
const days_ahead_max = 100

/**
 * The first due time after an instant. A skipped local time is due right after the clock change, a
 * repeated one at its first occurrence.
 *
 * @throws RangeError for an unknown time zone
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
  // The local time is skipped: due at the clock change.
  return earlier.getTimeZoneTransition('next')!.epochMilliseconds
}

export interface Occurrence {
  due_at: Date
  /** Earlier missed occurrences, which are skipped. */
  missed_count: number
}

/** The newest occurrence up to `now`, from `next_run_at` on. */
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
 * The period of a report made at an instant: whole local days [start_at, end_at). Weeks start on
 * Monday. Periods to date end with yesterday: on the first of a month, `month_to_date` is the
 * previous month.
 *
 * @throws RangeError for an unknown time zone
 */
export function periodOf(period: ReportPeriod, at: Date, timezone: string) {
  const [start, end] = daysOf(period, localDay(at, timezone))
  return { start_at: midnight(start, timezone), end_at: midnight(end, timezone) }
}

const midnight = (day: Temporal.PlainDate, timezone: string) =>
  new Date(day.toZonedDateTime(timezone).epochMilliseconds)

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

/** Local days, YYYY-MM-DD, both inclusive, as [start_at, end_at). */
export const wholeDays = ({ first, last }: { first: string; last: string }, timezone: string) => ({
  start_at: midnight(Temporal.PlainDate.from(first), timezone),
  end_at: midnight(Temporal.PlainDate.from(last).add({ days: 1 }), timezone),
})

/** The local day of a period, YYYY-MM-DD, or the first and last day with a separator. */
export function localDays(
  {
    period_start_at,
    period_end_at,
    timezone,
  }: { period_start_at: Date; period_end_at: Date; timezone: string },
  separator: string,
): string {
  const first = localDate(period_start_at.getTime(), timezone)
  const last = localDate(period_end_at.getTime() - 1, timezone)
  return first === last ? first : `${first}${separator}${last}`
}

const localDay = (at: Date, timezone: string) =>
  Temporal.PlainDate.from(localDate(at.getTime(), timezone))
