/** What people saw to: what lies before that and does not hold as such is not found again. */
import type { Queries } from '../../storage/database.ts'
import { dedupKey, type Finding } from '../finding.ts'

/** When a person resolved the alert of a key last; undefined where nobody did. */
export type SeenTo = (dedup_key: string) => Date | undefined

/** Of those that were resolved by hand after an instant, also where they are open once more. */
export async function readSeenTo(db: Queries, site_id: string, after: Date): Promise<SeenTo> {
  const resolved = await db.query<{ dedup_key: string; at: Date }>(resolvedByHand, [site_id, after])
  const seen_to = new Map(resolved.map(({ dedup_key, at }) => [dedup_key, at]))
  return (dedup_key) => seen_to.get(dedup_key)
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

/**
 * Without those whose alert a person resolved since.
 *
 * @param findings each with when it was known here
 */
export async function withoutSeenTo(
  db: Queries,
  site_id: string,
  findings: readonly { finding: Finding; known_at: Date }[],
): Promise<Finding[]> {
  if (findings.length === 0) return []
  const oldest = new Date(Math.min(...findings.map(({ known_at }) => known_at.getTime())))
  const seenTo = await readSeenTo(db, site_id, oldest)
  return findings.flatMap(({ finding, known_at }) => {
    const at = seenTo(dedupKey(finding))
    return at && at > known_at ? [] : finding
  })
}
