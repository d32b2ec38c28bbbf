/** The sites of each client, cached for some seconds so that listing them costs no query. */
import { setImmediate } from 'node:timers/promises'
import { cached } from '@heliograph/domain/cached'
import { localDate } from '@heliograph/domain/local-day'
import { type AlertCounts, noAlerts, readAlertCounts } from '../../alerts/counts.ts'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import type { Caller } from '../../http/endpoint.ts'
import { cursorList } from '../../http/envelope.ts'
import { JsonText } from '../../http/json-text.ts'
import { siteHealth } from '../../plant/health.ts'
import { Site } from '../../plant/site.ts'
import { isNight, type Situation, situationOf } from '../../plant/situation.ts'
import { readVitals, type SiteVitals } from '../../plant/vitals.ts'
import { served } from '../../storage/records.ts'
import { snapshotsOf } from '../../telemetry/snapshots.ts'
import { pageOfSites, type SitesPage } from './pages.ts'
import { type DateIn, type Metrics, metricsOf, statusFor, totalsFor } from './status.ts'
import { type SiteRow, sitesOfClient } from './store.ts'

/** A site without the fields that depend on the caller. */
interface Summary {
  site: Omit<
    Site,
    'modules' | 'scopes' | 'active_alert_count' | 'highest_alert_severity' | 'status'
  >
  alerts: AlertCounts
  metrics: Metrics
}

const snapshots = snapshotsOf(readSummaries, { fresh_ms: 1000, oldest_ms: 5000 })

/** Sites that are computed before other requests have a turn: some milliseconds of work. */
const sites_per_turn = 50

async function readSummaries(client_id: number, now: Date, { db }: Context): Promise<Summary[]> {
  const rows = await sitesOfClient(db, client_id)
  const situations = await inTurns(rows, (row) => situationOf(row, now))
  const site_ids = rows.map(({ site_id }) => site_id)
  const day_site_ids = site_ids.filter((_, nth) => !isNight(situations[nth]!))
  const [vitals, counts] = await Promise.all([
    readVitals(db, { site_ids, day_site_ids }, now),
    readAlertCounts(db, site_ids),
  ])
  const dateIn = cached((timezone: string) => localDate(now.getTime(), timezone))
  return inTurns(rows, (row, nth) => {
    const alerts = counts.get(row.site_id) ?? noAlerts
    return summaryOf(row, { vitals: vitals.get(row.site_id), alerts }, situations[nth]!, dateIn)
  })
}

async function inTurns<Row, Of>(
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
  const visible = summaries
    .filter(({ site }) => maySee(caller, site.site_id))
    .map((summary) => ({ ...namesOf(summary), summary }))
  const { page: found, matching } =
    page === null
      ? { page: { rows: visible, next_cursor: null }, matching: visible }
      : pageOfSites(visible, page)
  const rows = found.rows.map(({ summary }) => {
    const site = forCaller(summary, caller)
    return with_status ? { ...site, status: statusFor(summary.metrics, caller) } : site
  })
  const { data, meta } = cursorList({ ...found, rows }, matching.length)
  if (!with_status) return { data, meta }
  const all = matching.map(({ summary }) => summary)
  return { data, meta: { ...meta, totals: totalsFor(all, caller) } }
}

const namesOf = ({ site: { site_id, name } }: Summary) => ({ site_id, name })

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
  known: { vitals: SiteVitals | undefined; alerts: AlertCounts },
  situation: Situation,
  dateIn: DateIn,
): Summary {
  const { vitals = { loggers: [], inverters: [] }, alerts } = known
  const { status: _, ...site } = served(Site, {
    ...row,
    ...siteHealth({ ...vitals, alerts }, situation),
    commissioning_safe_mode: row.safe_mode_since_at !== null,
    last_data_at: latest(vitals.loggers.map(({ data_at }) => data_at)),
    simulated: row.simulated ?? false,
  })
  return { site, alerts, metrics: metricsOf(row, alerts, situation, dateIn) }
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null)
  return known.length === 0 ? null : new Date(Math.max(...known.map(Number)))
}
