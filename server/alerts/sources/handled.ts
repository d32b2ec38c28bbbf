/** Manual resolutions: past events that a person has handled are not found again. */
import type { Queries } from '../../storage/database.ts'
import { dedupKey, type Finding } from '../finding.ts'

/** When a person last resolved the alert of a key; undefined where nobody did. */
export type HandledAt = (dedup_key: string) => Date | undefined

/** Manual resolutions after an instant, also of alerts that were reopened since. */
export async function readHandled(db: Queries, site_id: string, after: Date): Promise<HandledAt> {
  const resolved = await db.query<{ dedup_key: string; at: Date }>(resolvedByHand, [site_id, after])
  const handled_at = new Map(resolved.map(({ dedup_key, at }) => [dedup_key, at]))
  return (dedup_key) => handled_at.get(dedup_key)
}

const resolvedByHand = {
  name: 'alerts_resolved_by_hand',
  text: `
    select dedup_key, max(at) as at
    from (
      select dedup_key, resolved_at as at from alerts
      where site_id = $1 and status = 'resolved' and resolved_at > $2 and resolution = 'manual'
      union all
      select a.dedup_key, t.at from alert_transitions t
        join alerts a on a.site_id = t.site_id and a.alert_id = t.alert_id
      where t.site_id = $1 and t.at > $2 and t.to_status = 'resolved' and t.changed_by <> 'system'
    ) as by_hand
    group by dedup_key`,
}

export interface Past {
  finding: Finding
  /** When the server learned of a past event; null for a condition that holds now. */
  known_at: Date | null
}

/** Leaves out past events whose alert a person resolved later. */
export async function withoutHandled(
  db: Queries,
  site_id: string,
  found: readonly Past[],
): Promise<Finding[]> {
  const known_ms = found.flatMap(({ known_at }) => known_at?.getTime() ?? [])
  if (known_ms.length === 0) return found.map(({ finding }) => finding)
  const handledAt = await readHandled(db, site_id, new Date(Math.min(...known_ms)))
  return found.flatMap(({ finding, known_at }) => {
    const at = known_at && handledAt(dedupKey(finding))
    return at && at > known_at ? [] : finding
  })
}
