/**
 * API keys: `svc_live_<12 hex>_<64 hex>`. The first half is the id of the key. The second half is
 * its secret, of which only the SHA-256 is stored. Refusals follow RFC 6750.
 * https://www.rfc-editor.org/rfc/rfc6750
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Queries } from '../storage/database.ts'
import type { Caller, Module, Role, Scope } from './endpoint.ts'
import { ApiError, type ErrorCode } from './errors.ts'

export const key_pattern = /^svc_live_([0-9a-f]{12})_([0-9a-f]{64})$/

const bearer = /^Bearer +(\S+) *$/i

/** The stored digest of a secret, which is given as text. */
export const secretDigest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

/** An authenticated caller with its rate limits; null stands for the limit of the server. */
export interface Principal {
  caller: Caller
  general_per_minute: number | null
  write_per_minute: number | null
}

export interface ApiKey extends Principal {
  secret_sha256: Buffer
  previous_secret_sha256: Buffer | null
  previous_until: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

/** The columns of a caller; `role` for users only. */
export interface CallerRow {
  key_id: string
  name: string
  role?: Role
  client_id: number
  scopes: readonly Scope[]
  modules: readonly Module[]
  site_ids: readonly string[] | null
}

export const callerOf = ({ name, scopes, modules, site_ids, ...row }: CallerRow): Caller => ({
  ...row,
  key_name: name,
  scopes: new Set(scopes),
  modules: new Set(modules),
  site_ids: site_ids && new Set(site_ids),
})

const selectKeys = {
  name: 'http_api_keys',
  text: `select key_id, client_id, k.name, secret_sha256, previous_secret_sha256, previous_until,
                scopes, site_ids, modules, general_per_minute, write_per_minute,
                expires_at, revoked_at
           from api_keys k join clients c using (client_id)
          where key_id = any($1::text[])`,
}

export async function loadKeys(
  db: Queries,
  key_ids: readonly string[],
): Promise<Map<string, ApiKey>> {
  const rows = await db.query<CallerRow & Omit<ApiKey, 'caller'>>(selectKeys, [key_ids])
  return new Map(
    rows.map(({ key_id, name, client_id, scopes, modules, site_ids, ...key }) => {
      const caller = callerOf({ key_id, name, client_id, scopes, modules, site_ids })
      return [key_id, { caller, ...key }]
    }),
  )
}

/** The id and the secret of the key in the request; throws 401 without a well-formed key. */
export function presentedKey(authorization: string | undefined): {
  key_id: string
  secret: string
} {
  if (authorization === undefined || authorization === '') throw refusal('missing_api_key')
  const token = bearer.exec(authorization)?.[1]
  const match = token === undefined ? null : key_pattern.exec(token)
  if (!match) throw refusal('invalid_api_key')
  return { key_id: match[1]!, secret: match[2]! }
}

/**
 * Returns the key when the secret is right and the key is in force. Only a caller with the right
 * secret learns that a key was revoked or has expired.
 */
export function checkKey(key: ApiKey | null, secret: string, now_ms: number): ApiKey {
  if (key === null || !isSecretOf(key, secret, now_ms)) throw refusal('invalid_api_key')
  if (key.revoked_at !== null) throw refusal('revoked_api_key')
  if (key.expires_at !== null && key.expires_at.getTime() <= now_ms) {
    throw refusal('expired_api_key')
  }
  return key
}

function isSecretOf(key: ApiKey, secret: string, now_ms: number): boolean {
  const digest = secretDigest(secret)
  if (timingSafeEqual(digest, key.secret_sha256)) return true
  const { previous_secret_sha256: previous, previous_until: until } = key
  if (previous === null || until === null) return false
  return timingSafeEqual(digest, previous) && now_ms < until.getTime()
}

/** A request without credentials gets no error attribute: RFC 6750 §3.1. */
function refusal(code: Extract<ErrorCode, `${string}_api_key`>): ApiError {
  const realm = 'Bearer realm="heliograph"'
  const challenge =
    code === 'missing_api_key'
      ? realm
      : `${realm}, error="invalid_token", error_description="${code}"`
  return new ApiError(code, null, { 'www-authenticate': challenge })
}

/** Collects the times at which keys were used, to be written in one statement. */
export function keyUses(db: Queries) {
  const used = new Map<string, number>()
  return {
    note(key_id: string, now_ms: number) {
      used.set(key_id, now_ms)
    },
    async write(): Promise<void> {
      if (used.size === 0) return
      const entries = [...used]
      used.clear()
      await db.execute(
        `update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
           from unnest($1::text[], $2::timestamptz[]) as u (key_id, at) where k.key_id = u.key_id`,
        [entries.map(([key_id]) => key_id), entries.map(([, at_ms]) => new Date(at_ms))],
      )
    },
  }
}
