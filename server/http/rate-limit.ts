/**
 * Requests per minute, counted in fixed windows of a clock minute. Counting costs no query: each
 * replica counts by itself, and while there are several they exchange their counts
 * (replicas.ts): a limit can be overshot by what arrives at the others between two exchanges.
 * Headers: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import type { ApiKey } from './authenticate.ts'
import { ApiError } from './errors.ts'

export type Policy = 'general' | 'write'

export const per_minute = { general: 120, write: 30 } as const
export const window_s = 60
const window_ms = window_s * 1000

export interface Count {
  subject: string
  policy: Policy
  window_ms: number
  /** Counted here. */
  used: number
  /** Of `used`, what the other replicas were told. */
  shared: number
  /** Counted by the other replicas, as last heard. */
  elsewhere: number
}

export interface Standing {
  policy: Policy
  granted: boolean
  limit: number
  remaining: number
  reset_s: number
}

export interface RateLimits {
  /** Counts one request, unless none is left: then it is not granted and nothing is counted. */
  take(key: ApiKey, policy: Policy, now_ms: number): Standing
  standing(key: ApiKey, policy: Policy, now_ms: number): Standing
  /** The counts of the present window, for the exchange between replicas. */
  counts(now_ms: number): Iterable<Count>
}

export function rateLimits(): RateLimits {
  let counts = new Map<string, Count>()
  let window_start_ms = 0

  function countOf(subject: string, policy: Policy, now_ms: number): Count {
    const start_ms = windowStart(now_ms)
    if (start_ms !== window_start_ms) {
      counts = new Map()
      window_start_ms = start_ms
    }
    const id = policy === 'general' ? subject : `${subject} ${policy}`
    const known = counts.get(id)
    if (known) return known
    const made = { subject, policy, window_ms: start_ms, used: 0, shared: 0, elsewhere: 0 }
    counts.set(id, made)
    return made
  }

  function standing(key: ApiKey, policy: Policy, now_ms: number): Standing {
    const { used, elsewhere } = countOf(key.caller.key_id, policy, now_ms)
    const limit = limitOf(key, policy)
    return {
      policy,
      granted: true,
      limit,
      remaining: Math.max(0, limit - used - elsewhere),
      reset_s: secondsToReset(now_ms),
    }
  }

  return {
    standing,
    take(key, policy, now_ms) {
      const state = standing(key, policy, now_ms)
      if (state.remaining === 0) return { ...state, granted: false }
      countOf(key.caller.key_id, policy, now_ms).used += 1
      state.remaining -= 1
      return state
    },
    counts(now_ms) {
      return windowStart(now_ms) === window_start_ms ? counts.values() : []
    },
  }
}

const windowStart = (now_ms: number) => now_ms - (now_ms % window_ms)
const secondsToReset = (now_ms: number) => Math.ceil((window_ms - (now_ms % window_ms)) / 1000)

const limitOf = (key: ApiKey, policy: Policy) =>
  (policy === 'general' ? key.general_per_minute : key.write_per_minute) ?? per_minute[policy]

/** 429 for a policy that granted nothing; the wait ends with the window. */
export function limited({
  policy,
  limit,
  reset_s: retry_after_s,
}: {
  policy: string
  limit: number
  reset_s: number
}): ApiError {
  const details = { policy, limit, window_s, retry_after_s }
  return new ApiError('rate_limited', details, { 'retry-after': String(retry_after_s) })
}

export const policyHeader = ({ policy, limit }: Standing) => `"${policy}";q=${limit};w=${window_s}`

export const standingHeader = ({ policy, remaining, reset_s }: Standing) =>
  `"${policy}";r=${remaining};t=${reset_s}`

const failures_per_minute = 20
const addresses_max = 10_000

/**
 * Refused keys per address and minute: guessing is slow, and costs us no query once it is known.
 */
export function failedKeys() {
  const failures = new Map<string, { window_ms: number; count: number }>()
  /** Whether the address has failed too often in this minute. */
  function isBlocked(address: string, now_ms: number): boolean {
    const entry = failures.get(networkOf(address))
    return entry?.window_ms === windowStart(now_ms) && entry.count >= failures_per_minute
  }
  return {
    isBlocked,
    /** Throws 429 when it has. */
    check(address: string, now_ms: number): void {
      if (!isBlocked(address, now_ms)) return
      throw limited({
        policy: 'failed_keys',
        limit: failures_per_minute,
        reset_s: secondsToReset(now_ms),
      })
    },
    note(address: string, now_ms: number): void {
      const id = networkOf(address)
      const start_ms = windowStart(now_ms)
      const entry = failures.get(id)
      // Deleted and set again, so that the first of the map is the one longest silent.
      failures.delete(id)
      if (failures.size >= addresses_max) failures.delete(failures.keys().next().value!)
      const count = entry?.window_ms === start_ms ? entry.count + 1 : 1
      failures.set(id, { window_ms: start_ms, count })
    },
  }
}

/** What counts as one address: an IPv6 host owns its /64. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0)
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')]
    .slice(0, 4)
    .join(':')
}
