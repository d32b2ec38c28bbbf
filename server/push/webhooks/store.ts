/** Webhooks of a client: made, changed and deleted by its administrators. */
import { randomBytes } from 'node:crypto'
import { type Admin, AdminError, checkName } from '../../access/admin.ts'
import { type EventType, isEventType } from '../../events/event-types.ts'
import { queued_channel } from '../../events/publish.ts'
import type { Queries } from '../../storage/database.ts'
import { insertRow } from '../../storage/rows.ts'
import { addressOf, urlFault } from './addresses.ts'
import { encrypted, newSecret } from './secrets.ts'
import { resolveAll, type SendSettings } from './send.ts'

export interface Webhook {
  webhook_id: string
  client_id: number
  name: string
  url: string
  /** null for all types. */
  types: EventType[] | null
  /** null for all sites of the client. */
  site_ids: string[] | null
  state: 'active' | 'paused' | 'off'
  created_at: Date
  created_by: string
  failing_since_at: Date | null
}

export type WebhookKey = Pick<Webhook, 'client_id' | 'webhook_id'>

type WebhookSettings = Pick<Webhook, 'name' | 'url' | 'types' | 'site_ids'>

/** With the secret, which cannot be read again. */
export type ShownWebhook = Webhook & { secret: string }

const webhooks_max = 50
export const overlap_s_default = 86_400

const columns = `webhook_id, client_id, name, url, types, site_ids, state, created_at, created_by,
  failing_since_at`

export const readWebhooks = (db: Queries, client_id: number) =>
  db.query<Webhook>(
    `select ${columns} from webhooks where client_id = $1 order by created_at, webhook_id`,
    [client_id],
  )

/** Locks and reads a webhook. */
export async function requireWebhook(
  db: Queries,
  { client_id, webhook_id }: WebhookKey,
): Promise<Webhook> {
  const found = await db.queryOne<Webhook>(
    `select ${columns} from webhooks where client_id = $1 and webhook_id = $2 for update`,
    [client_id, webhook_id],
  )
  if (!found) throw new AdminError('not_found', `there is no webhook ${webhook_id}`)
  return found
}

/** @throws AdminError for settings that cannot be of a webhook of the client */
async function checkSettings(
  db: Queries,
  client_id: number,
  { name, url, types, site_ids }: WebhookSettings,
) {
  checkName('name', name)
  const invalid = (field: string, what: string) =>
    new AdminError('invalid', `${field} ${what}`, { field })
  const fault = urlFault(url)
  if (fault !== null) throw invalid('url', fault)
  const unknown = types?.find((type) => !isEventType(type))
  if (unknown !== undefined) throw invalid('types', `has no type ${unknown}`)
  if (site_ids === null) return
  const sites = await db.query<{ site_id: string }>(
    'select site_id from sites where client_id = $1 and site_id = any ($2)',
    [client_id, site_ids],
  )
  const known = new Set(sites.map(({ site_id }) => site_id))
  const other = site_ids.find((site_id) => !known.has(site_id))
  if (other !== undefined) throw invalid('site_ids', `has no site ${other}`)
}

/** @throws AdminError for an address to which nothing is sent */
async function checkAddress(text: string, { networks, resolve }: SendSettings): Promise<void> {
  await addressOf(new URL(text), { networks, resolve: resolve ?? resolveAll }).catch(
    (error: Error) => {
      throw new AdminError('invalid', `url: ${error.message}`, { field: 'url' })
    },
  )
}

export function createWebhook(
  { db, clock }: Admin,
  client_id: number,
  { created_by, ...settings }: WebhookSettings & { created_by: string },
  sending: SendSettings,
): Promise<ShownWebhook> {
  return db.transaction(async (tx) => {
    await tx.execute('select from clients where client_id = $1 for update', [client_id])
    await checkSettings(tx, client_id, settings)
    await checkAddress(settings.url, sending)
    const others = await readWebhooks(tx, client_id)
    if (others.length >= webhooks_max) {
      throw new AdminError('conflict', `the client has ${webhooks_max} webhooks already`)
    }
    const webhook_id = `wh_${randomBytes(6).toString('hex')}`
    const secret = newSecret()
    const webhook = {
      ...settings,
      client_id,
      webhook_id,
      state: 'active',
      secret: await encrypted(tx, webhook_id, secret),
      created_at: clock.now(),
      created_by,
    }
    const made = await insertRow<Webhook>(tx, 'webhooks', webhook, `returning ${columns}`)
    return { ...made!, secret }
  })
}

