import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import { authenticateEdge } from '../link/presence.ts'
import { type Admin, AdminError, type AdminErrorCode } from './admin.ts'
import { changeModules, createClient, listClients } from './clients.ts'
import { createEdge, listEdges, revokeEdge } from './edges.ts'
import { createKey } from './keys.ts'
import { clearSafeMode, createSite, listSites, setSafeMode } from './sites.ts'

const noon = new Date('2026-06-01T12:00:00Z')
const one_pm = new Date('2026-06-01T13:00:00Z')

/** An empty database and a clock that the test sets. */
async function setUp(t: TestContext) {
  const { db, drop } = await testDatabase()
  t.after(drop)
  let now = noon
  const admin: Admin = { db, clock: { now: () => now }, randomBytes }
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

const plan = ['basic_scada']

const eventsOf = ({ db }: Admin) =>
  db.query(
    `select at, source_kind, source_id, code, edge, severity from events
     where site_id = 'a-1' order by event_id`,
  )

test('a client has a name of its own and a plan of known modules', async (t) => {
  const { admin } = await setUp(t)
  const modules = ['om', 'basic_scada', 'om']
  const client = await createClient(admin, { name: 'Zeta', modules })
  const { client_id } = client
  assert.deepEqual(client, {
    client_id,
    name: 'Zeta',
    modules: ['basic_scada', 'om'],
    created_at: noon,
  })
  const other = await createClient(admin, { name: 'Alpha', modules: plan })
  assert.deepEqual(await listClients(admin), [other, client])
  const create = (name: string, modules = plan) => createClient(admin, { name, modules })
  await refuses('conflict', /there is a client "Zeta" already/, create('Zeta'))
  await refuses('invalid', /unknown module: "scada" \(known: basic_scada/, create('B', ['scada']))
  await refuses('invalid', /at least one module/, create('B', []))
  assert.equal((await listClients(admin)).length, 2)
})

test('a client gets another plan, and the servers hear of its keys', async (t) => {
  const { admin } = await setUp(t)
  await createClient(admin, { name: 'Zeta', modules: plan })
  const rights = { scopes: ['plant:read'], site_ids: null, expires_at: null, created_by: 'test' }
  const { key_id } = await createKey(admin, { client: 'Zeta', name: 'k', ...rights })
  const heard = new EventTarget()
  await admin.db.listen('key_changed', {
    notified: (payload) => heard.dispatchEvent(new Event(payload)),
    resumed() {},
  })
  const notified = once(heard, key_id)
  const modules = ['om', 'basic_scada']
  const client = await changeModules(admin, { name: 'Zeta', modules })
  assert.deepEqual(client.modules, ['basic_scada', 'om'])
  await notified
  await refuses('invalid', /unknown module/, changeModules(admin, { name: 'Zeta', modules: ['x'] }))
  await refuses('not_found', /no client "Y"/, changeModules(admin, { name: 'Y', modules: plan }))
})

test('names are short, printable and without blanks around them', async (t) => {
  const { admin } = await setUp(t)
  const create = (name: string) => createClient(admin, { name, modules: plan })
  await refuses('invalid', /name must not be empty/, create(''))
  await refuses('invalid', /name must not be empty/, create('  '))
  await refuses('invalid', /must not begin or end with a blank/, create('A '))
  await refuses('invalid', /at most 100 characters/, create('x'.repeat(101)))
  for (const bad of ['a\nb', 'a\u0000b', 'a\u001b[2Jb', 'a\u202eb', 'a\u2028b', '\ud800']) {
    await refuses('invalid', /must not contain control characters/, create(bad))
  }
  const long = '☀️'.repeat(50)
  assert.equal((await create(long)).name, long)
  await create("Ηλιος'; drop table clients --")
  assert.equal((await listClients(admin)).length, 2)
})

test('a site has an id of its own and belongs to a client', async (t) => {
  const { admin } = await setUp(t)
  await createClient(admin, { name: 'A', modules: plan })
  await createClient(admin, { name: 'B', modules: plan })
  const create = (site_id: string, client = 'A', name = 'North') =>
    createSite(admin, { client, site_id, name })
  const site = await create('a-1')
  assert.deepEqual(site, {
    site_id: 'a-1',
    client: 'A',
    name: 'North',
    created_at: noon,
    safe_mode_since_at: noon,
    inventory_at: null,
  })
  const second = await create('b-1', 'B')
  assert.deepEqual(await listSites(admin), [site, second])
  assert.deepEqual(await listSites(admin, { client: 'B' }), [second])
  await refuses('conflict', /there is a site a-1 already/, create('a-1', 'B'))
  await refuses('not_found', /there is no client "C"/, create('c-1', 'C'))
  await refuses('not_found', /there is no client "C"/, listSites(admin, { client: 'C' }))
  await refuses('invalid', /the site's name must not/, create('c-1', 'A', '\t'))
  for (const bad of ['', 'A', '-a', 'a b', 'a/b', 'x'.repeat(65)]) {
    await refuses('invalid', /site_id/, create(bad))
  }
})

test('safe mode goes on and off, and the servers hear of it', { timeout: 30_000 }, async (t) => {
  const { admin, setNow } = await setUp(t)
  await createClient(admin, { name: 'A', modules: plan })
  const order = { client: 'A', site_id: 'a-1', name: 'North' }
  await createSite(admin, { ...order, safe_mode: false })
  const heard = new EventTarget()
  await admin.db.listen('site_changed', {
    notified: (payload) => heard.dispatchEvent(new Event(payload)),
    resumed() {},
  })
  const notified = once(heard, 'a-1')
  assert.deepEqual((await setSafeMode(admin, 'a-1')).safe_mode_since_at, noon)
  await notified
  setNow(one_pm)
  assert.deepEqual((await setSafeMode(admin, 'a-1')).safe_mode_since_at, noon)
  assert.equal((await clearSafeMode(admin, 'a-1')).safe_mode_since_at, null)
  assert.equal((await clearSafeMode(admin, 'a-1')).safe_mode_since_at, null)
  assert.deepEqual((await setSafeMode(admin, 'a-1')).safe_mode_since_at, one_pm)
  await refuses('not_found', /there is no site "x"/, setSafeMode(admin, 'x'))
  await refuses('not_found', /there is no site "x"/, clearSafeMode(admin, 'x'))
  const { at, ...first } = (await eventsOf(admin))[0]!
  assert.deepEqual(first, {
    source_kind: 'site',
    source_id: 'a-1',
    code: 'safe_mode',
    edge: 'rising',
    severity: 'info',
  })
  assert.deepEqual(at, noon)
  assert.deepEqual(
    (await eventsOf(admin)).map(({ edge }) => edge),
    ['rising', 'falling', 'rising'],
  )
})

test('an edge connects with the token of its enrolment, until it is revoked', async (t) => {
  const { admin, setNow } = await setUp(t)
  await createClient(admin, { name: 'A', modules: plan })
  const of_a = { client: 'A', safe_mode: false }
  await createSite(admin, { ...of_a, site_id: 'a-1', name: 'North' })
  await createSite(admin, { ...of_a, site_id: 'a-2', name: 'South' })
  const { token, ...edge } = await createEdge(admin, { site_id: 'a-1', name: 'cabinet' })
  const { edge_id } = edge
  const identity = { site_id: 'a-1', edge_id }
  assert.deepEqual(await authenticateEdge(admin.db, `Bearer ${token}`), identity)
  assert.deepEqual(await listEdges(admin), [edge])
  assert.deepEqual(await listEdges(admin, { site_id: 'a-2' }), [])

  const elsewhere = { site_id: 'a-2', edge_id }
  await refuses('not_found', /site "a-2" has no edge/, revokeEdge(admin, elsewhere))
  assert.deepEqual(await authenticateEdge(admin.db, `Bearer ${token}`), identity)
  assert.deepEqual((await revokeEdge(admin, identity)).revoked_at, noon)
  setNow(one_pm)
  assert.deepEqual((await revokeEdge(admin, identity)).revoked_at, noon, 'the first time counts')
  assert.equal(await authenticateEdge(admin.db, `Bearer ${token}`), null)
  assert.deepEqual(await eventsOf(admin), [
    {
      at: noon,
      source_kind: 'edge',
      source_id: edge_id,
      code: 'edge_token_revoked',
      edge: 'once',
      severity: 'warning',
    },
  ])

  await refuses('not_found', /no site "x"/, createEdge(admin, { site_id: 'x', name: 'cabinet' }))
  await refuses('not_found', /no site "x"/, listEdges(admin, { site_id: 'x' }))
  await refuses('invalid', /edge's name/, createEdge(admin, { site_id: 'a-1', name: '' }))
  const whole = revokeEdge(admin, { site_id: 'a-1', edge_id: token })
  await refuses('invalid', /^an edge is named by its 12 hex digits, which the list shows$/, whole)
})
