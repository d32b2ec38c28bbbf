/** Rows of every table, to compare a restored database with the one that was backed up. */
import { type Static, Type } from 'typebox'

export type TableRows = Static<typeof TableRows>
/** The least and the most rows that a table had while it was backed up. */
export const TableRows = Type.Object(
  {
    table: Type.String(),
    rows_min: Type.Integer({ minimum: 0 }),
    rows_max: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
)

type Query = <Row extends object>(statement: string) => Promise<Row[]>

interface TableCount {
  rows: number
  /** Since the statistics were reset, by sessions that have reported them. */
  inserted: number
  deleted: number
}

type RowCounts = ReadonlyMap<string, TableCount>

const undefined_table = '42P01'

/** Tables that are dropped meanwhile are left out. */
export async function countRows(query: Query): Promise<RowCounts> {
  const tables = await query<{ table: string; inserted: number; deleted: number }>(
    `select format('%I.%I', schemaname, relname) as table, n_tup_ins::float8 as inserted,
       n_tup_del::float8 as deleted
     from pg_stat_user_tables order by 1`,
  )
  const counts = new Map<string, TableCount>()
  for (const { table, inserted, deleted } of tables) {
    try {
      const [count] = await query<{ rows: number }>(
        `select count(*)::float8 as rows from only ${table}`,
      )
      counts.set(table, { rows: count!.rows, inserted, deleted })
    } catch (error) {
      if ((error as { code?: string }).code !== undefined_table) throw error
    }
  }
  return counts
}

/**
 * Bounds of the rows between two counts. Equal bounds if the table did not change; otherwise rows
 * that were inserted or deleted in between may be in it or not.
 */
export function rowsBetween(before: RowCounts, after: RowCounts): TableRows[] {
  return [...before].flatMap(([table, first]) => {
    const last = after.get(table)
    if (last === undefined) return []
    const rows_min = Math.min(first.rows, last.rows) - Math.max(0, last.deleted - first.deleted)
    const rows_max = Math.max(first.rows, last.rows) + Math.max(0, last.inserted - first.inserted)
    return { table, rows_min: Math.max(0, rows_min), rows_max }
  })
}

/** What is wrong with the counts, in words. */
export const wrongCounts = (expected: readonly TableRows[], found: RowCounts): string[] =>
  expected.flatMap(({ table, rows_min, rows_max }) => {
    const count = found.get(table)
    if (count === undefined) return [`${table} is missing`]
    if (count.rows >= rows_min && count.rows <= rows_max) return []
    const range = rows_min === rows_max ? `${rows_min}` : `${rows_min} to ${rows_max}`
    return [`${table} has ${count.rows} rows in place of ${range}`]
  })
