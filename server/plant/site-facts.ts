import type { Context } from '../http/context.ts'
import { ApiError } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'
import { siteElevation } from './site-elevation.ts'
import { type SiteFacts, situationOf } from './situation.ts'

/** Columns of the announced site file, as a lateral row `site` beside `sites s`. */
export const announcedSite = (columns: string) =>
  `LATERAL jsonb_to_record(coalesce(s.inventory, '{}')) AS site (${columns})`

export const edgeSeenAt = (site: string) =>
  `(SELECT max(e.last_seen_at) FROM edges e WHERE e.site_id = ${site}) AS edge_seen_at`

/** Without an announced site file, the time zone is UTC and its other facts are null. */
export interface AnnouncedFacts extends SiteFacts {
  name: string
  currency: string | null
  country_code: string | null
  export_plan_limit_kw: number | null
}

const announced = `timezone text, latitude float8, longitude float8, poll jsonb, currency text,
  country_code text, export_plan_limit_kw float8`

/** @throws ApiError not_found */
export async function siteFacts(db: Queries, site_id: string): Promise<AnnouncedFacts> {
  const [facts] = await db.query<AnnouncedFacts>(
    `SELECT s.name, coalesce(site.timezone, 'UTC') AS timezone, site.latitude, site.longitude,
            ${siteElevation('$1')} AS elevation_m, site.poll, site.currency, site.country_code,
            site.export_plan_limit_kw, ${edgeSeenAt('$1')}
     FROM sites s, ${announcedSite(announced)}
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
