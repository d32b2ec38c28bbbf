import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ReportDocument } from '../document.ts'
import {
  clockChange,
  dailyChart,
  documentOf,
  heatMap,
  hostile,
  hostile_texts,
  longTable,
  metrics,
  monthly,
  plantTable,
} from './fixtures/sample-documents.ts'
import { writeXlsx } from './xlsx.ts'

interface Sheet {
  name: string
  frozen: string | null
  widths: number[]
  rows: { value: unknown; type: string; format: string; bold: boolean }[][]
}

const python = '/usr/bin/python3'
const library = '/usr/lib/python3/dist-packages/openpyxl/__init__.py'
const peer = {
  skip: existsSync(library)
    ? false
    : "LEFT OUT: workbooks read by openpyxl: Debian's python3-openpyxl is not installed",
}

/** The workbook as read by openpyxl. */
async function readBack(document: ReportDocument): Promise<Sheet[]> {
  const folder = mkdtempSync(join(tmpdir(), 'workbook-'))
  try {
    const file = join(folder, 'report.xlsx')
    writeFileSync(file, (await writeXlsx(document)).bytes)
    const script = fileURLToPath(new URL('fixtures/read-xlsx.py', import.meta.url))
    const options = { maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'inherit'] as never }
    return JSON.parse(String(execFileSync(python, ['-W', 'ignore', script, file], options)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the same document gives the same bytes at any time', async (t) => {
  const first = await writeXlsx(monthly())
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2031-05-05T05:05:05Z') })
  const second = await writeXlsx(monthly())
  assert.equal(Buffer.compare(first.bytes, second.bytes), 0)
  assert.deepEqual([first.file_extension, first.page_count], ['xlsx', null])
})

test('a sheet for each table and chart, its header frozen, after a summary', peer, async () => {
  const sheets = await readBack(documentOf([metrics, dailyChart, heatMap, plantTable]))
  assert.deepEqual(
    sheets.map(({ name, frozen, rows }) => [name, frozen, rows.length]),
    [
      ['Summary', null, 24],
      ['Energy and irradiation by day', 'B2', 31],
      ['Performance ratio by plant and', 'B2', 29],
      ['Plants', 'B2', 30],
    ],
  )
  const [summary, , heat, plants] = sheets
  const factOf = (label: string) => summary?.rows.find(([first]) => first?.value === label)?.[1]
  assert.equal(factOf('From')?.value, '2026-11-01T00:00:00')
  assert.equal(factOf('Time zone')?.value, 'Europe/Prague, UTC+01:00')
  assert.deepEqual(factOf('Energy'), { value: 1523411.4, type: 'n', format: '#,##0', bold: false })
  assert.equal(factOf('Lost energy')?.value, null)
  assert.deepEqual(heat?.rows[5]?.[22]?.value, null)
  assert.ok(plants!.widths.every((width) => width >= 9 && width <= 60))
  assert.ok(plants!.rows[0]?.every(({ bold, type }) => bold && type === 's'))
})

test('numbers, days and instants are typed cells in local time', peer, async () => {
  const sheets = await readBack(documentOf([plantTable, longTable(3), ...clockChange().sections]))
  const [, plants, long, clock] = sheets
  const { value: energy, ...typed } = plants!.rows[1]![1]!
  assert.deepEqual(typed, { type: 'n', format: '#,##0', bold: false })
  assert.equal(typeof energy, 'number')
  assert.equal(plants!.rows[0]![6]!.value, 'Last reading (Europe/Prague)')
  assert.deepEqual(plants!.rows[1]![6], {
    value: '2026-11-30T16:00:00',
    type: 'd',
    format: 'd mmm yyyy, hh:mm',
    bold: false,
  })
  const day = { value: '2026-11-01T00:00:00', type: 'd', format: 'd mmm yyyy', bold: false }
  assert.deepEqual(long!.rows[1]![0], day)
  assert.deepEqual(
    clock!.rows.slice(1).map(([cell]) => cell?.value),
    [1, 2, 2, 3, 4].map((hour) => `2026-10-25T0${hour}:00:00`),
  )
  const total = plants!.rows.at(-1)!
  assert.deepEqual(
    total.map(({ value }) => value),
    ['All plants', 1523411.4, null, 84.31, 99.2, null, null],
  )
  assert.ok(total[0]!.bold)
})

test('the days of a chart are date cells', peer, async () => {
  const [, chart, heat] = await readBack(documentOf([dailyChart, heatMap]))
  const { value, type, format } = chart!.rows[1]![0]!
  assert.deepEqual([value, type, format], ['2026-11-01T00:00:00', 'd', 'd mmm yyyy'])
  assert.equal(heat!.rows[1]![0]!.type, 's')
})

test('a long table has all rows', peer, async () => {
  const [, long] = await readBack(documentOf([longTable(5000)]))
  assert.equal(long?.rows.length, 5001)
})

test('no text is a formula, even when edited', peer, async () => {
  const sheets = await readBack(hostile())
  const cells = sheets.flatMap(({ rows }) => rows.flat())
  assert.deepEqual(
    cells.filter(({ type }) => type === 'f' || type === 'e'),
    [],
  )
  const texts = cells.filter(({ value, type }) => typeof value === 'string' && type !== 'd')
  assert.deepEqual([...new Set(texts.map(({ type, format }) => type + format))], ['s@'])
  const values = new Set(texts.map(({ value }) => value))
  for (const text of [...hostile_texts.slice(0, 6), ...hostile_texts.slice(9)]) {
    assert.ok(values.has(text), text)
  }
})

test('a table with too many rows for a sheet is rejected, not cut', async () => {
  const { kind, title, columns } = longTable(0) as Extract<
    ReturnType<typeof longTable>,
    { kind: 'table' }
  >
  const rows = new Array(1_048_575).fill({})
  await assert.rejects(
    writeXlsx(documentOf([{ kind, title, columns, rows }])),
    /Plants by day: a sheet cannot hold 1048575 rows/,
  )
})
