/** The sites of each client, cached for some seconds so that listing them costs no query. */
import { cached } from '@heliograph/domain/cached'
import { localDate } from '@heliograph/domain/local-day'
import type { AlertCounts } from '../../alerts/counts.ts'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import type { Caller } from '../../http/endpoint.ts'
import { cursorList } from '../../http/envelope.ts'
import { JsonText } from '../../http/json-text.ts'
import { Site } from '../../plant/site.ts'
import { served } from '../../storage/records.ts'
import { snapshotsOf } from '../../telemetry/snapshots.ts'
import { type Examined, examineSites, inTurns } from './health.ts'
import { pageOfSites, type SitesPage } from './pages.ts'
import { type DateIn, type Metrics, metricsOf, statusFor, totalsFor } from './status.ts'
import { type SiteRow, sitesOfClient } from './store.ts'

interface Summary {
  site_id: string
  name: string
  /** Without the fields that depend on the caller. */
  site: Omit<
    Site,
    'modules' | 'scopes' | 'active_alert_count' | 'highest_alert_severity' | 'status'
  >
  alerts: AlertCounts
  metrics: Metrics
}

const snapshots = snapshotsOf(readSummaries, { fresh_ms: 1000, oldest_ms: 5000 })

async function readSummaries(client_id: number, now: Date, { db }: Context): Promise<Summary[]> {
  const rows = await sitesOfClient(db, client_id)
  const examined = await examineSites(db, rows, now)
  const dateIn = cached((timezone: string) => localDate(now.getTime(), timezone))
  return inTurns(rows, (row, nth) => summaryOf(row, examined[nth]!, dateIn))
}

// A changed key is a new caller, and a new snapshot makes new texts.
const texts = new WeakMap<Caller, { summaries: Summary[]; texts: Map<boolean, JsonText> }>()

interface ListQuery {
  caller: Caller
  page: SitesPage
  /** Adds the status of each site, and the totals. */
  with_status: boolean
}

/** The list envelope of the sites that a key may see; a page of them if one is asked for. */
export async function listedSites({ caller, page, with_status }: ListQuery, context: Context) {
  const summaries = await snapshots(context).get(caller.client_id)
  if (isAsked(page)) return listOf(summaries, { caller, page, with_status })
  let written = texts.get(caller)
  if (written?.summaries !== summaries) {
    written = { summaries, texts: new Map() }
    texts.set(caller, written)
  }
  const text =
    written.texts.get(with_status) ??
    // Bytes, which are not encoded again for each answer.
    new JsonText(
      Buffer.from(JSON.stringify(listOf(summaries, { caller, page: null, with_status }))),
    )
  written.texts.set(with_status, text)
  return text
}

function listOf(
  summaries: readonly Summary[],
  { caller, page, with_status }: Omit<ListQuery, 'page'> & { page: SitesPage | null },
) {
  const isVisible = ({ site_id }: Summary) => maySee(caller, site_id)
  const all = () => {
    const matching = summaries.filter(isVisible)
    return { page: { rows: matching, next_cursor: null }, matching }
  }
  const { page: found, matching } = page ? pageOfSites(summaries, page, isVisible) : all()
  const withRights = addingRights(caller)
  const rows = found.rows.map((summary) => {
    const site = withRights(summary)
    return with_status ? { ...site, status: statusFor(summary.metrics, caller) } : site
  })
  const { data, meta } = cursorList({ ...found, rows }, matching.length)
  return { data, meta: with_status ? { ...meta, totals: totalsFor(matching, caller) } : meta }
}

const isAsked = ({ after, ...query }: SitesPage) => after !== null || Object.keys(query).length > 0

export async function findSite(
  caller: Caller,
  site_id: string,
  context: Context,
): Promise<Site | undefined> {
  if (!maySee(caller, site_id)) return undefined
  const { get, readAgain } = snapshots(context)
  const find = (summaries: Summary[]) => summaries.find((one) => one.site_id === site_id)
  // A site may be younger than the snapshot.
  const found = find(await get(caller.client_id)) ?? find(await readAgain(caller.client_id))
  return found && addingRights(caller)(found)
}

const maySee = ({ site_ids }: Caller, site_id: string) => site_ids?.has(site_id) ?? true

/** Adds to sites what depends on the caller, whose rights are listed once for all of them. */
function addingRights(caller: Caller): (summary: Summary) => Site {
  const may_read_alerts = mayRead(caller, 'alerts:read')
  const rights = { modules: [...caller.modules], scopes: [...caller.scopes] }
  return ({ site, alerts }) => ({
    ...site,
    active_alert_count: may_read_alerts ? alerts.active : null,
    highest_alert_severity: may_read_alerts ? alerts.highest_active : null,
    ...rights,
  })
}

function summaryOf(
  row: SiteRow,
  { situation, vitals, alerts, health }: Examined,
  dateIn: DateIn,
): Summary {
  const site = served(Site, {
    ...row,
    ...health,
    commissioning_safe_mode: row.safe_mode_since_at !== null,
    last_data_at: latest(vitals.loggers.map(({ data_at }) => data_at)),
    simulated: row.simulated ?? false,
  })
  const { site_id, name } = row
  return { site_id, name, site, alerts, metrics: metricsOf(row, alerts, situation, dateIn) }
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null)
  return known.length === 0 ? null : new Date(Math.max(...known.map(Number)))
}
