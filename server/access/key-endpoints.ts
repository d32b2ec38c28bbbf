/** The API keys of a client, managed by its administrators. */
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { endpoint, type Request } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { Closed, Nullable } from '../http/params.ts'
import type { Queries } from '../storage/database.ts'
import { served } from '../storage/records.ts'
import { adminOf } from './admin.ts'
import {
  type ApiKeyRecord,
  createKey,
  listKeys,
  overlap_s_default,
  revokeKey,
  rotateKey,
  type ShownOnce,
} from './keys.ts'
import { asAnswer, forAdministrators, type PlatformNeeds } from './platform-operation.ts'
import { Key, KeyId, Name, Scopes, ShownKey, SiteIds } from './schemas.ts'
import { clientName } from './users.ts'

type Asked = Pick<Request<unknown, unknown, unknown>, 'caller'>

const keyOf = (key: ApiKeyRecord) => served(Key, { ...key, key_prefix: `svc_live_${key.key_id}` })

const shown = (key: ShownOnce) => ({ ...keyOf(key), key: key.key })

/** Answers 404 for keys of other clients too, so that ids cannot be probed. */
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
  summary: 'List the API keys of the client',
  description: 'Returns all keys of the client. Secrets cannot be read again.',
  returns: List(Key),
  async handle(request, { db, clock }: PlatformNeeds) {
    const client = await clientName(db, request.caller)
    const keys = await listKeys({ db, clock, randomBytes }, { client })
    return list(keys.map(keyOf))
  },
})

export const createKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/keys',
  operation_id: 'platform_key_create',
  summary: 'Create an API key',
  description:
    'Returns the new key. The key is in this answer only and is not replayed for an ' +
    'Idempotency-Key. Rejected with 422 when a scope is outside the plan of the client, and with ' +
    '409 when a key in force has the same name.',
  body: Closed({
    name: Name,
    scopes: Scopes,
    site_ids: Type.Optional(SiteIds),
    expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
  }),
  status: 201,
  shown_once: true,
  returns: ShownKey,
  example: {
    body: { name: 'Energy trader', scopes: ['plant:read', 'markets:read'] },
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
    const order = {
      client: await clientName(tx, caller),
      name,
      scopes,
      site_ids,
      created_by: caller.key_name,
      expires_at: expires_at === null ? null : new Date(expires_at),
    }
    return shown(await asAnswer(() => createKey(adminOf(tx, needs), order)))
  },
})

export const rotateKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'POST',
  path: '/platform/keys/{key_id}/rotate',
  operation_id: 'platform_key_rotate',
  summary: 'Rotate the secret of a key',
  description:
    'Returns the key with a new secret, only once. The previous secret is accepted until the overlap ends.',
  params: { key_id: KeyId },
  body: Closed({
    overlap_s: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: overlap_s_default }),
    ),
  }),
  shown_once: true,
  returns: ShownKey,
  example: { body: { overlap_s: 86_400 } },
  async handle(request, needs: PlatformNeeds) {
    const { key_id } = request.params
    await requireKey(request.tx, request, key_id)
    const { overlap_s = overlap_s_default } = request.body
    return shown(await asAnswer(() => rotateKey(adminOf(request.tx, needs), { key_id, overlap_s })))
  },
})

export const revokeKeyEndpoint = endpoint({
  ...forAdministrators,
  method: 'DELETE',
  path: '/platform/keys/{key_id}',
  operation_id: 'platform_key_revoke',
  summary: 'Revoke a key',
  description: 'Revokes the key for good, at once on every server. Has no effect on a revoked key.',
  params: { key_id: KeyId },
  returns: Key,
  example: {},
  async handle(request, needs: PlatformNeeds) {
    const { key_id } = request.params
    await requireKey(request.tx, request, key_id)
    return keyOf(await revokeKey(adminOf(request.tx, needs), key_id))
  },
})
