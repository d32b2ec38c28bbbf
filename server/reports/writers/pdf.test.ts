import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Column, ReportDocument, Section } from '../document.ts'
import {
  clockChange,
  dailyChart,
  dayMatrix,
  days,
  documentOf,
  empty,
  heatMap,
  hostile,
  longTable,
  metrics,
  monthly,
  plantTable,
} from './fixtures/sample-documents.ts'
import { writePdf } from './pdf.ts'

const peer = {
  skip: existsSync('/usr/bin/pdftotext')
    ? false
    : "LEFT OUT: reports read by Poppler: Debian's poppler-utils is not installed",
}

interface Word {
  page: number
  text: string
  left: number
  right: number
  top: number
  bottom: number
}

interface Paper {
  page_count: number | null
  pages: string[]
  /** As `pdfinfo` names them. */
  facts: Map<string, string>
  fonts: string
  sizes: [width: number, height: number][]
  words: Word[]
}

/** The document written, and what Poppler reads of it. */
async function printed(document: ReportDocument): Promise<Paper> {
  const folder = mkdtempSync(join(tmpdir(), 'paper-'))
  try {
    const file = join(folder, 'report.pdf')
    const { bytes, page_count } = await writePdf(document)
    writeFileSync(file, bytes)
    const run = (program: string, ...options: string[]) =>
      String(execFileSync(program, options, { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1e8 }))
    const facts = run('pdfinfo', file).trim().split('\n')
    return {
      page_count,
      pages: run('pdftotext', '-layout', file, '-').split('\f').slice(0, -1),
      facts: new Map(facts.map((fact) => [fact.split(':')[0]!, fact.replace(/^[^:]*:\s*/, '')])),
      fonts: run('pdffonts', file),
      ...boxes(run('pdftotext', '-bbox', file, '-')),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function boxes(xml: string): Pick<Paper, 'sizes' | 'words'> {
  const sizes: Paper['sizes'] = []
  const words: Word[] = []
  const pattern =
    /<page width="([\d.]+)" height="([\d.]+)"|<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">([^<]*)/g
  for (const [, width, height, left, top, right, bottom, text = ''] of xml.matchAll(pattern)) {
    if (width) sizes.push([Number(width), Number(height)])
    else {
      const box = { left: Number(left), top: Number(top) }
      const to = { right: Number(right), bottom: Number(bottom) }
      words.push({ page: sizes.length, text, ...box, ...to })
    }
  }
  return { sizes, words }
}

/** Pairs of words of a page that cover each other by more than the slant of a letter. */
function overlaps(words: readonly Word[]): string[] {
  return words.flatMap((one, index) =>
    words
      .slice(index + 1)
      .filter(({ page }) => page === one.page)
      .filter((other) => {
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
        const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
        return (
          width > 1.5 && height > 0.45 * Math.min(one.bottom - one.top, other.bottom - other.top)
        )
      })
      .map((other) => `${one.page}: ${one.text} ${other.text}`),
  )
}

function assertOrderly({ words, sizes, page_count }: Paper): void {
  const margin = 38
  const outside = words.filter(({ page, left, right, top, bottom }) => {
    const [width, height] = sizes[page - 1]!
    return left < margin || right > width - margin || top < 20 || bottom > height - 12
  })
  assert.deepEqual(outside, [])
  assert.deepEqual(overlaps(words), [])
  assert.equal(sizes.length, page_count)
}

test('the same document gives the same bytes at any time', async (t) => {
  const document = documentOf([metrics, dailyChart, heatMap, plantTable])
  const first = await writePdf(document)
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2031-05-05T05:05:05Z') })
  const second = await writePdf(document)
  assert.equal(Buffer.compare(first.bytes, second.bytes), 0)
  assert.equal(String(first.bytes.subarray(0, 8)), '%PDF-1.7')
  assert.deepEqual([first.file_extension, first.page_count], ['pdf', 3])
})

test('the gap below the last section starts no page', async () => {
  const lines = Array.from({ length: 52 }, (_, nth) => `Line ${nth}`).join('\n')
  const pages = async (text: string) =>
    (await writePdf(documentOf([{ kind: 'text', title: 'Last', text }]))).page_count
  assert.equal(await pages(lines), 1)
  assert.equal(await pages(`${lines}\nmore\nmore`), 2)
})

test('every page has site, report and period, the first page all facts', peer, async () => {
  const paper = await printed(monthly())
  const [first = '', ...others] = paper.pages
  for (const said of [
    'Brno-Slatina Solar Park',
    'Monthly performance',
    'Europe/Prague, UTC+01:00',
    '1 Dec 2026, 06:00 UTC+01:00',
    '98.6',
    '2 plants are left out: they had no readings in the period.',
    '1 523 411 kWh',
    'not known: no reference',
  ]) {
    assert.ok(first.replace(/\s+/g, ' ').includes(said), said)
  }
  assert.ok(others.length > 15)
  for (const [index, page] of paper.pages.entries()) {
    assert.match(page, new RegExp(`Page ${index + 1} of ${paper.page_count}\\b`))
    assert.match(page, /1\s–\s30 Nov 2026/)
  }
  assert.ok(others.every((page) => /Brno-Slatina Solar Park +· +Monthly performance/.test(page)))
  assertOrderly(paper)
})

test('a report is A4 with metadata and an embedded typeface', peer, async () => {
  const { facts, fonts, sizes } = await printed(documentOf([metrics, dayMatrix]))
  assert.match(facts.get('Title') ?? '', /^Monthly performance, Brno-Slatina Solar Park, 1/)
  assert.deepEqual([facts.get('Author'), facts.get('JavaScript')], ['Heliograph', 'no'])
  assert.match(facts.get('Page size') ?? '', /A4/)
  assert.deepEqual(
    sizes.map((size) => size.map(Math.round)),
    [
      [842, 595],
      [842, 595],
      [842, 595],
    ],
  )
  const [, , ...lines] = fonts.trim().split('\n')
  assert.ok(lines.length >= 2 && lines.every((line) => /Roboto.* yes yes yes /.test(line)), fonts)
})

test('the note of a chart is apart from the labels of the axis', peer, async () => {
  const chart = { kind: 'bars' as const, left_unit: 'kWh', x: ['Axis'] }
  const series = [{ label: 'Lost', values: [-3] }]
  const { words } = await printed(
    documentOf([{ kind: 'chart', title: 'Lost', chart: { ...chart, series }, note: 'Below' }]),
  )
  const [name, note] = ['Axis', 'Below'].map((one) => words.find(({ text }) => text === one)!)
  assert.ok(note!.top - name!.bottom > 2, `${note!.top} ${name!.bottom}`)
})

test('a period without data has a note on the first page', peer, async () => {
  const { pages } = await printed(empty())
  assert.equal(pages.length, 1)
  const text = pages[0]!.replace(/\s+/g, ' ')
  assert.match(text, /Data completeness .* 0\.0 % No data in this period\. Metrics of the month/)
  assert.match(text, /Energy by day No data in this period\. Plants .* No rows in this period\./)
})

test('the header of a table is on each of its pages, its totals on the last', peer, async () => {
  const paper = await printed(documentOf([plantTable, { ...plantTable, title: 'Again' }]))
  const [, second = ''] = paper.pages
  assert.equal(paper.pages.length, 2)
  assert.match(second, /Again\n+ *Plant +Energy +Specific yield/)
  assert.equal(paper.pages.join('').match(/All plants +1.523.411 +84\.3 +99\.2 +–/g)?.length, 2)
  assertOrderly(paper)
})

test('a table too wide for a page has parts that name their rows', peer, async () => {
  const { pages } = await printed(documentOf([dayMatrix]))
  assert.equal(pages.length, 3)
  for (const [index, part] of pages.slice(1).entries()) {
    assert.match(part, new RegExp(`Energy by plant and day \\(part ${index + 1} of 2\\)`))
    assert.match(part, /Plant 28 .*\n+ *All plants/)
  }
})

test('the widest table decides the orientation of all pages', peer, async () => {
  const portrait = await printed(documentOf([metrics, heatMap, plantTable]))
  assert.ok(portrait.sizes.every(([width, height]) => width < height))
  const landscape = await printed(documentOf([metrics, dailyChart, dayMatrix, plantTable, closing]))
  assert.ok(landscape.sizes.every(([width, height]) => width > height))
  assertOrderly(landscape)
})

const closing: Section = {
  kind: 'text',
  title: 'Method',
  text: 'A sentence on the method. '.repeat(14),
}

test('no closing text has a last page of its own', peer, async () => {
  const rowsOf = (count: number): Section => ({
    ...(longTable(count) as Extract<Section, { kind: 'table' }>),
  })
  for (const sections of [
    [metrics, dailyChart, dailyChart, rowsOf(5)],
    ...Array.from({ length: 12 }, (_, nth) => [metrics, dailyChart, rowsOf(8 + 2 * nth)]),
  ]) {
    const { pages } = await printed(documentOf([...sections, closing]))
    const last: string = pages.at(-1)!
    const is_alone: boolean = last.includes(closing.title) && !/Plant \d|Energy and/.test(last)
    assert.ok(!is_alone, last)
    assert.ok(pages.join('').includes(closing.title))
  }
})

test('a long table is cut, and a note names the formats with all rows', peer, async () => {
  const { pages } = await printed(documentOf([longTable(5000)]))
  assert.ok(pages.length < 30)
  assert.match(
    pages.at(-1)!.replace(/\s+/g, ' '),
    /The first 1 000 of 5 000 rows are shown\. The XLSX and the CSV of this report have them all\./,
  )
  assert.equal(pages.join('').match(/^ *\d+ Nov 2026 +Plant/gm)?.length, 1000)
})

test('no text leaves the page or overlaps another', peer, async () => {
  const paper = await printed(hostile())
  assertOrderly(paper)
  const text = paper.pages.join('')
  assert.match(text, /Characters missing in the typeface are shown as/)
  assert.match(text, /<b>bold<\/b> & "quoted", 'too'/)
  assert.match(text, /Süd-Dach Žďár/)
  assert.equal(text.match(/W/g)!.length > 300 * 5, true)
})

test('a text longer than a page is cut or continues on the next', peer, async () => {
  const long = 'A sentence that comes again. '.repeat(700)
  const [tile, row] = ['tile '.repeat(4000), 'row '.repeat(5000)]
  const paper = await printed(
    documentOf(
      [
        { kind: 'text', title: long, text: long },
        {
          kind: 'metrics',
          title: long,
          metrics: [{ label: tile, value: tile, unit: tile, note: tile }],
        },
        { ...plantTable, rows: [{ plant: row, energy: 1 }], note: long } as typeof plantTable,
        { ...dailyChart, title: long, note: long } as typeof dailyChart,
      ],
      { title: long, site_name: long, notes: [long] },
    ),
  )
  assertOrderly(paper)
  const text = paper.pages.join(' ').replace(/\s+/g, ' ')
  assert.ok(text.match(/A sentence that comes again\./g)!.length > 4 * 690)
  // What left the page would be missing here: the ends of what is cut.
  assert.equal(text.match(/ t(i(le?)?)?…/g)?.length, 4)
  assert.equal(text.match(/ r(ow?)?…/g)?.length, 1)
})

test('a cell of wide letters or line ends fits on a landscape page', peer, async () => {
  const columns = days.slice(0, 10).map((key): Column => ({ key, label: key, kind: 'text' }))
  const rowOf = (text: string) => Object.fromEntries(days.map((day) => [day, text]))
  const rows = [rowOf('W'.repeat(300)), rowOf(`${'\n'.repeat(290)}end`)]
  const paper = await printed(documentOf([{ kind: 'table', title: 'Wide', columns, rows }]))
  assertOrderly(paper)
  assert.equal(paper.sizes.at(-1)![0] > 800, true)
  const text = paper.pages.join('')
  assert.deepEqual(
    [text.match(/W(?!ide)/g)?.length, text.match(/\bend\b/g)?.length],
    [10 * 300, 10],
  )
})

test('a repeated hour has its offset', peer, async () => {
  const { pages } = await printed(clockChange())
  const text = pages.join('')
  assert.match(text, /25 Oct 2026, 02:00 UTC\+02:00\n+ *25 Oct 2026, 02:00 UTC\+01:00/)
  assert.match(text, /Europe\/Prague, UTC\+02:00 [^\n]*\n +then UTC\+01:00/)
})
