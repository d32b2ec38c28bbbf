import type { Queries } from '../storage/database.ts'
import type { ListedAlert } from './record.ts'
import type { AlertStatus } from './rule.ts'
import { alertColumns } from './store.ts'

/** The newest work order and defect of an alert, without cancelled and dismissed ones. */
const links = (site: string) => `
  (select max(l.wo_id) from work_order_alerts l
     join work_orders w on w.site_id = l.site_id and w.wo_id = l.wo_id
   where l.site_id = ${site} and l.alert_id = a.alert_id and w.status <> 'cancelled'
  ) as work_order_id,
  (select max(l.defect_id) from defect_alerts l
     join defects d on d.site_id = l.site_id and d.defect_id = l.defect_id
   where l.site_id = ${site} and l.alert_id = a.alert_id and d.status <> 'dismissed'
  ) as defect_id`
const listed = (site: string) => `${alertColumns}, a.created_at, a.updated_at, ${links(site)}`

interface AlertPage {
  site_id: string
  statuses: readonly AlertStatus[]
  /** The last alert of the page before; null for the first page. */
  after: { started_at: string; alert_id: number } | null
  limit: number
}

/** Alerts by `started_at` and then `alert_id`, newest first; `count` covers all pages. */
export async function readNewestAlerts(
  db: Queries,
  { site_id, statuses, after, limit }: AlertPage,
): Promise<{ alerts: ListedAlert[]; count: number }> {
  const values = [site_id, [...new Set(statuses)], limit]
  // One statement reads one snapshot of the table: the count matches the page.
  const rows = await db.query<Partial<ListedAlert> & { count: number }>(
    after === null ? newestAlerts : alertsAfter,
    after === null ? values : [...values, after.started_at, after.alert_id],
  )
  const alerts = rows.flatMap(({ count: _, ...alert }) =>
    alert.alert_id === null ? [] : [alert as ListedAlert],
  )
  return { alerts, count: rows[0]!.count }
}

/**
 * The index is ordered within each status: each is read for one page and counted by itself. A page
 * without alerts has one row with the count.
 */
const pageStatement = (name: string, after: string) => ({
  name,
  text: `
    with found as (
      select of_status.* from unnest($2::text[]) as asked (status) cross join lateral (
        select site_id, alert_id, started_at from alerts
        where site_id = $1 and status = asked.status ${after}
        order by started_at desc, alert_id desc limit $3
      ) as of_status
      order by started_at desc, alert_id desc limit $3
    ), counted as (
      select coalesce(sum(of_status.count), 0)::bigint as count
      from unnest($2::text[]) as asked (status)
      cross join lateral (
        select count(*) from alerts where site_id = $1 and status = asked.status
      ) as of_status
    )
    select counted.count, ${listed('$1')}
    from counted
    left join (found join alerts a on a.site_id = $1 and a.alert_id = found.alert_id) on true
    order by found.started_at desc, found.alert_id desc`,
})

const newestAlerts = pageStatement('newest_alerts', '')
const alertsAfter = pageStatement(
  'alerts_after',
  'and (started_at, alert_id) < ($4::timestamptz, $5::bigint)',
)

export const readListedAlerts = (db: Queries, site_id: string, alert_ids: readonly number[]) =>
  db.query<ListedAlert>(
    `select ${listed('$1')} from alerts a where a.site_id = $1 and a.alert_id = any ($2)
     order by a.alert_id`,
    [site_id, alert_ids],
  )

/** The place of an alert in the order of `readOpenAlerts`. */
interface OpenAlertPlace {
  started_at: string
  site_id: string
  alert_id: number
}

interface OpenAlertsPage {
  client_id: number
  /** null for all sites of the client. */
  site_ids: readonly string[] | null
  after: OpenAlertPlace | null
  limit: number
}

type OpenAlert = ListedAlert & { site_id: string; site_name: string }

/** The unresolved alerts of sites, newest first; `count` covers all pages. */
export async function readOpenAlerts(
  db: Queries,
  { client_id, site_ids, after, limit }: OpenAlertsPage,
): Promise<{ alerts: OpenAlert[]; count: number }> {
  const place = [after?.started_at ?? null, after?.site_id ?? null, after?.alert_id ?? null]
  const rows = await db.query<Partial<OpenAlert> & { count: number }>(openAlerts, [
    client_id,
    site_ids,
    limit,
    ...place,
  ])
  const alerts = rows.flatMap(({ count: _, ...alert }) =>
    alert.alert_id === null ? [] : [alert as OpenAlert],
  )
  return { alerts, count: rows[0]!.count }
}

/** A page without alerts has one row with the count. */
const openAlerts = {
  name: 'open_alerts',
  text: `
    with open as materialized (
      select o.site_id, s.name as site_name, o.alert_id, o.started_at
      from sites s join alerts o on o.site_id = s.site_id and o.status <> 'resolved'
      where s.client_id = $1 and ($2::text[] is null or s.site_id = any ($2))
    ), found as (
      select * from open
      where $4::timestamptz is null
        or (started_at, site_id, alert_id) < ($4, $5::text, $6::bigint)
      order by started_at desc, site_id desc, alert_id desc limit $3
    )
    select counted.count, page.*
    from (select count(*) from open) as counted
    left join (
      select a.site_id, found.site_name, ${listed('a.site_id')}
      from found join alerts a on a.site_id = found.site_id and a.alert_id = found.alert_id
    ) as page on true
    order by page.started_at desc, page.site_id desc, page.alert_id desc`,
} as const
