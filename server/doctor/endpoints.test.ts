import assert from 'node:assert/strict'
import test from 'node:test'
import type { Check } from '@heliograph/domain/check'
import { platformOfFile } from '../access/fixtures/served-platform.ts'

const platform = platformOfFile()

test('one of several clients gets the check of its own edges, the only one gets all', async () => {
  const { db, clock, person } = platform
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256, agent_version, clock_offset_ms,
       last_seen_at)
     values ('first', '000000000001', 'own', '', '0.9.0', 9000, $1),
       ('foreign', '000000000002', 'foreign', '', '0.8.0', 9000, $1)`,
    [clock.now()],
  )
  const administrator = await person('administrator', 'admin@example.com')
  const ask = async (): Promise<Check[]> => {
    const { status, body } = await administrator.ask('GET', '/platform/doctor')
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const own = '1 of 1 of another version than 1.0.0: own of first (0.9.0)'
  assert.deepEqual(
    (await ask()).map(({ name, finding }) => [name, finding]),
    [['edges', own]],
  )
  await db.execute(`delete from edges where site_id = 'foreign'`)
  await db.execute(`delete from sites where site_id = 'foreign'`)
  await db.execute('delete from clients where client_id not in (select client_id from sites)')
  const checks = await ask()
  const of = (name: string) => checks.find((check) => check.name === name)!
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['database', 'disk', 'clock', 'certificate', 'mail', 'backups', 'edges', 'queue'],
  )
  assert.match(of('database').finding, /^PostgreSQL \d.* \(DATABASE_URL\), answers in /)
  assert.match(of('clock').finding, /9\.0 s behind its edges \(median of 1\)/)
  assert.equal(of('certificate').finding, 'neither PUBLIC_URL nor TLS is set')
  assert.equal(of('edges').finding, own)
  assert.deepEqual([of('mail').state, of('queue').state], ['warning', 'error'])
})
