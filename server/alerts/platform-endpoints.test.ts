import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOfFile } from '../access/fixtures/served-platform.ts'

const platform = platformOfFile()

/** The path of a page, and the sites and numbers of its alerts. */
const namesOf = (body: { data: { site_id: string; alert_id: number }[] }) =>
  body.data.map(({ site_id, alert_id }) => `${site_id} ${alert_id}`)

test('the open alerts of all sites are listed to those who may read alerts', async (t) => {
  const { db, person } = platform
  await db.execute(
    `insert into alerts (site_id, alert_id, dedup_key, code, title, message, category, severity,
       status, source_type, source_id, started_at, detected_at, last_seen_at, created_at,
       updated_at, resolved_at, resolution, lost_energy_kwh, lost_amount, currency)
     overriding system value
     select site_id, n, n, 'door_open', 'A door is open', 'Open.', 'security', 'major', status,
       'node', 'ts-1', at, at, at, at, at, case status when 'resolved' then at end,
       case status when 'resolved' then 'auto' end, 5, 2, 'EUR'
     from (values ('first', 1, 'active', timestamptz '2026-06-21T08:00Z'),
       ('first', 2, 'acknowledged', '2026-06-21T09:00Z'),
       ('first', 3, 'resolved', '2026-06-21T09:30Z'),
       ('second', 1, 'active', '2026-06-21T09:00Z'), ('second', 2, 'active', '2026-06-21T10:00Z'),
       ('foreign', 1, 'active', '2026-06-21T10:00Z')) as a (site_id, n, status, at)`,
  )
  const viewer = await person('viewer', 'viewer@example.com')
  const ask = (query = '') => viewer.ask('GET', `/platform/alerts${query}`)

  await t.test('newest first, without resolved ones and those of other clients', async () => {
    const { status, body } = await ask()
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(namesOf(body), ['second 2', 'second 1', 'first 2', 'first 1'])
    assert.deepEqual(body.meta, { count: 4, next_cursor: null })
    assert.equal(body.data[3].site_name, 'First')
    assert.deepEqual([body.data[3].lost_amount, body.data[3].currency], [2, 'EUR'])
  })

  await t.test('page by page', async () => {
    const walked: string[] = []
    let query = '?limit=1'
    for (;;) {
      const { body } = await ask(query)
      assert.equal(body.meta.count, 4)
      walked.push(...namesOf(body))
      if (body.meta.next_cursor === null) break
      query = `?limit=1&cursor=${body.meta.next_cursor}`
    }
    assert.deepEqual(walked, ['second 2', 'second 1', 'first 2', 'first 1'])
    assert.equal((await ask('?cursor=x')).status, 422)
  })

  await t.test('of the sites that a user was given', async () => {
    await db.execute(`update users set site_ids = '{first}' where email = 'viewer@example.com'`)
    const { body } = await (await elsewhere()).ask('GET', '/platform/alerts')
    assert.deepEqual([namesOf(body), body.meta.count], [['first 2', 'first 1'], 2])
    await db.execute(`update users set site_ids = '{second}' where email = 'viewer@example.com'`)
    await db.execute(`update alerts set status = 'resolved', resolution = 'auto',
      resolved_at = now() where site_id = 'second'`)
    const none = await (await elsewhere()).ask('GET', '/platform/alerts')
    assert.deepEqual([none.body.data, none.body.meta.count], [[], 0])
  })

  await t.test('without a session or the module nothing is listed', async () => {
    const stranger = platform.browser()
    assert.equal((await stranger.ask('GET', '/platform/alerts')).status, 401)
    await db.execute(`update clients set modules = '{om}'`)
    const answer = await (await elsewhere()).ask('GET', '/platform/alerts')
    assert.equal(answer.status, 403, JSON.stringify(answer.body))
    assert.equal(answer.body.error.code, 'forbidden_module')
  })

  /** A session at a server that has not read the user yet. */
  function elsewhere() {
    return platform.elsewhere(viewer)
  }
})
