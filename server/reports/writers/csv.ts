/**
 * A report as CSV (RFC 4180): a block per section, separated by empty lines, with a title, column
 * names and rows. No text is a formula. UTF-8 with a byte order mark, which Excel needs. Instants
 * are RFC 3339 with the offset of the time zone.
 */
import { localDate } from '@heliograph/domain/local-day'
import { rounded } from '@heliograph/domain/significant'
import { csvField } from '../../http/export-items.ts'
import type {
  Cell,
  Chart,
  Column,
  ReportDocument,
  Section,
  SectionOf,
  WrittenReport,
} from '../document.ts'
import { digits_max, headingOf, instantText, known, offsetMinutes, offsetText } from './cells.ts'

type Line = readonly Cell[]

const byte_order_mark = '\ufeff'
/** Hides the noise of binary fractions, such as 0.30000000000000004. */
const significant_digits = 12
/** Decimals beyond `digits`, for further calculations. */
const spare_digits = 2

export function writeCsv(document: ReportDocument): WrittenReport {
  const { timezone } = document
  const blocks = [headOf(document), ...document.sections.flatMap((one) => blocksOf(one, timezone))]
  const text = blocks.map((lines) => lines.map((line) => textOf(line, timezone)).join(''))
  return {
    bytes: new TextEncoder().encode(byte_order_mark + text.join('\r\n')),
    content_type: 'text/csv; charset=utf-8',
    file_extension: 'csv',
    page_count: null,
  }
}

const textOf = (line: Line, timezone: string): string =>
  `${line.map((value) => csvField(written(known(value), timezone))).join(',')}\r\n`

function written(value: Cell, timezone: string): string | number | boolean | null {
  if (value instanceof Date) return rfc3339(value, timezone)
  if (typeof value === 'string') return plain(value)
  return typeof value === 'number' ? Number(value.toPrecision(significant_digits)) : value
}

/** Without lone surrogates and control characters, except tabs and line ends. */
const plain = (text: string): string =>
  text.toWellFormed().replace(/\p{Cc}/gu, (one) => ('\t\r\n'.includes(one) ? one : ''))

function rfc3339(instant: Date, timezone: string): string {
  const seconds = instant.toISOString().slice(16, 19)
  const offset = offsetText(offsetMinutes(instant, timezone))
  return `${instantText(instant, timezone).replace(' ', 'T')}${seconds}${offset}`
}

const headOf = (document: ReportDocument): Line[] => [
  [document.title],
  ['Site', document.site_name],
  ['From', document.period_start_at],
  ['Until, not included', document.period_end_at],
  ['Time zone', document.timezone],
  ['Generated', document.generated_at],
  ['Data completeness (%)', document.data_completeness_pct],
  ['Currency', document.currency],
  ...document.notes.map((note) => ['Note', note]),
]

function blocksOf(section: Section, timezone: string): Line[][] {
  const { title } = section
  if (section.kind === 'text') return [[[title], [section.text]]]
  if (section.kind === 'metrics') {
    const lines = section.metrics.map(({ label, value, digits, unit, note }) => {
      return [label, roundedTo(known(value), digits), unit ?? null, note ?? null]
    })
    return [[[title], ['Metric', 'Value', 'Unit', 'Note'], ...lines]]
  }
  const note = section.note === undefined ? [] : [[section.note]]
  if (section.kind === 'chart') return [[[title], ...chartLines(section.chart), ...note]]
  return [[[title], ...tableLines(section, timezone), ...note]]
}

function tableLines({ columns, rows, totals }: SectionOf<'table'>, timezone: string): Line[] {
  const lines = totals === undefined ? rows : [...rows, totals]
  return [
    columns.map(headingOf),
    ...lines.map((row) => columns.map((column) => cellOf(column, row, timezone))),
  ]
}

const roundedTo = (value: Cell, digits: number | undefined): Cell =>
  typeof value === 'number' && digits !== undefined
    ? (rounded(value, digits + spare_digits) ?? null)
    : value

function cellOf({ key, kind, digits }: Column, row: Record<string, Cell>, timezone: string): Cell {
  const value = roundedTo(known(row[key]), digits)
  return kind === 'date' && value instanceof Date ? localDate(value.getTime(), timezone) : value
}

/** Charts have no `digits`. */
const chartCell = (value: number | null | undefined): Cell =>
  roundedTo(known(value ?? null), digits_max)

function chartLines(chart: Chart): Line[] {
  if (chart.kind === 'heat') {
    return [
      [chart.unit, ...chart.x],
      ...chart.y.map((name, y) => [name, ...(chart.values[y] ?? []).map(chartCell)]),
    ]
  }
  const { x, series, left_unit, right_unit } = chart
  const names = series.map(({ label, axis }) => {
    return headingOf({ label, unit: (axis === 'right' ? right_unit : left_unit) ?? '' })
  })
  return [
    [null, ...names],
    ...x.map((name, index) => [name, ...series.map(({ values }) => chartCell(values[index]))]),
  ]
}
