import { type Module, type Scope, scopes } from '../http/endpoint.ts'
import { scopeModules } from '../http/scope-modules.ts'
import type { Queries } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'
import { insertRow } from '../storage/rows.ts'
import {
  type Admin,
  AdminError,
  checkChoice,
  checkHexId,
  checkName,
  newHexId,
  newSecret,
} from './admin.ts'
import { type Client, findClient } from './clients.ts'
import type { Key } from './schemas.ts'

type KeyState = Key['state']

/** A key without its secrets. */
export interface ApiKeyRecord extends Stored<Omit<Key, 'key_prefix' | 'previous_until'>> {
  client: string
  /** null for the default limit of the server. */
  general_per_minute: number | null
  write_per_minute: number | null
  previous_until: Date | null
}

export interface KeyOrder {
  client: string
  name: string
  scopes: readonly string[]
  /** null for all present and future sites of the client. */
  site_ids: readonly string[] | null
  /** null for never. */
  expires_at: Date | null
  general_per_minute?: number | null
  write_per_minute?: number | null
  created_by: string
}

/** `key` (`svc_live_<12 hex>_<64 hex>`) cannot be read again. */
export type ShownOnce = ApiKeyRecord & { key: string }

export const overlap_s_default = 24 * 3600
const overlap_s_max = 30 * 24 * 3600
const per_minute_max = 1_000_000

const selectKeys = `select key_id, c.name as client, k.name, scopes, site_ids, general_per_minute,
  write_per_minute, k.created_at, created_by, rotated_at, previous_until, expires_at, revoked_at,
  last_used_at from api_keys k join clients c using (client_id)`

/**
 * Creates a key. Scopes outside the plan and sites of other clients are refused (`invalid`), and so
 * is an unknown client (`not_found`).
 */
export async function createKey(admin: Admin, order: KeyOrder): Promise<ShownOnce> {
  const { db } = admin
  const now = admin.clock.now()
  const name = checkName("the key's name", order.name)
  const created_by = checkName('the name of who makes the key', order.created_by)
  const chosen = checkChoice('scope', scopes, order.scopes)
  const { expires_at, general_per_minute = null, write_per_minute = null } = order
  if (expires_at !== null && expires_at <= now) {
    throw new AdminError('invalid', `the key would have expired already, on ${iso(expires_at)}`)
  }
  checkRate('general_per_minute', general_per_minute)
  checkRate('write_per_minute', write_per_minute)
  const client = await findClient(db, order.client)
  checkPlan(client, chosen)
  const site_ids = order.site_ids && (await checkSites(db, client, order.site_ids))
  const key_id = newHexId(admin)
  const { secret, secret_sha256 } = newSecret(admin)
  await insertRow(db, 'api_keys', {
    key_id,
    client_id: client.client_id,
    name,
    secret_sha256,
    scopes: chosen,
    site_ids,
    created_at: now,
    created_by,
    expires_at,
    general_per_minute,
    write_per_minute,
  })
  return { ...(await findKey(admin, key_id)), key: fullKey(key_id, secret) }
}

/** The keys of one client or of all, by client and age. */
export async function listKeys(
  { db, clock }: Admin,
  { client }: { client?: string | undefined } = {},
): Promise<ApiKeyRecord[]> {
  const order = 'order by c.name, k.created_at, key_id'
  const rows =
    client === undefined
      ? await db.query<KeyRow>(`${selectKeys} ${order}`)
      : await db.query<KeyRow>(`${selectKeys} where client_id = $1 ${order}`, [
          (await findClient(db, client)).client_id,
        ])
  const now = clock.now()
  return rows.map((row) => withState(row, now))
}

/** The key of these 12 hex digits; `not_found` when there is none. */
export async function findKey({ db, clock }: Admin, key_id: string): Promise<ApiKeyRecord> {
  checkHexId('a key', key_id)
  const [row] = await db.query<KeyRow>(`${selectKeys} where key_id = $1`, [key_id])
  if (!row) throw new AdminError('not_found', `there is no key ${key_id}`)
  return withState(row, clock.now())
}

