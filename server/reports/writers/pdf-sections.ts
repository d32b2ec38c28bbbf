/** Content for pdfmake of each kind of section. */
import type { Content } from 'pdfmake/interfaces.js'
import type { Metric, Section, SectionOf } from '../document.ts'
import { cellText, dayName, digitsOf, known } from './cells.ts'
import { drawChart, type HeatChart, hasValues } from './charts.ts'
import { accent, muted, tint } from './palette.ts'
import { content_width_pt, type Orientation, tableNotes, tablePages } from './pdf-tables.ts'
import { breakable, oneLine, settable } from './typeface.ts'

export interface Layout {
  timezone: string
  orientation: Orientation
  /** Between sections. */
  gap_pt: number
  /** Of charts with axes. */
  plot_height_pt: number
}

/** Rows of a heat map per page. */
const heat_rows_max: Record<Orientation, number> = { portrait: 45, landscape: 34 }
/** Cuts texts so that unbreakable blocks fit on a page; other formats have the whole texts. */
const characters_max = { heading: 200, tile: 120, unit: 40, together: 1500 }

export function contentOf(section: Section, layout: Layout): Content[] {
  switch (section.kind) {
    case 'table':
      return tableContent(section, layout)
    case 'chart':
      return chartContent(section, layout)
    case 'text':
      return textContent(section, layout)
    case 'metrics':
      return metricsContent(section, layout)
  }
}

function tableContent(
  section: SectionOf<'table'>,
  { timezone, orientation, gap_pt }: Layout,
): Content[] {
  const width_pt = content_width_pt[orientation]
  const notes = tableNotes(section)
  const below_pt = notes.length > 0 ? 4 : gap_pt
  const title = oneLine(section.title, characters_max.heading)
  const tables = tablePages({ ...section, title }, { timezone, width_pt, below_pt })
  const remarks = notes.map((note, index) =>
    remark(note, { width_pt, below_pt: index < notes.length - 1 ? 2 : gap_pt }),
  )
  return [...tables, ...remarks]
}

const remark = (
  text: string,
  {
    width_pt,
    size_pt = 8,
    above_pt = 0,
    below_pt = 0,
  }: { width_pt: number; size_pt?: number; above_pt?: number; below_pt?: number },
): Content => ({
  text: breakable(oneLine(text), width_pt, { size_pt }),
  fontSize: size_pt,
  color: muted,
  margin: [0, above_pt, 0, below_pt],
})

/** Adds space below the last content; it is dropped at the end of a page. */
const spaced = (content: Content[], gap_pt: number): Content[] =>
  content.map((one, index) =>
    index === content.length - 1 ? { stack: [one], margin: [0, 0, 0, gap_pt] } : one,
  )

function heading(title: string, { orientation }: Layout): Content {
  const shown = oneLine(title, characters_max.heading)
  return {
    text: breakable(shown, content_width_pt[orientation], { size_pt: 11.5, bold: true }),
    style: 'heading',
    margin: [0, 0, 0, 6],
  }
}

function textContent({ title, text }: SectionOf<'text'>, layout: Layout): Content[] {
  const shown = breakable(settable(text), content_width_pt[layout.orientation], { size_pt: 9 })
  const [first = '', ...others] = shown.split('\n')
  // The heading stays with its paragraph, unless that may need more than a page.
  const unbreakable = first.length <= characters_max.together
  const opening: Content = { stack: [heading(title, layout), { text: first }], unbreakable }
  const paragraphs = others.map((paragraph): Content => ({ text: paragraph || ' ' }))
  return spaced([opening, ...paragraphs], layout.gap_pt)
}

function chartContent({ title, chart, note }: SectionOf<'chart'>, layout: Layout): Content[] {
  const { orientation, gap_pt, plot_height_pt } = layout
  const width_pt = content_width_pt[orientation]
  const parts = chart.kind === 'heat' ? heatParts(chart, heat_rows_max[orientation]) : [chart]
  return parts.map((part, index) => {
    const name = parts.length === 1 ? title : `${title} (part ${index + 1} of ${parts.length})`
    const is_drawn = hasValues(part)
    const picture: Content = is_drawn
      ? { svg: drawChart(part, { width_pt, plot_height_pt, scaled: chart }) }
      : { text: 'No data in this period.', italics: true, color: muted }
    const has_gaps = is_drawn && part.kind === 'heat' && !part.values.flat().every(Number.isFinite)
    const notes = [note, has_gaps ? 'White: no data.' : undefined].filter(
      (one) => one !== undefined,
    )
    // The space separates the notes from the labels of the axis, which look alike.
    const below = notes.length === 0 ? [] : [remark(notes.join(' '), { width_pt, above_pt: 6 })]
    return {
      stack: [heading(name, layout), picture, ...below],
      unbreakable: (note?.length ?? 0) <= characters_max.together,
      margin: [0, 0, 0, gap_pt],
    }
  })
}

