/** Checks of a Citus cluster: its nodes, and how shards and data are divided among them. */
import { type Check, failure, ok, warning } from '@heliograph/domain/check'
import type { Database } from './database.ts'
import { queue_tables } from './distribute.ts'
import { hasRow } from './rows.ts'

/** Each shard is a table with its indexes and files on its node. */
const shards_per_node_max = 3000
/** A worker with this many times the data of the mean is too full. */
const skew_max = 2

interface Node {
  name: string
  is_reachable: boolean
  is_active: boolean
  shards: number
}

interface WorkerSize {
  name: string
  bytes: number
}

export async function checkNodes(db: Database): Promise<Check[]> {
  if (!db.is_distributed) {
    const action = 'To distribute it: docs/operating.md, "Citus".'
    return [failure('cluster', 'the tables of sites are not distributed', action)]
  }
  const nodes = await db.query<Node>(`
    select nodename || ':' || nodeport as name, isactive as is_active,
      coalesce(citus_check_connection_to_node(nodename, nodeport), false) as is_reachable,
      (select count(*) from pg_dist_placement p where p.groupid = n.groupid) as shards
    from pg_dist_node n where noderole = 'primary' order by nodeid`)
  const dead = nodes.filter(({ is_active, is_reachable }) => !(is_active && is_reachable))
  return [
    await distributionCheck(db),
    dead.length === 0
      ? ok('nodes', `${nodes.length} nodes answer`)
      : failure(
          'nodes',
          `no answer from ${dead.map(({ name }) => name).join(', ')}`,
          'Start them: their sites are not served, and edges keep their readings until then.',
        ),
    shardsCheck(nodes),
    ...(dead.length === 0 ? [await skewCheck(db)] : []),
  ]
}

async function distributionCheck(db: Database): Promise<Check> {
  const local = await db.query<{ name: string }>(
    `
    select relname as name from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and exists (select from pg_attribute where attrelid = c.oid and attname = 'site_id')
      and not exists (select from pg_dist_partition where logicalrelid = c.oid and partmethod = 'h')
      and not relname = any ($1)
    order by 1`,
    [queue_tables],
  )
  const has_keys_left = await hasRow(
    db,
    `select from pg_class where relname = 'keys_set_aside'
       and relnamespace = 'public'::regnamespace`,
  )
  if (local.length === 0 && !has_keys_left) return ok('distribution', 'complete')
  const names = local.map(({ name }) => name).join(', ')
  return failure(
    'distribution',
    names === '' ? 'foreign keys are missing' : `on the coordinator alone: ${names}`,
    'Stop every server and run: heliograph cluster distribute',
  )
}

function shardsCheck(nodes: readonly Node[]): Check {
  const finding = nodes.map(({ name, shards }) => `${shards} on ${name}`).join(', ')
  const is_many = nodes.some(({ shards }) => shards > shards_per_node_max)
  return is_many
    ? warning('shards', finding, `Add workers: more than ${shards_per_node_max} slow a node down.`)
    : ok('shards', finding)
}

async function skewCheck(db: Database): Promise<Check> {
  const sizes = await db.query<WorkerSize>(`
    select nodename || ':' || nodeport as name, sum(shard_size)::bigint as bytes
    from citus_shards where citus_table_type = 'distributed' group by 1 order by 1`)
  const mean = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / Math.max(sizes.length, 1)
  const finding = sizes
    .map(({ name, bytes }) => `${Math.round(bytes / 2 ** 20)} MiB on ${name}`)
    .join(', ')
  return sizes.some(({ bytes }) => bytes > skew_max * mean)
    ? warning('skew', finding, 'Run on the coordinator: SELECT citus_rebalance_start()')
    : ok('skew', finding)
}
