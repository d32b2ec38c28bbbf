import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import type { Admin } from '../access/admin.ts'
import { createClient } from '../access/clients.ts'
import { createSite } from '../access/sites.ts'
import { readWorkApproval, setWorkApproval } from './admin.ts'

test('a site asks for another approver from when it says so', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  const admin: Admin = { db, clock: { now: () => new Date('2026-06-01T12:00:00Z') }, randomBytes }
  await createClient(admin, { name: 'Zeta', modules: ['om'] })
  await createSite(admin, { client: 'Zeta', site_id: 'a-1', name: 'A' })
  const site_id = 'a-1'
  const ofAnyone = { site_id, approver_not_completer: false }
  const ofAnother = { site_id, approver_not_completer: true }
  assert.deepEqual(await readWorkApproval(admin, site_id), ofAnyone)
  assert.deepEqual(await setWorkApproval(admin, ofAnother), ofAnother)
  assert.deepEqual(await setWorkApproval(admin, ofAnother), ofAnother)
  assert.deepEqual(await readWorkApproval(admin, site_id), ofAnother)
  assert.deepEqual(await setWorkApproval(admin, ofAnyone), ofAnyone)
  const events = await db.query(
    "select edge from events where code = 'work_approval' order by event_id",
  )
  assert.deepEqual(events, [{ edge: 'rising' }, { edge: 'falling' }])
  await assert.rejects(setWorkApproval(admin, { ...ofAnyone, site_id: 'b' }), /there is no site/)
})
