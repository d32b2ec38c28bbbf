/** Publishes changes of the health of sites. */
import { type Static, Type } from 'typebox'
import { publish } from '../../events/publish.ts'
import * as field from '../../http/fields.ts'
import { Named } from '../../http/params.ts'
import { healthStatuses } from '../../plant/health.ts'
import { health } from '../../plant/site.ts'
import { announcedSite, edgeSeenAt } from '../../plant/site-facts.ts'
import type { SiteFacts } from '../../plant/situation.ts'
import type { Database } from '../../storage/database.ts'
import { putRow } from '../../storage/rows.ts'
import { examineSites } from './health.ts'

type SiteHealth = Static<typeof SiteHealth>
export const SiteHealth = Named('SiteHealth', {
  name: Type.String({ description: 'Name of the site.', examples: ['Heliograph Demo Park'] }),
  ...health,
  previous_health_status: field.OneOf(healthStatuses, 'The status before.', 'healthy'),
})

interface WatchedSite extends SiteFacts {
  site_id: string
  name: string
  /** Null for a site that was never examined. */
  health_status: SiteHealth['health_status'] | null
}

/** Stores the health of each site, and publishes it where its status has changed. */
export async function watchHealth(db: Database, now: Date): Promise<void> {
  const sites = await db.query<WatchedSite>(
    `SELECT s.site_id, s.name, k.health_status, coalesce(site.timezone, 'UTC') AS timezone,
       site.latitude, site.longitude, site.elevation_m, site.poll, ${edgeSeenAt('s.site_id')}
     FROM sites s
     LEFT JOIN site_status k ON k.site_id = s.site_id
     CROSS JOIN ${announcedSite(
       'timezone text, latitude float8, longitude float8, elevation_m float8, poll jsonb',
     )}
     ORDER BY s.site_id`,
  )
  const examined = await examineSites(db, sites, now)
  for (const [nth, site] of sites.entries()) {
    const { health } = examined[nth]!
    if (health.health_status !== site.health_status) await change(db, site, health, now)
  }
}

async function change(
  db: Database,
  { site_id, name, health_status: previous_health_status }: WatchedSite,
  health: Pick<SiteHealth, 'health_status' | 'health_reasons'>,
  at: Date,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { health_status } = health
    await putRow(tx, 'site_status', { site_id }, { health_status })
    if (previous_health_status === null) return
    const record: SiteHealth = { name, ...health, previous_health_status }
    publish(tx, {
      site_id,
      at,
      type: 'site.health_changed',
      subject: `site/${site_id}`,
      link: '/overview',
      record,
    })
  })
}
