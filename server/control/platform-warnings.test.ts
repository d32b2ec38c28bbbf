/** What the page says of a limit before it is created. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { platformOfFile } from '../access/fixtures/served-platform.ts'

const platform = platformOfFile()

test('an operator reads the warnings of a limit that is not created yet', async () => {
  const { db, person } = platform
  const [site] = await db.query<{ site_id: string }>(
    `select site_id from sites join clients using (client_id)
     where clients.name = 'Sun Owners' order by site_id limit 1`,
  )
  const { site_id } = site!
  await db.execute('delete from loggers where site_id = $1', [site_id])
  await db.execute(
    `insert into loggers (site_id, logger_id, name, rated_power_kw, dc_capacity_kwp, created_at,
       updated_at)
     select $1, id, 'Plant ' || id, 100, 100, now(), now() from generate_series(1, 2) as id`,
    [site_id],
  )
  await db.execute(
    `insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
       message)
     values ($1, now(), now(), 'logger', '2', 'no_permit_entry', 'rising', 'info', 'no entry')`,
    [site_id],
  )
  const operator = await person('operator', 'operator@example.com')
  const limit = { limit_mode: 'percent', limit_value: '40' }
  const span = { start_at: '2036-06-21T11:00:00Z', end_at: '2036-06-21T12:00:00Z' }
  const ask = async (change: Record<string, string>) => {
    const query = new URLSearchParams({ site_id, scope: 'site', ...limit, ...span, ...change })
    const { body } = await operator.ask('GET', `/platform/curtailment/warnings?${query}`)
    return body.warnings ?? body.error.details.errors[0].field
  }
  assert.deepEqual(await ask({}), ['logger_offline', 'no_permit_entry:2'])
  assert.deepEqual(await ask({ scope: 'logger', logger_id: '1' }), ['logger_offline'])
  assert.equal(await ask({ scope: 'logger', logger_id: '7' }), 'logger_id')
  assert.equal(await ask({ site_id: 'foreign' }), 'site_id')
  assert.deepEqual(await db.query('select from curtailment_groups'), [], 'nothing is created')
})
