import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { storedAlert } from './fixtures/mail-day.ts'
import type { AlertChange } from './listener.ts'
import type { StoredAlert } from './record.ts'
import { alertListeners } from './rounds.ts'
import { settingsInForce } from './settings.ts'

const site = {
  site_id: 'north-field',
  name: 'North field',
  timezone: 'Europe/Berlin',
  latitude: 50,
  longitude: 10,
  currency: null,
}
const now = new Date('2026-06-01T10:00:00Z')
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  await database.db.execute(`
    insert into clients (name, modules) values ('owner', '{basic_scada}');
    insert into sites (site_id, client_id, name)
      select 'north-field', client_id, 'North field' from clients`)
})
after(() => database.drop())

const changed = (kind: AlertChange['kind'], alert: Partial<StoredAlert>): AlertChange => ({
  kind,
  alert: { ...storedAlert({ source_id: '1' }), ...alert },
})

test('a critical alert is a notification at once, where no mail is set up, too', async () => {
  const changes = [
    changed('raised', { alert_id: 1, severity: 'critical' }),
    changed('raised', { alert_id: 2, severity: 'major' }),
    changed('raised', { alert_id: 3, severity: 'critical', suppressed_reason: 'maintenance' }),
    changed('worsened', { alert_id: 4, severity: 'critical' }),
    changed('unsuppressed', { alert_id: 5, severity: 'critical' }),
    changed('worsened', { alert_id: 6, severity: 'critical', status: 'acknowledged' }),
    changed('resolved', { alert_id: 7, severity: 'critical', status: 'resolved' }),
  ]
  const round = { site, settings: settingsInForce({}), now, changes, open: [] }
  await database.db.transaction(async (tx) => {
    for (const { handle } of alertListeners) await handle(tx, round)
  })
  const notified = await database.db.query(
    `select type, severity, recipient, resource_type, resource_id from om_notifications
     order by notification_id`,
  )
  const about = { type: 'alert_raised', severity: 'critical', recipient: null }
  assert.deepEqual(
    notified,
    ['1', '4', '5'].map((resource_id) => ({ ...about, resource_type: 'alert', resource_id })),
  )
})
