/**
 * What an export consists of: columns under the names of the JSON items and the query that they
 * are of. From one list of columns come the JSON text of an item, whoever asks for it, and the
 * statements that write whole files.
 */
import { inlined } from '../storage/copy-out.ts'

export type ExportFormat = 'csv' | 'ndjson'

export interface ExportColumn {
  name: string
  /** An SQL expression of the type below. */
  sql: string
  /**
   * `word`: text of our own, which holds nothing that JSON would escape; `numbers`: an array of
   * them; `json`: json or jsonb. Numbers are finite.
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
 * RFC 3339 in UTC with milliseconds, as everywhere in the API; faster than to_char. PostgreSQL
 * leaves out zeros at the end: with a microsecond more none is at the end, and it is cut off again.
 */
const instantText = (sql: string) =>
  `replace(left((${sql} AT TIME ZONE 'UTC' + interval '1 microsecond')::text, 23), ' ', 'T') || 'Z'`

/** An SQL expression: the JSON text of an item. PostgreSQL writes numbers as JSON does. */
export function itemJson(columns: readonly ExportColumn[]): string {
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

/** COPY itself writes null as an empty field and quotes as RFC 4180 says. */
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
 * What a spreadsheet would run as a formula gets an apostrophe in front, which it takes for text;
 * also within a text, where one that separates by semicolons would begin a cell.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
function harmless(sql: string): string {
  const inner = `regexp_replace(${sql}, E'(^|[;\\t\\r\\n])([=+@＝＋－＠-])', '\\1''\\2', 'g')`
  return `CASE WHEN left(${sql}, 1) IN (E'\\t', E'\\r') THEN '''' ELSE '' END || ${inner}`
}

/** The statement whose output is the file. */
export function copyStatement(format: ExportFormat, rows: ExportRows): string {
  return `COPY (${inlined(selectOf[format](rows), rows.values)}) TO STDOUT (${copyOptions[format]})`
}

const selectOf: Record<ExportFormat, (rows: ExportRows) => string> = {
  csv({ columns, from }) {
    const fields = columns.map(({ name, sql, type }) => `${csvForm[type](sql)} AS "${name}"`)
    return `SELECT ${fields.join(', ')} ${from}`
  },
  ndjson: ({ columns, from }) => `SELECT ${itemJson(columns)} ${from}`,
}

const copyOptions: Record<ExportFormat, string> = {
  csv: 'FORMAT csv, HEADER true',
  // JSON escapes all control characters, so that none of these occurs and nothing is quoted.
  ndjson: `FORMAT csv, HEADER false, DELIMITER E'\\x01', QUOTE E'\\x02'`,
}

/** Concatenates in halves: one by one would copy the growing text once for every column. */
function joined(pieces: readonly string[]): string {
  if (pieces.length === 1) return `(${pieces[0]})`
  const half = pieces.length >> 1
  return `(${joined(pieces.slice(0, half))} || ${joined(pieces.slice(half))})`
}
