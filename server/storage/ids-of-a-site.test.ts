/** Ids that the API shows: counted by site, so that they tell nothing about other clients. */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import test from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import type { Queries } from './database.ts'
import { migrate, migrations_dir } from './migrate.ts'
import { takeId, takeIds, takeSequenceId } from './site-ids.ts'

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

/** Kinds of rows that take their ids from the sequence of their site. */
const sequenced: typeof inserts = {
  event_id: (site_id) =>
    `insert into events (site_id, at, received_at, source_kind, source_id, code, edge, severity,
       message)
     values ('${site_id}', now(), now(), 'edge', 'e', 'c', 'once', 'info', 'm')`,
  relay_event_id: (site_id) =>
    `insert into relay_events (site_id, node_id, channel, at, received_at, to_state, cause)
     values ('${site_id}', 'n', '${nth}', now(), now(), true, 'manual')`,
  schedule_id: (site_id) =>
    `insert into battery_schedules (site_id, bess_id, target_date, state, objective, created_at,
       created_by, problem, plan, hours)
     values ('${site_id}', ${nth}, '2026-06-21', 'rejected', 'o', now(), 'k', '{}', '{}', '[]')`,
  dispatch_id: (site_id) =>
    `insert into battery_dispatches (site_id, bess_id, issued_at, reported_at, source,
       requested_power_kw, status)
     values ('${site_id}', ${nth}, now(), now(), 's', 1, 's')`,
  log_id: (site_id) =>
    `insert into battery_control_notes (site_id, bess_id, at, nth, tier, actor, action, reason_code,
       message, success)
     values ('${site_id}', 1, now(), ${nth}, 't', 'a', 'a', 'r', 'm', true)`,
  notification_id: (site_id) =>
    `insert into om_notifications (site_id, created_at, type, title, body, severity, expires_at)
     values ('${site_id}', now(), 'system', 't', 'b', 'info', now())`,
  run_id: (site_id) =>
    `insert into forecast_runs (site_id, target, target_date, issued_at, model, resolution_minutes,
       p10_kw, p50_kw, p90_kw, poa_irradiance_w_m2, ambient_temperature_c, cloud_cover_pct,
       is_night, total_p10_kwh, total_p50_kwh, total_p90_kwh, confidence)
     values ('${site_id}', 'site', '2026-06-21', now(), 'physical', 15, '{}', '{}', '{}', '{}',
       '{}', '{}', '{}', 0, 0, 0, 'c')`,
  audit_id: (site_id) =>
    `insert into write_audit (site_id, at, key_id, key_name, method, path, request_id)
     values ('${site_id}', now(), 'k', 'k', 'POST', '/', 'r')`,
}
const all = { ...inserts, ...sequenced }

async function add(db: Queries, kind: string, site_id: string): Promise<number> {
  nth += 1
  const [row] = await db.query<Record<string, number>>(`${all[kind]!(site_id)} returning ${kind}`)
  return row![kind]!
}

test('ids that are taken beside inserts of an older server continue its count', async () => {
  const { db, drop } = await testDatabase()
  try {
    await db.execute(sites)
    assert.equal(await add(db, 'alert_id', 'here'), 1)
    assert.deepEqual(await takeIds(db, { site_id: 'here', kind: 'alert_id', count: 3 }), [2, 3, 4])
    assert.equal(await takeId(db, 'there', 'alert_id'), 1)
    assert.equal(await add(db, 'alert_id', 'here'), 5)
    assert.equal(await add(db, 'event_id', 'here'), 1)
    assert.equal(await takeSequenceId(db, 'here'), 2)
  } finally {
    await drop()
  }
})

for (const kind of Object.keys(all)) {
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

/** A database as it was before that migration, with two sites. */
async function databaseBefore(migration: string) {
  const { db, drop } = await testDatabase({ migrations: false })
  const before = await mkdtemp(path.join(os.tmpdir(), 'migrations-'))
  try {
    for (const file of (await readdir(migrations_dir)).filter((name) => name < migration)) {
      await cp(path.join(migrations_dir, file), path.join(before, file))
    }
    await migrate(db, before)
  } finally {
    await rm(before, { recursive: true })
  }
  await db.execute(sites)
  return { db, drop }
}

test('ids that are there stay, and new ones follow the highest of their site', async () => {
  const { db, drop } = await databaseBefore('0029')
  try {
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
    await drop()
  }
})

const audit = (client_id: number) =>
  `insert into client_audit (client_id, at, key_id, key_name, method, path)
   values (${client_id}, now(), 'k', 'k', 'POST', '/') returning audit_id`

test('a new id of a sequence follows the highest of its site, or of its client', async () => {
  const { db, drop } = await databaseBefore('0032')
  try {
    for (const kind of Object.keys(sequenced)) {
      assert.deepEqual([await add(db, kind, 'there'), await add(db, kind, 'here')], [1, 2])
    }
    await db.execute(`${sequenced['event_id']!('there')}; ${audit(1)}; ${audit(2)}; ${audit(1)}`)
    await migrate(db)
    const kinds = Object.keys(sequenced)
    for (const [index, kind] of kinds.entries()) {
      assert.deepEqual(
        [await add(db, kind, 'here'), await add(db, kind, 'there')],
        [3 + index, 4 + index],
      )
    }
    assert.deepEqual(await db.query(audit(1)), [{ audit_id: 4 }])
    assert.deepEqual(await db.query(audit(2)), [{ audit_id: 3 }])
    await db.execute(`insert into clients (name, modules) values ('New', '{}');
      insert into sites (site_id, client_id, name) values ('new', 3, 'New')`)
    assert.deepEqual([await add(db, 'event_id', 'new'), await add(db, 'run_id', 'new')], [1, 2])
    assert.deepEqual(await db.query(audit(3)), [{ audit_id: 1 }])
  } finally {
    await drop()
  }
})

test('old data that is not yet committed keeps no id of the site from new data', async () => {
  const { db, drop } = await testDatabase()
  try {
    await db.execute(sites)
    for (const kind of Object.keys(sequenced)) {
      await db.transaction(async (tx) => {
        await add(tx, kind, 'here')
        await db.transaction(async (live) => {
          await live.execute("set local lock_timeout = '1s'")
          await add(live, kind, 'here')
        })
      })
    }
  } finally {
    await drop()
  }
})

test('only ids that no client sees are counted over all sites', async () => {
  const { db, drop } = await testDatabase()
  try {
    const columns = await db.query<{ name: string }>(`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and (is_identity = 'YES' or column_default like 'nextval%')
      order by 1`)
    assert.deepEqual(
      columns.map(({ name }) => name),
      [
        'alert_transitions.transition_id',
        'clients.client_id',
        'fees.fee_id',
        'mail_outbox.mail_id',
        'panel_imports.import_id',
        'planned_outages.outage_id',
        'price_runs.run_id',
        'weather_runs.run_id',
      ],
    )
  } finally {
    await drop()
  }
})
