import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { type Database, openDatabase } from './database.ts'
import { ensurePartitions, keepPartitions, weeksAhead, weeksOf } from './partitions.ts'

const tables = ['inverter_readings', 'meter_readings']
const at = (text: string) => new Date(text)
let testing: TestDatabase
let db: Database

before(async () => {
  testing = await testDatabase({ migrations: false })
  db = testing.db
  for (const table of tables) {
    await db.execute(
      `CREATE TABLE ${table} (
         site_id text, device_id int GENERATED ALWAYS AS IDENTITY, measured_at timestamptz,
         power_kw float4 CHECK (power_kw < 1e6), PRIMARY KEY (site_id, device_id, measured_at)
       ) PARTITION BY RANGE (measured_at);
       CREATE INDEX ON ${table} (measured_at)`,
    )
  }
})
after(() => testing.drop())

const insert = (moment: Date) =>
  db.execute(`INSERT INTO inverter_readings (site_id, measured_at) VALUES ('a', $1)`, [moment])

test('weeks are Mondays, meet, and cover the window with none to spare', () => {
  const moment = fc.date({
    min: at('1960-01-01T00:00Z'),
    max: at('2100-01-01T00:00Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moment, fc.integer({ min: 1, max: 400 * day_ms }), (from, span_ms) => {
      const to = new Date(from.getTime() + span_ms)
      const weeks = weeksOf(from, to)
      assert.ok(weeks[0]!.start <= from && from < weeks[0]!.end)
      assert.ok(weeks.at(-1)!.start < to && to <= weeks.at(-1)!.end)
      for (const [index, { start, end }] of weeks.entries()) {
        assert.equal(start.getUTCDay(), 1)
        assert.ok(start.toISOString().endsWith('T00:00:00.000Z'))
        assert.deepEqual(end, weeks[index + 1]?.start ?? end)
      }
    }),
  )
  assert.throws(() => weeksOf(at('2026-01-02T00:00Z'), at('2026-01-01T00:00Z')), RangeError)
  assert.throws(() => weeksOf(at('1926-01-02T00:00Z'), at('2026-01-01T00:00Z')), /more than/)
  assert.throws(() => weeksOf(at('nonsense'), at('2026-01-01T00:00Z')), RangeError)
})

test('partitions appear for the window, by name, and a second time nothing is made', async () => {
  await assert.rejects(insert(at('2026-11-16T00:00Z')), /no partition/)
  const window = [at('2026-11-21T12:00Z'), at('2026-11-23T00:00:00.001Z')] as const
  assert.deepEqual(await ensurePartitions(db, tables, ...window), [
    'inverter_readings_20261116',
    'meter_readings_20261116',
    'inverter_readings_20261123',
    'meter_readings_20261123',
  ])
  assert.deepEqual(await ensurePartitions(db, tables, ...window), [])
  await insert(at('2026-11-16T00:00Z'))
  await insert(at('2026-11-29T23:59:59.999Z'))
  await assert.rejects(insert(at('2026-11-30T00:00Z')), /no partition/)
  const rows = await db.query(
    'SELECT tableoid::regclass::text AS name, count(*) FROM inverter_readings GROUP BY 1 ORDER BY 1',
  )
  assert.deepEqual(rows, [
    { name: 'inverter_readings_20261116', count: 1 },
    { name: 'inverter_readings_20261123', count: 1 },
  ])
})

test('a partition has the keys, indexes and checks of its table', async () => {
  await ensurePartitions(db, tables, at('2026-11-16T00:00Z'), at('2026-11-17T00:00Z'))
  const indexes = await db.query(
    `SELECT count(*) FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
      WHERE indrelid = 'inverter_readings_20261116'::regclass`,
  )
  assert.deepEqual(indexes, [{ count: 2 }], 'both are parts of the indexes of the table')
  await assert.rejects(
    db.execute(
      `INSERT INTO inverter_readings (site_id, measured_at, power_kw) VALUES ('a', '2026-11-16Z', 2e6)`,
    ),
    /power_kw_check/,
  )
})

test('several servers may make the same old weeks at once', async () => {
  const open = () =>
    openDatabase({
      url: testing.url,
      log: { info() {}, warn() {}, error() {} },
      application_name: 'server',
      max: 2,
    })
  const servers = await Promise.all([open(), open(), open(), open()])
  const window = [at('2024-01-01T00:00Z'), at('2024-02-05T00:00Z')] as const
  const made = await Promise.all(
    servers.map((server) => ensurePartitions(server, tables, ...window)),
  )
  await Promise.all(servers.map((server) => server.close()))
  assert.equal(made.flat().length, 10)
  assert.equal(new Set(made.flat()).size, 10)
})

test('writers of the table are not waited for, nor do they wait', async () => {
  await ensurePartitions(db, tables, at('2026-11-16T00:00Z'), at('2026-11-17T00:00Z'))
  await db.transaction(async (transaction) => {
    await transaction.execute(
      `INSERT INTO inverter_readings (site_id, measured_at) VALUES ('b', '2026-11-16Z')`,
    )
    // With the lock that PARTITION OF takes this would wait for the transaction around it.
    const made = await ensurePartitions(
      db,
      tables,
      at('2025-06-02T00:00Z'),
      at('2025-06-03T00:00Z'),
    )
    assert.equal(made.length, 2)
  })
})

test('the keeper asks the database only about weeks that it has not seen', async () => {
  let queries = 0
  const counted: Database = {
    ...db,
    query: (...args) => {
      queries++
      return db.query(...args)
    },
  }
  const keeper = keepPartitions(counted, tables)
  assert.equal((await keeper.ensure(at('2023-01-02T00:00Z'), at('2023-01-09T00:00Z'))).length, 2)
  queries = 0
  assert.deepEqual(await keeper.ensure(at('2023-01-03T00:00Z'), at('2023-01-04T00:00Z')), [])
  assert.equal(queries, 0)
  assert.equal((await keeper.ensure(at('2023-01-03T00:00Z'), at('2023-01-16T00:00Z'))).length, 2)
})

test('four weeks ahead', () => {
  assert.deepEqual(weeksAhead(at('2026-11-21T12:00Z')), {
    from: at('2026-11-21T12:00Z'),
    to: at('2026-12-19T12:00Z'),
  })
})
