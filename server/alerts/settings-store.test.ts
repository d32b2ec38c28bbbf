import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import { foundSite } from '../link/fixtures/plant.ts'
import { readAlerting, readSettings, storeSettings } from './settings-store.ts'

const migration = new URL('../storage/migrations/0040-limit-not-as-set.sql', import.meta.url)

test('settings of device_below_limit become those of limit_not_as_set', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const store = (rules: object) =>
    storeSettings(db, 'park', { settings: { rules }, set_at: new Date(0), set_by: 'test' })
  const migrate = () => db.execute(readFileSync(migration, 'utf8'))
  const before = { enabled: false, raise_delay_s: 7 }
  const other = { severity: 'info' }

  await store({ device_below_limit: before, permit_clamp: other })
  await migrate()
  const { settings } = (await readAlerting(db, 'park'))!
  assert.deepEqual(settings, { rules: { limit_not_as_set: before, permit_clamp: other } })
  const { rules } = await readSettings(db, 'park')
  assert.deepEqual(
    [rules.limit_not_as_set.enabled, rules.limit_not_as_set.raise_delay_s],
    [false, 7],
  )

  await migrate()
  assert.deepEqual((await readAlerting(db, 'park'))!.settings, settings)

  await store({ device_below_limit: before, limit_not_as_set: other })
  await migrate()
  assert.deepEqual((await readAlerting(db, 'park'))!.settings, {
    rules: { limit_not_as_set: other },
  })

  await store({ permit_clamp: other })
  await migrate()
  assert.deepEqual((await readAlerting(db, 'park'))!.settings, { rules: { permit_clamp: other } })
})
