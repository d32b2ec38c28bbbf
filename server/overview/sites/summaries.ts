/** The sites of each client as they were within the last seconds: listing them costs no query. */
import type { Clock } from '@heliograph/domain/clock'
import { type AlertCounts, noAlerts } from '../../alerts/counts.ts'
import type { AlertStore } from '../../alerts/listed.ts'
import type { Caller } from '../../http/endpoint.ts'
import { JsonText } from '../../http/json-text.ts'
import { scopeModules } from '../../http/scope-modules.ts'
import { iso } from '../../plant/frame.ts'
import { siteHealth } from '../../plant/health.ts'
import type { Site } from '../../plant/site.ts'
import { situationOf } from '../../plant/situation.ts'
import type { SiteVitals } from '../../plant/vitals.ts'
import { createSnapshots } from '../../telemetry/snapshots.ts'
import type { SiteRow, SiteStore } from './store.ts'

const fresh_ms = 1000
const oldest_ms = 5000

/** A site without what depends on the key that asks. */
interface Summary {
  site: Omit<Site, 'modules' | 'scopes' | 'active_alert_count' | 'highest_alert_severity'>
  alerts: AlertCounts
}

interface Stores {
  sites: Pick<SiteStore, 'ofClient' | 'vitals'>
  alerts: Pick<AlertStore, 'counts'>
}

export interface SiteSummaries {
  /** The list envelope of the sites that a key may see. */
  list(caller: Caller): Promise<JsonText>
  /** One site as a key may see it; undefined if it may not. */
  find(caller: Caller, site_id: string): Promise<Site | undefined>
}

export function createSiteSummaries({ sites, alerts }: Stores, clock: Clock): SiteSummaries {
  const snapshots = createSnapshots(read, { clock, fresh_ms, oldest_ms })
  // A key that changes is a new caller, and a new snapshot makes a new text.
  const texts = new WeakMap<Caller, { summaries: Summary[]; text: JsonText }>()

  async function read(client_id: number, now: Date): Promise<Summary[]> {
    const rows = await sites.ofClient(client_id)
    const site_ids = rows.map(({ site_id }) => site_id)
    const [vitals, counts] = await Promise.all([sites.vitals(site_ids), alerts.counts(site_ids)])
    return rows.map((row) =>
      summaryOf(row, vitals.get(row.site_id), counts.get(row.site_id) ?? noAlerts, now),
    )
  }

  return {
    async list(caller) {
      const summaries = await snapshots.get(caller.client_id)
      const written = texts.get(caller)
      if (written?.summaries === summaries) return written.text
      const seen = summaries.filter(({ site }) => maySee(caller, site.site_id))
      const data = seen.map((one) => forCaller(one, caller))
      const text = new JsonText(JSON.stringify({ data, meta: { count: data.length } }))
      texts.set(caller, { summaries, text })
      return text
    },
    async find(caller, site_id) {
      if (!maySee(caller, site_id)) return undefined
      const known = (summaries: Summary[]) => summaries.find(({ site }) => site.site_id === site_id)
      // A site may be younger than the snapshot.
      const found =
        known(await snapshots.get(caller.client_id)) ??
        known(await snapshots.readAgain(caller.client_id))
      return found && forCaller(found, caller)
    },
  }
}

const maySee = ({ site_ids }: Caller, site_id: string) => site_ids?.has(site_id) ?? true

const forCaller = ({ site, alerts }: Summary, caller: Caller): Site => ({
  ...site,
  ...alertsFor(caller, alerts),
  modules: [...caller.modules],
  scopes: [...caller.scopes],
})

/** Null for who may not read alerts. */
function alertsFor(
  { modules, scopes }: Pick<Caller, 'modules' | 'scopes'>,
  { active, highest_active }: AlertCounts,
): Pick<Site, 'active_alert_count' | 'highest_alert_severity'> {
  const may_read = scopes.has('alerts:read') && modules.has(scopeModules['alerts:read'])
  return {
    active_alert_count: may_read ? active : null,
    highest_alert_severity: may_read ? highest_active : null,
  }
}

function summaryOf(
  row: SiteRow,
  vitals: SiteVitals | undefined,
  alerts: AlertCounts,
  now: Date,
): Summary {
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
  const judged = { loggers, inverters, alerts }
  const site = {
    ...own,
    ...siteHealth(judged, situationOf(row, now)),
    commissioning_safe_mode: safe_mode_since_at !== null,
    safe_mode_since_at: iso(safe_mode_since_at),
    last_data_at: iso(latest(loggers.map(({ data_at }) => data_at))),
    simulated: simulated ?? false,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
  return { site, alerts }
}

function latest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((instant) => instant !== null)
  return known.length === 0 ? null : new Date(Math.max(...known.map(Number)))
}
