/**
 * Ids that are counted by site. Statements name them in their inserts: tables that are distributed
 * over the nodes of a Citus cluster have no triggers.
 */
import type { Queries } from './database.ts'

/** Columns whose ids are counted in `site_ids`. */
type CountedId =
  | 'alert_id'
  | 'wo_id'
  | 'item_id'
  | 'defect_id'
  | 'gap_id'
  | 'row_id'
  | 'assignment_id'
  | 'sub_id'
  | 'proposal_id'
  | 'standing_order_id'

/**
 * Takes the next ids of a site. The counter is locked until the transaction ends, so that ids of a
 * site come in the order of the commits.
 */
export async function takeIds(
  tx: Queries,
  { site_id, kind, count }: { site_id: string; kind: CountedId; count: number },
): Promise<number[]> {
  if (count === 0) return []
  const row = await tx.queryOne<{ last_id: number }>(
    `insert into site_ids as ids (site_id, kind, last_id) values ($1, $2, $3)
     on conflict (site_id, kind) do update set last_id = ids.last_id + $3
     returning last_id`,
    [site_id, kind, count],
  )
  const first = row!.last_id - count + 1
  return Array.from({ length: count }, (_, nth) => first + nth)
}

/** Takes the next id of a site. */
export async function takeId(tx: Queries, site_id: string, kind: CountedId): Promise<number> {
  const [id] = await takeIds(tx, { site_id, kind, count: 1 })
  return id!
}

/**
 * SQL: the next number of the sequence of a site or of a client. Only for statements that read no
 * table of a site: their expressions are evaluated on a node that does not have the sequence.
 */
export const nextIdOf = (owner: 'site' | 'client', id: string): string =>
  `nextval(ids_of_owner('${owner}', ${id})::regclass)`

/** Creates the sequence of a new site or client. It starts afresh where the id was used before. */
export async function createSequenceOf(
  tx: Queries,
  owner: 'site' | 'client',
  id: string | number,
): Promise<void> {
  const row = await tx.queryOne<{ name: string }>(
    'select quote_ident(ids_of_owner($1, $2::text)) as name',
    [owner, String(id)],
  )
  await tx.execute(`drop sequence if exists ${row!.name}`)
  await tx.execute(`create sequence ${row!.name}`)
}

/** Takes the next number of the sequence of a site. */
export async function takeSequenceId(db: Queries, site_id: string): Promise<number> {
  const row = await db.queryOne<{ id: number }>(`select ${nextIdOf('site', '$1')} as id`, [site_id])
  return row!.id
}
