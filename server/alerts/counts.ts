/** Counts of unresolved alerts, for many sites at once. */
import type { HealthAlerts } from '../plant/health.ts'
import type { Queries } from '../storage/database.ts'
import {
  type AlertSeverity,
  type AlertStatus,
  alertSeverities,
  unresolvedStatuses,
} from './rule.ts'

export interface AlertCounts extends HealthAlerts {
  active: number
  acknowledged: number
  /** The highest severity of the active alerts; null without any. */
  highest_active: AlertSeverity | null
  /** Every pair of an unresolved status and a severity. */
  open: readonly { status: AlertStatus; severity: AlertSeverity; count: number }[]
}

interface CountRow {
  site_id: string
  status: AlertStatus
  severity: AlertSeverity
  count: number
  underperforming_logger_ids: number[]
}

/** Counts include suppressed alerts. A site without unresolved alerts has no entry. */
export async function readAlertCounts(
  db: Queries,
  site_ids: readonly string[],
): Promise<Map<string, AlertCounts>> {
  const rows = await db.query<CountRow>(
    `select site_id, status, severity, count(*) as count, array_remove(array_agg(
       case when code = 'logger_underperformance' and suppressed_reason is null then logger_id end
       order by logger_id), null) as underperforming_logger_ids
     from alerts
     where site_id = any($1) and status <> 'resolved' group by site_id, status, severity`,
    [site_ids],
  )
  const of_sites = Map.groupBy(rows, ({ site_id }) => site_id)
  return new Map([...of_sites].map(([site_id, own]) => [site_id, countsOf(own)]))
}

export const noAlerts = countsOf([])

function countsOf(rows: readonly CountRow[]): AlertCounts {
  const sum = (of: (row: CountRow) => boolean) =>
    rows.filter(of).reduce((total, { count }) => total + count, 0)
  const open = unresolvedStatuses.flatMap((status) =>
    alertSeverities.map((severity) => ({
      status,
      severity,
      count: sum((row) => row.status === status && row.severity === severity),
    })),
  )
  const active = rows.filter(({ status }) => status === 'active')
  return {
    active: sum(({ status }) => status === 'active'),
    acknowledged: sum(({ status }) => status === 'acknowledged'),
    critical: sum(({ severity }) => severity === 'critical'),
    highest_active:
      alertSeverities.findLast((one) => active.some(({ severity }) => severity === one)) ?? null,
    open,
    underperforming_logger_ids: rows.flatMap((row) => row.underperforming_logger_ids),
  }
}
