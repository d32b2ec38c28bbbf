import { isConfirmed } from '../mail/recipients.ts'
import type { Queries } from '../storage/database.ts'
import { type Columns, changeRows, countRows, insertRow } from '../storage/rows.ts'
import { takeId } from '../storage/site-ids.ts'
import { nextRunAt } from './periods.ts'
import type { StoredOrder, StoredSubscription } from './subscription.ts'

const order_columns = [
  'name',
  'template_id',
  'enabled',
  'frequency',
  'day_of_week',
  'day_of_month',
  'time_of_day',
  'timezone',
  'period',
  'format',
  'language',
  'recipients',
  'parameters',
  'logger_ids',
] as const satisfies readonly (keyof StoredOrder)[]

/** `$2` is now: it decides which runs and keys have expired. */
const select = `
  select s.sub_id, ${order_columns.map((name) => `s.${name}`).join(', ')}, s.next_run_at,
    s.created_by, s.created_at, s.updated_at, last.queued_at as last_run_at,
    array(select r.recipient from unnest(s.recipients) with ordinality as r (recipient, nth)
      where not ${isConfirmed('here.client_id', 'r.recipient')} order by r.nth
    ) as pending_recipients,
    case
      when k.revoked_at is not null then 'key_revoked'
      when k.expires_at <= $2 then 'key_expired'
      when u.disabled_at is not null then 'person_disabled'
      when s.key_id like 'user\\_%' and u.id is null then 'person_removed'
      when u.role = 'viewer' or not s.site_id = any(coalesce(k.site_ids, u.site_ids))
        then 'no_access'
    end as ended_reason,
    last.run_id as last_run_id,
    case when last.state = 'succeeded' and last.download_expires_at <= $2 then 'expired'
      else last.state end as last_run_status,
    (select count(*) from report_runs f
     where f.site_id = $1 and f.sub_id = s.sub_id and f.state = 'failed'
       and f.queued_at > coalesce(
         (select max(g.queued_at) from report_runs g
          where g.site_id = $1 and g.sub_id = s.sub_id and g.state = 'succeeded'),
         '-infinity'))::int as failure_count
  from report_subscriptions s
  join sites here on here.site_id = s.site_id
  left join api_keys k on k.key_id = s.key_id
  left join users u on u.id = s.key_id
  left join lateral (
    select r.queued_at, r.run_id, r.state, r.download_expires_at from report_runs r
    where r.site_id = $1 and r.sub_id = s.sub_id
    order by r.queued_at desc, r.run_id limit 1) last on true
  where s.site_id = $1`

type Row = Omit<StoredSubscription, 'day_of_month'> & { day_of_month: string | null }

const subscriptionOf = ({ day_of_month, ...row }: Row): StoredSubscription => ({
  ...row,
  day_of_month:
    day_of_month === null || day_of_month === 'last' ? day_of_month : Number(day_of_month),
})

const columnsOf = (order: StoredOrder) =>
  Object.fromEntries(order_columns.map((name) => [name, order[name]]))

export async function readSubscriptions(db: Queries, site_id: string, now: Date) {
  const rows = await db.query<Row>(`${select} order by s.sub_id`, [site_id, now])
  return rows.map(subscriptionOf)
}

export interface SubscriptionKey {
  site_id: string
  sub_id: number
}

/** null for an unknown id. */
export async function readSubscription(
  db: Queries,
  { site_id, sub_id }: SubscriptionKey,
  now: Date,
): Promise<StoredSubscription | null> {
  const [row] = await db.query<Row>(`${select} and s.sub_id = $3`, [site_id, now, sub_id])
  return row ? subscriptionOf(row) : null
}

/** Locks and reads a subscription; null for an unknown id. */
export async function lockSubscription(db: Queries, key: SubscriptionKey, now: Date) {
  await db.query('select from report_subscriptions where site_id = $1 and sub_id = $2 for update', [
    key.site_id,
    key.sub_id,
  ])
  return readSubscription(db, key, now)
}

/** The key or person that orders. The subscription ends with it. */
interface OrderedBy {
  key_id: string
  key_name: string
}

export async function insertSubscription(
  db: Queries,
  site_id: string,
  order: StoredOrder,
  { by, now }: { by: OrderedBy; now: Date },
): Promise<number> {
  const next_run_at = order.enabled ? nextRunAt(order, now) : null
  const sub_id = await takeId(db, site_id, 'sub_id')
  await insertRow(db, 'report_subscriptions', {
    site_id,
    sub_id,
    next_run_at,
    created_by: by.key_name,
    key_id: by.key_id,
    created_at: now,
    updated_at: now,
    ...columnsOf(order),
  })
  return sub_id
}

interface OrderChange {
  before: StoredSubscription
  order: StoredOrder
  by: OrderedBy
  now: Date
}

/** The next run stays due unless the schedule has changed. */
export async function updateSubscription(
  db: Queries,
  key: SubscriptionKey,
  { before, order, by, now }: OrderChange,
): Promise<void> {
  const next_run_at = order.enabled
    ? isSameSchedule(before, order)
      ? before.next_run_at
      : nextRunAt(order, now)
    : null
  await changeSubscription(db, key, {
    next_run_at,
    updated_at: now,
    key_id: by.key_id,
    ...columnsOf(order),
  })
}

const schedule_columns = [
  'enabled',
  'frequency',
  'day_of_week',
  'day_of_month',
  'time_of_day',
  'timezone',
] as const

const isSameSchedule = (one: StoredOrder, other: StoredOrder) =>
  schedule_columns.every((name) => one[name] === other[name])

export const changeSubscription = (
  db: Queries,
  { site_id, sub_id }: SubscriptionKey,
  columns: Columns,
) => changeRows(db, 'report_subscriptions', { site_id, sub_id }, columns)

/** Due subscriptions of all sites, longest overdue first. */
export const dueSubscriptions = (db: Queries, now: Date) =>
  db.query<SubscriptionKey>(
    `select site_id, sub_id from report_subscriptions where next_run_at <= $1
     order by next_run_at, site_id, sub_id`,
    [now],
  )

/** Keeps the runs. */
export async function deleteSubscription(db: Queries, { site_id, sub_id }: SubscriptionKey) {
  await db.execute('delete from report_subscriptions where site_id = $1 and sub_id = $2', [
    site_id,
    sub_id,
  ])
}

export async function readSchedules(db: Queries, site_id: string) {
  const row = await db.queryOne<{ subscriptions_active: number; next_run_at: Date | null }>(
    `select count(*) as subscriptions_active, min(next_run_at) as next_run_at
     from report_subscriptions where site_id = $1 and enabled`,
    [site_id],
  )
  return row!
}

export const countSubscriptions = (db: Queries, site_id: string): Promise<number> =>
  countRows(db, 'report_subscriptions where site_id = $1', [site_id])

/** Distinct addresses of the client of the site, before and after the change. */
export async function countRecipients(
  db: Queries,
  { site_id, sub_id }: { site_id: string; sub_id: number | null },
  recipients: readonly string[],
): Promise<{ before: number; after: number }> {
  const [counts] = await db.query<{ before: number; after: number }>(
    `with others as (
       select site_id, sub_id, lower(recipient) as recipient
       from sites join report_subscriptions s using (site_id), unnest(s.recipients) as recipient
       where client_id = (select client_id from sites where site_id = $1))
     select (select count(distinct recipient)::int from others) as before,
       (select count(*)::int from (
         select recipient from others where not (site_id = $1 and sub_id = $2) or $2 is null
         union select lower(unnest($3::text[]))) as all_of_them) as after`,
    [site_id, sub_id, recipients],
  )
  return counts!
}
