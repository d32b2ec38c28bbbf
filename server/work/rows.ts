/** Writes rows of work orders and defects by column name. */
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../storage/database.ts'

/** Column names come from closed schemas and the code, never from a request. */
type Columns = Readonly<Record<string, unknown>>

const keys = { work_orders: 'wo_id', defects: 'defect_id' } as const

const json_columns = ['parts', 'attachments']
const storedValue = ([name, value]: [string, unknown]) =>
  json_columns.includes(name) ? JSON.stringify(value) : value

/** Returns the id of the row. */
export async function insertRow(
  tx: Transaction,
  table: keyof typeof keys,
  columns: Columns,
): Promise<number> {
  const names = Object.keys(columns)
  const [made] = await tx.query<{ id: number }>(
    `insert into ${table} (${names.join(', ')})
     values (${names.map((_, index) => `$${index + 1}`).join(', ')})
     returning ${keys[table]} as id`,
    Object.entries(columns).map(storedValue),
  )
  return made!.id
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

/** Increments the version. */
export async function updateRow(
  tx: Transaction,
  { table, site_id, id }: { table: keyof typeof keys; site_id: string; id: number },
  columns: Columns,
): Promise<void> {
  const set = Object.keys(columns).map((name, index) => `${name} = $${index + 3}`)
  await tx.execute(
    `update ${table} set ${set.join(', ')}, version = version + 1
     where site_id = $1 and ${keys[table]} = $2`,
    [site_id, id, ...Object.entries(columns).map(storedValue)],
  )
}
