import type { SourceContext } from '../finding.ts'

const silent_s_max = 60
/** After an edge is back, or its way to its devices, they have so long to be heard. */
export const settling_s = 120

/** Whether an edge of the site is heard of, and for long enough to tell who does not answer. */
export async function isEdgeHeard({ db, site, now }: SourceContext): Promise<boolean> {
  const ago = (seconds: number) => new Date(now.getTime() - 1000 * seconds)
  const heard = await db.query(
    `select from edges where site_id = $1 and revoked_at is null
       and last_seen_at >= $2 and connected_at <= $3 limit 1`,
    [site.site_id, ago(silent_s_max), ago(settling_s)],
  )
  return heard.length > 0
}
