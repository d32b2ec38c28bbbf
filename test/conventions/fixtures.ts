/** Clients, keys and sites as the conventions need them, in whichever database. */
import { createHash } from 'node:crypto'
import { modules, type Scope, scopes } from '../../server/http/endpoint.ts'
import type { Queries } from '../../server/storage/database.ts'

export interface Fixtures {
  /** A site where everything may be done, one in safe mode, one of another client. */
  sites: { live: string; safe: string; foreign: string }
  keys: Record<
    'full' | 'scopeless' | 'planless' | 'narrow' | 'expired' | 'revoked' | 'limited',
    string
  >
  /** A value for every path parameter, and for every query parameter that is required. */
  values: Record<string, string>
  /** Values in place of those, by the operation_id of what needs another. */
  of?: Record<string, Record<string, string>>
}

export interface NewKey {
  key_id: string
  client_id: number
  scopes?: readonly Scope[]
  site_ids?: string[] | null
  per_minute?: number | null
  write_per_minute?: number | null
  expires_at?: string | null
  revoked_at?: string | null
}

/** The secret half of a test's key follows from its first half. */
export const secretOf = (key_id: string) =>
  createHash('sha256').update(`secret of ${key_id}`).digest('hex')
export const apiKey = (key_id: string) => `svc_live_${key_id}_${secretOf(key_id)}`

export async function addKey(db: Queries, key: NewKey): Promise<string> {
  await db.execute(
    `insert into api_keys (key_id, client_id, name, secret_sha256, scopes, site_ids,
       general_per_minute, write_per_minute, created_by, expires_at, revoked_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'a test', $9, $10)`,
    [
      key.key_id,
      key.client_id,
      `key ${key.key_id}`,
      createHash('sha256').update(secretOf(key.key_id)).digest(),
      key.scopes ?? scopes,
      key.site_ids ?? null,
      key.per_minute === undefined ? 1_000_000 : key.per_minute,
      key.write_per_minute === undefined ? 1_000_000 : key.write_per_minute,
      key.expires_at ?? null,
      key.revoked_at ?? null,
    ],
  )
  return apiKey(key.key_id)
}

/** `live` is the site where everything may be done: one that is there already, or else made. */
export async function addFixtures(
  db: Queries,
  live?: { site_id: string; client_id: number },
): Promise<Fixtures> {
  const { site_id, client_id } = live ?? { site_id: 'live-site', client_id: 101 }
  const sites = { live: site_id, safe: 'safe-site', foreign: 'foreign-site' }
  await db.execute(
    `insert into clients (client_id, name, modules) overriding system value
     values (101, 'owner', $1), (102, 'stranger', $1), (103, 'planless', '{}')`,
    [modules],
  )
  await db.execute(
    `insert into sites (site_id, client_id, name, safe_mode_since_at)
     values ($1, $4, 'Live', null), ($2, $4, 'Safe', now()), ($3, 102, 'Foreign', null),
            ('planless-site', 103, 'Planless', null)
     on conflict do nothing`,
    [sites.live, sites.safe, sites.foreign, client_id],
  )
  const owner = { client_id }
  const keys = {
    full: await addKey(db, { ...owner, key_id: 'aaaaaaaaaaa1' }),
    scopeless: await addKey(db, { ...owner, key_id: 'aaaaaaaaaaa2', scopes: [] }),
    planless: await addKey(db, { client_id: 103, key_id: 'aaaaaaaaaaa3' }),
    narrow: await addKey(db, { ...owner, key_id: 'aaaaaaaaaaa4', site_ids: [sites.safe] }),
    expired: await addKey(db, { ...owner, key_id: 'aaaaaaaaaaa5', expires_at: '2020-01-01' }),
    revoked: await addKey(db, { ...owner, key_id: 'aaaaaaaaaaa6', revoked_at: '2020-01-01' }),
    limited: await addKey(db, {
      ...owner,
      key_id: 'aaaaaaaaaaa7',
      per_minute: null,
      write_per_minute: null,
    }),
  }
  return { sites, keys, values: {} }
}
