import assert from 'node:assert/strict'
import test from 'node:test'
import { writeCsv } from './csv.ts'
import {
  clockChange,
  dailyChart,
  documentOf,
  heatMap,
  hostile,
  hostile_texts,
  longTable,
  metrics,
  plantTable,
} from './fixtures/sample-documents.ts'

/** Fields and line ends as RFC 4180 has them, read one character at a time. */
function parsed(text: string): string[][] {
  const lines: string[][] = []
  let fields: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex
    const match = pattern.exec(text)
    assert.ok(match, `no field at ${at}: ${JSON.stringify(text.slice(at, at + 60))}`)
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '\r\n') {
      lines.push(fields)
      fields = []
    }
  }
  return lines
}

const linesOf = (...document: Parameters<typeof documentOf>) => read(documentOf(...document))

function read(document: Parameters<typeof writeCsv>[0]): string[][] {
  const { bytes, file_extension, page_count } = writeCsv(document)
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
  assert.deepEqual([file_extension, page_count], ['csv', null])
  return parsed(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

test('the head has site, period and notes, in local time', () => {
  assert.deepEqual(linesOf([], { notes: ['Provisional.'] }), [
    ['Monthly performance'],
    ['Site', 'Brno-Slatina Solar Park'],
    ['From', '2026-11-01T00:00:00+01:00'],
    ['Until, not included', '2026-12-01T00:00:00+01:00'],
    ['Time zone', 'Europe/Prague'],
    ['Generated', '2026-12-01T06:00:12+01:00'],
    ['Data completeness (%)', '98.64'],
    ['Currency', 'EUR'],
    ['Note', 'Provisional.'],
  ])
})

test('each section is a block of title, columns and rows', () => {
  const lines = linesOf([metrics, dailyChart, heatMap, plantTable])
  const block = (title: string) => {
    const at = lines.findIndex(([first, ...others]) => first === title && others.length === 0)
    return lines.slice(at - 1, at + 4)
  }
  assert.deepEqual(block('Metrics of the month').slice(0, 4), [
    [''],
    ['Metrics of the month'],
    ['Metric', 'Value', 'Unit', 'Note'],
    ['Energy', '1523411.4', 'kWh', ''],
  ])
  const [, , columns, first] = block('Energy and irradiation by day')
  assert.deepEqual(columns, ['', 'Energy (kWh)', 'Irradiation in the plane (kWh/m²)'])
  assert.deepEqual([first?.[0], first?.length], ['2026-11-01', 3])
  assert.deepEqual(block('Performance ratio by plant and day')[2]?.slice(0, 2), ['%', '2026-11-01'])
  assert.equal(block('Plants')[2]?.join(';').startsWith('Plant;Energy (kWh);Specific yield'), true)
  const total = lines.find(([first]) => first === 'All plants')
  assert.deepEqual(total, ['All plants', '1523411.4', '', '84.31', '99.2', '', ''])
})

test('values of a chart have the decimals of a table without digits', () => {
  const noisy = [0.1 + 0.2, 1 / 3, null]
  const lines = linesOf([
    {
      kind: 'chart',
      title: 'Lines',
      chart: {
        kind: 'lines',
        left_unit: 'kW',
        x: ['a', 'b', 'c'],
        series: [{ label: 'P', values: noisy }],
      },
    },
    {
      kind: 'chart',
      title: 'Heat',
      chart: { kind: 'heat', unit: '%', x: ['a', 'b', 'c'], y: ['row'], values: [noisy] },
    },
  ])
  assert.deepEqual(lines.slice(-9), [
    ['Lines'],
    ['', 'P (kW)'],
    ['a', '0.3'],
    ['b', '0.3333'],
    ['c', ''],
    [''],
    ['Heat'],
    ['%', 'a', 'b', 'c'],
    ['row', '0.3', '0.3333', ''],
  ])
})

test('a long table has all rows, and a repeated hour has its offset', () => {
  assert.equal(linesOf([longTable(5000)]).filter(([, plant]) => plant === 'Plant 1').length, 179)
  const read_at = read(clockChange()).slice(-5)
  assert.deepEqual(read_at[1], ['2026-10-25T02:00:00+02:00'])
  assert.deepEqual(read_at[2], ['2026-10-25T02:00:00+01:00'])
})

test('no text is a formula, and none is cut', () => {
  const fields = read(hostile()).flat()
  assert.deepEqual(
    fields.filter((field) => /^[=+@\t]|^-\D/.test(field)),
    [],
  )
  for (const text of hostile_texts.slice(5, 7)) assert.ok(fields.includes(text), text)
  assert.ok(fields.includes("'=CMD|'/C calc'!A0"))
  assert.ok(fields.includes('bell  escape [31m null  end'))
})
