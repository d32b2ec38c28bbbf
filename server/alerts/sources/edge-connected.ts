import type { SourceContext } from '../finding.ts'

const stale_after_s = 60
/** After an edge reconnects, its devices get this long to answer before they are judged. */
export const settling_s = 120

/** Whether an edge of the site has been connected for longer than the settling time. */
export async function isEdgeConnected({ db, site, now }: SourceContext): Promise<boolean> {
  const ago = (seconds: number) => new Date(now.getTime() - 1000 * seconds)
  const edges = await db.query(
    `select from edges where site_id = $1 and revoked_at is null
       and last_seen_at >= $2 and connected_at <= $3 limit 1`,
    [site.site_id, ago(stale_after_s), ago(settling_s)],
  )
  return edges.length > 0
}
