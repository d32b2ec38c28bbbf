/**
 * Exports of computed items. Batches of the items of the JSON answer are written in the same CSV
 * and NDJSON that PostgreSQL writes for `ExportRows`.
 */
import type { Queries } from '../storage/database.ts'
import type { Context } from './context.ts'
import { spanList } from './envelope.ts'
import type { TextFormat } from './export-rows.ts'
import type { Span } from './windows.ts'

export type ExportItem = Readonly<Record<string, unknown>>

export interface ExportItems {
  /** Set when the export was cut elsewhere than the window of the request. */
  span?: Span
  /** Columns of a CSV file behind those of the example. */
  more_columns?: readonly string[]
  /**
   * Batches of items in the order of the JSON answer. A batch is computed when the previous one is
   * being sent. Keep batches small: each is held in memory, and blocks the other exports of its
   * thread for some tens of milliseconds.
   */
  items(queries: Queries): AsyncIterable<readonly ExportItem[]>
  /** The same items as text without a header, for a series that has a faster way to it. */
  text?(
    form: { format: TextFormat; columns: readonly string[] },
    queries: Queries,
  ): AsyncIterable<Buffer>
}

interface ComputedSeries<Item> {
  span?: Span
  items(queries: Queries): AsyncIterable<readonly Item[]>
}

/** The handlers of a computed series without a `limit`: all items as JSON, or a file. */
export const spanHandlers = <Request extends { window: Span }, Item>(
  series: (request: Request, context: Context) => Promise<ComputedSeries<Item>>,
) => ({
  async handle(request: Request, context: Context) {
    const { span = request.window, items } = await series(request, context)
    return spanList(await allItems(items(context.db)), span)
  },
  exports: series,
})

/** Exports one page, for a request with a `limit`. */
export const pageItems = (page: readonly ExportItem[]): ExportItems => ({
  async *items() {
    yield page
  },
})

/** The items of all batches at once, for the JSON answer. */
export async function allItems<Item>(batches: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = []
  for await (const batch of batches) items.push(...batch)
  return items
}

/**
 * The rows of a statement in batches, within the transaction of `queries`. Only one may run in a
 * transaction: the cursor has a fixed name.
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

/** The columns are the fields of the example item, and further ones of the export. */
export function csvForm(
  { operation_id, example, export_lines }: Exporting,
  more_columns: readonly string[] = [],
): CsvForm {
  const lines = export_lines ?? ((item) => [item])
  const [item] = (example.answer as { data: readonly ExportItem[] }).data
  const [line] = item ? lines(item) : []
  if (!line) throw new Error(`the example of ${operation_id} has no item to name the columns`)
  return { columns: [...Object.keys(line), ...more_columns], lines }
}

/** The text of items in batches, without a header. */
export async function* textOf(
  format: TextFormat,
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
  for await (const batch of batches) yield batch.map(textOfItem).join('')
}

/** The text of a file in batches. An error in the first batch comes before the first byte. */
export async function* headed(
  head: string,
  batches: AsyncIterable<Buffer | string>,
): AsyncGenerator<Buffer | string> {
  let missing = head
  for await (const text of batches) {
    if (missing !== '') yield missing
    missing = ''
    if (text.length > 0) yield text
  }
  if (missing !== '') yield missing
}

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvField).join(',')}\n`

/** A CSV field (RFC 4180): empty for null, with spreadsheet formulas disarmed. */
export function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') return quoted(JSON.stringify(value))
  return typeof value === 'string' ? quoted(harmless(value)) : String(value)
}

/** An empty text is quoted to distinguish it from null. */
const quoted = (text: string): string =>
  text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** Same as `harmless` of export-rows.ts. */
function harmless(text: string): string {
  const inner = text.replace(/(^|[;\t\r\n])([=+\-@＝＋－＠])/g, "$1'$2")
  return /^[\t\r]/.test(inner) ? `'${inner}` : inner
}
