import type { Context } from '../http/context.ts'
import { ApiError } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'
import { siteElevation } from './site-elevation.ts'
import { type SiteFacts, situationOf } from './situation.ts'

/** Columns of the announced site file, as a lateral row `site` beside `sites s`. */
export const announcedSite = (columns: string) =>
  `LATERAL jsonb_to_record(coalesce(s.inventory, '{}')) AS site (${columns})`

export const edge_seen_at =
  '(SELECT max(e.last_seen_at) FROM edges e WHERE e.site_id = s.site_id) AS edge_seen_at'

/** @throws ApiError not_found */
export async function siteFacts(db: Queries, site_id: string): Promise<SiteFacts> {
  const [facts] = await db.query<SiteFacts>(
    `SELECT coalesce(site.timezone, 'UTC') AS timezone, site.latitude, site.longitude,
            ${siteElevation('s')} AS elevation_m, site.poll,
            ${edge_seen_at}
     FROM sites s,
       ${announcedSite('timezone text, latitude float8, longitude float8, poll jsonb')}
     WHERE s.site_id = $1`,
    [site_id],
  )
  if (!facts) throw new ApiError('not_found', { site_id })
  return facts
}

/** @throws ApiError not_found */
export async function siteSituation({ db, clock }: Pick<Context, 'db' | 'clock'>, site_id: string) {
  return situationOf(await siteFacts(db, site_id), clock.now())
}
