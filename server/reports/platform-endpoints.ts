/** One-off reports over freely chosen dates. */
import { localDate } from '@heliograph/domain/local-day'
import { type Static, Type } from 'typebox'
import { SiteId } from '../access/schemas.ts'
import { isGiven, loadSites, requireModule, siteKey } from '../http/authorize.ts'
import { type Caller, endpoint } from '../http/endpoint.ts'
import { badField, invalid } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { Closed, id_max, Named, Nullable } from '../http/params.ts'
import { refuseInSafeMode } from '../http/safe-mode.ts'
import type { Transaction } from '../storage/database.ts'
import type { Catalog } from './catalog.ts'
import type { Needs } from './endpoints.ts'
import { checkOrder, dateFaults } from './order-faults.ts'
import { wholeDays } from './periods.ts'
import { RunId } from './run.ts'
import { lockClient, queueOneOff, requireQueueSpace } from './runs.ts'
import { loggers_max, SubscriptionOrder } from './subscription.ts'

const { template_id, timezone, format, parameters } = SubscriptionOrder.properties

const one_off_fields = {
  template_id,
  start_date: field.Day('First day of the report, local date in `timezone`.'),
  end_date: field.Day('Last day of the report. Must be before today.'),
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

/** Queues the run and returns its id; @throws ApiError invalid with all faults */
async function orderOnce(
  tx: Transaction,
  order: Static<typeof OneOffOrder>,
  of: { site_id: string; timezone: string; caller: Caller; catalog: Catalog; now: Date },
): Promise<string> {
  const { site_id, caller, now } = of
  const whole = { timezone: of.timezone, parameters: {}, logger_ids: null, ...order }
  const checked = await checkOrder(tx, of, whole, 'not_allowed_value')
  const { template, timezone, parameters } = checked
  const faults =
    template && timezone ? dateFaults(order, template, localDate(now.getTime(), timezone)) : []
  if (checked.faults.length + faults.length > 0) throw invalid(...checked.faults, ...faults)
  await lockClient(tx, caller.client_id)
  await requireQueueSpace(tx, site_id)
  return queueOneOff(tx, {
    site_id,
    template_id: whole.template_id,
    format: whole.format,
    logger_ids: whole.logger_ids,
    name: template!.name,
    timezone: timezone!,
    period: wholeDays({ first: order.start_date, last: order.end_date }, timezone!),
    parameters,
    key_id: caller.key_id,
    requested_by: caller.key_name,
    now,
  })
}

export const orderReport = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'operator',
  method: 'POST',
  path: '/platform/report-runs',
  operation_id: 'platform_report_order',
  summary: 'Order a one-off report',
  description:
    'Returns the queued run. The run is listed with `trigger` `manual` and without a subscription, ' +
    'and is not mailed. Rejected with 409 while the site is in safe mode or 20 runs are queued.',
  body: Closed({ site_id: SiteId, ...one_off_fields }),
  status: 202,
  returns: Named('PlatformQueuedReport', { run_id: RunId, status: Type.Enum(['queued']) }),
  example: {
    body: {
      site_id: 'demo',
      template_id: 'losses',
      start_date: '2026-05-11',
      end_date: '2026-05-24',
      format: 'pdf',
    },
  },
  async handle({ tx, caller, body }, { clock, reportCatalog }: Needs) {
    const { site_id, ...order } = body
    requireModule(caller, 'basic_scada')
    const key = siteKey(caller.client_id, site_id)
    const site = isGiven(site_id, caller) ? (await loadSites(tx, [key])).get(key) : undefined
    if (!site) throw badField('site_id', 'unknown_reference', 'is not a site of the client')
    refuseInSafeMode(site)
    const { timezone } = site
    const of = { site_id, timezone, caller, catalog: reportCatalog, now: clock.now() }
    return { run_id: await orderOnce(tx, order, of), status: 'queued' as const }
  },
})
