import type { ReportSubscription, ReportTemplate } from '@heliograph/sdk'
import { inWords } from '../../ui/format.ts'

export const weekdays = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
].map((label, nth) => ({ value: String(nth + 1), label }))

export const monthDays = [
  ...Array.from({ length: 28 }, (_, nth) => ({ value: String(nth + 1), label: `${nth + 1}.` })),
  { value: 'last', label: 'Last day' },
]

export const frequencies = ['daily', 'weekly', 'monthly', 'quarterly'] as const

export const periods = [
  ...(['previous_day', 'previous_week', 'previous_month'] as const),
  ...(['month_to_date', 'year_to_date'] as const),
] as const

/** `monthly on the 1., 06:00 (Europe/Berlin), period previous month`. */
export function whenText(one: ReportSubscription): string {
  const { frequency, day_of_week, day_of_month, time_of_day, timezone, period } = one
  const weekday = weekdays.find(({ value }) => value === String(day_of_week))
  const day =
    day_of_month === 'last' ? ' on the last day' : day_of_month ? ` on the ${day_of_month}.` : ''
  const on = weekday ? ` on ${weekday.label}` : day
  return `${frequency}${on}, ${time_of_day} (${timezone}), period ${inWords(period).toLowerCase()}`
}

type Same = 'name' | 'enabled' | 'frequency' | 'time_of_day' | 'timezone' | 'period' | 'format'

export interface SubscriptionValues
  extends Pick<ReportSubscription, Same | 'recipients' | 'parameters'> {
  day_of_week: string
  day_of_month: string
  /** Empty for all plants. */
  logger_ids: string[]
}

export function newValues(
  template: ReportTemplate,
  timezone: string,
  email: string,
): SubscriptionValues {
  return {
    name: template.name,
    enabled: true,
    frequency: 'monthly',
    day_of_week: '1',
    day_of_month: '1',
    time_of_day: '06:00',
    timezone,
    period: 'previous_month',
    format: template.formats[0] ?? 'pdf',
    recipients: [email],
    logger_ids: [],
    parameters: {},
  }
}

export function valuesOf(one: ReportSubscription): SubscriptionValues {
  const { name, enabled, frequency, time_of_day, timezone, period, format } = one
  return {
    name,
    enabled,
    frequency,
    time_of_day,
    timezone,
    period,
    format,
    day_of_week: String(one.day_of_week ?? 1),
    day_of_month: String(one.day_of_month ?? 1),
    recipients: one.recipients,
    logger_ids: (one.logger_ids ?? []).map(String),
    parameters: one.parameters,
  }
}

export function bodyOf(values: SubscriptionValues) {
  const { day_of_week, day_of_month, logger_ids, ...same } = values
  const is_monthly = values.frequency === 'monthly' || values.frequency === 'quarterly'
  const month_day = day_of_month === 'last' ? ('last' as const) : Number(day_of_month)
  return {
    ...same,
    name: values.name.trim(),
    day_of_week: values.frequency === 'weekly' ? Number(day_of_week) : null,
    day_of_month: is_monthly ? month_day : null,
    logger_ids: logger_ids.length === 0 ? null : logger_ids.map(Number),
  }
}

export const rules = {
  name: (name: string) => (name.trim() ? null : 'Enter a name.'),
  time_of_day: (time: string) =>
    /^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? null : 'Enter a time such as 06:00.',
  recipients: (recipients: string[]) => {
    if (recipients.length === 0) return 'Enter at least one e-mail address.'
    const wrong = recipients.filter((one) => !/^[^\s@]+@[^\s@]+$/.test(one))
    return wrong.length === 0 ? null : `${wrong.join(', ')} is not a valid e-mail address.`
  },
}
