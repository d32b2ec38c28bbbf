/** Alerts as they are listed and counted. */
import type { Queries } from '../storage/database.ts'
import { type AlertCounts, readAlertCounts } from './counts.ts'
import type { AlertStatus } from './listener.ts'
import type { ListedAlert } from './record.ts'
import { alertColumns } from './store.ts'

export interface AlertStore {
  /**
   * Alerts of these statuses, the newest first, by their start and then their id: those after a
   * place in that order, or the first ones. `count` is of all of these statuses.
   */
  newest(asked: {
    site_id: string
    statuses: readonly AlertStatus[]
    after: { started_at: string; alert_id: number } | null
    limit: number
  }): Promise<{ alerts: ListedAlert[]; count: number }>
  /** Of those that are not resolved; a site without any has no entry. */
  counts(site_ids: readonly string[]): Promise<Map<string, AlertCounts>>
}

/** The newest of what sees to an alert, not counting what was given up. */
const links = `
  (select max(l.wo_id) from work_order_alerts l
     join work_orders w on w.site_id = l.site_id and w.wo_id = l.wo_id
   where l.site_id = a.site_id and l.alert_id = a.alert_id and w.status <> 'cancelled'
  ) as work_order_id,
  (select max(l.defect_id) from defect_alerts l
     join defects d on d.site_id = l.site_id and d.defect_id = l.defect_id
   where l.site_id = a.site_id and l.alert_id = a.alert_id and d.status <> 'dismissed'
  ) as defect_id`
const listed = `${alertColumns}, a.created_at, a.updated_at, ${links}`

export function createAlertStore(db: Queries): AlertStore {
  return {
    async newest({ site_id, statuses, after, limit }) {
      const values = [site_id, [...new Set(statuses)], limit]
      // One statement sees one state of the table: the count is that of the rows it comes with.
      const rows = await db.query<Partial<ListedAlert> & { count: number }>(
        after === null ? newestAlerts : alertsAfter,
        after === null ? values : [...values, after.started_at, after.alert_id],
      )
      const alerts = rows.flatMap(({ count: _, ...alert }) =>
        alert.alert_id === null ? [] : [alert as ListedAlert],
      )
      return { alerts, count: rows[0]!.count }
    },
    counts: (site_ids) => readAlertCounts(db, site_ids),
  }
}

/**
 * Each status has its own order in the index, of which only a page is read, and is counted there.
 * A page without alerts has one row, which is the count.
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
    select counted.count, ${listed}
    from counted
    left join (found join alerts a on a.site_id = $1 and a.alert_id = found.alert_id) on true
    order by found.started_at desc, found.alert_id desc`,
})

const newestAlerts = pageStatement('newest_alerts', '')
const alertsAfter = pageStatement(
  'alerts_after',
  'and (started_at, alert_id) < ($4::timestamptz, $5::bigint)',
)

/** One as it is listed; null where the site has none of that id. */
export async function listedAlert(
  db: Queries,
  site_id: string,
  alert_id: number,
): Promise<ListedAlert | null> {
  const [alert] = await db.query<ListedAlert>(
    `select ${listed} from alerts a where a.site_id = $1 and a.alert_id = $2`,
    [site_id, alert_id],
  )
  return alert ?? null
}
