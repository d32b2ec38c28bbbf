import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { type Database, openDatabase } from './database.ts'
import { migrate, migrations_dir, readMigrations } from './migrate.ts'

let testing: TestDatabase
let db: Database
let directory: string

before(async () => {
  testing = await testDatabase({ migrations: false })
  db = testing.db
})
after(() => testing.drop())
beforeEach(async () => {
  await db.execute('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  if (directory) await rm(directory, { recursive: true })
  directory = await mkdtemp(path.join(os.tmpdir(), 'heliograph-migrations-'))
  await add('0001-first.sql', 'CREATE TABLE first (id int); INSERT INTO first VALUES (1);')
  await add('0002-second.sql', 'INSERT INTO first VALUES (2);')
})
after(() => rm(directory, { recursive: true }))

const add = (file: string, sql: string) => writeFile(path.join(directory, file), sql)
const ids = () => db.query('SELECT id FROM first ORDER BY id')

test('migrations run in order, once, and are recorded', async () => {
  assert.deepEqual(await migrate(db, directory), ['0001-first', '0002-second'])
  assert.deepEqual(await migrate(db, directory), [])
  await add('0003-third.sql', 'INSERT INTO first VALUES (3);')
  assert.deepEqual(await migrate(db, directory), ['0003-third'])
  assert.deepEqual(await ids(), [{ id: 1 }, { id: 2 }, { id: 3 }])
  assert.deepEqual(await db.query('SELECT number, name FROM schema_migrations ORDER BY number'), [
    { number: 1, name: '0001-first' },
    { number: 2, name: '0002-second' },
    { number: 3, name: '0003-third' },
  ])
})

test('of several servers that start at once each migration is applied by one', async () => {
  const open = () =>
    openDatabase({
      url: testing.url,
      log: { info() {}, warn() {}, error() {} },
      application_name: 'server',
      max: 1,
    })
  const servers = await Promise.all([open(), open(), open(), open()])
  const applied = await Promise.all(servers.map((server) => migrate(server, directory)))
  await Promise.all(servers.map((server) => server.close()))
  assert.deepEqual(applied.flat().sort(), ['0001-first', '0002-second'])
  assert.deepEqual(await ids(), [{ id: 1 }, { id: 2 }])
})

test('a migration that fails leaves nothing of itself, and the ones before it', async () => {
  await add('0002-second.sql', 'INSERT INTO first VALUES (2); SELECT wrong;')
  await assert.rejects(migrate(db, directory), /migration 0002-second failed/)
  assert.deepEqual(await ids(), [{ id: 1 }])
  await add('0002-second.sql', 'INSERT INTO first VALUES (2);')
  assert.deepEqual(await migrate(db, directory), ['0002-second'])
})

test('an applied file that has changed since is refused by name', async () => {
  await migrate(db, directory)
  await add('0001-first.sql', 'CREATE TABLE first (id bigint);')
  await assert.rejects(migrate(db, directory), /migration 0001-first has changed/)
})

test('a database ahead of this version is refused', async () => {
  await migrate(db, directory)
  await rm(path.join(directory, '0002-second.sql'))
  await assert.rejects(
    migrate(db, directory),
    /has migration 0002-second, which this version does not know/,
  )
})

test('file names without a hole, and no transactions of their own', async () => {
  await add('0004-fourth.sql', '')
  await assert.rejects(migrate(db, directory), /0004-fourth.sql must be named 0003-/)
  await rm(path.join(directory, '0004-fourth.sql'))
  await add('0003-third.sql', 'INSERT INTO first VALUES (3);\nCOMMIT;')
  await assert.rejects(migrate(db, directory), /0003-third.sql must leave the transaction/)
})

test('the migrations of the server apply', async () => {
  const all = (await readMigrations(migrations_dir)).map(({ name }) => name)
  assert.deepEqual(await migrate(db), all)
})
