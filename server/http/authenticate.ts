/**
 * API keys: `svc_live_<12 hex>_<64 hex>`. The first half is the id of the key. The second half is
 * its secret, of which only the SHA-256 is stored. Refusals follow RFC 6750.
 * https://www.rfc-editor.org/rfc/rfc6750
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Queries } from '../storage/database.ts'
import type { Caller, Module, Scope } from './endpoint.ts'
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
  previous_until_ms: number
  expires_at_ms: number
  revoked: boolean
}

interface KeyRow {
  key_id: string
  client_id: number
  name: string
  secret_sha256: Buffer
  previous_secret_sha256: Buffer | null
  previous_until: Date | null
  scopes: Scope[]
  site_ids: string[] | null
  modules: Module[]
  general_per_minute: number | null
  write_per_minute: number | null
  expires_at: Date | null
  revoked_at: Date | null
}

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
  const rows = await db.query<KeyRow>(selectKeys, [key_ids])
  return new Map(rows.map((row) => [row.key_id, toKey(row)]))
}

function toKey(row: KeyRow): ApiKey {
  return {
    caller: {
      key_id: row.key_id,
      key_name: row.name,
      client_id: row.client_id,
      scopes: new Set(row.scopes),
      modules: new Set(row.modules),
      site_ids: row.site_ids && new Set(row.site_ids),
    },
    secret_sha256: row.secret_sha256,
    previous_secret_sha256: row.previous_secret_sha256,
    previous_until_ms: row.previous_until?.getTime() ?? 0,
    expires_at_ms: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    revoked: row.revoked_at !== null,
    general_per_minute: row.general_per_minute,
    write_per_minute: row.write_per_minute,
  }
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
  if (key.revoked) throw refusal('revoked_api_key')
  if (key.expires_at_ms <= now_ms) throw refusal('expired_api_key')
  return key
}

function isSecretOf(key: ApiKey, secret: string, now_ms: number): boolean {
  const digest = secretDigest(secret)
  if (timingSafeEqual(digest, key.secret_sha256)) return true
  const previous = key.previous_secret_sha256
  return previous !== null && timingSafeEqual(digest, previous) && now_ms < key.previous_until_ms
}

type Refusal = Extract<ErrorCode, `${string}_api_key`>

/** A request without credentials gets no error attribute: RFC 6750 §3.1. */
function refusal(code: Refusal): ApiError {
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
