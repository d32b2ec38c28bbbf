/**
 * Distributes the tables of sites over the nodes of a Citus cluster by `site_id`. Each step is a
 * transaction of its own, and a second run continues where the first one ended.
 */
import type { Database } from './database.ts'
import { hasRow } from './rows.ts'

/** Tables without sites that every node needs: tables of sites refer to or are joined with them. */
export const reference_tables = [
  'clients',
  'api_keys',
  'users',
  'mail_recipients',
  'webhooks',
  'markets',
  'market_prices',
  'exchange_rates',
]

/** Queues over all sites, from which servers take in one order: they stay on the coordinator. */
export const queue_tables = ['due_sites', 'mail_outbox']

interface DistributeSettings {
  /** Number of shards of each table; only for a database that is not distributed yet. */
  shards: number
  /** Called before each step. */
  onProgress?: (step: string) => void
}

interface Distributed {
  /** Tables that this run distributed. */
  tables: number
  workers: number
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

/** @throws Error naming what the cluster lacks; nothing is changed then */
export async function distribute(
  db: Database,
  { shards, onProgress = () => {} }: DistributeSettings,
): Promise<Distributed> {
  const workers = await checkCluster(db)
  await dropTriggers(db)
  const names = await siteTables(db)
  await setAsideForeignKeys(db, names)
  await dropKeysOfQueues(db)
  let tables = 0
  for (const table of reference_tables) {
    if (await isDistributed(db, table)) continue
    onProgress(`copying ${table} to every node`)
    await alone(db, `select create_reference_table('${table}')`)
    tables += 1
  }
  for (const [nth, table] of ['sites', ...names.filter((name) => name !== 'sites')].entries()) {
    if (await isDistributed(db, table)) continue
    onProgress(`distributing ${table} (${nth + 1} of ${names.length})`)
    const place = table === 'sites' ? `shard_count => ${shards}` : `colocate_with => 'sites'`
    await alone(db, `select create_distributed_table('${table}', 'site_id', ${place})`)
    // The rows that were copied to the shards stay in the local table until it is emptied.
    await alone(db, `select truncate_local_data_after_distributing_table('${table}')`)
    tables += 1
  }
  for (const table of queue_tables) {
    // Known to Citus, their changes are committed together with those on workers.
    const is_known = 'select from pg_dist_partition where logicalrelid = $1::regclass'
    if (await hasRow(db, is_known, [table])) continue
    await alone(db, `select citus_add_local_table_to_metadata('${table}')`)
  }
  onProgress('restoring foreign keys')
  await restoreForeignKeys(db)
  return { tables, workers }
}

/** @throws Error; returns the number of workers */
async function checkCluster(db: Database): Promise<number> {
  const extension = await db.queryOne<{ version: string }>(
    `select extversion as version from pg_extension where extname = 'citus'`,
  )
  if (extension === null) {
    throw new Error(
      'the database lacks the extension citus: install Citus on each node, add it to ' +
        'shared_preload_libraries, and run CREATE EXTENSION citus on each node',
    )
  }
  const nodes = await db.query<{ name: string; is_active: boolean; is_coordinator: boolean }>(
    `select nodename || ':' || nodeport as name, isactive as is_active,
       groupid = 0 as is_coordinator from pg_dist_node where noderole = 'primary' order by nodeid`,
  )
  if (!nodes.some(({ is_coordinator }) => is_coordinator)) {
    throw new Error(
      `the coordinator does not know its own address: run SELECT citus_set_coordinator_host('<host>')`,
    )
  }
  const workers = nodes.filter(({ is_coordinator }) => !is_coordinator)
  if (workers.length === 0) {
    throw new Error(`the cluster has no worker: run SELECT citus_add_node('<host>', 5432)`)
  }
  const inactive = nodes.filter(({ is_active }) => !is_active).map(({ name }) => name)
  if (inactive.length > 0) throw new Error(`nodes are not active: ${inactive.join(', ')}`)
  const other = await db.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and application_name like 'heliograph%'
       and application_name <> current_setting('application_name')`,
  )
  if (other.length > 0) {
    throw new Error('servers are connected to the database: stop every server first')
  }
  return workers.length
}

/** Citus also knows local tables that have foreign keys to tables of all nodes. */
const is_distributed = `exists (select from pg_dist_partition
  where logicalrelid = c.oid and (partmethod = 'h' or repmodel = 't'))`

const isDistributed = (db: Database, table: string): Promise<boolean> =>
  hasRow(db, `select from pg_class c where oid = $1::regclass and ${is_distributed}`, [table])

/** One statement in a transaction of its own, for as long as it takes. */
async function alone(db: Database, statement: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute('set local statement_timeout = 0')
    await tx.execute(statement)
  })
}

async function siteTables(db: Database): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select relname as name from pg_class c
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and exists (select from pg_attribute where attrelid = c.oid and attname = 'site_id')
       and not relname = any ($1)
     order by relname`,
    [queue_tables],
  )
  return tables.map(({ name }) => name)
}

/** The triggers are for older servers, which cannot use a cluster. */
async function dropTriggers(db: Database): Promise<void> {
  const triggers = await db.query<{ statement: string }>(
    `select format('drop trigger %I on %I', tgname, relname) as statement
     from pg_trigger join pg_class c on c.oid = tgrelid
     where not tgisinternal and (relname = any ($1) or exists (
       select from pg_attribute where attrelid = c.oid and attname = 'site_id'))`,
    [reference_tables],
  )
  for (const { statement } of triggers) await alone(db, statement)
}

/**
 * A key between a distributed table and one that is not yet distributed is not possible: they are
 * kept in a table until all are.
 */
async function setAsideForeignKeys(db: Database, tables: readonly string[]): Promise<void> {
  const keys = await db.query<ForeignKey>(
    `select conrelid::regclass::text as "table", conname as name,
       pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = conrelid
     where contype = 'f' and conparentid = 0 and relname = any ($1) and not ${is_distributed}`,
    [tables],
  )
  await db.execute(
    `create table if not exists keys_set_aside
       ("table" text, name text, definition text, primary key ("table", name))`,
  )
  for (const { table, name, definition } of keys) {
    await db.transaction(async (tx) => {
      await tx.execute('insert into keys_set_aside values ($1, $2, $3)', [table, name, definition])
      await tx.execute(`alter table ${table} drop constraint ${name}`)
    })
  }
}

/** A local table cannot refer to a distributed one. */
async function dropKeysOfQueues(db: Database): Promise<void> {
  const keys = await db.query<{ table: string; name: string }>(
    `select conrelid::regclass::text as "table", conname as name from pg_constraint
     where contype = 'f' and conrelid = any ($1::text[]::regclass[])`,
    [queue_tables],
  )
  for (const { table, name } of keys)
    await alone(db, `alter table ${table} drop constraint ${name}`)
}

async function restoreForeignKeys(db: Database): Promise<void> {
  const keys = await db.query<ForeignKey>('select * from keys_set_aside order by "table", name')
  for (const { table, name, definition } of keys) {
    await db.transaction(async (tx) => {
      await tx.execute('set local statement_timeout = 0')
      await tx.execute(`alter table ${table} add constraint ${name} ${definition}`)
      await tx.execute('delete from keys_set_aside where "table" = $1 and name = $2', [table, name])
    })
  }
  await db.execute('drop table keys_set_aside')
}
