/**
 * Exports of the rows of a query. One list of columns defines the JSON text of an item and the
 * statements that write whole files.
 */
import { inlined } from '../storage/copy-out.ts'

export type ExportFormat = TextFormat | 'parquet'
/** The formats that PostgreSQL writes by itself. */
export type TextFormat = 'csv' | 'ndjson'

export interface ExportColumn {
  name: string
  /** An SQL expression of the type below. */
  sql: string
  /**
   * `word`: text that JSON does not escape; `numbers`: an array of numbers; `json`: json or jsonb.
   * Numbers must be finite.
   */
  type: 'number' | 'boolean' | 'instant' | 'word' | 'text' | 'numbers' | 'json'
}

export interface ExportRows {
  /** In the order of the item's fields. */
  columns: readonly ExportColumn[]
  /** From FROM to ORDER BY, with `$1` … for the values. */
  from: string
  values: readonly (string | number | null)[]
}

/**
 * RFC 3339 in UTC with milliseconds; faster than to_char. PostgreSQL drops trailing zeros of the
 * fraction: adding a microsecond keeps all six digits, of which three are cut off.
 */
const instantText = (sql: string) =>
  `replace(left((${sql} AT TIME ZONE 'UTC' + interval '1 microsecond')::text, 23), ' ', 'T') || 'Z'`

/** SQL for the JSON text of an item. PostgreSQL writes numbers in the form of JSON. */
function itemJson(columns: readonly ExportColumn[]): string {
  const fields = columns.map(
    (column, index) => `'${index === 0 ? '{' : ','}"${column.name}":' || ${jsonValue(column)}`,
  )
  return joined([...fields, `'}'`])
}

function jsonValue({ sql, type }: ExportColumn): string {
  return `coalesce(${jsonForm[type](sql)}, 'null')`
}

const numbersJson = (sql: string) => `'[' || array_to_string(${sql}, ',', 'null') || ']'`

const jsonForm: Record<ExportColumn['type'], (sql: string) => string> = {
  number: (sql) => `(${sql})::text`,
  boolean: (sql) => `(${sql})::text`,
  instant: (sql) => `'"' || ${instantText(sql)} || '"'`,
  word: (sql) => `'"' || ${sql} || '"'`,
  text: (sql) => `to_json(${sql})::text`,
  numbers: numbersJson,
  json: (sql) => `(${sql})::text`,
}

/** COPY writes null as an empty field and quotes as in RFC 4180. */
const csvForm: Record<ExportColumn['type'], (sql: string) => string> = {
  number: (sql) => sql,
  boolean: (sql) => `(${sql})::text`,
  instant: instantText,
  word: (sql) => sql,
  text: harmless,
  numbers: numbersJson,
  json: (sql) => `(${sql})::text`,
}

/**
 * Puts an apostrophe before text that a spreadsheet would run as a formula, also after a separator
 * within the text, where spreadsheets that split at semicolons start a cell.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function harmless(sql: string): string {
  const inner = `regexp_replace(${sql}, E'(^|[;\\t\\r\\n])([=+@＝＋－＠-])', '\\1''\\2', 'g')`
  return `CASE WHEN left(${sql}, 1) IN (E'\\t', E'\\r') THEN '''' ELSE '' END || ${inner}`
}

/** The COPY statement that writes the file. */
export function copyStatement(format: TextFormat, rows: ExportRows): string {
  return `COPY (${inlined(selectOf[format](rows), rows.values)}) TO STDOUT (${copyOptions[format]})`
}

const selectOf: Record<TextFormat, (rows: ExportRows) => string> = {
  csv({ columns, from }) {
    const fields = columns.map(({ name, sql, type }) => `${csvForm[type](sql)} AS "${name}"`)
    return `SELECT ${fields.join(', ')} ${from}`
  },
  ndjson: ({ columns, from }) => `SELECT ${itemJson(columns)} ${from}`,
}

const copyOptions: Record<TextFormat, string> = {
  csv: 'FORMAT csv, HEADER true',
  // JSON escapes all control characters, so nothing needs quotes.
  ndjson: `FORMAT csv, HEADER false, DELIMITER E'\\x01', QUOTE E'\\x02'`,
}

/** Concatenates as a balanced tree, to avoid copying the growing text for every column. */
function joined(pieces: readonly string[]): string {
  if (pieces.length === 1) return `(${pieces[0]})`
  const half = pieces.length >> 1
  return `(${joined(pieces.slice(0, half))} || ${joined(pieces.slice(half))})`
}
