/** Ids that the API shows: counted by site, so that they tell nothing about other clients. */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import type { Queries } from './database.ts'
import { migrate, migrations_dir } from './migrate.ts'

const sites = `
  insert into clients (name, modules) values ('Sun', '{}'), ('Wind', '{}');
  insert into sites (site_id, client_id, name) values ('here', 1, 'Here'), ('there', 2, 'There');
  insert into curtailment_groups (site_id, group_id, source, created_at)
  values ('here', 'g', 'api', now()), ('there', 'g', 'api', now())`

let nth = 0

const inserts: Record<string, (site_id: string) => string> = {
  alert_id: (site_id) =>
    `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
       source_type, source_id, started_at, detected_at, last_seen_at, created_at, updated_at)
     values ('${site_id}', '${nth}', 'c', 't', 'm', 'c', 'info', 'active', 's', 's', now(), now(),
       now(), now(), now())`,
  wo_id: (site_id) =>
    `insert into work_orders (site_id, number, title, description, type, priority, status,
       created_by, created_at, updated_at)
     values ('${site_id}', '${nth}', 't', 'd', 'inspection', 'low', 'open', 'k', now(), now())`,
  defect_id: (site_id) =>
    `insert into defects (site_id, number, title, severity, status, detected_at, reported_by,
       created_at, updated_at)
     values ('${site_id}', '${nth}', 't', 'low', 'open', now(), 'k', now(), now())`,
  gap_id: (site_id) =>
    `insert into gaps (site_id, logger_id, source_type, device_id, sub_id, source_id, start_at,
       widest_start_at, step_s, expected_count, widest_expected_count, during_daylight, status,
       detected_at, updated_at)
     values ('${site_id}', 1, 'inverter', '${nth}', 0, 's', now(), now(), 5, 1, 1, true, 'open',
       now(), now())`,
  row_id: (site_id) =>
    `insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
     values ('${site_id}', 'g', ${nth}, now(), now() + interval '1 h', 1)`,
  sub_id: (site_id) =>
    `insert into report_subscriptions (site_id, name, template_id, enabled, frequency, time_of_day,
       timezone, period, format, language, recipients, parameters, created_by, created_at,
       updated_at)
     values ('${site_id}', 'n', 't', false, 'daily', '06:00', 'UTC', 'previous_day', 'pdf', 'en',
       '{}', '{}', 'k', now(), now())`,
}

async function add(db: Queries, kind: string, site_id: string): Promise<number> {
  nth += 1
  const [row] = await db.query<Record<string, number>>(
    `${inserts[kind]!(site_id)} returning ${kind}`,
  )
  return row![kind]!
}

for (const kind of Object.keys(inserts)) {
  test(`${kind} of a site says nothing about other sites`, async () => {
    const { db, drop } = await testDatabase()
    try {
      await db.execute(sites)
      assert.deepEqual([await add(db, kind, 'here'), await add(db, kind, 'here')], [1, 2])
      for (let other = 1; other <= 5; other += 1) {
        assert.equal(await add(db, kind, 'there'), other)
      }
      assert.equal(await add(db, kind, 'here'), 3)
      const together = await Promise.all(Array.from({ length: 8 }, () => add(db, kind, 'here')))
      assert.deepEqual(
        together.toSorted((a, b) => a - b),
        [4, 5, 6, 7, 8, 9, 10, 11],
      )
    } finally {
      await drop()
    }
  })
}

test('ids that are there stay, and new ones follow the highest of their site', async () => {
  const { db, drop } = await testDatabase({ migrations: false })
  const before = await mkdtemp(path.join(os.tmpdir(), 'migrations-'))
  try {
    for (const file of (await readdir(migrations_dir)).filter((name) => name < '0029')) {
      await cp(path.join(migrations_dir, file), path.join(before, file))
    }
    await migrate(db, before)
    await db.execute(sites)
    for (const kind of Object.keys(inserts)) {
      assert.deepEqual(
        [await add(db, kind, 'here'), await add(db, kind, 'there'), await add(db, kind, 'here')],
        [1, 2, 3],
      )
    }
    await migrate(db)
    for (const kind of Object.keys(inserts)) {
      assert.deepEqual([await add(db, kind, 'here'), await add(db, kind, 'there')], [4, 3], kind)
    }
  } finally {
    await rm(before, { recursive: true })
    await drop()
  }
})
