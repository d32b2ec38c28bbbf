/** Reads and writes the alerts of a round. */
import type { Queries, Transaction } from '../storage/database.ts'
import { takeIds } from '../storage/site-ids.ts'
import { type Concerned, dedupKey, type Finding } from './finding.ts'
import type { Known, NewAlert } from './reconcile.ts'
import type { StoredAlert } from './record.ts'
import type { AlertStatus } from './rule.ts'

/** Columns that change after an alert was raised. */
const changing = [
  'message',
  'severity',
  'status',
  'last_seen_at',
  'ended_at',
  'occurrence_count',
  'reopened_at',
  'held_before_s',
  'value',
  'threshold',
  'unit',
  'affected_power_kw',
  'lost_energy_kwh',
  'lost_amount',
  'currency',
  'acknowledged_at',
  'acknowledged_by',
  'ack_note',
  'resolved_at',
  'resolved_by',
  'resolution',
  'resolution_note',
  'awaits_end',
  'urgent_since',
  'suppressed_reason',
  'vendor_codes',
] as const satisfies readonly (keyof StoredAlert)[]

/** Columns that are filled in from the inventory where the finding lacks them. */
const placed = {
  logger_id: 'coalesce(r.logger_id, i.logger_id, n.logger_id, b.logger_id)',
  location_id:
    'coalesce(r.location_id, i.location_id, n.location_id, b.location_id, l.location_id)',
} as const satisfies Partial<Record<keyof Concerned, string>>

const fixed = [
  'dedup_key',
  'code',
  'title',
  'category',
  'source_type',
  'source_id',
  'part',
  'inverter_id',
  'string_index',
  'bess_id',
  'node_id',
  'started_at',
  'detected_at',
] as const satisfies readonly (keyof StoredAlert)[]

const given = [...fixed, ...changing]
const columns = ['alert_id', ...given, ...Object.keys(placed)]
export const alertColumns = columns.map((name) => `a.${name}`).join(', ')

/**
 * Locks and reads the unresolved alerts, those resolved since `resolved_since`, and those resolved
 * after a finding of the same key began.
 */
export async function lockAlerts(
  tx: Transaction,
  site_id: string,
  { resolved_since, findings }: { resolved_since: Date; findings: readonly Finding[] },
): Promise<Known> {
  const open = await tx.query<StoredAlert>(
    `select ${alertColumns} from alerts a where a.site_id = $1 and a.status <> 'resolved'
     order by a.alert_id for update`,
    [site_id],
  )
  const is_open = new Set(open.map(({ dedup_key }) => dedup_key))
  const fresh = findings.filter((finding) => !is_open.has(dedupKey(finding)))
  const began_ms = fresh.map(({ since }) => since.getTime())
  const resolved = await tx.query<StoredAlert>(
    `select ${alertColumns} from alerts a
     where a.site_id = $1 and a.status = 'resolved' and a.resolved_at > $3
       and (a.resolved_at > $2 or a.dedup_key = any ($4))
     order by a.resolved_at, a.alert_id for update`,
    [
      site_id,
      resolved_since,
      new Date(Math.min(resolved_since.getTime(), ...began_ms)),
      fresh.map(dedupKey),
    ],
  )
  const newest = new Map(resolved.map((alert) => [alert.dedup_key, alert]))
  return { open, resolved: [...newest.values()] }
}

export const lockAlert = (tx: Transaction, site_id: string, alert_id: number) =>
  tx.queryOne<StoredAlert>(
    `select ${alertColumns} from alerts a where a.site_id = $1 and a.alert_id = $2 for update`,
    [site_id, alert_id],
  )

export async function addAlerts(
  db: Queries,
  site_id: string,
  alerts: readonly NewAlert[],
  now: Date,
): Promise<StoredAlert[]> {
  const ids = await takeIds(db, { site_id, kind: 'alert_id', count: alerts.length })
  const records = alerts.map((alert, nth) => ({ ...alert, alert_id: ids[nth] }))
  return db.query<StoredAlert>(
    `insert into alerts as a (site_id, alert_id, created_at, updated_at, ${given},
       ${Object.keys(placed)})
     select $1, r.alert_id, $3, $3, ${given.map((name) => `r.${name}`)}, ${Object.values(placed)}
     from jsonb_populate_recordset(null::alerts, $2) r
       left join inverters i on i.site_id = $1 and i.inverter_id = r.inverter_id
       left join nodes n on n.site_id = $1 and n.node_id = r.node_id
       left join batteries b on b.site_id = $1 and b.bess_id = r.bess_id
       left join loggers l on l.site_id = $1
         and l.logger_id = coalesce(r.logger_id, i.logger_id, n.logger_id, b.logger_id)
     returning ${alertColumns}`,
    [site_id, JSON.stringify(records), now],
  )
}

export async function changeAlerts(
  db: Queries,
  site_id: string,
  alerts: readonly StoredAlert[],
  now: Date,
): Promise<void> {
  await db.execute(
    `update alerts a set updated_at = $3, ${changing.map((name) => `${name} = r.${name}`)}
     from jsonb_populate_recordset(null::alerts, $2) r
     where a.site_id = $1 and a.alert_id = r.alert_id`,
    [site_id, JSON.stringify(alerts), now],
  )
}

export interface Transition {
  at: Date
  /** null: the alert was raised. */
  from_status: AlertStatus | null
  to_status: AlertStatus
  /** The name of a key, or `system`. */
  changed_by: string
  note: string | null
}

export async function addTransitions(
  db: Queries,
  site_id: string,
  transitions: readonly (Omit<Transition, 'at' | 'changed_by'> & { alert_id: number })[],
  { at, changed_by }: Pick<Transition, 'at' | 'changed_by'>,
): Promise<void> {
  if (transitions.length === 0) return
  await db.execute(
    `insert into alert_transitions (site_id, alert_id, at, from_status, to_status, changed_by, note)
     select $1, alert_id, $3, from_status, to_status, $4, note
     from jsonb_populate_recordset(null::alert_transitions, $2)`,
    [site_id, JSON.stringify(transitions), at, changed_by],
  )
}
