/** Features of rows: one column per feature, NaN where a value is missing. */
export interface FeatureTable {
  names: readonly string[]
  /** In the order of `names`, with an element for every row. */
  columns: readonly Float64Array[]
  rows: number
}

/** A table of named columns. Throws a RangeError for different lengths and for no columns. */
export function featureTable(columns: Readonly<Record<string, Float64Array>>): FeatureTable {
  const names = Object.keys(columns)
  const rows = columns[names[0] ?? '']?.length
  if (rows === undefined) throw new RangeError('columns: a table needs at least one')
  for (const name of names) {
    const { length } = columns[name]!
    if (length !== rows) throw new RangeError(`${name} has ${length} rows, not ${rows}`)
  }
  return { names, columns: names.map((name) => columns[name]!), rows }
}

export function takeRows(table: FeatureTable, positions: ArrayLike<number>): FeatureTable {
  return {
    names: table.names,
    columns: table.columns.map((column) => takeElements(column, positions)),
    rows: positions.length,
  }
}

export function takeElements(column: Float64Array, positions: ArrayLike<number>): Float64Array {
  return Float64Array.from(positions, (position) => column[position]!)
}

/** Tables with the same columns, one below the other. Throws a RangeError for different names. */
export function stackTables(tables: readonly FeatureTable[]): FeatureTable {
  const [first] = tables
  if (first === undefined) throw new RangeError('tables: nothing to stack')
  for (const table of tables) requireColumns(table, first.names)
  return {
    names: first.names,
    columns: first.names.map((_, column) => stackColumns(tables.map((t) => t.columns[column]!))),
    rows: tables.reduce((rows, table) => rows + table.rows, 0),
  }
}

export function stackColumns(columns: readonly Float64Array[]): Float64Array {
  const stacked = new Float64Array(columns.reduce((rows, { length }) => rows + length, 0))
  let row = 0
  for (const column of columns) {
    stacked.set(column, row)
    row += column.length
  }
  return stacked
}

/** Throws a RangeError unless a table has exactly these columns in this order. */
export function requireColumns(table: FeatureTable, names: readonly string[]): void {
  const differs = names.findIndex((name, column) => table.names[column] !== name)
  if (differs >= 0) {
    throw new RangeError(`column ${differs} is ${table.names[differs]}, not ${names[differs]}`)
  }
  if (table.names.length > names.length) {
    throw new RangeError(`column ${names.length} is ${table.names[names.length]}, not known`)
  }
}

/** Throws a RangeError unless a table has rows, and the target is finite for each of them. */
export function requireTarget(table: FeatureTable, target: Float64Array): void {
  if (table.rows === 0) throw new RangeError('table: no rows to learn from')
  if (target.length !== table.rows) {
    throw new RangeError(`target has ${target.length} rows, not ${table.rows}`)
  }
  const bad = target.findIndex((value) => !Number.isFinite(value))
  if (bad >= 0) throw new RangeError(`target: row ${bad} is ${target[bad]}`)
}
