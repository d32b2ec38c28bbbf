/**
 * Publishes what happened at a site, in the transaction that made it happen.
 *
 * The id of an event is the time of the database in microseconds, or the id after the newest event
 * of the site if that is higher. The counter of the site is locked from there to the commit: a
 * reader that has passed an id has seen every lower one.
 */
import { day_ms } from '@heliograph/domain/durations'
import type { Queries, Transaction } from '../storage/database.ts'
import type { EventType } from './event-types.ts'

/** Notified when events of a site are committed; the payload is the site_id. */
export const published_channel = 'event_published'

/** Notified when deliveries of a webhook are due; the payload is the webhook_id. */
export const queued_channel = 'webhook_queued'

const record_bytes_max = 64 * 1024

export interface NewEvent {
  site_id: string
  at: Date
  type: EventType
  /** The resource, as `alert/118`. Events of one subject are published in their order. */
  subject: string
  /** Path of the resource below the site, or of the list that has it. */
  link: string
  /** As the API serves it, without what needs a further scope. */
  record: object
}

export const publish = (tx: Transaction, event: NewEvent): void => tx.collect(store, event)

async function store(tx: Queries, events: readonly NewEvent[]): Promise<void> {
  const rows = events.map(({ record, ...event }, nth) => {
    const is_small = Buffer.byteLength(JSON.stringify(record)) <= record_bytes_max
    return { ...event, nth, record: is_small ? record : null }
  })
  await tx.execute(storing, [JSON.stringify(rows)])
}

const storing = {
  name: 'store_events',
  text: `
    with given as (
      select * from json_to_recordset($1::json) as g (
        nth integer, site_id text, at timestamptz, type text, subject text, link text, record json)
    ), counted as (
      insert into event_counters as c (site_id, last_event_id, added)
      select site_id, (extract(epoch from clock_timestamp()) * 1e6)::bigint, count(*)
      from given group by site_id order by site_id
      on conflict (site_id) do update set
        last_event_id = greatest(excluded.last_event_id, c.last_event_id + excluded.added),
        added = excluded.added
      returning site_id, last_event_id, added
    ), stored as (
      insert into published_events (site_id, event_id, at, type, subject, link, record)
      select site_id,
        last_event_id - added + row_number() over (partition by site_id order by nth),
        at, type, subject, link, record
      from given join counted using (site_id)
      returning site_id, event_id, at, type
    ), queued as (
      insert into webhook_deliveries (site_id, event_id, webhook_id, next_try_at)
      select e.site_id, e.event_id, w.webhook_id, e.at
      from stored e join sites s using (site_id) join webhooks w on w.client_id = s.client_id
      where w.state <> 'off' and (w.types is null or e.type = any (w.types))
        and (w.site_ids is null or e.site_id = any (w.site_ids))
      returning webhook_id
    )
    select pg_notify('${published_channel}', site_id) from counted
    union all
    select pg_notify('${queued_channel}', webhook_id) from (select distinct webhook_id from queued)
      as webhooks`,
} as const

const kept_days = 30

export async function deleteOldEvents(db: Queries, now: Date): Promise<void> {
  await db.execute(
    `delete from published_events e using sites s where e.site_id = s.site_id and e.at < $1`,
    [new Date(now.getTime() - kept_days * day_ms)],
  )
}
