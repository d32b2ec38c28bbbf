/** Reads pages and writes rows of maintenance tables by column name. */

import { isDeepStrictEqual } from 'node:util'
import type { Queries, Transaction } from '../storage/database.ts'
import { type Columns, changeRows, insertRow } from '../storage/rows.ts'
import { takeId } from '../storage/site-ids.ts'

/** SQL: the rows of a site that meet the conditions (`status =`) with a value. */
export function matchingRows(table: string, site_id: string, conditions: Columns) {
  const given = Object.entries(conditions).filter(([, value]) => value != null)
  const terms = ['site_id = $1', ...given.map(([condition], nth) => `${condition} $${nth + 2}`)]
  return {
    matching: `${table} where ${terms.join(' and ')}`,
    values: [site_id, ...given.map(([, value]) => value)],
  }
}

interface Listed<Row> {
  /** SQL: a table with its condition. Its indexes give the count and the ids of a page. */
  matching: string
  values: readonly unknown[]
  /** SQL: the statement that selects a row, without a condition. */
  record: string
  alias: string
  id: keyof Row & string
  order?: 'desc'
}

/** A page by id, and the count of all pages, in one statement and thus one snapshot. */
export async function readPage<Row extends object>(
  db: Queries,
  { matching, values, record, alias, id, order }: Listed<Row>,
  { offset = 0, limit = 50 }: { offset?: number; limit?: number },
) {
  const by_id = `order by ${id} ${order ?? 'asc'}`
  const rows = await db.query<Row & { count: number }>(
    `select c.count, p.*
     from (select count(*) as count from ${matching}) c
       left join (
         ${record} where ${alias}.site_id = $1 and ${alias}.${id} in (
           select ${id} from ${matching} ${by_id} limit ${limit} offset ${offset})
       ) p on true
     ${by_id}`,
    values,
  )
  const meta = { count: rows[0]!.count, limit, offset }
  return { rows: rows.filter((row) => row[id] !== null) as Row[], meta }
}

const storedColumns = (columns: Columns): Columns =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name,
      ['parts', 'attachments'].includes(name) ? JSON.stringify(value) : value,
    ]),
  )

/** Returns the id of the row. */
export async function addRow(
  tx: Transaction,
  [table, id]: readonly ['work_orders', 'wo_id'] | readonly ['defects', 'defect_id'],
  { site_id, ...columns }: Columns & { site_id: string },
): Promise<number> {
  const given_id = await takeId(tx, site_id, id)
  await insertRow(tx, table, { site_id, [id]: given_id, ...storedColumns(columns) })
  return given_id
}

/** The columns that differ from the row. Instants are compared by time. */
export function changedColumns(row: object, columns: Columns): Columns {
  const before = row as Columns
  return Object.fromEntries(
    Object.entries(columns).filter(
      ([name, value]) =>
        !isDeepStrictEqual(comparable(name, value), comparable(name, before[name])),
    ),
  )
}

const comparable = (name: string, value: unknown) =>
  name.endsWith('_at') && value !== null ? new Date(value as Date | string).getTime() : value

/** Compares sets of ids; undefined means no change. */
export const differ = (ids: readonly number[] | undefined, linked: readonly number[]) =>
  ids !== undefined && !isDeepStrictEqual(new Set(ids), new Set(linked))

/** Increments the version of a work order or defect. */
export async function updateRow(
  tx: Transaction,
  table: 'work_orders' | 'defects' | 'work_order_items',
  key: Columns,
  columns: Columns,
): Promise<void> {
  const more = table === 'work_order_items' ? '' : ', version = version + 1'
  await changeRows(tx, table, key, storedColumns(columns), more)
}
