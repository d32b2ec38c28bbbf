/**
 * Exports of items that are not columns of a query but computed: the same items as the JSON answer
 * has, made a batch at a time, and their text in both forms as PostgreSQL writes it for the others.
 */
import type { Queries } from '../storage/database.ts'
import type { ExportFormat } from './export-rows.ts'
import type { Span } from './windows.ts'

export type ExportItem = Readonly<Record<string, unknown>>

export interface ExportItems {
  /** Where it was cut in another place than the window of the request. */
  span?: Span
  /**
   * Batches of items in the order of the JSON answer, each computed from what `queries` reads once
   * the one before is on its way. All that one of them reads and yields is held in memory, and one
   * holds up the other exports of its thread while it is computed: some tens of milliseconds.
   */
  items(queries: Queries): AsyncIterable<readonly ExportItem[]>
}

/** A page that is there already, as an explicit `limit` asks for it. */
export const pageItems = (page: readonly ExportItem[]): ExportItems => ({
  async *items() {
    yield page
  },
})

/**
 * The rows of a statement, a batch at a time, in the transaction that `queries` are of. One at a
 * time there: the cursor has one name.
 */
export async function* fetched<Row>(
  queries: Queries,
  statement: string,
  values: readonly unknown[],
): AsyncGenerator<Row[]> {
  await queries.execute(`DECLARE exported NO SCROLL CURSOR FOR ${statement}`, values)
  for (;;) {
    const rows = await queries.query<Row>(`FETCH ${fetched_rows} FROM exported`)
    if (rows.length === 0) return
    yield rows
  }
}

const fetched_rows = 1000

interface CsvForm {
  columns: readonly string[]
  lines(item: ExportItem): readonly ExportItem[]
}

interface Exporting {
  operation_id: string
  example: { answer: unknown }
  export_lines?: (item: ExportItem) => readonly ExportItem[]
}

/** Columns are the fields of the example, which has the shape of every item. */
export function csvForm({ operation_id, example, export_lines }: Exporting): CsvForm {
  const lines = export_lines ?? ((item) => [item])
  const [item] = (example.answer as { data: readonly ExportItem[] }).data
  const [line] = item ? lines(item) : []
  if (!line) throw new Error(`the example of ${operation_id} has no item to name the columns`)
  return { columns: Object.keys(line), lines }
}

/** The text of a file, a batch at a time; what fails in the first fails before the first byte. */
export async function* textOf(
  format: ExportFormat,
  { columns, lines }: CsvForm,
  batches: AsyncIterable<readonly ExportItem[]>,
): AsyncGenerator<string> {
  const textOfItem = {
    csv: (item: ExportItem) =>
      lines(item)
        .map((line) => csvLine(columns.map((name) => line[name])))
        .join(''),
    ndjson: (item: ExportItem) => `${JSON.stringify(item)}\n`,
  }[format]
  let head = format === 'csv' ? csvLine(columns) : ''
  for await (const batch of batches) {
    const text = head + batch.map(textOfItem).join('')
    head = ''
    if (text !== '') yield text
  }
  if (head !== '') yield head
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvField).join(',')}\n`

/** A value as RFC 4180 writes it; nothing for null, and no text that a spreadsheet would run. */
export function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') return quoted(JSON.stringify(value))
  return typeof value === 'string' ? quoted(harmless(value)) : String(value)
}

/** An empty text is quoted, which tells it from null. */
const quoted = (text: string): string =>
  text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** As in the columns of `ExportRows`. */
function harmless(text: string): string {
  const inner = text.replace(/(^|[;\t\r\n])([=+\-@＝＋－＠])/g, "$1'$2")
  return /^[\t\r]/.test(inner) ? `'${inner}` : inner
}
