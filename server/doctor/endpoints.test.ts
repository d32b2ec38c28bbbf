import assert from 'node:assert/strict'
import test from 'node:test'
import type { Check } from '@heliograph/domain/check'
import { platformOfFile } from '../access/fixtures/served-platform.ts'

const platform = platformOfFile()

test('an administrator gets all checks, with the edges of the client alone', async () => {
  const { db, clock, person } = platform
  await db.execute(
    `insert into edges (site_id, edge_id, name, secret_sha256, agent_version, clock_offset_ms,
       last_seen_at)
     values ('first', '000000000001', 'own', '', '0.9.0', 9000, $1),
       ('foreign', '000000000002', 'foreign', '', '0.8.0', 9000, $1)`,
    [clock.now()],
  )
  const administrator = await person('administrator', 'admin@example.com')
  const { status, body } = await administrator.ask('GET', '/platform/doctor')
  assert.equal(status, 200, JSON.stringify(body))
  const checks: Check[] = body.data
  const of = (name: string) => checks.find((check) => check.name === name)!
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['database', 'disk', 'clock', 'certificate', 'mail', 'backups', 'edges', 'queue'],
  )
  assert.match(of('database').finding, /^PostgreSQL \d.* \(DATABASE_URL\), answers in /)
  assert.match(of('clock').finding, /9\.0 s behind its edges \(median of 2\)/)
  assert.equal(of('certificate').finding, 'neither PUBLIC_URL nor TLS is set')
  assert.equal(of('edges').finding, '1 of 1 of another version than 1.0.0: own of first (0.9.0)')
  assert.deepEqual([of('mail').state, of('queue').state], ['warning', 'error'])
})
