/** The sections of a report on paper: what pdfmake is told for each kind. */
import type { Content } from 'pdfmake/interfaces.js'
import type { Section } from '../document.ts'
import { cellText, digitsOf, known } from './cells.ts'
import { drawChart, type HeatChart, hasValues } from './charts.ts'
import { accent, muted, tint } from './palette.ts'
import {
  free_pt,
  type Orientation,
  type TableSection,
  tableNotes,
  tablePages,
} from './pdf-tables.ts'
import { breakable, oneLine, settable } from './typeface.ts'

/** Between sections. */
const gap_pt = 18
/** Rows of a heat map on one page. */
const heat_rows_max = 45
/** What stands together is to fit on a page whatever it says; other formats have all of it. */
const characters_max = { heading: 200, tile: 120, unit: 40, together: 1500 }

export interface LaidOut {
  orientation: Orientation
  content: Content[]
}

export function laidOut(section: Section, timezone: string): LaidOut {
  if (section.kind === 'table') return tableContent(section, timezone)
  if (section.kind === 'chart') return { orientation: 'portrait', content: chartContent(section) }
  if (section.kind === 'text') return { orientation: 'portrait', content: textContent(section) }
  return { orientation: 'portrait', content: figureContent(section, timezone) }
}

function tableContent(section: TableSection, timezone: string): LaidOut {
  const said = tableNotes(section)
  const below_pt = said.length > 0 ? 4 : gap_pt
  const title = oneLine(section.title, characters_max.heading)
  const { orientation, tables } = tablePages({ ...section, title }, { timezone, below_pt })
  const notes = said.map((note, index) =>
    remark(note, {
      width_pt: free_pt[orientation],
      below_pt: index < said.length - 1 ? 2 : gap_pt,
    }),
  )
  return { orientation, content: [...tables, ...notes] }
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

/** The space below the last: where that ends a page, the next begins at its top. */
const spaced = (content: Content[]): Content[] =>
  content.map((one, index) =>
    index === content.length - 1 ? { stack: [one], margin: [0, 0, 0, gap_pt] } : one,
  )

function heading(title: string): Content {
  const shown = oneLine(title, characters_max.heading)
  return {
    text: breakable(shown, free_pt.portrait, { size_pt: 11.5, bold: true }),
    style: 'heading',
    margin: [0, 0, 0, 6],
  }
}

function textContent({ title, text }: Extract<Section, { kind: 'text' }>): Content[] {
  const shown = breakable(settable(text), free_pt.portrait, { size_pt: 9 })
  const [first = '', ...others] = shown.split('\n')
  // The heading stays with what it is of, but for a paragraph that may need more than a page.
  const unbreakable = first.length <= characters_max.together
  const opening: Content = { stack: [heading(title), { text: first }], unbreakable }
  return spaced([opening, ...others.map((paragraph): Content => ({ text: paragraph || ' ' }))])
}

function chartContent({ title, chart, note }: Extract<Section, { kind: 'chart' }>): Content[] {
  const parts = chart.kind === 'heat' ? heatParts(chart) : [chart]
  return parts.map((part, index) => {
    const name = parts.length === 1 ? title : `${title} (part ${index + 1} of ${parts.length})`
    const is_drawn = hasValues(part)
    const picture: Content = is_drawn
      ? { svg: drawChart(part, free_pt.portrait, chart).svg }
      : { text: 'No data in this period.', italics: true, color: muted }
    const has_gaps = is_drawn && part.kind === 'heat' && !part.values.flat().every(Number.isFinite)
    const said = [note, has_gaps ? 'White: no data.' : undefined].filter((one) => one !== undefined)
    const below = said.length === 0 ? [] : [remark(said.join(' '), below_chart)]
    return {
      stack: [heading(name), picture, ...below],
      unbreakable: (note?.length ?? 0) <= characters_max.together,
      margin: [0, 0, 0, gap_pt],
    }
  })
}

/** Off the names along the axis, which are of the same size and colour. */
const below_chart = { width_pt: free_pt.portrait, above_pt: 6 }

/** As many rows of a heat map as a page holds. */
function heatParts(chart: HeatChart): HeatChart[] {
  const parts = Math.max(Math.ceil(chart.y.length / heat_rows_max), 1)
  const each = Math.ceil(chart.y.length / parts)
  return Array.from({ length: parts }, (_, index) => ({
    ...chart,
    y: chart.y.slice(index * each, (index + 1) * each),
    values: chart.values.slice(index * each, (index + 1) * each),
  }))
}

type Figures = Extract<Section, { kind: 'figures' }>

interface TileSize {
  per_row: number
  tile_pt: number
}

const tile_padding_pt = 10
const between_tiles_pt = 8

function figureContent({ title, figures }: Figures, timezone: string): Content[] {
  const per_row = figures.length % 4 === 0 || figures.length > 6 ? 4 : 3
  const tile_pt = (free_pt.portrait - (per_row - 1) * between_tiles_pt) / per_row
  const tiles = figures.map((figure) => tile(figure, { timezone, tile_pt }))
  const rows = Array.from({ length: Math.ceil(tiles.length / per_row) }, (_, row) =>
    tileRow(tiles.slice(row * per_row, (row + 1) * per_row), { tile_pt, per_row }),
  )
  const [first, ...others] = rows
  const opening: Content = { stack: [heading(title), first ?? []], unbreakable: true }
  return spaced([opening, ...others])
}

function tile(
  { label, value: given, unit, digits, note }: Figures['figures'][number],
  { timezone, tile_pt }: { timezone: string; tile_pt: number },
): Content {
  const width_pt = tile_pt - 2 * tile_padding_pt
  const value = known(given)
  const shown = cellText(value, { digits: digitsOf([value], digits), timezone })
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
  // Every second place is the space between two tiles.
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
