/**
 * Admission of requests: key or session (401), general rate (429), site (404), then role, scope and
 * module (403), in this order. In the steady state, a server without other replicas admits keys
 * without a query.
 */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import type { Principal } from './authenticate.ts'
import {
  isGiven,
  loadSites,
  requireModule,
  requireRole,
  requireScope,
  siteKey,
} from './authorize.ts'
import type { Endpoint, RequestSite } from './endpoint.ts'
import { ApiError } from './errors.ts'
import { freshCache } from './fresh-cache.ts'
import { type Bearer, openKeyring } from './keyring.ts'
import { limited, networkOf, per_minute, type RateLimits, type Standing } from './rate-limit.ts'

/** The parts of a request that decide its admission, independent of the framework. */
interface Arrival extends Bearer {
  /** null for paths without a site. */
  site_id: string | null
  /** Authenticates the session; null when the request has none, or uses a key. */
  session: (() => Promise<Principal>) | null
  /** Called when the rate was counted, so that refusals have the rate headers too. */
  onStanding(standing: Standing): void
  /** Called when principal and site are known, so that refused writes can be audited. */
  onKnown(known: Admission): void
}

export interface Admission {
  principal: Principal
  /** null for paths without a site. */
  site: RequestSite | null
}

export type Gate = Awaited<ReturnType<typeof openGate>>

export async function openGate(deps: {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
  rates: RateLimits
}) {
  const { db, rates, clock } = deps
  const keyring = await openKeyring(deps)
  const sites = freshCache<RequestSite>({
    ...deps,
    name: 'sites',
    load: (keys) => loadSites(db, keys),
  })
  const listening = await db.listen('site_changed', {
    // Changes are rare, and the payload has no client_id.
    notified: sites.forgetAll,
    resumed: sites.forgetAll,
  })

  function takeRate({ onStanding }: Pick<Arrival, 'onStanding'>, principal: Principal) {
    const judge = (standing: Standing) => {
      onStanding(standing)
      if (!standing.granted) throw limited(standing)
    }
    const standing = rates.take(principal, 'general', clock.now().getTime())
    return standing instanceof Promise ? standing.then(judge) : judge(standing)
  }

  function passRate(endpoint: Endpoint<never>, arrival: Arrival, principal: Principal) {
    const taken = takeRate(arrival, principal)
    const pass = () => passSite(endpoint, arrival, principal)
    return taken instanceof Promise ? taken.then(pass) : pass()
  }

  function passSite(endpoint: Endpoint<never>, arrival: Arrival, principal: Principal) {
    const { site_id } = arrival
    if (site_id === null) return passRights(endpoint, arrival, { principal, site: null })
    const { caller } = principal
    const site_key = siteKey(caller.client_id, site_id)
    const site = isGiven(site_id, caller) ? sites.peek(site_key) : null
    const pass = (read: RequestSite | null) => {
      if (read === null) throw new ApiError('not_found')
      return passRights(endpoint, arrival, { principal, site: read })
    }
    if (site !== undefined) return pass(site)
    return sites.read(site_key).then(pass)
  }

  /** A refused session counts against its address, as a refused key does. */
  async function refuse(arrival: Arrival, refusal: unknown): Promise<never> {
    if (!(refusal instanceof ApiError)) throw refusal
    const address = nobody(`refused ${networkOf(arrival.address())}`, per_minute.general)
    const standing = await rates.take(address, 'general', clock.now().getTime())
    throw standing.granted ? refusal : limited(standing)
  }

  function principalOf(
    { role }: Endpoint<never>,
    arrival: Arrival,
  ): Principal | Promise<Principal> {
    if (role === 'anyone') return stranger(arrival.address())
    if (arrival.session) return arrival.session().catch((refusal) => refuse(arrival, refusal))
    if (role !== undefined) throw new ApiError('not_signed_in')
    return keyring.authenticate(arrival)
  }

  return {
    /** Synchronous when key and site are cached. Throws or rejects with the refusal. */
    admit(endpoint: Endpoint<never>, arrival: Arrival): Admission | Promise<Admission> {
      const principal = principalOf(endpoint, arrival)
      return principal instanceof Promise
        ? principal.then((known) => passRate(endpoint, arrival, known))
        : passRate(endpoint, arrival, principal)
    },
    /** Repeats the admission of a running stream, which counts as no request. */
    async readmit(endpoint: Endpoint<never>, arrival: Arrival): Promise<Admission> {
      return passSite(endpoint, arrival, await principalOf(endpoint, arrival))
    },
    /** Counts an anonymous request; throws 429 above the limit of its address. */
    admitStranger: (arrival: Pick<Arrival, 'address' | 'onStanding'>) =>
      takeRate(arrival, stranger(arrival.address())),
    async stop() {
      await Promise.all([keyring.stop(), sites.stop(), listening.stop()])
    },
  }
}

function passRights(endpoint: Endpoint<never>, arrival: Arrival, admission: Admission): Admission {
  arrival.onKnown(admission)
  if (endpoint.role !== undefined && endpoint.role !== 'anyone') {
    requireRole(admission.principal.caller, endpoint.role)
  }
  requireScope(admission.principal.caller, endpoint.scope)
  requireModule(admission.principal.caller, endpoint.module)
  return admission
}

/** Limit of anonymous requests per address, for all paths together. */
const stranger_per_minute = 60

/** An anonymous caller, identified by its address. */
const stranger = (address: string): Principal =>
  nobody(`anyone ${networkOf(address)}`, stranger_per_minute, address)

const nobody = (key_id: string, at_most: number, key_name = key_id): Principal => ({
  caller: {
    key_id,
    key_name,
    client_id: 0,
    scopes: new Set(),
    modules: new Set(),
    site_ids: new Set(),
  },
  general_per_minute: at_most,
  write_per_minute: at_most,
})
