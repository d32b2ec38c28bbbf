/** One-off reports over freely chosen dates. */
import { day_ms } from '@heliograph/domain/durations'
import { knownTimezone } from '@heliograph/domain/local-day'
import { type Static, Type } from 'typebox'
import type { Caller } from '../http/endpoint.ts'
import { invalid, type Violation } from '../http/errors.ts'
import { id_max, Nullable } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'
import type { Catalog } from './catalog.ts'
import { loggerFaults } from './ordered-plants.ts'
import { localDate, wholeDays } from './periods.ts'
import { lockClient, requireQueueSpace } from './requested-runs.ts'
import { queueOneOff } from './runs.ts'
import { loggers_max, SubscriptionOrder, templateOrderFaults } from './subscription.ts'
import type { ReportTemplate, TemplatePeriod } from './template.ts'

const { template_id, timezone, format, parameters } = SubscriptionOrder.properties

const LocalDay = (description: string) => Type.String({ format: 'date', description })

export const one_off_fields = {
  template_id,
  start_date: LocalDay('First day of the report, local date in `timezone`.'),
  end_date: LocalDay('Last day of the report. Must be before today.'),
  timezone: Type.Optional(timezone),
  format,
  parameters: Type.Optional(parameters),
  logger_ids: Type.Optional(
    Nullable(
      Type.Array(Type.Integer({ minimum: 0, maximum: id_max }), {
        minItems: 1,
        maxItems: loggers_max,
        uniqueItems: true,
        description: 'Plants of the report, which may be retired; null for all.',
      }),
    ),
  ),
}
const OneOffOrder = Type.Object(one_off_fields)
type OneOffOrder = Static<typeof OneOffOrder>

const longest_days: Readonly<Record<TemplatePeriod, number>> = {
  day: 1,
  week: 7,
  month: 31,
  quarter: 92,
  year: 366,
  custom: 1,
}

interface Ordering {
  site: { site_id: string; timezone: string }
  caller: Caller
  catalog: Catalog
  now: Date
}

/** Queues the run and returns its id; @throws ApiError invalid with all faults */
export async function orderOnce(
  tx: Transaction,
  order: OneOffOrder,
  { site, caller, catalog, now }: Ordering,
): Promise<string> {
  const { site_id } = site
  const zone = knownTimezone(order.timezone ?? site.timezone)
  const template = catalog.find(order.template_id)
  const given = order.parameters ?? {}
  const checked = template ? catalog.checkParameters(template, given) : null
  const plants = order.logger_ids ?? null
  const faults = [
    ...templateOrderFaults(order, catalog),
    ...(zone === null ? [fault('timezone', 'must be a name of the IANA time zone database')] : []),
    ...(template && zone ? dayFaults(order, template, localDate(now, zone)) : []),
    ...(checked?.violations ?? []),
    ...(await loggerFaults(tx, site_id, plants)),
  ]
  if (faults.length > 0) throw invalid(...faults)
  await lockClient(tx, caller.client_id)
  await requireQueueSpace(tx, site_id)
  return queueOneOff(tx, {
    site_id,
    name: template!.name,
    template_id: order.template_id,
    format: order.format,
    timezone: zone!,
    period: wholeDays({ first: order.start_date, last: order.end_date }, zone!),
    parameters: checked!.parameters,
    logger_ids: plants,
    key_id: caller.key_id,
    requested_by: caller.key_name,
    now,
  })
}

const fault = (field: string, message: string): Violation => ({
  location: 'body',
  field,
  code: 'not_allowed_value',
  message,
})

function dayFaults(
  { start_date, end_date }: OneOffOrder,
  { periods }: ReportTemplate,
  today: string,
): Violation[] {
  if (end_date >= today) return [fault('end_date', 'must be before today')]
  if (start_date > end_date) return [fault('start_date', 'must not be after end_date')]
  const days = (Date.parse(end_date) - Date.parse(start_date)) / day_ms + 1
  const days_max = Math.max(...periods.map((period) => longest_days[period]))
  return days > days_max
    ? [fault('start_date', `must be at most ${days_max} days with end_date for this template`)]
    : []
}
