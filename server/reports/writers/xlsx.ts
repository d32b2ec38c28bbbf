/**
 * A report as a workbook: a summary, and a sheet for each table and chart. Numbers, days and
 * instants are typed cells; instants are local times, because workbooks have no time zones. Texts
 * have the text format, so that they never become formulas, even when edited.
 */
import { localDate, shownAt } from '@heliograph/domain/local-day'
import writeExcelFile, { type CellObject, type Row, type Sheet } from 'write-excel-file/node'
import type {
  Cell,
  Chart,
  Column,
  ReportDocument,
  Section,
  SectionOf,
  WrittenReport,
} from '../document.ts'
import { areDays, digitsOf, headingOf, known, periodText, zoneText } from './cells.ts'
import { sheetNames } from './sheet-names.ts'
import { dateEntries } from './zip-dates.ts'

type DataSection = SectionOf<'table' | 'chart'>

const rows_max = 1_048_575
const characters_max = 32_767
const widths = { least: 9, most: 60 }
const strong = { fontWeight: 'bold' as const }
const header = { ...strong, backgroundColor: '#E9EDF0', alignVertical: 'top' as const, wrap: true }
const total = { ...strong, topBorderStyle: 'thin' as const }
const summary_name = 'Summary'

/**
 * The same document gives the same bytes.
 *
 * @throws Error for a table with too many rows for a sheet
 */
export async function writeXlsx(document: ReportDocument): Promise<WrittenReport> {
  const data = document.sections.filter(
    (section): section is DataSection => section.kind === 'table' || section.kind === 'chart',
  )
  const [, ...names] = sheetNames([summary_name, ...data.map(({ title }) => title)])
  const sheets = data.map((section, index) => sheetOf(section, names[index]!, document.timezone))
  const summary = summaryOf(document, data, names)
  const bytes = await writeExcelFile([summary, ...sheets], {
    fontFamily: 'Calibri',
    fontSize: 11,
  }).toBuffer()
  return {
    bytes: dateEntries(bytes, document.generated_at),
    content_type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    file_extension: 'xlsx',
    page_count: null,
  }
}

type AnySheet = Sheet<Buffer>

const text = (value: string, style: object = {}): CellObject => ({
  value: cut(value.toWellFormed()),
  type: String,
  format: '@',
  ...style,
})

const cut = (value: string): string =>
  value.length > characters_max
    ? `${value.slice(0, characters_max - 1).toWellFormed()}\u2026`
    : value

const numberFormat = (digits: number): string =>
  digits === 0 ? '#,##0' : `#,##0.${'0'.repeat(digits)}`

interface Format {
  kind?: Column['kind']
  digits: number
  timezone: string
}

function cellOf(value: Cell, { kind, digits, timezone }: Format, style: object = {}): CellObject {
  if (value === null) return { ...style }
  if (typeof value === 'number')
    return { value, type: Number, format: numberFormat(digits), ...style }
  if (typeof value === 'boolean') return { value, type: Boolean, ...style }
  const day = kind === 'date' ? dayOf(value, timezone) : null
  if (day) return { value: day, type: Date, format: 'd mmm yyyy', ...style }
  if (typeof value === 'string') return text(value, style)
  const clock = new Date(shownAt(value.getTime(), timezone))
  return { value: clock, type: Date, format: 'd mmm yyyy, hh:mm', ...style }
}

/** The day as midnight UTC, as the library expects; null for another text. */
function dayOf(value: string | Date, timezone: string): Date | null {
  const day = typeof value === 'string' ? value : localDate(value.getTime(), timezone)
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  // Workbooks count a 29 February 1900, so earlier dates are avoided.
  return ms >= Date.UTC(1901, 0, 1) ? new Date(ms) : null
}

function sheetOf(section: DataSection, sheet: string, timezone: string): AnySheet {
  const table = section.kind === 'table' ? section : tableOfChart(section.title, section.chart)
  const { columns, rows, totals } = table
  if (rows.length >= rows_max) {
    throw new Error(`${section.title}: a sheet cannot hold ${rows.length} rows`)
  }
  const formats = columns.map(({ key, kind, digits }): Format => {
    const values = [...rows, totals ?? {}].map((row) => known(row[key]))
    return { kind, digits: digitsOf(values, digits), timezone }
  })
  const names = columns.map((column) => {
    const name = headingOf(column)
    return column.kind === 'instant' ? `${name} (${timezone})` : name
  })
  const rowOf = (row: Record<string, Cell>, style: object = {}): Row =>
    columns.map(({ key }, index) => cellOf(known(row[key]), formats[index]!, style))
  const data: Row[] = [
    columns.map(({ kind }, index) => {
      return text(names[index]!, { ...header, align: kind === 'number' ? 'right' : 'left' })
    }),
    ...rows.map((row) => rowOf(row)),
    ...(totals ? [rowOf(totals, total)] : []),
  ]
  return {
    sheet,
    data,
    stickyRowsCount: 1,
    stickyColumnsCount: 1,
    columns: columns.map((column, index) => ({
      width: widthOf(column, names[index]!, data, index),
    })),
  }
}

