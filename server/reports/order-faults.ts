/** Rules of report orders beyond their schemas. */
import { day_ms } from '@heliograph/domain/durations'
import { knownTimezone } from '@heliograph/domain/local-day'
import { type Violation, violation } from '../http/errors.ts'
import { id_max } from '../http/params.ts'
import { isMailAddress } from '../mail/address.ts'
import type { Queries } from '../storage/database.ts'
import { type Catalog, checkParameters, findTemplate, type Parameters } from './catalog.ts'
import { reportPeriods, templatePeriodOf } from './periods.ts'
import type { SubscriptionOrder } from './subscription.ts'
import type { ReportTemplate, TemplatePeriod } from './template.ts'

const oneOf = (field: string, values: readonly string[]) => {
  const list = values.map((value) => JSON.stringify(value)).join(', ')
  return violation(field, 'not_allowed_value', `must be one of ${list}`)
}

interface CommonOrder {
  template_id: string
  format: SubscriptionOrder['format']
  timezone: string
  parameters: Parameters
  logger_ids: readonly number[] | null
}

/** Checks the fields that every order has; returns the template and parameters with defaults. */
export async function checkOrder(
  db: Queries,
  { site_id, catalog }: { site_id: string; catalog: Catalog },
  order: CommonOrder,
  timezone_code: 'invalid_format' | 'not_allowed_value',
) {
  const template = findTemplate(catalog, order.template_id)
  const { parameters, violations } = template
    ? checkParameters(template, order.parameters)
    : { parameters: order.parameters, violations: [] }
  const timezone = knownTimezone(order.timezone)
  const ids = catalog.map(({ template_id }) => template_id)
  const message = 'must be a name of the IANA time zone database'
  return {
    template,
    parameters,
    timezone,
    faults: [
      ...(template ? [] : [oneOf('template_id', ids)]),
      ...(template && !template.formats.includes(order.format)
        ? [oneOf('format', template.formats)]
        : []),
      ...(timezone === null ? [violation('timezone', timezone_code, message)] : []),
      ...violations,
      ...(await loggerFaults(db, site_id, order.logger_ids ?? [])),
    ],
  }
}

/** A violation for each plant that the site never had. */
async function loggerFaults(
  db: Queries,
  site_id: string,
  logger_ids: readonly number[],
): Promise<Violation[]> {
  if (logger_ids.length === 0) return []
  const rows = await db.query<{ logger_id: number }>(
    'select logger_id from loggers where site_id = $1 and logger_id = any($2::int[])',
    [site_id, logger_ids.filter((logger_id) => logger_id >= 0 && logger_id <= id_max)],
  )
  const known = new Set(rows.map(({ logger_id }) => logger_id))
  return logger_ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [violation(`logger_ids.${index}`, 'unknown_logger', `the site has no logger ${id}`)],
  )
}

export function subscriptionFaults(
  order: SubscriptionOrder,
  template: ReportTemplate | null,
): Violation[] {
  const { frequency, webhook_id } = order
  const has_week_day = frequency === 'weekly'
  const has_month_day = frequency === 'monthly' || frequency === 'quarterly'
  return [
    ...(template ? periodFaults(order, template) : []),
    ...dayFaults('day_of_week', order, has_week_day),
    ...dayFaults('day_of_month', order, has_month_day),
    ...recipientFaults(order.recipients),
    ...(webhook_id === null
      ? []
      : [
          violation(
            'webhook_id',
            'not_allowed_value',
            'must be null: webhooks are not supported yet',
          ),
        ]),
  ]
}

function periodFaults({ period }: SubscriptionOrder, { periods }: ReportTemplate): Violation[] {
  const suitable = reportPeriods.filter((one) => periods.includes(templatePeriodOf[one]))
  return suitable.includes(period) ? [] : [oneOf('period', suitable)]
}

function dayFaults(
  field: 'day_of_week' | 'day_of_month',
  order: SubscriptionOrder,
  is_required: boolean,
): Violation[] {
  if ((order[field] !== null) === is_required) return []
  const when = `when the frequency is ${order.frequency}`
  return is_required
    ? [violation(field, 'required', `is required ${when}`)]
    : [violation(field, 'not_allowed_value', `must be null ${when}`)]
}

function recipientFaults(recipients: readonly string[]): Violation[] {
  const seen = new Set<string>()
  return recipients.flatMap((recipient, index) => {
    const field = `recipients.${index}`
    if (!isMailAddress(recipient))
      return [violation(field, 'invalid_format', 'must be a mail address')]
    // Two spellings of one address would send two mails to one person.
    const spelled = recipient.toLowerCase()
    if (seen.has(spelled)) return [violation(field, 'repeated_value', 'is listed twice')]
    seen.add(spelled)
    return []
  })
}

const days_max_of: Readonly<Record<TemplatePeriod, number>> = {
  day: 1,
  week: 7,
  month: 31,
  quarter: 92,
  year: 366,
  custom: 1,
}

/** Faults of the freely chosen dates of a one-off report. */
export function dateFaults(
  { start_date, end_date }: { start_date: string; end_date: string },
  { periods }: ReportTemplate,
  today: string,
): Violation[] {
  const refused = (field: string, message: string) => [
    violation(field, 'not_allowed_value', message),
  ]
  if (end_date >= today) return refused('end_date', 'must be before today')
  if (start_date > end_date) return refused('start_date', 'must not be after end_date')
  const days = (Date.parse(end_date) - Date.parse(start_date)) / day_ms + 1
  const days_max = Math.max(...periods.map((period) => days_max_of[period]))
  return days > days_max
    ? refused('start_date', `must be at most ${days_max} days with end_date for this template`)
    : []
}
