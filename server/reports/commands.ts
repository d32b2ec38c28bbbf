/** Writes of subscriptions, in the transaction of the request. */
import type { Caller, Request, WriteParts } from '../http/endpoint.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { requireMatch } from '../http/etag.ts'
import { askRecipients } from '../mail/recipients.ts'
import type { Transaction } from '../storage/database.ts'
import type { Catalog } from './catalog.ts'
import { checkOrder, subscriptionFaults } from './order-faults.ts'
import { failQueuedRuns, lockClient, queueRun, requireQueueSpace } from './runs.ts'
import type { NewSubscription, SubscriptionChange } from './schemas.ts'
import {
  type ReportSubscription,
  type StoredOrder,
  type StoredSubscription,
  type SubscriptionOrder,
  subscriptionRecord,
} from './subscription.ts'
import {
  countRecipients,
  countSubscriptions,
  deleteSubscription,
  insertSubscription,
  lockSubscription,
  readSubscription,
  updateSubscription,
} from './subscriptions.ts'

/** Per site. */
const subscriptions_max = 200
/** Addresses of a client across all of its subscriptions. */
const client_recipients_max = 100

/** An existing excess of addresses is tolerated. */
async function limitRecipients(
  { tx, site_id }: Actor,
  sub_id: number | null,
  { recipients }: SubscriptionOrder | StoredOrder,
): Promise<void> {
  const { before, after } = await countRecipients(tx, { site_id, sub_id }, recipients)
  if (after <= Math.max(before, client_recipients_max)) return
  const message = `a client may have at most ${client_recipients_max} recipients: remove some`
  throw new ApiError('conflict_state', {
    current_state: 'too_many_recipients',
    recipients_max: client_recipients_max,
    message,
  })
}

interface Actor {
  tx: Transaction
  site_id: string
  caller: Caller
  if_match: string | null
  catalog: Catalog
  now: Date
}

export function actorOf(
  { site, caller, tx, if_match }: Request<unknown, unknown, unknown> & WriteParts,
  catalog: Catalog,
  now: Date,
): Actor {
  return { tx, site_id: site.site_id, caller, if_match, catalog, now }
}

export async function create(
  actor: Actor,
  { timezone, ...body }: NewSubscription & { timezone: string },
): Promise<ReportSubscription> {
  const { tx, site_id, caller, now } = actor
  const order = await checked(actor, {
    enabled: true,
    day_of_week: null,
    day_of_month: null,
    time_of_day: '06:00',
    timezone,
    language: 'en',
    webhook_id: null,
    parameters: {},
    logger_ids: null,
    ...body,
  })
  await lockClient(tx, caller.client_id)
  if ((await countSubscriptions(tx, site_id)) >= subscriptions_max) {
    const message = `a site may have at most ${subscriptions_max} subscriptions: delete some`
    throw new ApiError('conflict_state', { current_state: 'full', message })
  }
  await limitRecipients(actor, null, order)
  const sub_id = await insertSubscription(tx, site_id, order, { by: caller, now })
  await askRecipients(tx, { site_id, recipients: order.recipients }, now)
  return present(actor, sub_id)
}

export async function change(
  actor: Actor,
  sub_id: number,
  body: SubscriptionChange,
): Promise<ReportSubscription> {
  const { tx, site_id, caller, now } = actor
  const before = await lock(actor, sub_id)
  if (Object.keys(body).length === 0) return subscriptionRecord(before)
  const order = await checked(actor, changed(before, body))
  await lockClient(tx, caller.client_id)
  await limitRecipients(actor, sub_id, order)
  await updateSubscription(tx, { site_id, sub_id }, { before, order, by: caller, now })
  await askRecipients(tx, { site_id, recipients: order.recipients }, now)
  if (!order.enabled) {
    const code = 'subscription_disabled'
    await failQueuedRuns(tx, { site_id, sub_id }, { code, now, triggers: ['schedule'] })
  }
  return present(actor, sub_id)
}

/** Omitted fields stay unless they do not fit the change. */
function changed(before: StoredSubscription, body: SubscriptionChange): SubscriptionOrder {
  const { frequency = before.frequency, template_id = before.template_id } = body
  return {
    ...before,
    webhook_id: null,
    ...(frequency !== 'weekly' && { day_of_week: null }),
    ...((frequency === 'daily' || frequency === 'weekly') && { day_of_month: null }),
    ...(template_id !== before.template_id && { parameters: {} }),
    ...body,
  }
}

export async function remove(actor: Actor, sub_id: number): Promise<void> {
  const { tx, site_id, now } = actor
  await lock(actor, sub_id)
  await deleteSubscription(tx, { site_id, sub_id })
  const code = 'subscription_deleted'
  await failQueuedRuns(tx, { site_id, sub_id }, { code, now, triggers: ['schedule', 'api'] })
}

export async function runNow(actor: Actor, sub_id: number): Promise<string> {
  const { tx, site_id, caller, now } = actor
  const subscription = await lock(actor, sub_id)
  await lockClient(tx, caller.client_id)
  await requireQueueSpace(tx, site_id)
  const requested_by = caller.key_name
  const run_id = await queueRun(tx, { site_id, subscription, requested_by, due: null, now })
  return run_id!
}

/** @throws ApiError not_found, precondition_failed */
async function lock(actor: Actor, sub_id: number): Promise<StoredSubscription> {
  const { tx, site_id, if_match, now } = actor
  const subscription = found(await lockSubscription(tx, { site_id, sub_id }, now), { sub_id })
  requireMatch(if_match, subscriptionRecord(subscription))
  return subscription
}

async function present({ tx, site_id, now }: Actor, sub_id: number): Promise<ReportSubscription> {
  return subscriptionRecord((await readSubscription(tx, { site_id, sub_id }, now))!)
}

/** The order with its defaults; @throws ApiError invalid with all faults */
async function checked(actor: Actor, order: SubscriptionOrder): Promise<StoredOrder> {
  const checks = await checkOrder(actor.tx, actor, order, 'invalid_format')
  const faults = [...checks.faults, ...subscriptionFaults(order, checks.template)]
  if (faults.length > 0) throw invalid(...faults)
  return { ...order, parameters: checks.parameters, timezone: checks.timezone! }
}
