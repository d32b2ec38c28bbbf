import { useMemo } from 'react'
import { dayAt } from './site-clock.ts'
import { addDays, daysFrom, isDate, type Span } from './site-day.ts'
import { useFilters } from './use-filters.ts'

export interface DaySpan {
  /** The first day. */
  day: string
  days: number
  today: string
  span: Span
  set(changes: { day?: string; days?: number }): void
}

/** Days that a page shows, from the address; defaults to today. */
export function useDaySpan(timezone: string, days_max: number): DaySpan {
  const filters = useFilters()
  const today = dayAt(Date.now(), timezone)
  const days = Math.min(days_max, Math.max(1, filters.number('days') ?? 1))
  const asked = filters.get('day')
  const day = isDate(asked) && asked <= today ? asked : addDays(today, 1 - days)
  const span = useMemo(() => daysFrom(day, days, timezone), [day, days, timezone])
  const set = (changes: { day?: string; days?: number }) =>
    filters.set({
      ...(changes.day && { day: changes.day }),
      ...(changes.days && { days: String(changes.days) }),
    })
  return { day, days, today, span, set }
}
