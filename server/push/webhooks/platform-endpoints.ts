/** The webhooks of a client, managed by its administrators. */
import { Type } from 'typebox'
import { adminOf } from '../../access/admin.ts'
import { asAnswer, forAdministrators, type PlatformNeeds } from '../../access/platform-operation.ts'
import { Name, SiteId, SiteIds } from '../../access/schemas.ts'
import { eventTypes } from '../../events/event-types.ts'
import { pageOf } from '../../http/cursor.ts'
import { endpoint, type Request } from '../../http/endpoint.ts'
import { CursorList, cursorList, List, list } from '../../http/envelope.ts'
import * as field from '../../http/fields.ts'
import { Closed, Named, Nullable } from '../../http/params.ts'
import { served } from '../../storage/records.ts'
import { EventId } from '../event.ts'
import { deliveryStates, readDeliveries } from './delivery-store.ts'
import type { SendSettings } from './send.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  overlap_s_default,
  readWebhooks,
  replay,
  requireWebhook,
  rotateSecret,
  type ShownWebhook,
  type Webhook,
} from './store.ts'
import { sendTest, test_timeout_ms } from './test-message.ts'

export interface Needs extends PlatformNeeds {
  webhooks: SendSettings
}

const WebhookId = field.Text('A webhook of the client.', {
  pattern: '^wh_[0-9a-f]{12}$',
  examples: ['wh_0123456789ab'],
})
const params = { webhook_id: WebhookId }

const Url = field.Text('The address to which events are sent: https, of the public internet.', {
  maxLength: 2000,
  examples: ['https://example.com/heliograph'],
})
const Types = Nullable(
  Type.Array(Type.Enum([...eventTypes]), {
    minItems: 1,
    uniqueItems: true,
    description: 'The types that are sent; null for all.',
    examples: [['alert.raised']],
  }),
)

const fields = {
  webhook_id: WebhookId,
  name: field.Text('Name of the webhook.', 'Ticket system'),
  url: Url,
  types: Types,
  site_ids: SiteIds,
  state: field.OneOf(
    ['active', 'paused', 'off'],
    '`paused`: events wait. `off`: deliveries failed for three days; events are not queued.',
  ),
  created_at: field.At('When the webhook was created.'),
  created_by: field.Text('The name of the person who created it.', 'Ada'),
  failing_since_at: field.AtOrNull('Since when all deliveries have failed; null otherwise.'),
}
const WebhookRecord = Named('Webhook', fields)
const ShownRecord = Named('ShownWebhook', {
  ...fields,
  secret: field.Text('The secret that signs the requests. Shown once.', 'whsec_c2VjcmV0'),
})

const recordOf = (webhook: Webhook) => served(WebhookRecord, webhook)
const shown = (webhook: ShownWebhook) => served(ShownRecord, webhook)

type Asked = Pick<Request<{ webhook_id: string }, unknown, unknown>, 'caller' | 'params'>

const keyOf = ({ caller: { client_id }, params: { webhook_id } }: Asked) => ({
  client_id,
  webhook_id,
})

export const getWebhooks = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/webhooks',
  operation_id: 'platform_webhooks_list',
  summary: 'List the webhooks of the client',
  returns: List(WebhookRecord),
  handle: async ({ caller }, { db }: Needs) =>
    list((await readWebhooks(db, caller.client_id)).map(recordOf)),
})

export const createWebhookEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/webhooks',
  operation_id: 'platform_webhook_create',
  summary: 'Create a webhook',
  description:
    'Returns the new webhook with its secret, only once. Events are sent from now on, each at ' +
    'least once and signed by Standard Webhooks. Rejected with 422 when `url` leads to an address ' +
    'that is not of the public internet, unless the operator of the server allows its network.',
  body: Closed({
    name: Name,
    url: Url,
    types: Type.Optional(Types),
    site_ids: Type.Optional(SiteIds),
  }),
  status: 201,
  shown_once: true,
  returns: ShownRecord,
  example: {
    body: { name: 'Ticket system', url: 'https://example.com/heliograph', types: ['alert.raised'] },
  },
  async handle({ tx, caller, body }, needs: Needs) {
    const { name, url, types = null, site_ids = null } = body
    const settings = { name, url, types, site_ids, created_by: caller.key_name }
    const admin = adminOf(tx, needs)
    return shown(
      await asAnswer(() => createWebhook(admin, caller.client_id, settings, needs.webhooks)),
    )
  },
})

export const changeWebhookEndpoint = endpoint({
  ...forAdministrators,
  method: 'PATCH',
  path: '/platform/webhooks/{webhook_id}',
  operation_id: 'platform_webhook_change',
  summary: 'Change, pause or activate a webhook',
  description:
    'Returns the changed webhook. Omitted fields stay. Events that happen while a webhook is ' +
    '`paused` are sent when it is `active` again.',
  params,
  body: Closed({
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    types: Type.Optional(Types),
    site_ids: Type.Optional(SiteIds),
    state: Type.Optional(field.OneOf(['active', 'paused'], 'Whether events are sent.')),
  }),
  returns: WebhookRecord,
  example: { body: { state: 'paused' } },
  async handle(request, needs: Needs) {
    const admin = adminOf(request.tx, needs)
    return recordOf(
      await asAnswer(() => changeWebhook(admin, keyOf(request), request.body, needs.webhooks)),
    )
  },
})

