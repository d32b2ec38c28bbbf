/** The schema as the database has it, against the rules that every table obeys. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'

let database: TestDatabase

before(async () => {
  database = await testDatabase()
})
after(() => database.drop())

test('the database is the one that the run is for', (t) => {
  const { TEST_DATABASE_MAJOR, TEST_DATABASE_URL } = process.env
  if (TEST_DATABASE_URL && !TEST_DATABASE_MAJOR) return t.skip('any database will do')
  const major = Math.floor(database.db.server_version / 10_000)
  assert.equal(major, Number(TEST_DATABASE_MAJOR ?? 18))
})

const sql_types: Record<string, string> = {
  real: 'real',
  double: 'double precision',
  integer: 'integer',
  bigint: 'bigint',
  text: 'text',
  'real[]': 'real[]',
  'double[]': 'double precision[]',
}

test('site_id leads the primary key of every table that has it', async () => {
  const tables = await database.db.query<{ table: string; first: string | null }>(`
    select c.relname as "table",
           (select a.attname from pg_index i
              join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
            where i.indrelid = c.oid and i.indisprimary) as first
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p')
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'site_id')`)
  assert.ok(tables.length > 20)
  assert.deepEqual(
    tables.filter(({ first }) => first !== 'site_id'),
    [],
  )
})

test('site_id leads every other index of a site table, too', async () => {
  const indexes = await database.db.query<{ index: string; first: string }>(`
    select i.indexrelid::regclass::text as index, a.attname as first
    from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'site_id')`)
  assert.deepEqual(
    indexes.filter(({ first }) => first !== 'site_id'),
    [],
  )
})

for (const kind of Object.keys(readingKinds) as ReadingKind[]) {
  test(`the columns of ${kind} readings are those that the link carries`, async () => {
    const { table, keys, columns } = readingKinds[kind]
    const found = await database.db.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    )
    const declared: Record<string, string> = {
      site_id: 'text',
      ...Object.fromEntries(keys.map((key) => [key, 'integer'])),
      measured_at: 'timestamp with time zone',
      quality: 'text',
      ...Object.fromEntries(
        Object.entries(columns).map(([name, type]) => [name, sql_types[type as string]!]),
      ),
      ...(kind === 'inverter' && { zero_alarms: 'smallint', compact: 'bytea' }),
    }
    assert.deepEqual(Object.fromEntries(found.map(({ name, type }) => [name, type])), declared)
  })
}
