/** The health of many sites, in a few statements. */
import { setImmediate } from 'node:timers/promises'
import { type AlertCounts, noAlerts, readAlertCounts } from '../../alerts/counts.ts'
import { siteHealth } from '../../plant/health.ts'
import { isNight, type SiteFacts, type Situation, situationOf } from '../../plant/situation.ts'
import { readVitals, type SiteVitals } from '../../plant/vitals.ts'
import type { Queries } from '../../storage/database.ts'

export interface Examined {
  situation: Situation
  vitals: SiteVitals
  alerts: AlertCounts
  health: ReturnType<typeof siteHealth>
}

/** The state of each site, in the order of the sites. */
export async function examineSites(
  db: Queries,
  sites: readonly (SiteFacts & { site_id: string })[],
  now: Date,
): Promise<Examined[]> {
  const situations = await inTurns(sites, (site) => situationOf(site, now))
  const site_ids = sites.map(({ site_id }) => site_id)
  const day_site_ids = site_ids.filter((_, nth) => !isNight(situations[nth]!))
  const [found, counts] = await Promise.all([
    readVitals(db, { site_ids, day_site_ids }, now),
    readAlertCounts(db, site_ids),
  ])
  return sites.map(({ site_id }, nth) => {
    const situation = situations[nth]!
    const vitals = found.get(site_id) ?? { loggers: [], inverters: [] }
    const alerts = counts.get(site_id) ?? noAlerts
    return { situation, vitals, alerts, health: siteHealth({ ...vitals, alerts }, situation) }
  })
}

/** Sites that are computed before other requests have a turn: some milliseconds of work. */
const sites_per_turn = 50

export async function inTurns<Row, Of>(
  rows: readonly Row[],
  of: (row: Row, nth: number) => Of,
): Promise<Of[]> {
  const done: Of[] = []
  for (const [nth, row] of rows.entries()) {
    if (nth % sites_per_turn === sites_per_turn - 1) await setImmediate()
    done.push(of(row, nth))
  }
  return done
}