/** Characters: the longest value, or a heading on at most three lines. */
function widthOf(column: Column, name: string, data: readonly Row[], index: number): number {
  const fixed = { date: 13, instant: 20 } as Record<string, number>
  const lengths = data.slice(1).map((row) => {
    const { value } = row[index] as CellObject
    if (typeof value === 'string') return value.length
    return typeof value === 'number' ? Math.round(Math.abs(value)).toString().length * 1.35 + 4 : 0
  })
  const longest = lengths.reduce((most, one) => Math.max(most, one), name.length / 3 + 3)
  const words = name.split(/\s+/).reduce((most, word) => Math.max(most, word.length), 0)
  const wanted = Math.max(longest, words + 1, fixed[column.kind] ?? 0)
  return Math.ceil(Math.min(Math.max(wanted + 1, widths.least), widths.most))
}

/** The values of a chart, with a row per entry of `x`; per entry of `y` for a heat map. */
function tableOfChart(title: string, chart: Chart): SectionOf<'table'> {
  const keyed = (first: string, values: readonly (number | null | undefined)[]) => ({
    name: first,
    ...Object.fromEntries(values.map((value, index) => [String(index), value ?? null])),
  })
  const column = (label: string, unit: string, index: number): Column => {
    return { key: String(index), label, unit, kind: 'number' }
  }
  const is_by_day = chart.kind !== 'heat' && areDays(chart.x)
  const name: Column = { key: 'name', label: title, kind: is_by_day ? 'date' : 'text' }
  if (chart.kind === 'heat') {
    const columns = [name, ...chart.x.map((label, index) => column(label, chart.unit, index))]
    const rows = chart.y.map((label, y) => keyed(label, chart.values[y] ?? []))
    return { kind: 'table', title, columns, rows }
  }
  const { x, series, left_unit, right_unit } = chart
  const columns = series.map(({ label, axis }, index) => {
    return column(label, (axis === 'right' ? right_unit : left_unit) ?? '', index)
  })
  const rows = x.map((place, at) =>
    keyed(
      place,
      series.map(({ values }) => values[at]),
    ),
  )
  return { kind: 'table', title, columns: [name, ...columns], rows }
}

function summaryOf(
  document: ReportDocument,
  data: readonly DataSection[],
  names: readonly string[],
): AnySheet {
  const { timezone } = document
  const format: Format = { digits: 1, timezone }
  const fact = (label: string, value: Cell): Row => [
    text(label, { textColor: '#66727F' }),
    cellOf(known(value), format, { align: 'left' }),
  ]
  const rows: Row[] = [
    [text(document.title, { ...strong, fontSize: 16 })],
    fact('Site', document.site_name),
    fact('Period', periodText(document)),
    fact('From', document.period_start_at),
    fact('Until, not included', document.period_end_at),
    fact('Time zone', zoneText(document)),
    fact('Generated', document.generated_at),
    fact('Data completeness (%)', document.data_completeness_pct),
    fact('Currency', document.currency),
    ...document.notes.map((note): Row => [text('Note', strong), text(note, strong)]),
    ...document.sections.flatMap((section) => summaryRows(section, timezone)),
    [],
    [text('Sheet', header), text('Contents', header)],
    ...data.map(({ title, note }, index): Row => {
      return [text(names[index]!), text(title), null, text(note ?? '')]
    }),
  ]
  const columns = [{ width: 34 }, { width: 34 }, { width: 12 }, { width: 60 }]
  return { sheet: summary_name, data: rows, columns, showGridLines: false }
}

function summaryRows(section: Section, timezone: string): Row[] {
  if (section.kind === 'text') return [[], [text(section.title, strong)], [text(section.text)]]
  if (section.kind !== 'metrics') return []
  const head = [section.title, 'Value', 'Unit', 'Note'].map((name, index) => {
    return text(name, { ...header, align: index === 1 ? 'right' : 'left' })
  })
  const rows = section.metrics.map(({ label, value, unit, digits, note }): Row => {
    const format = { digits: digitsOf([known(value)], digits), timezone }
    const shown = cellOf(known(value), format, { align: 'right' })
    return [text(label), shown, text(unit ?? ''), text(note ?? '')]
  })
  return [[], head, ...rows]
}
