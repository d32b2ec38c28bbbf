import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Closed, id_max, Named, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { type Stored, served } from '../storage/records.ts'
import { Name } from '../work/fields.ts'
import { frequencies, reportPeriods } from './periods.ts'
import { RunId, reportFormats, runStatuses } from './run.ts'

const recipients_max = 50
export const loggers_max = 1000

export type SubscriptionOrder = Static<typeof SubscriptionOrder>
export const SubscriptionOrder = Closed({
  name: Name(
    'Monthly performance for the owner',
    'Name for people, and start of the mail subject. A single line with a visible character.',
  ),
  template_id: field.Text('A template of the catalogue.', {
    minLength: 1,
    maxLength: 64,
    examples: ['performance_monthly'],
  }),
  enabled: field.Flag(
    'Whether the schedule is active. A disabled subscription can still be run by request.',
    true,
  ),
  frequency: field.OneOf(frequencies, '`quarterly`: in January, April, July and October.'),
  day_of_week: field.IntOrNull('Required for `weekly`, otherwise null: 1 is Monday, 7 is Sunday.', {
    minimum: 1,
    maximum: 7,
    examples: [1],
  }),
  day_of_month: Type.Union(
    [Type.Integer({ minimum: 1, maximum: 28 }), Type.Literal('last'), Type.Null()],
    {
      description: 'Required for `monthly` and `quarterly`, otherwise null: 1 to 28, or `last`.',
      examples: [1],
    },
  ),
  time_of_day: field.Text(
    'Local time in `timezone`. A time skipped by a clock change is due right after the change; a ' +
      'repeated time is due once, at its first occurrence.',
    { pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', examples: ['06:00'] },
  ),
  timezone: field.Text(
    'IANA name. Defaults to the time zone of the site. Also defines the days, weeks and months ' +
      'of the report.',
    { minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] },
  ),
  period: field.OneOf(
    reportPeriods,
    'The period of a run: whole past days in `timezone`. Weeks start on Monday. Periods to date ' +
      'end with yesterday: on the first of a month, `month_to_date` is the previous month.',
  ),
  format: field.OneOf(reportFormats, 'One of the formats of the template.'),
  language: Type.Enum(['en']),
  recipients: Type.Array(Type.String({ maxLength: 254 }), {
    minItems: 1,
    maxItems: recipients_max,
    uniqueItems: true,
    description: 'Mail addresses. Each gets a separate mail with the file.',
    examples: [['operations@example.com']],
  }),
  webhook_id: field.CountOrNull('Must be null: webhooks are not supported yet.', {
    maximum: id_max,
    examples: [null],
  }),
  parameters: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description:
      'Parameters by the `parameters_schema` of the template. Omitted ones take their defaults.',
  }),
  logger_ids: Type.Union(
    [
      // No bounds here: in a union, a fault of an item would also report that the whole must be
      // null. Impossible ids are rejected as unknown.
      Type.Array(Type.Integer(), {
        minItems: 1,
        maxItems: loggers_max,
        uniqueItems: true,
      }),
      Type.Null(),
    ],
    { description: 'Plants of the report, which may be retired; null for all.' },
  ),
})

const endedReasons = [
  'key_revoked',
  'key_expired',
  'person_disabled',
  'person_removed',
  'no_access',
] as const
export type EndedReason = (typeof endedReasons)[number]

export type ReportSubscription = Static<typeof ReportSubscription>
export const ReportSubscription = Named('ReportSubscription', {
  sub_id: Type.Integer({ minimum: 1, examples: [7] }),
  ...SubscriptionOrder.properties,
  // Older names may lack a visible character.
  name: Type.String({ examples: ['Monthly performance for the owner'] }),
  pending_recipients: Type.Array(Type.String(), {
    description:
      'An extension. Recipients that have not confirmed their address yet. They were mailed a link ' +
      'and receive no report until they open it. People of the client need not confirm.',
    examples: [['operations@example.com']],
  }),
  next_run_at: Nullable(At('When the next run is due; null while disabled.')),
  last_run_at: Nullable(At('When the newest run was queued.')),
  last_run_status: Nullable(Type.Enum([...runStatuses])),
  last_run_id: Nullable(RunId),
  failure_count: field.Count('Failed runs since the last success.'),
  created_by: field.Text('The name of the key.', 'Office'),
  ended_reason: field.OneOfOrNull(
    endedReasons,
    'An extension. Why the subscription has ended: the key or person that last ordered or ' +
      'changed it has no access to the site any more. A change by another key takes it over. ' +
      'Null while the subscription is valid.',
  ),
  created_at: At('When the subscription was created.', '2026-02-11T09:30:00.000Z'),
  updated_at: At('When a client last changed the subscription.', '2026-02-11T09:30:00.000Z'),
})

export type StoredOrder = Omit<SubscriptionOrder, 'webhook_id'>

export type StoredSubscription = Stored<Omit<ReportSubscription, 'webhook_id'>>

/** The order of the fields is part of the validator of `If-Match`. */
export const subscriptionRecord = (stored: StoredSubscription) =>
  served(ReportSubscription, { ...stored, webhook_id: null })
