/** A subscription to a report: its record, and what must hold of what is ordered. */
import { knownTimezone } from '@heliograph/domain/local-day'
import { type Static, Type } from 'typebox'
import type { Violation } from '../http/errors.ts'
import { id_max, Nullable } from '../http/params.ts'
import { isMailAddress } from '../mail/address.ts'
import { At, iso } from '../plant/frame.ts'
import { Name } from '../work/fields.ts'
import type { Catalog } from './catalog.ts'
import { frequencies, type ReportSchedule, reportPeriods, templatePeriodOf } from './periods.ts'
import { RunId, type RunStatus, reportFormats, runStatuses } from './run.ts'
import type { ReportTemplate } from './template.ts'

const recipients_max = 50
export const loggers_max = 1000

/** What a client decides of a subscription. */
export type SubscriptionOrder = Static<typeof SubscriptionOrder>
export const SubscriptionOrder = Type.Object(
  {
    name: Name(
      'Monthly performance for the owner',
      'For people: the subject of its mails begins with it. One line, with something to see.',
    ),
    template_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A template of the catalogue.',
      examples: ['performance_monthly'],
    }),
    enabled: Type.Boolean({
      examples: [true],
      description: 'Whether it runs by itself; it can be run by request all the same.',
    }),
    frequency: Type.Enum([...frequencies], {
      description: '`quarterly`: in January, April, July and October.',
    }),
    day_of_week: Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 7,
        description: 'Needed for `weekly`, and null for all others: 1 is Monday, 7 is Sunday.',
        examples: [1],
      }),
    ),
    day_of_month: Type.Union(
      [Type.Integer({ minimum: 1, maximum: 28 }), Type.Literal('last'), Type.Null()],
      {
        description:
          'Needed for `monthly` and `quarterly`, and null for all others: 1 to 28, or `last`.',
        examples: [1],
      },
    ),
    time_of_day: Type.String({
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
      description:
        'On the clocks of `timezone`. A time that they skip is due right after the gap; one that ' +
        'they show twice is due once, at the first.',
      examples: ['06:00'],
    }),
    timezone: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'IANA name; that of the site where none is given. Days, weeks and months of the report ' +
        'are those of this zone too.',
      examples: ['Europe/Berlin'],
    }),
    period: Type.Enum([...reportPeriods], {
      description:
        'What a run is about: whole days of `timezone` before it. Weeks begin on Monday. To date ' +
        'is to the end of yesterday: on the first of a month `month_to_date` is the month before.',
    }),
    format: Type.Enum([...reportFormats], { description: 'One of the formats of the template.' }),
    language: Type.Enum(['en']),
    recipients: Type.Array(Type.String({ maxLength: 254 }), {
      minItems: 1,
      maxItems: recipients_max,
      uniqueItems: true,
      description: 'Mail addresses, each of which is sent a mail of its own with the file.',
      examples: [['operations@example.com']],
    }),
    webhook_id: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: id_max,
        description: 'Null: there are no webhooks yet.',
        examples: [null],
      }),
    ),
    parameters: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'By the `parameters_schema` of the template; what is left out is its default.',
    }),
    logger_ids: Type.Union(
      [
        // Ids that cannot be are told as unknown: of a union each fault of an item is one more of
        // the whole, which would say that it must be null.
        Type.Array(Type.Integer(), {
          minItems: 1,
          maxItems: loggers_max,
          uniqueItems: true,
        }),
        Type.Null(),
      ],
      { description: 'Plants to report on, retired ones among them if wanted; null: all.' },
    ),
  },
  { additionalProperties: false },
)

const endedReasons = [
  'key_revoked',
  'key_expired',
  'person_disabled',
  'person_removed',
  'no_access',
] as const
export type EndedReason = (typeof endedReasons)[number]

export type ReportSubscription = Static<typeof ReportSubscription>
export const ReportSubscription = Type.Object(
  {
    sub_id: Type.Integer({ minimum: 1, examples: [7] }),
    ...SubscriptionOrder.properties,
    // Names that were given before they had to show something are served as they are.
    name: Type.String({ examples: ['Monthly performance for the owner'] }),
    pending_recipients: Type.Array(Type.String(), {
      description:
        'An extension. Those of the recipients that have not confirmed yet that they want to be ' +
        'mailed: they were mailed a link, and are sent no report until they open it. People of ' +
        'the client need not confirm.',
      examples: [['operations@example.com']],
    }),
    next_run_at: Nullable(At('When it runs next; null while it is not enabled.')),
    last_run_at: Nullable(At('When its newest run was put into the queue.')),
    last_run_status: Nullable(Type.Enum([...runStatuses])),
    last_run_id: Nullable(RunId),
    failure_count: Type.Integer({
      minimum: 0,
      description: 'Runs that failed since the last that succeeded.',
    }),
    created_by: Type.String({ description: 'The name of the key.' }),
    ended_reason: Nullable(
      Type.Enum([...endedReasons], {
        description:
          'An extension. Why it is not run any more: the key or the person that ordered or changed ' +
          'it last has no access to the site now. A change by another key takes it over; null: it ' +
          'has not ended.',
      }),
    ),
    created_at: At('When it was made.'),
    updated_at: At('When a client changed it last.'),
  },
  { additionalProperties: false, $id: 'ReportSubscription' },
)