/**
 * Replaces the secret of a key; its id stays. The previous secret is accepted for `overlap_s` (0 to
 * 30 days, 24 h by default), older secrets are not. Refuses revoked and expired keys (`conflict`).
 */
export async function rotateKey(
  admin: Admin,
  { key_id, overlap_s = overlap_s_default }: { key_id: string; overlap_s?: number },
): Promise<ShownOnce> {
  if (!(overlap_s >= 0 && overlap_s <= overlap_s_max)) {
    throw new AdminError('invalid', `the overlap must be from 0 to ${overlap_s_max} seconds`)
  }
  checkHexId('a key', key_id)
  const now = admin.clock.now()
  const { secret, secret_sha256 } = newSecret(admin)
  const overlap_end = overlap_s > 0 ? new Date(now.getTime() + overlap_s * 1000) : null
  const changed = await changeKey(
    admin,
    key_id,
    `update api_keys
        set previous_secret_sha256 = case when $4::timestamptz is not null then secret_sha256 end,
            previous_until = $4, secret_sha256 = $3, rotated_at = $2
      where key_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2)`,
    [now, secret_sha256, overlap_end],
  )
  const key = await findKey(admin, key_id)
  if (!changed) {
    const state = key.revoked_at ? 'is revoked' : 'has expired'
    throw new AdminError('conflict', `key ${key_id} ${state}: make a new one`)
  }
  return { ...key, key: fullKey(key_id, secret) }
}

/** Revokes a key for good; no effect on a revoked key. */
export async function revokeKey(admin: Admin, key_id: string): Promise<ApiKeyRecord> {
  checkHexId('a key', key_id)
  await changeKey(
    admin,
    key_id,
    'update api_keys set revoked_at = $2 where key_id = $1 and revoked_at is null',
    [admin.clock.now()],
  )
  return findKey(admin, key_id)
}

/** Changes a key and notifies all replicas on commit. */
function changeKey(
  { db }: Admin,
  key_id: string,
  statement: string,
  values: readonly unknown[],
): Promise<boolean> {
  return db.transaction(async (transaction) => {
    const changed = await transaction.execute(statement, [key_id, ...values])
    await transaction.execute(`select pg_notify('key_changed', $1)`, [key_id])
    return changed > 0
  })
}

type KeyRow = Omit<ApiKeyRecord, 'state'>

function withState(row: KeyRow, now: Date): ApiKeyRecord {
  const { key_id, client, name, ...rest } = row
  return { key_id, client, name, state: keyState(row, now), ...rest }
}

function keyState({ revoked_at, expires_at, previous_until }: KeyRow, now: Date): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && expires_at <= now) return 'expired'
  return previous_until !== null && now < previous_until ? 'rotating' : 'active'
}

const fullKey = (key_id: string, secret: string) => `svc_live_${key_id}_${secret}`

const iso = (instant: Date) => instant.toISOString()

function checkRate(field: string, per_minute: number | null): void {
  if (per_minute === null) return
  if (Number.isInteger(per_minute) && per_minute >= 1 && per_minute <= per_minute_max) return
  throw new AdminError('invalid', `${field} must be a whole number from 1 to ${per_minute_max}`)
}

function checkPlan(client: Client, chosen: readonly Scope[]): void {
  const plan: ReadonlySet<Module> = new Set(client.modules)
  const outside = chosen.filter((scope) => !plan.has(scopeModules[scope]))
  if (outside.length === 0) return
  const needs = outside.map((scope) => `${scope} needs ${scopeModules[scope]}`).join(', ')
  throw new AdminError(
    'invalid',
    `outside the plan of ${JSON.stringify(client.name)} (${client.modules.join(', ')}): ${needs}`,
  )
}

async function checkSites(
  db: Queries,
  client: Client,
  site_ids: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ site_id: string }>(
    'select site_id from sites where client_id = $1 order by site_id',
    [client.client_id],
  )
  return checkChoice(
    `site of ${JSON.stringify(client.name)}`,
    rows.map((row) => row.site_id),
    site_ids,
  )
}
