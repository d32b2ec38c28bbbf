import { type Static, type TSchema, Type } from 'typebox'
import { modules, scopes } from '../http/endpoint.ts'
import * as field from '../http/fields.ts'
import { id_max, Named, Nullable } from '../http/params.ts'
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

export const SubId = field.Count('A report subscription of the site.', {
  maximum: id_max,
  examples: [7],
})

export type CatalogTemplate = Static<typeof CatalogTemplate>
export const CatalogTemplate = Named('ReportTemplate', {
  template_id: field.Text('Stable id of the template.', 'performance_monthly'),
  name: Type.String(),
  description: field.Text('Content of the report, and its standard.'),
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
  required_module: field.OneOf(modules, 'The module of the template.'),
  languages: Type.Array(Type.Enum(['en'])),
  version: field.Text('Version of the content.', '1.0.0'),
})

export const catalogTemplate = (template: ReportTemplate) =>
  served(CatalogTemplate, {
    ...template,
    parameters_schema: { ...template.parameters },
    required_scopes: scopesOfParts(template.parts),
    languages: ['en'],
  })

export const ReportsOverview = Named('ReportsOverview', {
  templates_total: Type.Integer({ minimum: 0 }),
  subscriptions_active: field.Count('Enabled subscriptions.', 1),
  runs_last_30d: field.Count('Runs queued within the last 30 days.', 1),
  runs_failed_last_30d: field.Count('Failed runs of the last 30 days.'),
  last_run_at: Nullable(At('When the newest run was queued.')),
  next_run_at: Nullable(At('When the next subscription is due.')),
  recent_runs: Type.Array(ReportRun, { description: 'The five newest runs, newest first.' }),
})

const order = SubscriptionOrder.properties

const optional = <Of extends TSchema>(schema: Of, value?: unknown) =>
  Type.Optional((value === undefined ? schema : { ...schema, default: value }) as Of)

export type NewSubscription = Static<typeof NewSubscription>
export const NewSubscription = Named('NewReportSubscription', {
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
})

export type SubscriptionChange = Static<typeof SubscriptionChange>
export const SubscriptionChange = Type.Partial(SubscriptionOrder, {
  additionalProperties: false,
  $id: 'ReportSubscriptionChange',
})

export const QueuedRun = Named('QueuedReportRun', { run_id: RunId, status: Type.Enum(['queued']) })
