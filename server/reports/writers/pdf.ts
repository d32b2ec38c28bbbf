/** A report as PDF on A4: a title block, notes, metrics as tiles, tables and charts. */
import pdfmake from 'pdfmake'
import type { Content, TDocumentDefinitions } from 'pdfmake/interfaces.js'
import type { ReportDocument, Section, WrittenReport } from '../document.ts'
import { known, numberText, periodText, stampText, zoneText } from './cells.ts'
import { accent, caution, ink, muted, rule } from './palette.ts'
import { contentOf, type Layout } from './pdf-sections.ts'
import { content_width_pt, fitsPortrait, type Orientation } from './pdf-tables.ts'
import { breakable, fitted, oneLine, settable, typeface } from './typeface.ts'

const margin_pt = 40
const title_characters_max = 200
const unsettable_note =
  'Characters missing in the typeface are shown as \ufffd. Other formats of this report have them.'

pdfmake.setFonts({ Roboto: typeface })
// pdfmake may read the typeface only, and nothing from the network.
pdfmake.setLocalAccessPolicy((path) => Object.values(typeface).includes(path))
pdfmake.setUrlAccessPolicy(() => false)

const roomy = { gap_pt: 18, plot_height_pt: 165 } as const
const close = { gap_pt: 10, plot_height_pt: 120 } as const
/** Longer reports are printed once, because printing takes long. */
const pages_tried_max = 12

/** The same document gives the same bytes. */
export async function writePdf(document: ReportDocument): Promise<WrittenReport> {
  const printed = await print(document, roomy)
  const closing = document.sections.at(-1)
  const { page_count } = printed
  if (closing?.kind !== 'text' || page_count === 1 || page_count > pages_tried_max) return printed
  // Avoids a last page with nothing but the closing text: by less spacing, else by moving the text.
  const before = document.sections.slice(0, -1)
  const without = await print({ ...document, sections: before }, roomy)
  if (page_count <= without.page_count) return printed
  const closer = await print(document, close)
  if (closer.page_count <= without.page_count) return closer
  const last = before.pop()
  if (last === undefined) return printed
  return print({ ...document, sections: [...before, closing, last] }, roomy)
}

async function print(document: ReportDocument, spacing: Pick<Layout, 'gap_pt' | 'plot_height_pt'>) {
  let page_count = 1
  const layout = { ...spacing, timezone: document.timezone, orientation: orientationOf(document) }
  const definition = definitionOf(document, layout, (count) => {
    page_count = count
  })
  const bytes = await pdfmake.createPdf(definition).getBuffer()
  return {
    bytes,
    content_type: 'application/pdf',
    file_extension: 'pdf',
    page_count,
  } satisfies WrittenReport
}

/** Portrait, unless a table is too wide. */
function orientationOf({ sections, timezone }: ReportDocument): Orientation {
  const isWide = (section: Section) => section.kind === 'table' && !fitsPortrait(section, timezone)
  return sections.some(isWide) ? 'landscape' : 'portrait'
}

function definitionOf(
  document: ReportDocument,
  layout: Layout,
  onPageCount: (count: number) => void,
): TDocumentDefinitions {
  const { timezone, generated_at } = document
  const title = oneLine(document.title, title_characters_max)
  const site = oneLine(document.site_name, title_characters_max)
  const period = periodText(document)
  const generated = `Generated ${stampText(generated_at, timezone)} by Heliograph`
  return {
    pageSize: 'A4',
    pageOrientation: layout.orientation,
    pageMargins: [margin_pt, 52, margin_pt, 46],
    version: '1.7',
    // /Lang of the PDF catalogue, which the types of pdfmake lack.
    ...({ language: document.language } as object),
    displayTitle: true,
    info: {
      title: `${title}, ${site}, ${period}`,
      author: 'Heliograph',
      creator: 'Heliograph',
      producer: 'Heliograph',
      subject: oneLine(document.template_id),
      creationDate: generated_at,
      modDate: generated_at,
    },
    defaultStyle: { font: 'Roboto', fontSize: 9, color: ink, lineHeight: 1.15 },
    styles: { heading: { fontSize: 11.5, bold: true, color: accent } },
    header: (page, _, { width }) => (page === 1 ? null : pageHeader(site, title, period, width)),
    footer: (page, count) => {
      onPageCount(count)
      return {
        columns: [
          { text: generated, width: '*' },
          { text: `Page ${page} of ${count}`, width: 'auto', alignment: 'right' },
        ],
        fontSize: 7.5,
        color: muted,
        margin: [margin_pt, 18, margin_pt, 0],
      }
    },
    content: [...titleBlock(document, layout, { title, site, period }), ...flow(document, layout)],
  }
}