export const rotateWebhookEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/webhooks/{webhook_id}/rotate',
  operation_id: 'platform_webhook_rotate',
  summary: 'Rotate the secret of a webhook',
  description:
    'Returns the webhook with a new secret, only once. Until the overlap ends, each request is ' +
    'signed with both secrets.',
  params,
  body: Closed({
    overlap_s: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: overlap_s_default }),
    ),
  }),
  shown_once: true,
  returns: ShownRecord,
  example: { body: { overlap_s: 86_400 } },
  async handle(request, needs: Needs) {
    const { overlap_s = overlap_s_default } = request.body
    const admin = adminOf(request.tx, needs)
    return shown(await asAnswer(() => rotateSecret(admin, keyOf(request), overlap_s)))
  },
})

export const deleteWebhookEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/webhooks/{webhook_id}',
  operation_id: 'platform_webhook_delete',
  summary: 'Delete a webhook',
  description: 'Returns the deleted webhook. Its waiting deliveries are deleted, too.',
  params,
  returns: WebhookRecord,
  example: {},
  handle: async (request, needs: Needs) =>
    recordOf(await asAnswer(() => deleteWebhook(adminOf(request.tx, needs), keyOf(request)))),
})

const attempt = {
  at: field.At('When the request was sent.'),
  duration_ms: field.Count('Until the answer, or the failure.', 84),
  status: field.IntOrNull('Status of the answer; null without one.', { examples: [200] }),
  answer: field.TextOrNull('The first kilobyte of the answer; null without one.', 'ok'),
  failure: field.TextOrNull('Why the attempt failed; null for a status 2XX.'),
}
const Attempt = Named('WebhookAttempt', attempt)

export const testWebhook = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/webhooks/{webhook_id}/test',
  operation_id: 'platform_webhook_test',
  summary: 'Send a test message',
  description:
    'Sends a signed message of the type `webhook.test` at once, whatever the state of the webhook, ' +
    `and returns the answer of the receiver, which has ${test_timeout_ms / 1000} s.`,
  params,
  returns: Attempt,
  example: {},
  handle: (request, needs: Needs) =>
    asAnswer(() => sendTest(adminOf(request.tx, needs), keyOf(request), needs.webhooks)),
})

const Delivery = Named('WebhookDelivery', {
  site_id: SiteId,
  event_id: EventId,
  type: field.OneOf(eventTypes, 'The type of the event.'),
  state: field.OneOf(
    deliveryStates,
    '`failed`: not delivered within three days, or the webhook was switched off.',
  ),
  next_try_at: field.AtOrNull('When the next attempt is due; null unless `waiting`.'),
  attempts: Type.Array(Attempt, { description: 'All attempts, the newest first.' }),
})

export const getDeliveries = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/webhooks/{webhook_id}/deliveries',
  operation_id: 'platform_webhook_deliveries_list',
  summary: 'List the deliveries of a webhook',
  description: 'Returns deliveries with their attempts, the newest event first, for 30 days.',
  params,
  query: {
    state: Type.Optional(field.OneOf(deliveryStates, 'Only deliveries in this state.')),
  },
  cursor: { event_id: EventId, site_id: Type.String({ pattern: '^[a-z0-9_-]{1,64}$' }) },
  returns: CursorList(Delivery),
  async handle(request, { db }: Needs) {
    await asAnswer(() => requireWebhook(db, keyOf(request)))
    const { query, after } = request
    const page_size = 50
    const order = { ...keyOf(request), state: query.state ?? null, after, limit: page_size + 1 }
    const { rows, count } = await readDeliveries(db, order)
    const placeOf = ({ event_id, site_id }: (typeof rows)[number]) => ({ event_id, site_id })
    return cursorList(pageOf(rows, page_size, placeOf), count)
  },
})

export const replayEvents = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/webhooks/{webhook_id}/replay',
  operation_id: 'platform_webhook_replay',
  summary: 'Send events once more',
  description:
    'Queues the events of a span of ids, or one event, with the same ids as before. Returns how ' +
    'many of them the webhook gets by its types and sites.',
  params,
  body: Closed({
    site_id: SiteId,
    first_event_id: EventId,
    last_event_id: Type.Optional({
      ...EventId,
      description: 'Inclusive; defaults to `first_event_id`.',
    }),
  }),
  status: 202,
  returns: Named('WebhookReplay', { count: field.Count('Queued deliveries.', 1) }),
  example: { body: { site_id: 'demo', first_event_id: 1_782_000_000_000_000 } },
  async handle(request, needs: Needs) {
    const { site_id, first_event_id, last_event_id = first_event_id } = request.body
    const span = { site_id, first_event_id, last_event_id }
    const admin = adminOf(request.tx, needs)
    return { count: await asAnswer(() => replay(admin, keyOf(request), span)) }
  },
})
