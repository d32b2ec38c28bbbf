/** A person closes the record of a curtailment whose end the edge never confirms. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOfFile } from '../access/fixtures/served-platform.ts'
import { addKey } from '../fixtures/served-site.ts'

const platform = platformOfFile()
const path = '/platform/curtailment/close'
const note = 'Edge destroyed; inverters checked on site.'

test('an operator closes a record that waits for the edge, and nobody else does', async () => {
  const { db, person } = platform
  const [site] = await db.query<{ site_id: string }>(
    `select site_id from sites join clients using (client_id)
     where clients.name = 'Sun Owners' order by site_id limit 1`,
  )
  const { site_id } = site!
  await db.execute(
    `insert into curtailment_groups (site_id, group_id, source, created_at)
     values ($1, 'stuck', 'api', now()), ($1, 'over', 'api', now())`,
    [site_id],
  )
  await db.execute(
    `insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
       told_at, applied_at, released_at, restored_at)
     values ($1, 'stuck', 1, now() - interval '3 hours', now() - interval '1 hour', 50,
         now() - interval '3 hours', now() - interval '3 hours', now() - interval '2 hours', null),
       ($1, 'stuck', 2, now() - interval '3 hours', now() - interval '1 hour', 50,
         now() - interval '3 hours', null, now() - interval '2 hours', now() - interval '2 hours'),
       ($1, 'over', 1, now() - interval '3 hours', now() - interval '1 hour', 50,
         now() - interval '3 hours', null, null, now() - interval '1 hour')`,
    [site_id],
  )
  const administrator = await person('administrator', 'admin@example.com')
  const operator = await person('operator', 'operator@example.com')
  const viewer = await person('viewer', 'viewer@example.com')
  const close = async (by: typeof operator, change: object = {}) => {
    const answer = await by.ask('POST', path, {
      body: { site_id, group_id: 'stuck', note, ...change },
    })
    return [answer.status, answer.body.closed_count ?? answer.body.error.code]
  }
  assert.deepEqual(await close(viewer), [403, 'forbidden_role'])
  for (const change of [{ note: '   ' }, { group_id: 'none' }, { site_id: 'foreign' }]) {
    assert.deepEqual(await close(operator, change), [422, 'validation_error'])
  }
  const key = await addKey(db, { key_id: '0123456789ab' })
  const headers = { authorization: `Bearer ${key}` }
  const by_key = await platform
    .browser()
    .ask('POST', path, { headers, body: { site_id, group_id: 'stuck', note } })
  assert.equal(by_key.status, 401)
  const versions = () => db.query('select * from desired_versions')
  const before = await versions()
  assert.deepEqual(await close(operator), [200, 1])
  assert.deepEqual(await close(administrator), [200, 0], 'again')
  assert.deepEqual(await close(operator, { group_id: 'over' }), [200, 0])
  assert.deepEqual(await versions(), before, 'nothing is sent')

  const { body } = await operator.ask('GET', `/v1/sites/${site_id}/curtailment/history`)
  const rows = body.data.map((row: Record<string, unknown>) => [
    row['group_id'],
    row['logger_id'],
    row['status'],
    row['closed_reason'],
    row['close_note'],
  ])
  assert.deepEqual(rows.sort(), [
    ['over', 1, 'failed', null, null],
    ['stuck', 1, 'cancelled', 'operator', note],
    ['stuck', 2, 'cancelled', null, null],
  ])
  const audit = await administrator.ask('GET', '/platform/audit')
  const noted = audit.body.data.filter((row: { path: string }) => row.path === path)
  assert.deepEqual(
    noted.map(({ status }: { status: number }) => status),
    [200, 200, 200, 422, 422, 422, 403],
  )
  assert.match(noted[2].body, /Edge destroyed/)
})
