import { addDays } from './site-clock.ts'

export type PeriodKind = 'day' | 'month' | 'year'

export interface Period {
  kind: PeriodKind
  /** First and last day. */
  start_date: string
  end_date: string
}

export function periodOf(kind: PeriodKind, date: string): Period {
  const [year = '', month = ''] = date.split('-')
  if (kind === 'day') return { kind, start_date: date, end_date: date }
  if (kind === 'year') return { kind, start_date: `${year}-01-01`, end_date: `${year}-12-31` }
  const next_month = addDays(`${year}-${month}-28`, 4).slice(0, 7)
  const end_date = addDays(`${next_month}-01`, -1)
  return { kind, start_date: `${year}-${month}-01`, end_date }
}

export function daysOf({ start_date, end_date }: Period, today: string): string[] {
  const days: string[] = []
  for (let day = start_date; day <= end_date && day <= today; day = addDays(day, 1)) days.push(day)
  return days
}

export const monthName = (date: string, month: 'long' | 'short') =>
  new Date(`${date.slice(0, 7)}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    month,
    timeZone: 'UTC',
    ...(month === 'long' && { year: 'numeric' }),
  })
