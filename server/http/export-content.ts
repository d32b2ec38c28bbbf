/** The content of an export in its format: CSV or NDJSON of computed items, or a Parquet file. */
import type { TSchema } from 'typebox'
import { inlined } from '../storage/copy-out.ts'
import type { Queries } from '../storage/database.ts'
import { type ParquetColumn, type ParquetType, parquetFile } from '../storage/parquet.ts'
import type { Endpoint } from './endpoint.ts'
import {
  csvForm,
  csvLine,
  type ExportItem,
  type ExportItems,
  fetched,
  headed,
  textOf,
} from './export-items.ts'
import type { ExportFormat, ExportRows } from './export-rows.ts'

export function contentOf(
  endpoint: Endpoint<never>,
  format: ExportFormat,
  rows: ExportRows | ExportItems,
  queries: Queries,
): AsyncIterable<Buffer | string> {
  const form = csvForm(endpoint, 'items' in rows ? rows.more_columns : [])
  const { columns } = form
  const batches = () => ('items' in rows ? rows.items(queries) : itemsOf(rows, queries))
  if (format === 'parquet') {
    return parquetFile(columnsOf(endpoint, columns), flattened(batches(), form.lines))
  }
  const own = 'items' in rows ? rows.text?.({ format, columns }, queries) : undefined
  return headed(format === 'csv' ? csvLine(columns) : '', own ?? textOf(format, form, batches()))
}

const itemsOf = ({ columns, from, values }: ExportRows, queries: Queries) => {
  const fields = columns.map(({ name, sql }) => `${sql} AS "${name}"`)
  return fetched<ExportItem>(queries, inlined(`SELECT ${fields.join(', ')} ${from}`, values), [])
}

async function* flattened(
  batches: AsyncIterable<readonly ExportItem[]>,
  lines: (item: ExportItem) => readonly ExportItem[],
) {
  for await (const batch of batches) yield batch.flatMap(lines)
}

interface Facts {
  type?: string
  format?: string
  enum?: readonly unknown[]
  anyOf?: readonly Facts[]
  items?: Facts
  properties?: Readonly<Record<string, Facts>>
}

/** Columns typed by the schema of an item; those of a line of a matrix by its parts. */
function columnsOf({ returns }: Endpoint<never>, names: readonly string[]): ParquetColumn[] {
  const { data } = (returns as TSchema & { properties: Record<string, Facts> }).properties
  const item = data!.items!.properties!
  const parts = Object.values(item).map(({ items }) => items?.properties ?? {})
  const schemas: Readonly<Record<string, Facts>> = Object.assign({}, ...parts, item)
  return names.map((name) => ({ name, type: typeOf(schemas[name]!) }))
}

function typeOf(schema: Facts): ParquetType {
  const alternatives = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null')
  const [facts] = alternatives
  if (!facts || alternatives.length > 1) return 'json'
  const { type, format, items } = facts
  if (facts.enum?.every((value) => typeof value === 'string')) return 'text'
  if (type === 'array') return items && typeOf(items) === 'number' ? 'numbers' : 'json'
  if (type === 'string')
    return format === 'date-time' ? 'instant' : format === 'date' ? 'day' : 'text'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'json'
}
