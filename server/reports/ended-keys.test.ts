/** A subscription ends with the key or the person that ordered it, and tells why. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import { addKey } from '../fixtures/served-site.ts'
import { order, type ServedReports, servedReports } from './fixtures/served-reports.ts'
import { planReports } from './planning.ts'

let served: ServedReports
let key: string
before(async () => {
  served = await servedReports()
})
beforeEach(async () => {
  await served.clear()
  await served.db.execute("delete from api_keys where key_id = 'eeeeeeeeeeee'")
  key = await addKey(served.db, { key_id: 'eeeeeeeeeeee' })
})
after(() => served.close())

const change = (text: string) =>
  served.db.execute(`update api_keys set ${text} where key_id like 'e%'`)
const orderWith = async (by: string) => {
  const made = await served.ask('POST', '/subscriptions', { body: order, key: by })
  assert.equal(made.status, 201)
}

async function due() {
  served.at('2026-06-22T05:00:00Z')
  await planReports(served.server)
  const { body } = await served.ask('GET', '/subscriptions')
  const [{ enabled, next_run_at, ended_reason, last_run_id }] = body.data
  return { enabled, next_run_at, ended_reason, has_run: last_run_id !== null }
}

for (const [ended_reason, text] of [
  ['key_revoked', "revoked_at = '2026-06-21T12:00Z'"],
  ['key_expired', "expires_at = '2026-06-21T12:00Z'"],
  ['no_access', "site_ids = '{elsewhere}'"],
] as const) {
  test(`a subscription whose key has ended is not run: ${ended_reason}`, async () => {
    await orderWith(key)
    await change(text)
    assert.deepEqual(await due(), {
      enabled: false,
      next_run_at: null,
      ended_reason,
      has_run: false,
    })
    const notices = await served.db.query<{ title: string; body: string }>(
      'select title, body from om_notifications',
    )
    assert.equal(notices.length, 1)
    assert.match(notices[0]!.title, /Every morning/)
    await planReports(served.server)
    assert.equal((await served.db.query('select from om_notifications')).length, 1, 'told once')
  })
}

test('a change of an ended subscription takes it over', async () => {
  await orderWith(key)
  await change("revoked_at = '2026-06-21T12:00Z'")
  const ended = await due()
  assert.equal(ended.ended_reason, 'key_revoked')
  const { body } = await served.ask('GET', '/subscriptions')
  const path = `/subscriptions/${body.data[0].sub_id}`
  const renewed = await served.ask('PATCH', path, { body: { enabled: true } })
  assert.deepEqual([renewed.status, renewed.body.ended_reason], [200, null])
  served.at('2026-06-23T05:00:00Z')
  await planReports(served.server)
  assert.equal((await served.db.query('select from report_runs')).length, 1)
})

test('a subscription of a person ends when the person is disabled or removed', async () => {
  await served.db.execute(`insert into users (id, client_id, role, name, email)
    values ('user_000000000001', 1, 'operator', 'Ada', 'ada@example.com')`)
  await orderWith(key)
  await served.db.execute("update report_subscriptions set key_id = 'user_000000000001'")
  const reason = async () => (await served.ask('GET', '/subscriptions')).body.data[0].ended_reason
  assert.equal(await reason(), null)
  await served.db.execute('update users set disabled_at = now()')
  assert.equal(await reason(), 'person_disabled')
  await served.db.execute('delete from users')
  assert.equal((await due()).ended_reason, 'person_removed')
})

test('a client has at most 100 recipients in all subscriptions', async () => {
  const many = (from: number, count: number) => ({
    recipients: Array.from({ length: count }, (_, nth) => `r${from + nth}@example.com`),
  })
  await served.subscribe(many(0, 50))
  await served.subscribe(many(50, 50))
  await served.subscribe({ recipients: ['R7@example.com'] })
  const body = { ...order, ...many(99, 2) }
  const refused = await served.ask('POST', '/subscriptions', { body })
  assert.deepEqual(
    [refused.status, refused.body.error.details.current_state],
    [409, 'too_many_recipients'],
  )
  const changed = await served.ask('PATCH', '/subscriptions/3', { body: many(100, 1) })
  assert.equal(changed.status, 409)
  assert.equal((await served.ask('PATCH', '/subscriptions/3', { body: many(98, 2) })).status, 200)
})
