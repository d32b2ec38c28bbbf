import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { operations } from '../../test/contract/operations.ts'
import { testDatabase } from '../../test/postgres.ts'
import { checkKey, loadKeys, presentedKey } from '../http/authenticate.ts'
import { scopes } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { scopeModules } from '../http/scope-modules.ts'
import { type Admin, AdminError, type AdminErrorCode } from './admin.ts'
import { createClient } from './clients.ts'
import { createKey, type KeyOrder, listKeys, revokeKey, rotateKey } from './keys.ts'
import { createSite } from './sites.ts'

const noon = new Date('2026-06-01T12:00:00Z')
const after = (hours: number) => new Date(noon.getTime() + hours * hour_ms)

const order: KeyOrder = {
  client: 'A',
  name: 'dashboard',
  scopes: ['plant:read'],
  created_by: 'ada',
  site_ids: null,
  expires_at: null,
}

/** Clients A (basic_scada, om; sites a-1, a-2) and B (every module; site b-1), and a clock. */
async function setUp(t: TestContext) {
  const { db, drop } = await testDatabase()
  t.after(drop)
  let now = noon
  const admin: Admin = { db, clock: { now: () => now }, randomBytes }
  await createClient(admin, { name: 'A', modules: ['basic_scada', 'om'] })
  await createClient(admin, {
    name: 'B',
    modules: ['basic_scada', 'bess', 'om', 'ai_predictions', 'earnings'],
  })
  for (const [client, site_id] of [
    ['A', 'a-1'],
    ['A', 'a-2'],
    ['B', 'b-1'],
  ] as const) {
    await createSite(admin, { client, site_id, name: site_id })
  }
  return { admin, setNow: (instant: Date) => (now = instant) }
}

async function refuses(code: AdminErrorCode, message: RegExp, work: Promise<unknown>) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof AdminError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  })
}

/** What the HTTP side makes of a key: its caller's name, or the code of the refusal. */
async function present({ db, clock }: Admin, key: string): Promise<string> {
  try {
    const { key_id, secret } = presentedKey(`Bearer ${key}`)
    const found = (await loadKeys(db, [key_id])).get(key_id) ?? null
    return checkKey(found, secret, clock.now().getTime()).caller.key_name
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return error.code
  }
}

test('a new key works, and the list shows all of it but its secret', async (t) => {
  const { admin } = await setUp(t)
  const { key, ...record } = await createKey(admin, {
    ...order,
    scopes: ['om:write', 'plant:read', 'om:write'],
    site_ids: ['a-2'],
    expires_at: after(1),
    general_per_minute: 600,
  })
  assert.match(key, /^svc_live_[0-9a-f]{12}_[0-9a-f]{64}$/)
  assert.equal(await present(admin, key), 'dashboard')
  assert.equal(
    await present(admin, `${key.slice(0, -1)}${key.endsWith('0') ? 1 : 0}`),
    'invalid_api_key',
  )
  assert.deepEqual(record, {
    key_id: key.split('_')[2],
    client: 'A',
    name: 'dashboard',
    state: 'active',
    scopes: ['plant:read', 'om:write'],
    site_ids: ['a-2'],
    general_per_minute: 600,
    write_per_minute: null,
    created_at: noon,
    created_by: 'ada',
    rotated_at: null,
    previous_until: null,
    expires_at: after(1),
    revoked_at: null,
    last_used_at: null,
  })
  const other = await createKey(admin, { ...order, client: 'B' })
  assert.deepEqual(await listKeys(admin, { client: 'A' }), [record])
  const listed = JSON.stringify(await listKeys(admin))
  assert.equal(JSON.parse(listed).length, 2)
  for (const shown of [key, other.key]) assert.ok(!listed.includes(shown.split('_')[3]!))
})

test('nothing that is stored lets a secret be read', async (t) => {
  const { admin } = await setUp(t)
  const created = await createKey(admin, order)
  const rotated = await rotateKey(admin, { key_id: created.key_id })
  const tables = await admin.db.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const dump: string[] = []
  for (const { name } of tables) {
    const rows = await admin.db.query<{ row: string }>(`select t::text as row from "${name}" t`)
    dump.push(...rows.map(({ row }) => row))
  }
  const text = dump.join('\n')
  assert.ok(text.includes(created.key_id), 'the key itself is there')
  for (const { key } of [created, rotated]) {
    const secret = key.split('_')[3]!
    assert.ok(!text.includes(secret))
    assert.ok(!text.includes(Buffer.from(secret).toString('hex')), 'nor as text in bytes')
  }
})

