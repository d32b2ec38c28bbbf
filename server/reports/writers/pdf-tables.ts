/** Tables for pdfmake: column widths, orientation, and parts of wide tables. */
import type { Content, CustomTableLayout, TableCell } from 'pdfmake/interfaces.js'
import type { Cell, Column, SectionOf } from '../document.ts'
import { cellText, digitsOf, known, numberText, offsetMinutes, stampText } from './cells.ts'
import { hairline, ink, muted, rule } from './palette.ts'
import { breakable, oneLine, widthOf } from './typeface.ts'

type TableSection = SectionOf<'table'>

export type Orientation = 'portrait' | 'landscape'

/** Page widths without margins. */
export const content_width_pt: Record<Orientation, number> = { portrait: 515, landscape: 762 }
/** XLSX and CSV have all rows. */
const rows_max = 1000

/** Cuts texts so that a row fits on a page; other formats have the whole texts. */
const characters_max = { cell: 300, heading: 100, unit: 40 }
const padding_pt = 5
/** Prevents a line break by rounding when text is exactly as wide as its column. */
const slack_pt = 1.5
const text_width_pt = { least: 60, most: 230 }
/** Largest width of a column relative to its need. */
const spread_max = 1.7

interface PaperColumn {
  is_number: boolean
  heading: string
  unit: string
  cells: string[]
  total: string | null
  /** Minimum and preferred width. */
  least_pt: number
  wanted_pt: number
}

const text_sizes_pt = [8, 7] as const
const part_size_pt = 7.5

const leastWidth = (columns: readonly PaperColumn[]): number =>
  sum(columns.map(({ least_pt }) => least_pt))

const shownRows = ({ rows }: TableSection) => rows.slice(0, rows_max)

/** Whether a table fits on a portrait page in a readable size. */
export function fitsPortrait(section: TableSection, timezone: string): boolean {
  const size_pt = Math.min(...text_sizes_pt)
  const columns = paperColumns(section, shownRows(section), { timezone, size_pt })
  return leastWidth(columns) <= content_width_pt.portrait
}

/** A table in one piece if it fits, else in parts. */
export function tablePages(
  section: TableSection,
  { timezone, width_pt, below_pt }: { timezone: string; width_pt: number; below_pt: number },
): Content[] {
  const rows = shownRows(section)
  for (const size_pt of text_sizes_pt) {
    const columns = paperColumns(section, rows, { timezone, size_pt })
    if (leastWidth(columns) > width_pt) continue
    return [tableOf(section.title, columns, { width_pt, size_pt, below_pt })]
  }
  const size_pt = part_size_pt
  const parts = inParts(paperColumns(section, rows, { timezone, size_pt }), width_pt)
  return parts.map((part, index) =>
    tableOf(`${section.title} (part ${index + 1} of ${parts.length})`, part, {
      width_pt,
      size_pt,
      below_pt: index < parts.length - 1 ? 16 : below_pt,
    }),
  )
}