export function changeWebhook(
  { db }: Admin,
  { client_id, webhook_id }: WebhookKey,
  changes: Partial<WebhookSettings & { state: 'active' | 'paused' }>,
  sending: SendSettings,
): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const before = await requireWebhook(tx, { client_id, webhook_id })
    const { name, url, types, site_ids, state } = { ...before, ...changes }
    await checkSettings(tx, client_id, { name, url, types, site_ids })
    if (url !== before.url) await checkAddress(url, sending)
    const [after] = await tx.query<Webhook>(
      `update webhooks set name = $3, url = $4, types = $5, site_ids = $6, state = $7,
         failing_since_at = case when $8 then null else failing_since_at end
       where client_id = $1 and webhook_id = $2 returning ${columns}`,
      [client_id, webhook_id, name, url, types, site_ids, state, changes.state === 'active'],
    )
    await tx.execute('select pg_notify($1, $2)', [queued_channel, webhook_id])
    return after!
  })
}

/** Gives a new secret; the present one signs beside it for `overlap_s`. */
export function rotateSecret(
  { db, clock }: Admin,
  { client_id, webhook_id }: WebhookKey,
  overlap_s: number,
): Promise<ShownWebhook> {
  return db.transaction(async (tx) => {
    const webhook = await requireWebhook(tx, { client_id, webhook_id })
    const secret = newSecret()
    await tx.execute(
      `update webhooks set previous_secret = secret, previous_until = $4, secret = $3
       where client_id = $1 and webhook_id = $2`,
      [
        client_id,
        webhook_id,
        await encrypted(tx, webhook_id, secret),
        new Date(clock.now().getTime() + 1000 * overlap_s),
      ],
    )
    return { ...webhook, secret }
  })
}

/** Deletes a webhook with its deliveries. */
export function deleteWebhook(
  { db }: Admin,
  { client_id, webhook_id }: WebhookKey,
): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const webhook = await requireWebhook(tx, { client_id, webhook_id })
    await tx.execute(
      `delete from webhook_deliveries d using sites s
       where s.client_id = $1 and d.site_id = s.site_id and d.webhook_id = $2`,
      [client_id, webhook_id],
    )
    await tx.execute('delete from webhooks where client_id = $1 and webhook_id = $2', [
      client_id,
      webhook_id,
    ])
    return webhook
  })
}

interface Span {
  site_id: string
  /** Ids of events, both inclusive. */
  first_event_id: number
  last_event_id: number
}

/** Delivers the events of a span once more, with the same ids; returns how many. */
export function replay(
  { db, clock }: Admin,
  { client_id, webhook_id }: WebhookKey,
  { site_id, first_event_id, last_event_id }: Span,
): Promise<number> {
  return db.transaction(async (tx) => {
    await requireWebhook(tx, { client_id, webhook_id })
    const count = await tx.execute(
      `insert into webhook_deliveries as d (site_id, event_id, webhook_id, next_try_at)
       select e.site_id, e.event_id, w.webhook_id, $6
       from sites s
         join webhooks w on w.client_id = s.client_id and w.webhook_id = $2
         join published_events e on e.site_id = s.site_id and e.event_id between $4 and $5
       where s.client_id = $1 and s.site_id = $3 and (w.types is null or e.type = any (w.types))
         and (w.site_ids is null or e.site_id = any (w.site_ids))
       on conflict (site_id, event_id, webhook_id) do update
         set state = 'waiting', next_try_at = $6, tries = 0, first_tried_at = null`,
      [client_id, webhook_id, site_id, first_event_id, last_event_id, clock.now()],
    )
    await tx.execute('select pg_notify($1, $2)', [queued_channel, webhook_id])
    return count
  })
}
