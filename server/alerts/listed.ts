/** Alerts as they are listed and counted. */
import type { Queries } from '../storage/database.ts'
import { type AlertCounts, readAlertCounts } from './counts.ts'
import type { AlertStatus } from './listener.ts'
import type { ListedAlert } from './record.ts'
import { alertColumns } from './store.ts'

export interface AlertStore {
  /** Of these statuses the newest, by their start and then their id, and how many there are. */
  newest(asked: {
    site_id: string
    statuses: readonly AlertStatus[]
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
    async newest({ site_id, statuses, limit }) {
      const values = [site_id, [...new Set(statuses)], limit]
      // One statement sees one state of the table: the count is that of the rows it comes with.
      const rows = await db.query<ListedAlert & { count: number }>(newestAlerts, values)
      const alerts = rows.map(({ count: _, ...alert }) => alert)
      return { alerts, count: rows[0]?.count ?? 0 }
    },
    counts: (site_ids) => readAlertCounts(db, site_ids),
  }
}

/**
 * Each status has its own order in the index, of which only the newest are read, and is counted
 * there.
 */
const newestAlerts = {
  name: 'newest_alerts',
  text: `
    with found as (
      select of_status.* from unnest($2::text[]) as asked (status) cross join lateral (
        select site_id, alert_id, started_at from alerts
        where site_id = $1 and status = asked.status
        order by started_at desc, alert_id desc limit $3
      ) as of_status
      order by started_at desc, alert_id desc limit $3
    )
    select ${listed},
      (select sum(of_status.count)::bigint from unnest($2::text[]) as asked (status)
       cross join lateral (
         select count(*) from alerts where site_id = $1 and status = asked.status
       ) as of_status) as count
    from found join alerts a on a.site_id = $1 and a.alert_id = found.alert_id
    order by found.started_at desc, found.alert_id desc`,
}

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
