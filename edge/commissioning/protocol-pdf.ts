/** A commissioning protocol as PDF on A4, to be signed. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import pdfmake from 'pdfmake'
import type { Content, TableCell, TDocumentDefinitions } from 'pdfmake/interfaces.js'
import { boundText, measuredText, type Protocol, resultNames, siteWide } from './protocol.ts'
import type { TestResult, TestRow } from './test-row.ts'

/** Comes with pdfmake: Latin, Greek and Cyrillic. */
const folder = join(dirname(createRequire(import.meta.url).resolve('pdfmake')), '../fonts/Roboto')
const typeface = {
  normal: join(folder, 'Roboto-Regular.ttf'),
  bold: join(folder, 'Roboto-Medium.ttf'),
  italics: join(folder, 'Roboto-Italic.ttf'),
  bolditalics: join(folder, 'Roboto-MediumItalic.ttf'),
}

const ink = '#1f2933'
const muted = '#616e7c'
const rule = '#cbd2d9'
const tint = '#f0f3f6'
const colors: Readonly<Record<TestResult, string>> = {
  passed: '#1a7f37',
  failed: '#b42318',
  warning: '#8a5a00',
  not_judged: muted,
}

pdfmake.setFonts({ Roboto: typeface })
// pdfmake may read the typeface only, and nothing from the network.
pdfmake.setLocalAccessPolicy((path) => Object.values(typeface).includes(path))
pdfmake.setUrlAccessPolicy(() => false)

export async function protocolPdf(protocol: Protocol): Promise<Buffer> {
  return await pdfmake.createPdf(definitionOf(protocol)).getBuffer()
}

function definitionOf(protocol: Protocol): TDocumentDefinitions {
  const { site_name, site_id, software, devices, tests } = protocol
  const title = `Commissioning protocol, ${site_name}`
  const at = new Date(protocol.tested_at)
  return {
    pageSize: 'A4',
    pageMargins: [40, 44, 40, 46],
    info: { title, author: 'Heliograph', creator: 'Heliograph', creationDate: at, modDate: at },
    defaultStyle: { font: 'Roboto', fontSize: 8.5, color: ink, lineHeight: 1.15 },
    styles: { heading: { fontSize: 11.5, bold: true, margin: [0, 14, 0, 5] } },
    footer: (page, count) => ({
      columns: [
        { text: `${site_name} (${site_id}), ${protocol.tested_at}`, width: '*' },
        { text: `Page ${page} of ${count}`, width: 'auto', alignment: 'right' },
      ],
      fontSize: 7.5,
      color: muted,
      margin: [40, 18, 40, 0],
    }),
    content: [
      { text: site_name, fontSize: 10, bold: true, color: muted },
      { text: 'Commissioning protocol', fontSize: 20, bold: true, margin: [0, 2, 0, 8] },
      facts([
        ['Site', `${site_name} (${site_id})`],
        ['Tested', `${localText(protocol)} (${protocol.tested_at})`],
        ['Run by', protocol.run_by],
        ['Software', software],
        ['Result', sumText(protocol)],
      ]),
      { text: 'Devices', style: 'heading' },
      table(
        ['Device', 'Kind', 'Address', 'Maker and model', 'Serial number', 'Firmware'],
        [90, 42, '*', 100, 80, 48],
        devices.map((one) => [
          one.name,
          one.kind,
          `${one.address}, ${one.driver}`,
          [one.manufacturer, one.model].filter((part) => part !== null).join(' ') || 'unknown',
          one.serial_number ?? 'unknown',
          one.firmware_version ?? '',
        ]),
      ),
      ...section('Failed tests and warnings', tests, ['failed', 'warning']),
      ...section('Not judged', tests, ['not_judged']),
      ...section('Passed tests', tests, ['passed']),
      signatures(),
    ],
  }
}

const localText = ({ tested_at, timezone }: Protocol): string => {
  const local = new Date(tested_at).toLocaleString('sv-SE', { timeZone: timezone })
  return `${local} ${timezone}`
}

function sumText({ result, counts, tried_limits }: Protocol): TableCell {
  const { passed, failed, warning, not_judged } = counts
  return {
    text: [
      { text: resultNames[result], bold: true, color: colors[result] },
      `: ${passed} passed, ${failed} failed, ${warning} warnings, ${not_judged} not judged. `,
      triedText(tried_limits),
    ],
  }
}

function triedText(all: Protocol['tried_limits']): string {
  const tried = all?.filter(({ not_tried }) => not_tried === null) ?? []
  if (!all || tried.length === 0) return 'Limits: not tried.'
  return `Limits: tried on ${tried.length} of ${all.length} devices.`
}

const facts = (rows: readonly [string, TableCell][]): Content => ({
  table: {
    widths: [60, '*'],
    body: rows.map(([name, value]) => [{ text: name, color: muted }, value]),
  },
  layout: 'noBorders',
})

function section(
  title: string,
  all: readonly TestRow[],
  results: readonly TestResult[],
): Content[] {
  const tests = all.filter(({ result }) => results.includes(result))
  if (tests.length === 0) return []
  return [
    { text: title, style: 'heading' },
    table(
      ['Device', 'Test', 'Result', 'Measured', 'Bound', 'Reason'],
      [88, 100, 44, 74, 82, '*'],
      tests.map((row) => [
        row.device ?? siteWide,
        row.test,
        { text: resultNames[row.result], color: colors[row.result] },
        measuredText(row),
        boundText(row),
        row.reason ?? '',
      ]),
    ),
  ]
}

function table(
  head: readonly string[],
  widths: (number | '*')[],
  rows: readonly TableCell[][],
): Content {
  return {
    table: {
      headerRows: 1,
      dontBreakRows: true,
      widths,
      body: [
        head.map((text) => ({ text, bold: true, fillColor: tint })),
        ...rows.map((row) =>
          row.map((cell) => (typeof cell === 'string' ? breakable(cell) : cell)),
        ),
      ],
    },
    layout: {
      hLineWidth: () => 0.5,
      vLineWidth: () => 0,
      hLineColor: () => rule,
      paddingLeft: () => 3,
      paddingRight: () => 3,
      paddingTop: () => 2,
      paddingBottom: () => 2,
    },
    fontSize: 7.5,
  }
}

/** A long word may end a line at an underscore, or anywhere by a zero-width space. */
const breakable = (text: string): string =>
  text.replaceAll(/_(?=\S)/g, '_\u200b').replaceAll(/[^\s\u200b]{14}/g, '$&\u200b')

function signatures(): Content {
  const line = (label: string): Content => ({
    stack: [
      { canvas: [{ type: 'line', x1: 0, y1: 0, x2: 150, y2: 0, lineWidth: 0.5, lineColor: ink }] },
      { text: label, fontSize: 7.5, color: muted, margin: [0, 2, 0, 0] },
    ],
    margin: [0, 30, 0, 0],
  })
  const person = (who: string): Content => ({
    stack: [{ text: who, bold: true }, line('Name'), line('Date'), line('Signature')],
  })
  return {
    columns: [person('Tested by'), person('Accepted by')],
    columnGap: 40,
    margin: [0, 26, 0, 0],
    unbreakable: true,
  }
}
