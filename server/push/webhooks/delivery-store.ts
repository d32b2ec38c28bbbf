/** Deliveries of events to webhooks, in the database. */
import type { EventType } from '../../events/event-types.ts'
import { queueMail } from '../../mail/outbox.ts'
import type { Queries } from '../../storage/database.ts'
import { eventOf, type SiteEvent, type StoredEvent } from '../event.ts'
import { decrypted } from './secrets.ts'
import type { Sent } from './send.ts'

interface DeliveryKey {
  site_id: string
  event_id: number
  webhook_id: string
}

export interface ClaimedDelivery extends DeliveryKey {
  url: string
  /** Attempts including this one. Also identifies the claim. */
  tries: number
  first_tried_at: Date
  event: SiteEvent
}

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const
type DeliveryState = (typeof deliveryStates)[number]

const waiting = `
  webhooks w
    join sites s on s.client_id = w.client_id
    join webhook_deliveries d on d.site_id = s.site_id and d.webhook_id = w.webhook_id
      and d.state = 'waiting'`

/** Claims the oldest due deliveries for `lease_ms`, after which any server may claim them. */
export async function claimDeliveries(
  db: Queries,
  of: { webhook_id: string; now: Date; lease_ms: number; limit: number },
): Promise<ClaimedDelivery[]> {
  const { webhook_id, now, lease_ms, limit } = of
  const due = await db.query<DeliveryKey & { url: string }>(
    `select d.site_id, d.event_id, w.url from ${waiting}
     where w.webhook_id = $1 and w.state = 'active' and d.next_try_at <= $2
     order by d.event_id limit $3`,
    [webhook_id, now, limit],
  )
  const claimed: ClaimedDelivery[] = []
  for (const [site_id, of_site] of Map.groupBy(due, (each) => each.site_id)) {
    // Another server may have claimed some meanwhile.
    const rows = await db.query<Omit<ClaimedDelivery, 'url' | 'event'> & StoredEvent>(
      `update webhook_deliveries d
       set tries = d.tries + 1, next_try_at = $3, first_tried_at = coalesce(d.first_tried_at, $2)
       from published_events e
       where d.site_id = $5 and d.event_id = any ($4) and d.webhook_id = $1
         and d.state = 'waiting' and d.next_try_at <= $2
         and e.site_id = d.site_id and e.event_id = d.event_id
       returning d.site_id, d.event_id, d.webhook_id, d.tries, d.first_tried_at, e.at, e.type,
         e.subject, e.link, e.record`,
      [
        webhook_id,
        now,
        new Date(now.getTime() + lease_ms),
        of_site.map(({ event_id }) => event_id),
        site_id,
      ],
    )
    const { url } = of_site[0]!
    claimed.push(
      ...rows.map(({ event_id, tries, first_tried_at, ...event }) => ({
        site_id,
        event_id,
        webhook_id,
        url,
        tries,
        first_tried_at,
        event: eventOf(site_id, { event_id, ...event }),
      })),
    )
  }
  // Others may be due where another server has claimed all of these.
  if (due.length > 0 && claimed.length === 0) return claimDeliveries(db, of)
  return claimed.sort((a, b) => a.event_id - b.event_id)
}

export const dueWebhooks = (db: Queries, now: Date) =>
  db.query<{ webhook_id: string }>(
    `select distinct w.webhook_id from ${waiting}
     where w.state = 'active' and d.next_try_at <= $1`,
    [now],
  )

/** When the next delivery is due; null without one. */
export async function nextTry(db: Queries): Promise<Date | null> {
  const [row] = await db.query<{ next_try_at: Date | null }>(
    `select min(d.next_try_at) as next_try_at from ${waiting} where w.state = 'active'`,
  )
  return row!.next_try_at
}

/** The secrets that sign, the newest first; null for a deleted webhook. */
export async function readWebhookKeys(
  db: Queries,
  webhook_id: string,
  now: Date,
): Promise<string[] | null> {
  const row = await db.queryOne<{ secrets: (Buffer | null)[] }>(
    `select array[secret, case when previous_until > $2 then previous_secret end] as secrets
     from webhooks where webhook_id = $1`,
    [webhook_id, now],
  )
  if (!row) return null
  const stored = row.secrets.filter((secret) => secret !== null)
  return Promise.all(stored.map((secret) => decrypted(db, webhook_id, secret)))
}

export interface Settlement extends Sent {
  at: Date
  state: DeliveryState
  next_try_at: Date
}

