/**
 * The sites of each client as this process saw them within the last seconds, so that listing them
 * costs no query. They are read anew in the background once they are a second old, but only when
 * somebody asks; nothing older than five seconds is ever given out.
 */
import type { Clock } from '@heliograph/domain/clock'
import type { Caller } from '../../http/endpoint.ts'
import { JsonText } from '../../http/json-text.ts'
import { iso } from '../../records/frame.ts'
import { siteHealth } from '../../records/health.ts'
import type { Site } from '../../records/site.ts'
import { situationOf } from '../../records/situation.ts'
import type { SiteVitals } from '../../records/vitals.ts'
import type { SiteRow, SiteStore } from './store.ts'

export const fresh_ms = 1000
export const oldest_ms = 5000

/** A site without what depends on the key that asks. */
type Summary = Omit<Site, 'modules' | 'scopes'>

interface Snapshot {
  read_ms: number
  sites: Summary[]
}

interface Held {
  snapshot: Snapshot | null
  reading: Promise<Snapshot> | null
}

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
  const clients = new Map<number, Held>()
  // A key that changes is a new caller, and a new snapshot makes a new text.
  const texts = new WeakMap<Caller, { snapshot: Snapshot; text: JsonText }>()

  async function read(client_id: number): Promise<Snapshot> {
    const now = clock.now()
    const rows = await store.ofClient(client_id)
    const vitals = await store.vitals(rows.map(({ site_id }) => site_id))
    const sites = rows.map((row) => summaryOf(row, vitals.get(row.site_id), now))
    return { read_ms: now.getTime(), sites }
  }

  function readOnce(client_id: number, held: Held): Promise<Snapshot> {
    held.reading ??= read(client_id)
      .then((snapshot) => {
        held.snapshot = snapshot
        return snapshot
      })
      .finally(() => {
        held.reading = null
      })
    return held.reading
  }

  async function snapshotOf(client_id: number): Promise<Snapshot> {
    const held = clients.get(client_id) ?? { snapshot: null, reading: null }
    clients.set(client_id, held)
    const { snapshot } = held
    const age_ms = snapshot ? clock.now().getTime() - snapshot.read_ms : Number.NaN
    // A clock that was set back makes a snapshot seem young: then it is read again.
    if (!snapshot || !(age_ms >= 0 && age_ms <= oldest_ms)) return readOnce(client_id, held)
    if (age_ms > fresh_ms) {
      // Should it fail, the snapshot ages until a request waits for the next one and hears why.
      readOnce(client_id, held).catch(() => {})
    }
    return snapshot
  }

  const readAgain = ({ client_id }: Caller) => readOnce(client_id, clients.get(client_id)!)

  return {
    async list(caller) {
      const snapshot = await snapshotOf(caller.client_id)
      const written = texts.get(caller)
      if (written?.snapshot === snapshot) return written.text
      const sites = snapshot.sites.filter(({ site_id }) => maySee(caller, site_id))
      const data = sites.map((site) => forCaller(site, caller))
      const text = new JsonText(JSON.stringify({ data, meta: { count: data.length } }))
      texts.set(caller, { snapshot, text })
      return text
    },
    async find(caller, site_id) {
      if (!maySee(caller, site_id)) return undefined
      const known = ({ sites }: Snapshot) => sites.find((one) => one.site_id === site_id)
      // A site may be younger than the snapshot.
      const site = known(await snapshotOf(caller.client_id)) ?? known(await readAgain(caller))
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
  const { poll: _poll, safe_mode_since_at, created_at, updated_at, simulated, ...own } = row
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
