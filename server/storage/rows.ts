import type { Queries } from './database.ts'

export const hasRow = async (db: Queries, ...query: Parameters<Queries['query']>) =>
  (await db.query(...query)).length > 0

/** The number of rows of a table with its condition, in SQL. */
export async function countRows(db: Queries, matching: string, values: readonly unknown[]) {
  const row = await db.queryOne<{ count: number }>(
    `select count(*) as count from ${matching}`,
    values,
  )
  return row!.count
}

/** Column names come from closed schemas and the code, never from a request. */
export type Columns = Readonly<Record<string, unknown>>

/** Inserts a row. `more` is SQL after the values; returns the row of its `returning`, if any. */
export function insertRow<Row>(db: Queries, table: string, columns: Columns, more = '') {
  const names = Object.keys(columns)
  const places = names.map((_, index) => `$${index + 1}`)
  return db.queryOne<Row>(
    `insert into ${table} (${names.join(', ')}) values (${places.join(', ')}) ${more}`,
    Object.values(columns),
  )
}

/** Changes columns of the rows with this key, and returns their number. `more` ends its `set`. */
export function changeRows(db: Queries, table: string, key: Columns, columns: Columns, more = '') {
  const values: unknown[] = []
  const equal = ([name, value]: [string, unknown]) => `${name} = $${values.push(value)}`
  const set = Object.entries(columns).map(equal).join(', ')
  const where = Object.entries(key).map(equal).join(' and ')
  return db.execute(`update ${table} set ${set}${more} where ${where}`, values)
}

/** Inserts a row, or changes the values of the row with this key. */
export async function putRow(db: Queries, table: string, key: Columns, values: Columns) {
  const changes = Object.keys(values).map((name) => `${name} = excluded.${name}`)
  const update = `on conflict (${Object.keys(key).join(', ')}) do update set ${changes.join(', ')}`
  await insertRow(db, table, { ...key, ...values }, update)
}