/** Stores an attempt and its result; returns since when the webhook fails, null if it does not. */
export async function settle(
  tx: Queries,
  { site_id, event_id, webhook_id, tries }: ClaimedDelivery,
  { at, duration_ms, status, answer, failure, state, next_try_at }: Settlement,
  now: Date,
): Promise<Date | null> {
  // Another server may have claimed the delivery since, or the webhook was deleted.
  const kept = await tx.execute(
    `update webhook_deliveries set state = $5, next_try_at = $6
     where site_id = $1 and event_id = $2 and webhook_id = $3 and tries = $4`,
    [site_id, event_id, webhook_id, tries, state, next_try_at],
  )
  if (kept === 0) return null
  await tx.execute(
    `insert into webhook_attempts (site_id, event_id, webhook_id, attempt_id, at, duration_ms,
       status, answer, failure)
     values ($1, $2, $3, gen_random_uuid(), $4, $5, $6, $7, $8)`,
    [site_id, event_id, webhook_id, at, duration_ms, status, answer, failure],
  )
  const [webhook] = await tx.query<{ failing_since_at: Date | null }>(
    `update webhooks
     set failing_since_at = case when $2 then null else coalesce(failing_since_at, $3) end
     where webhook_id = $1 and ($2 and failing_since_at is not null
       or not $2 and failing_since_at is null)
     returning failing_since_at`,
    [webhook_id, failure === null, now],
  )
  if (failure === null) return null
  if (webhook) return webhook.failing_since_at
  const row = await tx.queryOne<{ failing_since_at: Date | null }>(
    'select failing_since_at from webhooks where webhook_id = $1',
    [webhook_id],
  )
  return row?.failing_since_at ?? null
}

/** Switches a failing webhook off, once, and mails the administrators of its client. */
export async function switchOff(
  tx: Queries,
  { site_id, webhook_id }: DeliveryKey,
  since: Date,
): Promise<void> {
  const webhook = await tx.queryOne<{ client_id: number; name: string; url: string }>(
    `update webhooks set state = 'off' where webhook_id = $1 and state = 'active'
     returning client_id, name, url`,
    [webhook_id],
  )
  if (!webhook) return
  await tx.execute(
    `update webhook_deliveries d set state = 'failed' from sites s
     where s.client_id = $1 and d.site_id = s.site_id and d.webhook_id = $2
       and d.state = 'waiting'`,
    [webhook.client_id, webhook_id],
  )
  const people = await tx.query<{ email: string }>(
    `select email from users
     where client_id = $1 and role = 'administrator' and disabled_at is null`,
    [webhook.client_id],
  )
  for (const { email } of people) {
    await queueMail(tx, {
      site_id,
      dedup_key: `webhook_off:${webhook_id}:${since.toISOString()}`,
      recipient: email,
      subject: `Webhook switched off: ${webhook.name}`,
      text:
        `All deliveries to ${webhook.url} have failed since ${since.toISOString()}. The webhook ` +
        'is switched off. Activate it when the receiver works again, and replay the events that ' +
        'it missed; events are kept for 30 days.',
    })
  }
}

interface ListedDelivery {
  site_id: string
  event_id: number
  type: EventType
  state: DeliveryState
  next_try_at: string | null
  attempts: (Sent & { at: string })[]
}

interface DeliveriesPage {
  client_id: number
  webhook_id: string
  state: DeliveryState | null
  after: { event_id: number; site_id: string } | null
  limit: number
}

/** Deliveries with their attempts, the newest event first; `count` covers all pages. */
export async function readDeliveries(
  db: Queries,
  { client_id, webhook_id, state, after, limit }: DeliveriesPage,
): Promise<{ rows: ListedDelivery[]; count: number }> {
  const from = `from sites s join webhook_deliveries d using (site_id)
    where s.client_id = $1 and d.webhook_id = $2 and ($3::text is null or d.state = $3)`
  const all = [client_id, webhook_id, state]
  const counted = await db.queryOne<{ count: number }>(`select count(*) as count ${from}`, all)
  type Row = Omit<ListedDelivery, 'next_try_at'> & { next_try_at: Date }
  const rows = await db.query<Row>(
    `with page as (
       select d.* ${from} and ($4::bigint is null or (d.event_id, d.site_id) < ($4, $5::text))
       order by d.event_id desc, d.site_id desc limit $6
     )
     select p.site_id, p.event_id, e.type, p.state, p.next_try_at, coalesce((
       select json_agg(json_build_object(
         'at', to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'duration_ms', a.duration_ms, 'status', a.status, 'answer', a.answer,
         'failure', a.failure) order by a.at desc)
       from webhook_attempts a where a.site_id = e.site_id and a.event_id = p.event_id
         and a.webhook_id = p.webhook_id), '[]') as attempts
     from page p join published_events e using (site_id, event_id)
     order by p.event_id desc, p.site_id desc`,
    [...all, after?.event_id ?? null, after?.site_id ?? null, limit],
  )
  const listed = rows.map((row) => ({
    ...row,
    next_try_at: row.state === 'waiting' ? row.next_try_at.toISOString() : null,
  }))
  return { rows: listed, count: counted!.count }
}