/** The note of the table, and a note on rows that are not shown. */
export function tableNotes({ note, rows }: TableSection): string[] {
  const left_out =
    rows.length > rows_max
      ? `The first ${numberText(rows_max, 0)} of ${numberText(rows.length, 0)} rows are shown. ` +
        'The XLSX and the CSV of this report have them all.'
      : undefined
  return [left_out, note].filter((one) => one !== undefined)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

function paperColumns(
  { columns, totals }: TableSection,
  rows: readonly Record<string, Cell>[],
  { timezone, size_pt }: { timezone: string; size_pt: number },
): PaperColumn[] {
  return columns.map((column) => {
    const values = rows.map((row) => known(row[column.key]))
    const total = known(totals?.[column.key])
    const digits = digitsOf([...values, total], column.digits)
    const is_stamped = column.kind === 'instant' && changesOffset(values, timezone)
    const shown = (value: Cell) =>
      oneLine(
        is_stamped && value instanceof Date
          ? stampText(value, timezone)
          : cellText(value, { kind: column.kind, digits, timezone }),
        characters_max.cell,
      )
    const cells = values.map(shown)
    // A column without a total is empty in the last row, not a dash.
    const total_text = totals === undefined ? null : column.key in totals ? shown(total) : ''
    return sized(column, { cells, total: total_text, size_pt })
  })
}

/** Whether the UTC offset changes, so that a local time may be ambiguous. */
function changesOffset(values: readonly Cell[], timezone: string): boolean {
  const instants = values.filter((value) => value instanceof Date)
  return new Set(instants.map((instant) => offsetMinutes(instant, timezone))).size > 1
}

function sized(
  column: Column,
  { cells, total, size_pt }: { cells: string[]; total: string | null; size_pt: number },
): PaperColumn {
  const is_number = column.kind === 'number'
  const heading = oneLine(column.label, characters_max.heading)
  const unit = column.unit ? oneLine(column.unit, characters_max.unit) : ''
  const type = { size_pt, bold: true }
  const words = [...heading.split(/\s+/), unit].map((word) => widthOf(word, type))
  const heading_pt = Math.min(Math.max(...words), text_width_pt.most)
  const widths = cells.map((text) => widthOf(text, { size_pt }))
  const cell_pt = Math.max(heading_pt, widthOf(total ?? '', type), largest(widths))
  const heading_line_pt = Math.min(widthOf(heading, type), text_width_pt.most)
  const wanted = Math.max(heading_line_pt, Math.min(cell_pt, text_width_pt.most))
  // Only texts are broken into lines.
  const unbroken_pt = column.kind === 'text' ? text_width_pt.least : text_width_pt.most
  const least = Math.max(heading_pt, Math.min(cell_pt, unbroken_pt))
  const around_pt = 2 * padding_pt + slack_pt
  const widths_pt = { least_pt: least + around_pt, wanted_pt: wanted + around_pt }
  return { is_number, heading, unit, cells, total, ...widths_pt }
}

const largest = (numbers: readonly number[]): number =>
  numbers.reduce((most, one) => Math.max(most, one), 0)

/** Every part starts with the first column, which names the row. */
function inParts(columns: readonly PaperColumn[], width_pt: number): PaperColumn[][] {
  const [first, ...others] = columns
  if (!first) return []
  const parts: PaperColumn[][] = []
  const for_others_pt = width_pt - first.least_pt
  const count = Math.ceil(sum(others.map(({ least_pt }) => least_pt)) / for_others_pt)
  const each = Math.ceil(others.length / count)
  let part: PaperColumn[] = []
  let used_pt = 0
  for (const column of others) {
    if (part.length > 0 && (part.length >= each || used_pt + column.least_pt > for_others_pt)) {
      parts.push([first, ...part])
      part = []
      used_pt = 0
    }
    part.push(column)
    used_pt += column.least_pt
  }
  return [...parts, [first, ...part]]
}

/** Widths: first up to the preferred ones, then all columns grow in proportion up to a limit. */
function shares(columns: readonly PaperColumn[], width_pt: number): number[] {
  const least_pt = sum(columns.map((column) => column.least_pt))
  const wanting_pt = sum(columns.map((column) => column.wanted_pt - column.least_pt))
  const granted = wanting_pt > 0 ? Math.min(1, (width_pt - least_pt) / wanting_pt) : 0
  const widths = columns.map((column) => {
    return column.least_pt + granted * (column.wanted_pt - column.least_pt)
  })
  const growth = Math.min(spread_max, width_pt / sum(widths))
  return widths.map((width) => width * Math.max(growth, 1))
}

function tableOf(
  title: string,
  columns: readonly PaperColumn[],
  { width_pt, size_pt, below_pt }: { width_pt: number; size_pt: number; below_pt: number },
): Content {
  const rooms = shares(columns, width_pt).map((width, index) => {
    return width - paddingLeft(index) - paddingRight(index, columns.length)
  })
  const type = { size_pt }
  const cell = (text: string, index: number, more: object = {}): TableCell => {
    const { is_number } = columns[index]!
    const room_pt = rooms[index]!
    return {
      text: breakable(text, room_pt, 'bold' in more ? { ...type, bold: true } : type),
      alignment: is_number ? 'right' : 'left',
      ...more,
    }
  }
  const count = columns.length
  const title_row: TableCell[] = [
    { text: title, style: 'heading', colSpan: count, margin: [0, 0, 0, 3] },
    ...Array.from({ length: count - 1 }, () => ({})),
  ]
  const heading_row = columns.map(({ heading, unit }, index) => ({
    ...(cell(heading, index, { bold: true }) as object),
    ...(unit
      ? {
          text: [
            { text: breakable(heading, rooms[index]!, { size_pt, bold: true }) },
            { text: `\n${unit}`, bold: false, color: muted },
          ],
        }
      : {}),
  }))
  const rows = (columns[0]?.cells ?? []).map((_, at) =>
    columns.map(({ cells }, index) => cell(cells[at] ?? '', index)),
  )
  const none: TableCell[] = [
    { text: 'No rows in this period.', italics: true, color: muted, colSpan: count },
    ...Array.from({ length: count - 1 }, () => ({})),
  ]
  const totals =
    columns[0]?.total == null
      ? []
      : [columns.map(({ total }, index) => cell(total ?? '', index, { bold: true }))]
  const body = [title_row, heading_row, ...(rows.length > 0 ? rows : [none]), ...totals]
  return {
    table: {
      headerRows: 2,
      keepWithHeaderRows: 1,
      dontBreakRows: true,
      widths: rooms,
      body: body as TableCell[][],
    },
    layout: layoutOf(body.length, count, totals.length > 0),
    fontSize: size_pt,
    margin: [0, 0, 0, below_pt],
  }
}

/** The first and last columns are flush with headings and rules. */
const paddingLeft = (index: number): number => (index === 0 ? 0 : padding_pt)
const paddingRight = (index: number, count: number): number =>
  index === count - 1 ? 0 : padding_pt

function layoutOf(row_count: number, count: number, has_totals: boolean): CustomTableLayout {
  const isStrong = (line: number) => line === 2 || (has_totals && line === row_count - 1)
  return {
    hLineWidth: (line) => (line < 2 ? 0 : isStrong(line) ? 0.8 : 0.4),
    hLineColor: (line) => (isStrong(line) ? ink : line === row_count ? rule : hairline),
    vLineWidth: () => 0,
    paddingLeft,
    paddingRight: (index) => paddingRight(index, count),
    paddingTop: () => 2,
    paddingBottom: () => 2,
  }
}