function pageHeader(site: string, title: string, period: string, page_pt: number): Content {
  const wide_pt = page_pt - 2 * margin_pt
  const left = fitted(`${site}  \u00b7  ${title}`, wide_pt * 0.62, { size_pt: 8 })
  return {
    stack: [
      { columns: [{ text: left }, { text: period, width: 'auto', alignment: 'right' }] },
      { canvas: [line(wide_pt, rule)], margin: [0, 5, 0, 0] },
    ],
    fontSize: 8,
    color: muted,
    margin: [margin_pt, 24, margin_pt, 0],
  }
}

const line = (width_pt: number, color: string, width = 0.5) => ({
  type: 'line' as const,
  x1: 0,
  y1: 0,
  x2: width_pt,
  y2: 0,
  lineWidth: width,
  lineColor: color,
})

function titleBlock(
  document: ReportDocument,
  { orientation }: Layout,
  { title, site, period }: { title: string; site: string; period: string },
): Content[] {
  const wide_pt = content_width_pt[orientation]
  const { data_completeness_pct, generated_at, timezone } = document
  const completeness = known(data_completeness_pct)
  const facts: [string, string][] = [
    ['Period', period],
    ['Time zone', zoneText(document)],
    ['Generated', stampText(generated_at, timezone)],
    [
      'Data completeness',
      completeness === null ? 'unknown' : `${numberText(completeness as number, 1)} %`,
    ],
  ]
  const block: Content[] = [
    { text: breakable(site, wide_pt, { size_pt: 10, bold: true }), ...kicker },
    { text: breakable(title, wide_pt, { size_pt: 21, bold: true }), ...headline },
    { canvas: [line(wide_pt, accent, 1.2)], margin: [0, 0, 0, 8] },
    {
      columns: facts.map(([label, value]) => ({
        stack: [
          { text: label, fontSize: 7.5, color: muted, margin: [0, 0, 0, 1] },
          { text: value, fontSize: 8.5 },
        ],
      })),
      columnGap: 12,
      margin: [0, 0, 0, 14],
    },
  ]
  const notes = hasUnsettable(document) ? [...document.notes, unsettable_note] : document.notes
  return notes.length === 0 ? block : [...block, noteBox(notes, wide_pt)]
}

const kicker = { fontSize: 10, bold: true, color: accent, margin: [0, -14, 0, 2] as Margins }
const headline = { fontSize: 21, bold: true, lineHeight: 1.05, margin: [0, 0, 0, 7] as Margins }
type Margins = [left: number, top: number, right: number, bottom: number]

/** Whether any text in a value has characters that the typeface lacks. */
function hasUnsettable(value: unknown): boolean {
  if (typeof value === 'string') return settable(value).includes('\ufffd')
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsettable)
}

function noteBox(notes: readonly string[], wide_pt: number): Content {
  const width_pt = wide_pt - 35
  const lines = notes.map((note, index) => ({
    text: breakable(settable(note), width_pt, { size_pt: 10, bold: true }),
    fontSize: 9.5,
    bold: true,
    margin: [0, index === 0 ? 0 : 4, 0, 0] as Margins,
  }))
  return {
    table: { widths: [3, '*'], body: [[{ text: '', fillColor: caution.bar }, { stack: lines }]] },
    layout: {
      hLineWidth: () => 0,
      vLineWidth: () => 0,
      fillColor: (_row, _node, column) => (column === 1 ? caution.tint : caution.bar),
      paddingLeft: (column) => (column === 1 ? 10 : 0),
      paddingRight: (column) => (column === 1 ? 10 : 0),
      paddingTop: () => 7,
      paddingBottom: () => 7,
    },
    margin: [0, 0, 0, 14],
  }
}

function flow({ sections }: ReportDocument, layout: Layout): Content[] {
  const content = sections.flatMap((section) => contentOf(section, layout))
  const last = content.pop()
  return last === undefined ? [] : [...content, withoutGap(last)]
}

/** The gap below the last section could start another page. */
function withoutGap(content: Content): Content {
  if (typeof content !== 'object' || !('margin' in content)) return content
  const { margin } = content
  if (!Array.isArray(margin)) return content
  const [left = 0, top = 0, right = 0] = margin
  return { ...content, margin: [left, top, right, 0] }
}
