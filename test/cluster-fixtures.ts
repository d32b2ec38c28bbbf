/**
 * Fixtures insert rows without ids, which triggers fill in on plain PostgreSQL. Distributed tables
 * have no triggers: on a Citus cluster the columns have defaults, and the counters of the sites
 * follow after each such insert.
 */
import type { Database, Queries } from '../server/storage/database.ts'
import { createSequenceOf } from '../server/storage/site-ids.ts'

/** Tables whose ids the server takes from the counters of a site, and from its sequence. */
export const counted: Record<string, string> = {
  alerts: 'alert_id',
  work_orders: 'wo_id',
  work_order_items: 'item_id',
  defects: 'defect_id',
  gaps: 'gap_id',
  curtailment_rows: 'row_id',
  market_assignments: 'assignment_id',
  report_subscriptions: 'sub_id',
}
export const sequenced: Record<string, string> = {
  events: 'event_id',
  relay_events: 'relay_event_id',
  battery_schedules: 'schedule_id',
  battery_dispatches: 'dispatch_id',
  battery_control_notes: 'log_id',
  om_notifications: 'notification_id',
  forecast_runs: 'run_id',
  write_audit: 'audit_id',
}

export async function addDefaultIds(db: Database): Promise<void> {
  for (const [table, id] of Object.entries({ ...counted, ...sequenced })) {
    const sequence = `default_${table}_${id}`
    await db.execute(`create sequence ${sequence}`)
    await db.execute(`alter table ${table} alter column ${id} set default nextval('${sequence}')`)
  }
}

/** The database, with counters that follow the rows of fixtures. */
export function followingFixtures(db: Database): Database {
  return {
    ...db,
    ...following(db),
    transaction: (work, options) =>
      db.transaction((tx) => work({ ...tx, ...following(tx) }), options),
  }
}

function following({ query, queryOne, execute }: Queries): Queries {
  const plain = { query, queryOne, execute }
  const followed =
    <Given extends [statement: string | { text: string }, ...unknown[]], Result>(
      run: (...given: Given) => Promise<Result>,
    ) =>
    async (...given: Given) => {
      const result = await run(...given)
      const text = typeof given[0] === 'string' ? given[0] : given[0].text
      for (const [, table = '', columns = ''] of text.matchAll(/insert into (\w+)([^)]*)/gi)) {
        await follow(plain, table.toLowerCase(), columns)
      }
      return result
    }
  return {
    query: followed(query) as Queries['query'],
    queryOne: followed(queryOne) as Queries['queryOne'],
    execute: followed(execute),
  }
}

async function follow(db: Queries, table: string, columns: string): Promise<void> {
  if (table === 'sites' || table === 'clients') {
    const owner = table === 'sites' ? 'site' : 'client'
    const owners = await db.query<{ id: string }>(`select ${owner}_id::text as id from ${table}`)
    for (const { id } of owners) {
      const made = await db.queryOne('select from pg_class where relname = ids_of_owner($1, $2)', [
        owner,
        id,
      ])
      if (made === null) await createSequenceOf(db, owner, id)
    }
    return
  }
  const id = counted[table] ?? sequenced[table]
  if (id === undefined || columns.includes(id)) return
  const highest = await db.query<{ site_id: string; last_id: number }>(
    `select site_id, max(${id}) as last_id from ${table} group by site_id`,
  )
  for (const { site_id, last_id } of highest) {
    await db.query(
      table in counted
        ? `insert into site_ids as ids (site_id, kind, last_id) values ($1, '${id}', $2)
           on conflict (site_id, kind) do update set last_id = greatest(ids.last_id, $2)`
        : `select setval(ids_of_owner('site', $1)::regclass,
             greatest($2, nextval(ids_of_owner('site', $1)::regclass) - 1))`,
      [site_id, last_id],
    )
  }
}
