/** The sites of each client, cached for some seconds so that listing them costs no query. */
import { type AlertCounts, noAlerts, readAlertCounts } from '../../alerts/counts.ts'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import type { Caller } from '../../http/endpoint.ts'
import { cursorList } from '../../http/envelope.ts'
import { JsonText } from '../../http/json-text.ts'
import { siteHealth } from '../../plant/health.ts'
import { Site } from '../../plant/site.ts'
import { situationOf } from '../../plant/situation.ts'
import { readVitals, type SiteVitals } from '../../plant/vitals.ts'
import { served } from '../../storage/records.ts'
import { snapshotsOf } from '../../telemetry/snapshots.ts'
import { pageOfSites, type SitesPage } from './pages.ts'
import { type SiteRow, sitesOfClient } from './store.ts'

/** A site without the fields that depend on the caller. */
interface Summary {
  site: Omit<Site, 'modules' | 'scopes' | 'active_alert_count' | 'highest_alert_severity'>
  alerts: AlertCounts
}

const snapshots = snapshotsOf(readSummaries, { fresh_ms: 1000, oldest_ms: 5000 })

async function readSummaries(client_id: number, now: Date, { db }: Context): Promise<Summary[]> {
  const rows = await sitesOfClient(db, client_id)
  const site_ids = rows.map(({ site_id }) => site_id)
  const [vitals, counts] = await Promise.all([
    readVitals(db, site_ids),
    readAlertCounts(db, site_ids),
  ])
  return rows.map((row) =>
    summaryOf(row, vitals.get(row.site_id), counts.get(row.site_id) ?? noAlerts, now),
  )
}

// A changed key is a new caller, and a new snapshot makes a new text.
const texts = new WeakMap<Caller, { summaries: Summary[]; text: JsonText }>()

/** The list envelope of the sites that a key may see; a page of them if anything is asked. */
export async function listedSites(
  { caller, page }: { caller: Caller; page: SitesPage },
  context: Context,
) {
  const summaries = await snapshots(context).get(caller.client_id)
  const visible = () => summaries.filter(({ site }) => maySee(caller, site.site_id))
  if (isAsked(page)) {
    const sites = visible().map((one) => forCaller(one, caller))
    const { page: found, count } = pageOfSites(sites, page)
    return cursorList(found, count)
  }
  const written = texts.get(caller)
  if (written?.summaries === summaries) return written.text
  const rows = visible().map((one) => forCaller(one, caller))
  const text = new JsonText(JSON.stringify(cursorList({ rows, next_cursor: null })))
  texts.set(caller, { summaries, text })
  return text
}

const isAsked = ({ after, ...query }: SitesPage) => after !== null || Object.keys(query).length > 0

export async function findSite(
  caller: Caller,
  site_id: string,
  context: Context,
): Promise<Site | undefined> {
  if (!maySee(caller, site_id)) return undefined
  const { get, readAgain } = snapshots(context)
  const find = (summaries: Summary[]) => summaries.find(({ site }) => site.site_id === site_id)
  // A site may be younger than the snapshot.
  const found = find(await get(caller.client_id)) ?? find(await readAgain(caller.client_id))
  return found && forCaller(found, caller)
}

const maySee = ({ site_ids }: Caller, site_id: string) => site_ids?.has(site_id) ?? true

function forCaller({ site, alerts }: Summary, caller: Caller): Site {
  const may_read_alerts = mayRead(caller, 'alerts:read')
  return {
    ...site,
    active_alert_count: may_read_alerts ? alerts.active : null,
    highest_alert_severity: may_read_alerts ? alerts.highest_active : null,
    modules: [...caller.modules],
    scopes: [...caller.scopes],
  }
}

function summaryOf(
  row: SiteRow,
  { loggers, inverters }: SiteVitals = { loggers: [], inverters: [] },
  alerts: AlertCounts,
  now: Date,
): Summary {
  const site = served(Site, {
    ...row,
    ...siteHealth({ loggers, inverters, alerts }, situationOf(row, now)),
    commissioning_safe_mode: row.safe_mode_since_at !== null,
    last_data_at: latest(loggers.map(({ data_at }) => data_at)),
    simulated: row.simulated ?? false,
  })
  return { site, alerts }
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null)
  return known.length === 0 ? null : new Date(Math.max(...known.map(Number)))
}
