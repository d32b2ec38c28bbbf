/**
 * Rate limits over a sliding window of 60 s. A single server counts in memory. Several servers
 * share their counts in the database (replicas.ts).
 * Headers: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import type { Principal } from './authenticate.ts'
import { type ApiError, rateLimited } from './errors.ts'
import { type Grants, noGrants, stepOf, type TimedCounts } from './rate-window.ts'

export type Policy = 'general' | 'write'

export const per_minute = { general: 120, write: 30 } as const
export const window_s = 60

export interface Standing {
  policy: Policy
  granted: boolean
  limit: number
  remaining: number
  /** Seconds until the oldest request leaves the window; 0 for an empty window. */
  reset_s: number
}

export interface RateOrder {
  subject: string
  policy: Policy
  limit: number
}

export interface SharedStanding {
  granted: boolean
  /** Requests of all servers in the last 60 s. */
  window: TimedCounts
}

/** Counts one request across all servers. */
type TakeShared = (order: RateOrder, now_ms: number) => Promise<SharedStanding>

export type RateWindow = Omit<RateOrder, 'limit'> & TimedCounts

export interface RateLimits {
  /** Counts and grants one request. A request above the limit is not counted. */
  take(principal: Principal, policy: Policy, now_ms: number): Standing | Promise<Standing>
  standing(principal: Principal, policy: Policy, now_ms: number): Standing
  /** Sets the shared counter, or null when this server is the only one. */
  share(shared: TakeShared | null): void
  /** Requests granted in the last 60 s. */
  windows(now_ms: number): RateWindow[]
  restore(windows: readonly RateWindow[]): void
}

export function rateLimits(): RateLimits {
  const known = new Map<string, { subject: string; policy: Policy; grants: Grants }>()
  let swept_ms = 0
  let takeShared: TakeShared | null = null

  function grantsFor({ subject, policy }: Omit<RateOrder, 'limit'>): Grants {
    const id = `${policy} ${subject}`
    const entry = known.get(id) ?? { subject, policy, grants: noGrants() }
    known.set(id, entry)
    return entry.grants
  }

  /** Drops empty windows. */
  function sweep(now_ms: number): void {
    if (Math.abs(now_ms - swept_ms) < window_s * 1000) return
    swept_ms = now_ms
    for (const [id, { grants }] of known) if (grants.used(now_ms) === 0) known.delete(id)
  }

  function standingOf(order: RateOrder, granted: boolean, now_ms: number): Standing {
    const { policy, limit } = order
    const grants = grantsFor(order)
    const remaining = Math.max(0, limit - grants.used(now_ms))
    return { policy, granted, limit, remaining, reset_s: grants.secondsToReset(now_ms) }
  }

  return {
    standing: (principal, policy, now_ms) => standingOf(orderOf(principal, policy), true, now_ms),
    take(principal, policy, now_ms) {
      sweep(now_ms)
      const order = orderOf(principal, policy)
      const before = standingOf(order, false, now_ms)
      // The shared count can only be higher than the local one.
      if (before.remaining === 0) return before
      if (takeShared === null) {
        grantsFor(order).add(now_ms, stepOf(order.limit))
        return standingOf(order, true, now_ms)
      }
      return takeShared(order, now_ms).then(({ granted, window }) => {
        const grants = grantsFor(order)
        if (takeShared !== null) grants.replace(window)
        else if (granted) grants.add(now_ms, stepOf(order.limit))
        return standingOf(order, granted, now_ms)
      })
    },
    share(shared) {
      takeShared = shared
    },
    restore(windows) {
      for (const window of windows) grantsFor(window).replace(window)
    },
    windows: (now_ms) =>
      [...known.values()]
        .map(({ subject, policy, grants }) => ({ subject, policy, ...grants.window(now_ms) }))
        .filter(({ counts }) => counts.length > 0),
  }
}

const orderOf = (principal: Principal, policy: Policy): RateOrder => ({
  subject: principal.caller.key_id,
  policy,
  limit: principal[`${policy}_per_minute`] ?? per_minute[policy],
})

type Exceeded = Pick<Standing, 'limit' | 'reset_s'> & { policy: string }

/** The 429 of a policy; `Retry-After` ends when the oldest request leaves the window. */
export function limited({ policy, limit, reset_s }: Exceeded): ApiError {
  return rateLimited({ policy, limit, window_s, retry_after_s: Math.max(1, reset_s) })
}

export const policyHeader = ({ policy, limit }: Standing) => `"${policy}";q=${limit};w=${window_s}`

export const standingHeader = ({ policy, remaining, reset_s }: Standing) =>
  `"${policy}";r=${remaining};t=${reset_s}`

const failures_per_minute = 20
const addresses_max = 10_000

/**
 * Refused keys per address in 60 s, counted by each server. Slows guessing down, and spares the
 * database.
 */
export function failedKeys() {
  const failures = new Map<string, Grants>()
  /** True when the address has failed too often in the last 60 s. */
  function isBlocked(address: string, now_ms: number): boolean {
    const failed = failures.get(networkOf(address))
    return failed !== undefined && failed.used(now_ms) >= failures_per_minute
  }
  return {
    isBlocked,
    /** Throws 429 when it has. */
    check(address: string, now_ms: number): void {
      if (!isBlocked(address, now_ms)) return
      throw limited({
        policy: 'failed_keys',
        limit: failures_per_minute,
        reset_s: failures.get(networkOf(address))!.secondsToReset(now_ms),
      })
    },
    note(address: string, now_ms: number): void {
      const id = networkOf(address)
      const failed = failures.get(id) ?? noGrants()
      // Re-inserting keeps the map in the order of the last failure.
      failures.delete(id)
      if (failures.size >= addresses_max) failures.delete(failures.keys().next().value!)
      failed.add(now_ms, stepOf(failures_per_minute))
      failures.set(id, failed)
    },
  }
}

/** The unit of counting addresses: an IPv4 address or an IPv6 /64. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0)
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, 4)
    .join(':')
}