/** What a subscription stores of an order: there is no place for a webhook. */
export type StoredOrder = Omit<SubscriptionOrder, 'webhook_id'>

export interface StoredSubscription extends StoredOrder {
  sub_id: number
  pending_recipients: string[]
  next_run_at: Date | null
  last_run_at: Date | null
  last_run_status: RunStatus | null
  last_run_id: string | null
  failure_count: number
  created_by: string
  ended_reason: EndedReason | null
  created_at: Date
  updated_at: Date
}

/** In the order of its schema, which is that of the validator of `If-Match`. */
export function subscriptionRecord(stored: StoredSubscription): ReportSubscription {
  return {
    sub_id: stored.sub_id,
    name: stored.name,
    template_id: stored.template_id,
    enabled: stored.enabled,
    frequency: stored.frequency,
    day_of_week: stored.day_of_week,
    day_of_month: stored.day_of_month,
    time_of_day: stored.time_of_day,
    timezone: stored.timezone,
    period: stored.period,
    format: stored.format,
    language: stored.language,
    recipients: stored.recipients,
    webhook_id: null,
    parameters: stored.parameters,
    logger_ids: stored.logger_ids,
    pending_recipients: stored.pending_recipients,
    next_run_at: iso(stored.next_run_at),
    last_run_at: iso(stored.last_run_at),
    last_run_status: stored.last_run_status,
    last_run_id: stored.last_run_id,
    failure_count: stored.failure_count,
    created_by: stored.created_by,
    ended_reason: stored.ended_reason,
    created_at: stored.created_at.toISOString(),
    updated_at: stored.updated_at.toISOString(),
  }
}

/** The schedule of an order that has no faults. */
export const scheduleOf = (order: StoredOrder): ReportSchedule => order

/**
 * Everything wrong with an order that its schema cannot say, but for its parameters, which
 * `Catalog.checkParameters` judges, and its plants, which the database knows.
 */
export function orderFaults(order: SubscriptionOrder, catalog: Catalog): Violation[] {
  const template = catalog.find(order.template_id)
  return [
    ...templateOrderFaults(order, catalog),
    ...(template ? periodFaults(order, template) : []),
    ...dayFaults(order),
    ...(knownTimezone(order.timezone) === null
      ? [fault('timezone', 'invalid_format', 'must be a name of the IANA time zone database')]
      : []),
    ...recipientFaults(order.recipients),
    ...(order.webhook_id === null
      ? []
      : [fault('webhook_id', 'not_allowed_value', 'must be null: there are no webhooks yet')]),
  ]
}

const fault = (field: string, code: string, message: string): Violation => ({
  location: 'body',
  field,
  code,
  message,
})

const oneOf = (values: readonly string[]) =>
  `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`

const unknownTemplate = ({ templates }: Catalog) =>
  fault('template_id', 'not_allowed_value', oneOf(templates.map(({ template_id }) => template_id)))

/** Whether the template exists and has the format. */
export function templateOrderFaults(
  { template_id, format }: Pick<SubscriptionOrder, 'template_id' | 'format'>,
  catalog: Catalog,
): Violation[] {
  const template = catalog.find(template_id)
  if (template === null) return [unknownTemplate(catalog)]
  return template.formats.includes(format)
    ? []
    : [fault('format', 'not_allowed_value', oneOf(template.formats))]
}

function periodFaults({ period }: SubscriptionOrder, { periods }: ReportTemplate): Violation[] {
  const fitting = reportPeriods.filter((one) => periods.includes(templatePeriodOf[one]))
  return fitting.includes(period) ? [] : [fault('period', 'not_allowed_value', oneOf(fitting))]
}

function dayFaults({ frequency, day_of_week, day_of_month }: SubscriptionOrder): Violation[] {
  const of_week = frequency === 'weekly'
  const of_month = frequency === 'monthly' || frequency === 'quarterly'
  return [
    ...dayFault('day_of_week', { is_given: day_of_week !== null, is_wanted: of_week, frequency }),
    ...dayFault('day_of_month', {
      is_given: day_of_month !== null,
      is_wanted: of_month,
      frequency,
    }),
  ]
}

function dayFault(
  field: string,
  { is_given, is_wanted, frequency }: { is_given: boolean; is_wanted: boolean; frequency: string },
): Violation[] {
  if (is_given === is_wanted) return []
  return is_wanted
    ? [fault(field, 'required', `is required where the frequency is ${frequency}`)]
    : [fault(field, 'not_allowed_value', `must be null where the frequency is ${frequency}`)]
}

function recipientFaults(recipients: readonly string[]): Violation[] {
  const seen = new Set<string>()
  return recipients.flatMap((recipient, index) => {
    const field = `recipients.${index}`
    if (!isMailAddress(recipient)) return [fault(field, 'invalid_format', 'must be a mail address')]
    // Two spellings of one address would be two mails to one person.
    const spelled = recipient.toLowerCase()
    if (seen.has(spelled)) return [fault(field, 'repeated_value', 'is there twice')]
    seen.add(spelled)
    return []
  })
}
