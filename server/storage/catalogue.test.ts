/** The schema as the database has it, against the rules that every table obeys. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { type ReadingKind, readingKinds } from '@heliograph/domain/readings'
import { counted, sequenced } from '../../test/cluster-fixtures.ts'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { reference_tables } from './distribute.ts'

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

/** Tables of sites, without the weeks of partitioned ones. */
const site_tables = `
  select c.oid, c.relname from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    and not c.relispartition
    and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'site_id')`

// What follows keeps the tables of sites distributable by site_id over the nodes of a cluster.

/**
 * Only for servers of the release before this one, which insert rows without ids while the servers
 * are updated. A later release drops these functions with their triggers.
 */
const for_older_servers = ['count_id_of_site', 'take_id_of_site', 'create_ids_of_owner']

test('no table of a site needs a trigger', async () => {
  const triggers = await database.db.query<{ trigger: string; function: string }>(`
    select t.tgname as trigger, t.tgfoid::regproc::text as function
    from pg_trigger t join (${site_tables}) s on s.oid = t.tgrelid
    where not t.tgisinternal`)
  assert.deepEqual(
    triggers.filter((trigger) => !for_older_servers.includes(trigger.function)),
    [],
  )
})

test('identities of site tables have 64 bits', async () => {
  const short = await database.db.query(`
    select s.relname as "table", a.attname as name
    from (${site_tables}) s join pg_attribute a on a.attrelid = s.oid
    where (a.attidentity <> '' or pg_get_serial_sequence(s.oid::regclass::text, a.attname) <> '')
      and a.atttypid <> 'bigint'::regtype and not a.attisdropped`)
  assert.deepEqual(short, [])
})

test('foreign keys of site tables stay within the site or lead to tables without sites', async () => {
  const crossing = await database.db.query(`
    select k.conrelid::regclass::text as "table", pg_get_constraintdef(k.oid) as key
    from pg_constraint k
      join (${site_tables}) into_site on into_site.oid = k.confrelid
      left join (${site_tables}) from_site on from_site.oid = k.conrelid
    where k.contype = 'f' and (from_site.oid is null
      or (select attname from pg_attribute where attrelid = k.conrelid and attnum = k.conkey[1])
        <> 'site_id'
      or (select attname from pg_attribute where attrelid = k.confrelid and attnum = k.confkey[1])
        <> 'site_id')`)
  assert.deepEqual(crossing, [])
})

test('tables without sites that site tables refer to are copied to every node', async () => {
  const referred = await database.db.query<{ table: string }>(`
    select distinct k.confrelid::regclass::text as "table"
    from pg_constraint k join (${site_tables}) s on s.oid = k.conrelid
    where k.contype = 'f' and k.confrelid not in (select oid from (${site_tables}) t)`)
  assert.deepEqual(
    referred.filter(({ table }) => !reference_tables.includes(table)),
    [],
  )
})

/** Columns whose ids the server takes itself (`site-ids.ts`). */
const taken_ids: Record<string, string> = { ...counted, ...sequenced, client_audit: 'audit_id' }

test('the server names the ids of the rows that it inserts', () => {
  const sources = globSync(['server/**/*.ts', 'cli/**/*.ts'])
    .filter((path) => !/\.test\.ts$|\/fixtures\//.test(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  const inserts = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/insert into (\w+)(?: as \w+)?\s*\(([^)]*)/gi)].map(
      ([, table = '', columns = '']) => ({ path, table, columns }),
    ),
  )
  const found = inserts.filter(({ table }) => table in taken_ids)
  assert.ok(found.length > 10)
  assert.deepEqual(
    found.filter(({ table, columns }) => !columns.includes(taken_ids[table]!)),
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
