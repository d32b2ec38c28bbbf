import type { Overview } from '@heliograph/sdk'
import { addDays, clockAt } from '../../ui/site-clock.ts'

export interface ShownDays {
  /** The day before `day`. */
  before: string
  /** The present day; before dawn the day that ended. */
  day: string
  next: string
  today: string
}

export interface Shown {
  overview: Overview
  days: ShownDays
}

/** Before dawn nothing has been produced today: the page shows yesterday, and today as the next. */
export function shownDays(
  now_ms: number,
  timezone: string,
  is_daylight: boolean | null,
): ShownDays {
  const [today = '', clock = ''] = clockAt(now_ms, timezone).split('T')
  const day = is_daylight === false && clock < '12:00' ? addDays(today, -1) : today
  return { before: addDays(day, -1), day, next: addDays(day, 1), today }
}

export function dayName(date: string, today: string): 'Yesterday' | 'Today' | 'Tomorrow' {
  if (date === today) return 'Today'
  return date < today ? 'Yesterday' : 'Tomorrow'
}
