import { type Static, type TSchema, Type } from 'typebox'
import { modules, scopes } from '../http/endpoint.ts'
import { id_max, Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { served } from '../storage/records.ts'
import { ReportRun, RunId, reportFormats } from './run.ts'
import { SubscriptionOrder } from './subscription.ts'
import {
  type ReportTemplate,
  scopesOfParts,
  templateCategories,
  templatePeriods,
} from './template.ts'

const closed = { additionalProperties: false } as const
const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const SubId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A report subscription of the site.',
  examples: [7],
})

export type CatalogTemplate = Static<typeof CatalogTemplate>
export const CatalogTemplate = Type.Object(
  {
    template_id: Type.String({
      description: 'Stable id of the template.',
      examples: ['performance_monthly'],
    }),
    name: Type.String(),
    description: Type.String({ description: 'Content of the report, and its standard.' }),
    category: Type.Enum([...templateCategories]),
    formats: Type.Array(Type.Enum([...reportFormats])),
    periods: Type.Array(Type.Enum([...templatePeriods]), {
      description: 'Suitable lengths of the period.',
    }),
    parameters_schema: Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of `parameters` of a subscription, with the defaults.',
    }),
    required_scopes: Type.Array(Type.Enum([...scopes]), {
      description:
        'Scopes of the sections. A run omits sections whose scopes the key or person that ordered ' +
        'the report lacks.',
    }),
    required_module: Type.Enum([...modules], { description: 'The module of the template.' }),
    languages: Type.Array(Type.Enum(['en'])),
    version: Type.String({ description: 'Version of the content.', examples: ['1.0.0'] }),
  },
  { ...closed, $id: 'ReportTemplate' },
)

const templateFields = Object.keys(CatalogTemplate.properties)

export const catalogTemplate = (template: ReportTemplate) =>
  served(templateFields, {
    ...template,
    parameters_schema: { ...template.parameters },
    required_scopes: scopesOfParts(template.parts),
    languages: ['en'],
  }) as CatalogTemplate

export const ReportsOverview = Type.Object(
  {
    templates_total: Type.Integer({ minimum: 0 }),
    subscriptions_active: Count('Enabled subscriptions.'),
    runs_last_30d: Count('Runs queued within the last 30 days.'),
    runs_failed_last_30d: Count('Failed runs of the last 30 days.'),
    last_run_at: Nullable(At('When the newest run was queued.')),
    next_run_at: Nullable(At('When the next subscription is due.')),
    recent_runs: Type.Array(ReportRun, { description: 'The five newest runs, newest first.' }),
  },
  { ...closed, $id: 'ReportsOverview' },
)

const order = SubscriptionOrder.properties

const optional = <Of extends TSchema>(schema: Of, value?: unknown) =>
  Type.Optional((value === undefined ? schema : { ...schema, default: value }) as Of)

export type NewSubscription = Static<typeof NewSubscription>
export const NewSubscription = Type.Object(
  {
    ...order,
    enabled: optional(order.enabled, true),
    day_of_week: optional(order.day_of_week),
    day_of_month: optional(order.day_of_month),
    time_of_day: optional(order.time_of_day, '06:00'),
    timezone: optional(order.timezone),
    language: optional(order.language, 'en'),
    webhook_id: optional(order.webhook_id),
    parameters: optional(order.parameters),
    logger_ids: optional(order.logger_ids),
  },
  { ...closed, $id: 'NewReportSubscription' },
)

export type SubscriptionChange = Static<typeof SubscriptionChange>
export const SubscriptionChange = Type.Partial(SubscriptionOrder, {
  ...closed,
  $id: 'ReportSubscriptionChange',
})

export const QueuedRun = Type.Object(
  { run_id: RunId, status: Type.Enum(['queued']) },
  { ...closed, $id: 'QueuedReportRun' },
)
