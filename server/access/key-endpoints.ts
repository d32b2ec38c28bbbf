/** The API keys of a client, made and ended by its administrators. */
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { endpoint, type Request } from '../http/endpoint.ts'
import { List } from '../http/envelope.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { Nullable } from '../http/params.ts'
import type { Queries } from '../storage/database.ts'
import { AdminError } from './admin.ts'
import { adminOf } from './admin-of.ts'
import { keyExample, shownKeyExample } from './examples.ts'
import {
  type ApiKeyRecord,
  createKey,
  findKey,
  listKeys,
  overlap_s_default,
  revokeKey,
  rotateKey,
} from './keys.ts'
import type { PlatformNeeds } from './people-endpoints.ts'
import { Key, KeyId, Name, Scopes, ShownKey, SiteIds } from './schemas.ts'
import { clientName } from './users.ts'

const forAdministrators = {
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'administrator',
} as const
type Asked = Pick<Request<unknown, unknown, unknown>, 'caller'>

const iso = (instant: Date | null) => instant?.toISOString() ?? null

const keyOf = (key: ApiKeyRecord) => ({
  key_id: key.key_id,
  key_prefix: `svc_live_${key.key_id}`,
  name: key.name,
  state: key.state,
  scopes: key.scopes,
  site_ids: key.site_ids,
  created_at: key.created_at.toISOString(),
  created_by: key.created_by,
  last_used_at: iso(key.last_used_at),
  rotated_at: iso(key.rotated_at),
  previous_until: iso(key.previous_until),
  expires_at: iso(key.expires_at),
  revoked_at: iso(key.revoked_at),
})

/** Refusals of an operator's function, as an answer. */
async function asAnswer<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    if (error.code === 'not_found') throw new ApiError('not_found')
    if (error.code === 'conflict') {
      throw new ApiError('conflict_state', { message: error.message })
    }
    throw invalid({ location: 'body', field: '', code: 'invalid_value', message: error.message })
  }
}

/** A key of another client is not found: ids cannot be probed. */
async function requireKey(tx: Queries, { caller }: Asked, key_id: string): Promise<void> {
  const found = await tx.query('select 1 from api_keys where client_id = $1 and key_id = $2', [
    caller.client_id,
    key_id,
  ])
  if (found.length === 0) throw new ApiError('not_found', { key_id })
}

export const getKeys = endpoint({
  ...forAdministrators,
  method: 'GET',
  path: '/platform/keys',
  operation_id: 'platform_keys_list',
  summary: 'The API keys of the client',
  description: 'Without their secrets, which nobody can read again.',
  returns: List(Key),
  example: { answer: { data: [keyExample], meta: { count: 1 } } },
  async handle(request, { db, clock }: PlatformNeeds) {
    const client = await clientName(db, request.caller)
    const keys = await listKeys({ db, clock, randomBytes }, { client })
    return { data: keys.map(keyOf), meta: { count: keys.length } }
  },
})

export const createKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/keys',
  operation_id: 'platform_key_create',
  summary: 'Make an API key',
  description:
    'The key is in this answer alone: no Idempotency-Key keeps it. Scopes lie within the plan of ' +
    'the client. Two keys that are in use have different names, so that a form that is sent twice ' +
    'makes one: 409.',
  body: Type.Object(
    {
      name: Name,
      scopes: Scopes,
      site_ids: Type.Optional(SiteIds),
      expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
    },
    { additionalProperties: false },
  ),
  status: 201,
  shown_once: true,
  returns: ShownKey,
  example: {
    body: { name: 'Energy trader', scopes: ['plant:read', 'markets:read'] },
    answer: shownKeyExample,
  },
  async handle(request, needs: PlatformNeeds) {
    const { tx, caller, body } = request
    const { name, scopes, site_ids = null, expires_at = null } = body
    const now = needs.clock.now()
    await tx.execute('select 1 from clients where client_id = $1 for update', [caller.client_id])
    const same = await tx.query<{ key_id: string }>(
      `select key_id from api_keys where client_id = $1 and name = $2 and revoked_at is null
         and (expires_at is null or expires_at > $3)`,
      [caller.client_id, name, now],
    )
    if (same[0]) throw new ApiError('conflict_state', { name, key_id: same[0].key_id })
    const client = await clientName(tx, request.caller)
    const order = { client, name, scopes, site_ids, created_by: caller.key_name }
    const made = await asAnswer(() =>
      createKey(adminOf(tx, needs), {
        ...order,
        expires_at: expires_at === null ? null : new Date(expires_at),
      }),
    )
    return { ...keyOf(made), key: made.key }
  },
})

export const rotateKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/keys/{key_id}/rotate',
  operation_id: 'platform_key_rotate',
  summary: 'Give a key a new secret',
  description: 'The secret before is accepted until the overlap ends. Shown this once.',
  params: { key_id: KeyId },
  body: Type.Object(
    {
      overlap_s: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: overlap_s_default }),
      ),
    },
    { additionalProperties: false },
  ),
  shown_once: true,
  returns: ShownKey,
  example: { body: { overlap_s: 86_400 }, answer: shownKeyExample },
  async handle(request, needs: PlatformNeeds) {
    const { key_id } = request.params
    await requireKey(request.tx, request, key_id)
    const { overlap_s = overlap_s_default } = request.body
    const made = await asAnswer(() => rotateKey(adminOf(request.tx, needs), { key_id, overlap_s }))
    return { ...keyOf(made), key: made.key }
  },
})

export const revokeKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/keys/{key_id}',
  operation_id: 'platform_key_revoke',
  summary: 'End a key for good',
  description: 'At once, on every server. One that was revoked before stays as it is.',
  params: { key_id: KeyId },
  returns: Key,
  example: { answer: { ...keyExample, state: 'revoked', revoked_at: '2026-06-21T10:00:00.000Z' } },
  async handle(request, needs: PlatformNeeds) {
    const { key_id } = request.params
    await requireKey(request.tx, request, key_id)
    const admin = adminOf(request.tx, needs)
    await revokeKey(admin, key_id)
    return keyOf(await findKey(admin, key_id))
  },
})
