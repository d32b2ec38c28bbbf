import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import { silent, type TestDatabase, testDatabase } from '../test/postgres.ts'
import { testSettings } from './fixtures/job-settings.ts'
import { createJobs, type Jobs } from './jobs/queue.ts'
import { round_channel } from './jobs/site-rounds.ts'
import { createJobTable } from './jobs.ts'
import { edge_id, foundSite, site_id } from './link/fixtures/plant.ts'

const now = new Date('2026-11-21T12:00:00Z')
let database: TestDatabase
let queue: Jobs
const jobs = createJobTable({
  ...testSettings,
  retention_raw_days: 730,
  retention_minute_days: 3650,
})

before(async () => {
  database = await testDatabase()
  await foundSite(database.db)
  queue = createJobs({
    db: database.db,
    clock: { now: () => now },
    log: silent,
    registry: new Registry(),
    jobs,
  })
})
after(() => database.drop())

const names = async (sql: string) =>
  (await database.db.query<{ name: string }>(`select ${sql} order by 1`)).map(({ name }) => name)

test('the rounds that servers share begin under the name of their job', async () => {
  const begun: string[] = []
  const subscription = await database.db.listen(round_channel, {
    notified: (name) => void begun.push(name),
    resumed() {},
  })
  const shared = jobs.flatMap(({ name, share }) => (share ? [name] : []))
  for (const name of shared) await queue.runNow(name)
  while (begun.length < shared.length) await database.db.query('select')
  await subscription.stop()
  assert.deepEqual(begun, shared)
})

test('partitions are there from now to four weeks ahead', async () => {
  await queue.runNow('make_partitions')
  const weeks = await names(
    `right(inhrelid::regclass::text, 8) as name from pg_inherits
     where inhparent = 'weather_readings'::regclass`,
  )
  assert.deepEqual(weeks, ['20261116', '20261123', '20261130', '20261207', '20261214'])
})

test('frames of abandoned journals are forgotten, not those of this one or of an import', async () => {
  const [old, present] = [
    '0b8a0a52-3f0e-4d1c-9a55-5d1f0f6f0001',
    '0b8a0a52-3f0e-4d1c-9a55-5d1f0f6f0002',
  ]
  await database.db.execute(
    `insert into link_frames (site_id, edge_id, epoch, seq)
     select '${site_id}', '${edge_id}', epoch, 1 from unnest($1::text[]) as epoch`,
    [[old, present, 'history-1']],
  )
  await queue.runNow('forget_abandoned_journals')
  const epochs = () => names('epoch as name from link_frames')
  assert.deepEqual(await epochs(), [old, present, 'history-1'])
  await database.db.execute('update edges set acked_epoch = $1, acked_below_seq = 1', [present])
  await queue.runNow('forget_abandoned_journals')
  assert.deepEqual(await epochs(), [present, 'history-1'])
})

test('records of requests that are over are forgotten', async () => {
  const { db } = database
  await db.execute(
    `insert into replicas values ('gone', now() - interval '2 hours'), ('here', now());
     insert into rate_windows values ('old', 'general', '{1}', '{1}', now() - interval '6 minutes'),
       ('new', 'general', '{1}', '{1}', now());
     insert into api_keys (key_id, client_id, name, secret_sha256, scopes, created_by)
       values ('0123456789ab', 1, 'key', '', '{}', 'test')`,
  )
  const record = `insert into idempotency_records
      (key_id, idempotency_key, fingerprint, owner, locked_until, created_at)
    values ('0123456789ab', $1, '', 'test', $2, $2)`
  await db.execute(record, ['old', '2026-11-01T00:00:00Z'])
  await db.execute(record, ['new', '2026-11-21T11:59:00Z'])
  await queue.runNow('forget_request_records')
  assert.deepEqual(await names('replica_id as name from replicas'), ['here'])
  assert.deepEqual(await names('subject as name from rate_windows'), ['new'])
  assert.deepEqual(await names('idempotency_key as name from idempotency_records'), ['new'])
})

test('every job may run again at once', async () => {
  const tables = 'relname as name from pg_class where relkind in ($$r$$, $$p$$)'
  for (const { name } of jobs) await queue.runNow(name)
  const once = await names(tables)
  for (const { name } of jobs) await queue.runNow(name)
  assert.deepEqual(await names(tables), once)
})

test('a database with the queue keeps the rules of the catalogue', async () => {
  await queue.start()
  await queue.stop()
  const schemas = await names(
    `distinct n.nspname as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`,
  )
  assert.deepEqual(schemas, ['pgboss', 'public'])
  const ours = await names(
    `relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where n.nspname = 'public' and (relname like '%job%' or relname like '%queue%')`,
  )
  assert.deepEqual(ours, [])
})