test('a key gets no scope outside the plan, no site of another client, no dead date', async (t) => {
  const { admin } = await setUp(t)
  const create = (change: Partial<KeyOrder>) => createKey(admin, { ...order, ...change })
  await refuses(
    'invalid',
    /the plan of "A" \(basic_scada, om\): earnings:read needs earnings, bess:read needs bess/,
    create({ scopes: ['plant:read', 'bess:read', 'earnings:read'] }),
  )
  await refuses('invalid', /unknown scope: "permit:read"/, create({ scopes: ['permit:read'] }))
  await refuses('invalid', /at least one scope/, create({ scopes: [] }))
  await refuses('invalid', /unknown site of "A": "b-1"/, create({ site_ids: ['a-1', 'b-1'] }))
  await refuses('invalid', /at least one site/, create({ site_ids: [] }))
  await refuses('invalid', /would have expired already/, create({ expires_at: noon }))
  await refuses('not_found', /no client "C"/, create({ client: 'C' }))
  await refuses('invalid', /the key's name/, create({ name: 'a\nb' }))
  await refuses('invalid', /who makes the key/, create({ created_by: '' }))
  for (const rate of [0, -1, 1.5, Number.NaN, 1e9]) {
    await refuses('invalid', /general_per_minute/, create({ general_per_minute: rate }))
    await refuses('invalid', /write_per_minute/, create({ write_per_minute: rate }))
  }
  assert.deepEqual(await listKeys(admin), [])
  assert.deepEqual((await create({ client: 'B', scopes: [...scopes] })).scopes, [...scopes])
  await refuses('not_found', /no client "C"/, listKeys(admin, { client: 'C' }))
})

test('after a rotation both secrets work until the overlap ends, then the new one', async (t) => {
  const { admin, setNow } = await setUp(t)
  const first = await createKey(admin, order)
  const second = await rotateKey(admin, { key_id: first.key_id })
  assert.equal(second.key_id, first.key_id)
  assert.equal(second.key.slice(0, 21), first.key.slice(0, 21), 'the 12 hex digits stay')
  assert.deepEqual([second.state, second.previous_until], ['rotating', after(24)])
  setNow(new Date(after(24).getTime() - 1))
  assert.equal(await present(admin, first.key), 'dashboard')
  setNow(after(24))
  assert.equal(await present(admin, first.key), 'invalid_api_key')
  assert.equal(await present(admin, second.key), 'dashboard')
  assert.equal((await listKeys(admin))[0]?.state, 'active')
})

test('a rotation without overlap, or on top of another, ends older secrets at once', async (t) => {
  const { admin } = await setUp(t)
  const first = await createKey(admin, order)
  const second = await rotateKey(admin, { key_id: first.key_id, overlap_s: 60 })
  const third = await rotateKey(admin, { key_id: first.key_id, overlap_s: 60 })
  assert.equal(await present(admin, first.key), 'invalid_api_key')
  assert.equal(await present(admin, second.key), 'dashboard')
  const fourth = await rotateKey(admin, { key_id: first.key_id, overlap_s: 0 })
  assert.deepEqual([fourth.state, fourth.previous_until], ['active', null])
  for (const { key } of [first, second, third]) {
    assert.equal(await present(admin, key), 'invalid_api_key')
  }
  assert.equal(await present(admin, fourth.key), 'dashboard')
})

test('a revoked key stays revoked, whoever rotates or revokes it again', async (t) => {
  const { admin, setNow } = await setUp(t)
  const { key, key_id } = await createKey(admin, { ...order, expires_at: after(5) })
  const revoked = await revokeKey(admin, key_id)
  assert.deepEqual([revoked.state, revoked.revoked_at], ['revoked', noon])
  setNow(after(1))
  assert.deepEqual(await revokeKey(admin, key_id), revoked)
  await refuses('conflict', /is revoked: make a new one/, rotateKey(admin, { key_id }))
  assert.equal(await present(admin, key), 'revoked_api_key')
  setNow(after(6))
  assert.equal((await listKeys(admin))[0]?.state, 'revoked')
})

test('an expired key is told as such and gets no new secret', async (t) => {
  const { admin, setNow } = await setUp(t)
  const { key, key_id } = await createKey(admin, { ...order, expires_at: after(1) })
  setNow(after(1))
  assert.equal((await listKeys(admin))[0]?.state, 'expired')
  await refuses('conflict', /has expired: make a new one/, rotateKey(admin, { key_id }))
  assert.equal(await present(admin, key), 'expired_api_key')
})

test('what cannot be rotated or revoked is refused without repeating a secret', async (t) => {
  const { admin } = await setUp(t)
  const { key, key_id } = await createKey(admin, order)
  const nobody = '0123456789ab'
  await refuses('not_found', /no key 0123456789ab/, rotateKey(admin, { key_id: nobody }))
  await refuses('not_found', /no key 0123456789ab/, revokeKey(admin, nobody))
  const form = /^a key is named by its 12 hex digits, which the list shows$/
  await refuses('invalid', form, rotateKey(admin, { key_id: key }))
  await refuses('invalid', form, revokeKey(admin, key))
  for (const overlap_s of [-1, Number.NaN, 30 * 24 * 3600 + 1]) {
    await refuses('invalid', /overlap/, rotateKey(admin, { key_id, overlap_s }))
  }
  assert.equal(await present(admin, key), 'dashboard')
})

test('every replica hears of a rotation and of a revocation', async (t) => {
  const { admin } = await setUp(t)
  const { key_id } = await createKey(admin, order)
  const heard: string[] = []
  const changes = new EventEmitter()
  await admin.db.listen('key_changed', {
    notified(payload) {
      heard.push(payload)
      changes.emit('change')
    },
    resumed() {},
  })
  for (const change of [() => rotateKey(admin, { key_id }), () => revokeKey(admin, key_id)]) {
    heard.length = 0
    const notified = once(changes, 'change', { signal: AbortSignal.timeout(10_000) })
    await change()
    await notified.catch(() => null)
    assert.deepEqual(heard, [key_id])
  }
})

test('each scope belongs to the module of the operations that need it', () => {
  const pairs = operations.flatMap(({ scope, module }) => (scope ? [`${scope} ${module}`] : []))
  const ours = Object.entries(scopeModules).map((pair) => pair.join(' '))
  assert.deepEqual([...new Set(pairs)].sort(), ours.sort())
})