/** Parts of a heat map that each fit on a page. */
function heatParts(chart: HeatChart, rows_max: number): HeatChart[] {
  const parts = Math.max(Math.ceil(chart.y.length / rows_max), 1)
  const each = Math.ceil(chart.y.length / parts)
  return Array.from({ length: parts }, (_, index) => {
    const own = <Row>(rows: readonly Row[]) => rows.slice(index * each, (index + 1) * each)
    const { y, values, grades } = chart
    return {
      ...chart,
      y: own(y),
      values: own(values),
      ...(grades && { grades: { ...grades, of: own(grades.of) } }),
    }
  })
}

interface TileSize {
  per_row: number
  tile_pt: number
}

const tile_padding_pt = 10
const between_tiles_pt = 8

const tiles_per_row = { portrait: 4, landscape: 6 } as const

/** The fewest rows, evenly filled. */
function perRow(count: number, orientation: Orientation): number {
  const most = tiles_per_row[orientation]
  const rows = Math.max(1, Math.ceil(count / most))
  return Math.max(3, Math.ceil(count / rows))
}

function metricsContent({ title, metrics }: SectionOf<'metrics'>, layout: Layout): Content[] {
  const { orientation, timezone, gap_pt } = layout
  const per_row = perRow(metrics.length, orientation)
  const tile_pt = (content_width_pt[orientation] - (per_row - 1) * between_tiles_pt) / per_row
  const tiles = metrics.map((metric) => tile(metric, { timezone, tile_pt }))
  const rows = Array.from({ length: Math.ceil(tiles.length / per_row) }, (_, row) =>
    tileRow(tiles.slice(row * per_row, (row + 1) * per_row), { tile_pt, per_row }),
  )
  const [first, ...others] = rows
  const opening: Content = { stack: [heading(title, layout), first ?? []], unbreakable: true }
  return spaced([opening, ...others], gap_pt)
}

function tile(
  { label, value: given, unit, digits, note }: Metric,
  { timezone, tile_pt }: { timezone: string; tile_pt: number },
): Content {
  const width_pt = tile_pt - 2 * tile_padding_pt
  const value = known(given)
  const shown =
    typeof value === 'string'
      ? dayName(value)
      : cellText(value, { digits: digitsOf([value], digits), timezone })
  const text = oneLine(shown, characters_max.tile)
  const unit_text = value !== null && unit ? oneLine(unit, characters_max.unit) : ''
  const size_pt = text.length + unit_text.length > 13 ? 11 : 16
  const value_type = { size_pt, bold: true }
  const small = (words: string) => oneLine(words, characters_max.tile)
  return {
    stack: [
      remark(small(label), { width_pt, below_pt: 2 }),
      {
        text: [
          { text: breakable(text, width_pt, value_type), fontSize: size_pt, bold: true },
          { text: unit_text && `\u00a0${unit_text}`, fontSize: 9, color: muted },
        ],
      },
      ...(note ? [remark(small(note), { width_pt, size_pt: 7 })] : []),
    ],
  }
}

function tileRow(tiles: readonly Content[], { per_row, tile_pt }: TileSize): Content {
  const places = Array.from({ length: 2 * per_row - 1 }, (_, place) => place)
  // Odd places are the spaces between tiles.
  const isTile = (place: number) => place % 2 === 0 && place / 2 < tiles.length
  const padding = (place: number) => (place % 2 === 0 ? tile_padding_pt : 0)
  const inner_pt = tile_pt - 2 * tile_padding_pt
  return {
    table: {
      widths: places.map((place) => (place % 2 === 0 ? inner_pt : between_tiles_pt)),
      dontBreakRows: true,
      body: [places.map((place) => (isTile(place) ? tiles[place / 2]! : ''))],
    },
    layout: {
      vLineWidth: () => 0,
      hLineWidth: (edge) => (edge === 0 ? 1.2 : 0),
      hLineColor: (_edge, _node, place) => (isTile(Number(place)) ? accent : '#ffffff'),
      fillColor: (_row, _node, place) => (isTile(place) ? tint : null),
      paddingLeft: padding,
      paddingRight: padding,
      paddingTop: () => 7,
      paddingBottom: () => 7,
    },
    margin: [0, 0, 0, between_tiles_pt],
  }
}
