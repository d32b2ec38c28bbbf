/** One-off reports over freely chosen dates. */

import { localDate } from '@heliograph/domain/local-day'
import { type Static, Type } from 'typebox'
import type { Caller } from '../http/endpoint.ts'
import { invalid } from '../http/errors.ts'
import * as field from '../http/fields.ts'
import { id_max, Nullable } from '../http/params.ts'
import type { Transaction } from '../storage/database.ts'
import type { Catalog } from './catalog.ts'
import { checkOrder, dateFaults } from './order-faults.ts'
import { wholeDays } from './periods.ts'
import { lockClient, queueOneOff, requireQueueSpace } from './runs.ts'
import { loggers_max, SubscriptionOrder } from './subscription.ts'

const { template_id, timezone, format, parameters } = SubscriptionOrder.properties

export const one_off_fields = {
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
export async function orderOnce(
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
    ...whole,
    site_id,
    name: template!.name,
    timezone: timezone!,
    period: wholeDays({ first: order.start_date, last: order.end_date }, timezone!),
    parameters,
    key_id: caller.key_id,
    requested_by: caller.key_name,
    now,
  })
}
