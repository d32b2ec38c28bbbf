import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { checkSupported, type Database, openDatabase, prepared } from './database.ts'

const silent = { info() {}, warn() {}, error() {} }
let testing: TestDatabase
let db: Database

before(async () => {
  testing = await testDatabase({ migrations: false })
  db = testing.db
})
after(() => testing.drop())

/** Ends connections of this database from the server's side, as a restart of it would. */
const terminate = (where: string) =>
  db.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${where}`,
  )

// First in this process: the driver warns only once.
test('subscriptions that begin and end together send one statement at a time', async () => {
  const warnings: Error[] = []
  const collect = (warning: Error) => warnings.push(warning)
  process.on('warning', collect)
  const { url } = testing
  const listening = await openDatabase({ url, log: silent, application_name: 'listening' })
  const subscriptions = await Promise.all(
    ['one', 'two', 'three'].map((channel) =>
      listening.listen(channel, { notified() {}, resumed() {} }),
    ),
  )
  await Promise.all(subscriptions.map(({ stop }) => stop()))
  await listening.close()
  await setImmediate()
  process.off('warning', collect)
  assert.deepEqual(warnings, [])
})

test('values arrive as the wire wants them', async () => {
  const [row] = await db.query(
    `SELECT 5::int8 AS count, 0.1::float4 AS power_kw, 'NaN'::float8 AS nan,
            '2026-11-21 12:45:42.123456+02'::timestamptz AS at, '2026-11-21'::date AS day,
            '{1,NULL,0.1}'::float4[] AS currents_a, '{{1,2},{3,4}}'::int[] AS grid,
            '{5,NULL}'::int8[] AS counts, '{2026-11-21}'::date[] AS days,
            '{"2026-11-21 00:00Z",NULL}'::timestamptz[] AS moments, '{t,f}'::bool[] AS flags,
            '{a,NULL,"b c"}'::text[] AS words, 1.10::numeric AS exact, '{"a":[1]}'::jsonb AS json`,
  )
  assert.deepEqual(row, {
    count: 5,
    power_kw: 0.1,
    nan: NaN,
    at: new Date('2026-11-21T10:45:42.123Z'),
    day: '2026-11-21',
    currents_a: [1, null, 0.1],
    grid: [
      [1, 2],
      [3, 4],
    ],
    counts: [5, null],
    days: ['2026-11-21'],
    moments: [new Date('2026-11-21T00:00:00Z'), null],
    flags: [true, false],
    words: ['a', null, 'b c'],
    exact: '1.10',
    json: { a: [1] },
  })
  await assert.rejects(db.query('SELECT 9007199254740993::int8'), /exceeds the safe integer range/)
})

test('the connections of the pool are counted', async () => {
  const before_ = db.connections()
  assert.deepEqual({ ...before_, waiting: 0 }, before_)
  await db.transaction(async () => {
    assert.ok(db.connections().idle < db.connections().total)
  })
  assert.equal(db.connections().idle, db.connections().total)
})

test('parameters: dates keep their instant, arrays and nulls arrive', async () => {
  const at = new Date('2026-03-29T01:30:00.250Z')
  const [row] = await db.query(
    'SELECT $1::timestamptz AS at, $2::float4[] AS a, $3::text AS none',
    [at, [1.5, null], null],
  )
  assert.deepEqual(row, { at, a: [1.5, null], none: null })
})

test('a named statement is prepared once and runs again', async () => {
  const statement = { name: 'doubled', text: 'SELECT $1::int * 2 AS doubled' }
  await db.transaction(async (transaction) => {
    assert.deepEqual(await transaction.query(statement, [2]), [{ doubled: 4 }])
    assert.deepEqual(await transaction.query(statement, [3]), [{ doubled: 6 }])
    const prepared = await transaction.query('SELECT name FROM pg_prepared_statements')
    assert.deepEqual(prepared, [{ name: 'doubled' }])
  })
})

test('a transaction commits when its work returns and leaves nothing when it throws', async () => {
  await db.execute('CREATE TABLE entries (value int)')
  const counted = await db.transaction((transaction) =>
    transaction.execute('INSERT INTO entries SELECT generate_series(1, 3)'),
  )
  assert.equal(counted, 3)
  const wrong = new Error('changed its mind')
  const failing = db.transaction(async (transaction) => {
    await transaction.execute('INSERT INTO entries VALUES (4)')
    throw wrong
  })
  await assert.rejects(failing, wrong)
  assert.deepEqual(await db.query('SELECT count(*) FROM entries'), [{ count: 3 }])
})

test('a transaction whose failed statement was swallowed does not pass for committed', async () => {
  const swallowing = db.transaction((transaction) =>
    transaction.query('SELECT 1 / 0').catch(() => 'ignored'),
  )
  await assert.rejects(swallowing, /was rolled back/)
})

test('isolation and read-only are as asked', async () => {
  await db.transaction(
    async (transaction) => {
      const [row] = await transaction.query(
        `SELECT current_setting('transaction_isolation') AS isolation,
                current_setting('transaction_read_only') AS read_only`,
      )
      assert.deepEqual(row, { isolation: 'repeatable read', read_only: 'on' })
    },
    { isolation: 'repeatable read', read_only: true },
  )
})

test('COPY takes lines, counts them, and fails with its transaction', async () => {
  await db.execute('CREATE TABLE copied (id int PRIMARY KEY, currents_a float4[])')
  async function* lines() {
    for (let id = 0; id < 5000; id++) yield `${id}\t{${id},NULL}\n`
  }
  const copied = await db.transaction((transaction) =>
    transaction.copyInto('copied (id, currents_a)', lines()),
  )
  assert.equal(copied, 5000)
  assert.deepEqual(await db.query('SELECT * FROM copied WHERE id = 4999'), [
    { id: 4999, currents_a: [4999, null] },
  ])
  const twice = db.transaction((transaction) =>
    transaction.copyInto('copied', ['5001\t{}\n', '1\t{}\n']),
  )
  await assert.rejects(twice, /copied_pkey/)
  const broken = db.transaction((transaction) =>
    transaction.copyInto(
      'copied',
      (async function* () {
        yield '6000\t{}\n'
        throw new Error('the source broke')
      })(),
    ),
  )
  await assert.rejects(broken, /the source broke/)
  assert.deepEqual(await db.query('SELECT count(*) FROM copied'), [{ count: 5000 }])
})

test('a connection lost in a transaction is an error, and the pool heals itself', async () => {
  const losing = db.transaction(async (transaction) => {
    const [{ pid }] = (await transaction.query('SELECT pg_backend_pid() AS pid')) as [
      { pid: number },
    ]
    await terminate(`pid = ${pid}`)
    await transaction.query('SELECT 1')
  })
  await assert.rejects(losing)
  await terminate('true') // also the idle ones
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => db.query('SELECT 1 AS one').catch(() => undefined)),
  )
  assert.ok(answers.some(Boolean))
  assert.deepEqual(await db.query('SELECT 1 AS one'), [{ one: 1 }])
})

test('a statement over its time is ended', async () => {
  const url = testing.url
  const hasty = await openDatabase({
    url,
    log: silent,
    application_name: 'hasty',
    statement_timeout_ms: 20,
  })
  try {
    await assert.rejects(hasty.query('SELECT pg_sleep(10)'), /statement timeout/)
  } finally {
    await hasty.close()
  }
})

test('notifications arrive, and a lost connection comes back and says so', {
  timeout: 10_000,
}, async () => {
  const inbox: string[] = []
  let wake = () => {}
  const until = async (message: string) => {
    while (!inbox.includes(message)) await new Promise<void>((resolve) => (wake = resolve))
  }
  const hear = (message: string) => {
    inbox.push(message)
    wake()
  }
  const listening = await openDatabase({
    url: testing.url,
    log: silent,
    application_name: 'listening',
    max: 1,
  })
  const subscription = await listening.listen('changed', {
    notified: (payload) => hear(`changed ${payload}`),
    resumed: () => hear('resumed'),
  })
  await listening.listen('Other "channel"', {
    notified: (payload) => hear(`other ${payload}`),
    resumed: () => {},
  })
  await db.query(`SELECT pg_notify('changed', 'a'), pg_notify('Other "channel"', 'b')`)
  await until('other b')
  await terminate(`query LIKE 'LISTEN%'`)
  await until('resumed')
  await db.query(`SELECT pg_notify('changed', 'c')`)
  await until('changed c')
  await subscription.stop()
  await db.query(`SELECT pg_notify('changed', 'd'), pg_notify('Other "channel"', 'e')`)
  await until('other e')
  assert.deepEqual(inbox, ['changed a', 'other b', 'resumed', 'changed c', 'other e'])
  await listening.close()
})

test('a server that is too old or not UTF8 is refused with what to do', () => {
  const supported = { version: 150_000, text: '15.0', encoding: 'UTF8' }
  checkSupported(supported)
  assert.throws(() => checkSupported({ ...supported, version: 140_012, text: '14.12' }), {
    message: 'the database runs PostgreSQL 14.12; Heliograph needs 15 or newer',
  })
  assert.throws(() => checkSupported({ ...supported, encoding: 'SQL_ASCII' }), /needs UTF8/)
})

test('options in the URL are obeyed beside ours', async () => {
  const separator = testing.url.includes('?') ? '&' : '?'
  const url = `${testing.url}${separator}options=${encodeURIComponent('-c work_mem=7MB')}`
  const other = await openDatabase({ url, log: silent, application_name: 'other' })
  const [row] = await other.query(
    `SELECT current_setting('work_mem') AS work_mem, current_setting('TimeZone') AS zone`,
  )
  await other.close()
  assert.deepEqual(row, { work_mem: '7MB', zone: 'UTC' })
})

test('statements with values are prepared once per connection', async () => {
  const { query, transaction } = prepared(db)
  const statement = 'select $1::int + 1 as next'
  assert.deepEqual(await query(statement, [1]), [{ next: 2 }])
  await transaction(async (tx) => {
    for (const value of [1, 2, 3]) {
      assert.deepEqual(await tx.queryOne(statement, [value]), { next: value + 1 })
    }
    assert.equal(await tx.execute("select 1; select 'two'"), 1)
    const known = 'select from pg_prepared_statements where statement = $1'
    assert.equal((await tx.query(known, [statement])).length, 1)
  })
})
