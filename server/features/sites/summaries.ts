/** The sites of each client as they were within the last seconds: listing them costs no query. */
import type { Clock } from '@heliograph/domain/clock'
import type { Caller } from '../../http/endpoint.ts'
import { JsonText } from '../../http/json-text.ts'
import { iso } from '../../records/frame.ts'
import { siteHealth } from '../../records/health.ts'
import type { Site } from '../../records/site.ts'
import { situationOf } from '../../records/situation.ts'
import { createSnapshots } from '../../records/snapshots.ts'
import type { SiteVitals } from '../../records/vitals.ts'
import type { SiteRow, SiteStore } from './store.ts'

export const fresh_ms = 1000
export const oldest_ms = 5000

/** A site without what depends on the key that asks. */
type Summary = Omit<Site, 'modules' | 'scopes'>

export interface SiteSummaries {
  /** The list envelope of the sites that a key may see. */
  list(caller: Caller): Promise<JsonText>
  /** One site as a key may see it; undefined if it may not. */
  find(caller: Caller, site_id: string): Promise<Site | undefined>
}

export function createSiteSummaries(
  store: Pick<SiteStore, 'ofClient' | 'vitals'>,
  clock: Clock,
): SiteSummaries {
  const snapshots = createSnapshots(read, { clock, fresh_ms, oldest_ms })
  // A key that changes is a new caller, and a new snapshot makes a new text.
  const texts = new WeakMap<Caller, { sites: Summary[]; text: JsonText }>()

  async function read(client_id: number, now: Date): Promise<Summary[]> {
    const rows = await store.ofClient(client_id)
    const vitals = await store.vitals(rows.map(({ site_id }) => site_id))
    return rows.map((row) => summaryOf(row, vitals.get(row.site_id), now))
  }

  return {
    async list(caller) {
      const sites = await snapshots.get(caller.client_id)
      const written = texts.get(caller)
      if (written?.sites === sites) return written.text
      const seen = sites.filter(({ site_id }) => maySee(caller, site_id))
      const data = seen.map((site) => forCaller(site, caller))
      const text = new JsonText(JSON.stringify({ data, meta: { count: data.length } }))
      texts.set(caller, { sites, text })
      return text
    },
    async find(caller, site_id) {
      if (!maySee(caller, site_id)) return undefined
      const known = (sites: Summary[]) => sites.find((one) => one.site_id === site_id)
      // A site may be younger than the snapshot.
      const site =
        known(await snapshots.get(caller.client_id)) ??
        known(await snapshots.readAgain(caller.client_id))
      return site && forCaller(site, caller)
    },
  }
}

const maySee = ({ site_ids }: Caller, site_id: string) => site_ids?.has(site_id) ?? true

const forCaller = (site: Summary, { modules, scopes }: Caller): Site => ({
  ...site,
  modules: [...modules],
  scopes: [...scopes],
})

function summaryOf(row: SiteRow, vitals: SiteVitals | undefined, now: Date): Summary {
  const {
    poll: _poll,
    edge_seen_at: _seen,
    safe_mode_since_at,
    created_at,
    updated_at,
    simulated,
    ...own
  } = row
  const { loggers = [], inverters = [] } = vitals ?? {}
  return {
    ...own,
    ...siteHealth(loggers, inverters, situationOf(row, now)),
    commissioning_safe_mode: safe_mode_since_at !== null,
    safe_mode_since_at: iso(safe_mode_since_at),
    last_data_at: iso(latest(loggers.map(({ data_at }) => data_at))),
    simulated: simulated ?? false,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null)
  return known.length === 0 ? null : new Date(Math.max(...known.map(Number)))
}
