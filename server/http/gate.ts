/**
 * The gate before every endpoint: key (401), general rate (429), site (404), scope and module
 * (403), in this order. In the steady state it asks the database nothing.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import type { ApiKey } from './authenticate.ts'
import {
  loadSites,
  requireModule,
  requireScope,
  site_id_pattern,
  visibleSite,
} from './authorize.ts'
import type { Endpoint, RequestSite } from './endpoint.ts'
import { freshCache } from './fresh-cache.ts'
import { type Bearer, openKeyring } from './keyring.ts'
import { limited, type RateLimits, type Standing } from './rate-limit.ts'

/** What the gate looks at, free of the framework. */
export interface Arrival extends Bearer {
  /** null above the sites. */
  site_id: string | null
  /** Told once the key is known, so that its headers stand on refusals too. */
  onStanding(standing: Standing): void
  /** Told once key and site are known, so that it can be noted whose write lacked the right. */
  onKnown(known: Admission): void
}

export interface Admission {
  key: ApiKey
  /** null above the sites. */
  site: RequestSite | null
}

export interface Gate {
  /** At once where key and site are known; throws or rejects with the refusal. */
  admit(endpoint: Endpoint<never>, arrival: Arrival): Admission | Promise<Admission>
  stop(): Promise<void>
}

export async function openGate(deps: {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
  rates: RateLimits
}): Promise<Gate> {
  const { db, rates, clock } = deps
  const keyring = await openKeyring(deps)
  const sites = freshCache<RequestSite>({
    ...deps,
    name: 'sites',
    load: (ids) => loadSites(db, ids),
  })
  const listening = await db.listen('site_changed', {
    notified: sites.forget,
    resumed: sites.forgetAll,
  })

  function passRate(endpoint: Endpoint<never>, arrival: Arrival, key: ApiKey) {
    const standing = rates.take(key, 'general', clock.now().getTime())
    arrival.onStanding(standing)
    if (!standing.granted) throw limited(standing)
    const { site_id } = arrival
    if (site_id === null) return passRights(endpoint, arrival, { key, site: null })
    const site = site_id_pattern.test(site_id) ? sites.peek(site_id) : null
    const pass = (read: RequestSite | null) =>
      passRights(endpoint, arrival, { key, site: visibleSite(read, key.caller) })
    if (site !== undefined) return pass(site)
    return sites.read(site_id).then(pass)
  }

  return {
    admit(endpoint, arrival) {
      const key = keyring.authenticate(arrival)
      return key instanceof Promise
        ? key.then((read) => passRate(endpoint, arrival, read))
        : passRate(endpoint, arrival, key)
    },
    async stop() {
      await Promise.all([keyring.stop(), sites.stop(), listening.stop()])
    },
  }
}

function passRights(endpoint: Endpoint<never>, arrival: Arrival, admission: Admission): Admission {
  arrival.onKnown(admission)
  requireScope(admission.key.caller, endpoint.scope)
  requireModule(admission.key.caller, endpoint.module)
  return admission
}
