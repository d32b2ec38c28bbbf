import type { Queries } from '../../storage/database.ts'
import { dedupKey, type Finding } from '../finding.ts'

/**
 * Without those whose alert a person resolved since: what happened once, and does not hold as such,
 * comes up no second time.
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
  const resolved = await db.query<{ dedup_key: string; at: Date }>(
    `select dedup_key, max(resolved_at) as at from alerts
     where site_id = $1 and status = 'resolved' and resolved_at > $2 and resolution = 'manual'
     group by dedup_key`,
    [site_id, oldest],
  )
  const seen_to = new Map(resolved.map(({ dedup_key, at }) => [dedup_key, at]))
  return findings.flatMap(({ finding, known_at }) => {
    const at = seen_to.get(dedupKey(finding))
    return at && at > known_at ? [] : finding
  })
}
