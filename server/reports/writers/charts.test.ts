import assert from 'node:assert/strict'
import test from 'node:test'
import type { Chart } from '../document.ts'
import { drawChart, hasValues } from './charts.ts'
import { days, plants } from './fixtures/sample-documents.ts'
import { scaleColours } from './palette.ts'

const size = { width_pt: 515, plot_height_pt: 165 }
const texts = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)

test('axes have units, and days of one month are numbers', () => {
  const svg = drawChart(
    {
      kind: 'bars',
      x: days,
      series: [
        { label: 'Energy <b>', values: days.map((_, day) => 1000 * day) },
        { label: 'Irradiation', kind: 'line', axis: 'right', values: days.map(() => 3.5) },
      ],
      left_unit: 'kWh',
      right_unit: 'kWh/m²',
    },
    size,
  )
  for (const text of ['Energy &lt;b&gt;', 'Irradiation', 'kWh', 'kWh/m²', '30', 'Nov 2026']) {
    assert.ok(texts(svg).includes(text), text)
  }
  assert.ok(texts(svg).includes('20\u00a0000'))
})

test('days of several months have short names; other labels are unchanged', () => {
  const x = ['2026-10-31', '2026-11-01']
  const chart = {
    kind: 'lines',
    x,
    series: [{ label: 'a', values: [1, 2] }],
    left_unit: '',
  } as const
  const svg = drawChart({ ...chart, series: [{ label: 'a', values: [1, 2] }] }, size)
  for (const name of ['31 Oct', '1 Nov']) assert.ok(texts(svg).includes(name), name)
  const years = { ...chart, x: ['2026-12-31', '2027-01-01'] }
  const drawn = texts(drawChart({ ...years, series: [{ label: 'a', values: [1, 2] }] }, size))
  for (const name of ['31 Dec 2026', '1 Jan 2027']) assert.ok(drawn.includes(name), name)
  const plain = texts(
    drawChart({ ...chart, x: ['13:00', 'Other'], series: [{ label: 'a', values: [1, 2] }] }, size),
  )
  for (const name of ['13:00', 'Other']) assert.ok(plain.includes(name), name)
})

test('a heat map colours known values from low to high', () => {
  const values = plants.map((_, plant) => days.map((_, day) => (plant === day ? null : day)))
  const svg = drawChart({ kind: 'heat', x: days, y: plants, values, unit: '%' }, size)
  const cells = [...svg.matchAll(/<path d="[^"]*" fill="([^"]*)" stroke="#ffffff"/g)]
  assert.equal(cells.length, plants.length * (days.length - 1))
  const colours = cells.map(([, fill]) => fill)
  const rgb = (hex: string) =>
    `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(',')})`
  assert.ok(colours.includes(rgb(scaleColours[0])) && colours.includes(rgb(scaleColours.at(-1)!)))
  assert.ok(texts(svg).includes('29 %') && texts(svg).includes('Plant 28'))
})

test('a heat map of grades has the colours and signs of the pages', () => {
  const of = [[0, 4, null]]
  const grades = { labels: ['Healthy', 'Watch', 'Poor', 'Critical', 'Dead'], of }
  const values = [[99, 0, null]]
  const chart = { kind: 'heat', x: ['0', '1', '2'], y: ['E-1'], values, unit: '%', grades } as const
  const svg = drawChart({ ...chart, x: [...chart.x], y: [...chart.y] }, size)
  const colours = [...svg.matchAll(/<path d="[^"]*" fill="([^"]*)" stroke="#ffffff"/g)]
  assert.deepEqual(
    colours.map(([, fill]) => fill),
    ['#a6cee3', '#2b0b3f'],
  )
  for (const name of ['Healthy', 'Dead', '\u00d7']) assert.ok(texts(svg).includes(name), name)
})

test('a part of a heat map has the scale of the complete map', () => {
  const row = (value: number): Chart => {
    return { kind: 'heat', x: ['a'], y: ['b'], values: [[value]], unit: '%' }
  }
  const whole: Chart = { kind: 'heat', x: ['a'], y: ['b', 'c'], values: [[50], [90]], unit: '%' }
  const shown = texts(drawChart(row(50), { ...size, scaled: whole }))
  assert.ok(shown.includes('50') && shown.includes('90 %'), shown.join(', '))
})

test('labels of a crowded axis are skipped evenly', () => {
  const x = Array.from({ length: 31 }, (_, index) => String(index + 1))
  const named = (y: string) => {
    const chart: Chart = { kind: 'heat', x, y: [y], values: [x.map(() => 50.5)], unit: '' }
    return texts(drawChart(chart, size)).filter((text) => x.includes(text ?? ''))
  }
  const odd = x.filter((_, index) => index % 2 === 0)
  assert.deepEqual([named('Plant 1'), named('A plant whose name leaves little room')], [x, odd])
})

test('a single value between unknown ones is visible', () => {
  const dots = (values: (number | null)[]) => {
    const x = values.map((_, index) => `${index} h`)
    const series = [{ label: '', values }]
    const svg = drawChart({ kind: 'lines', x, series, left_unit: 'kW' }, size)
    return svg.match(/matrix\(1\.5,/g)?.length ?? 0
  }
  assert.deepEqual([dots([null, 5, null, 6, null]), dots([4, 5, null, null, null])], [2, 0])
})

test('a chart with one value is drawn, and one without values is empty', () => {
  const heat = (value: number | null): Chart => {
    return { kind: 'heat', x: ['a'], y: ['b'], values: [[value]], unit: '%' }
  }
  assert.equal(hasValues(heat(null)), false)
  assert.equal(hasValues(heat(Number.NaN)), false)
  for (const value of [0, 5, -5]) assert.match(drawChart(heat(value), size), /^<svg/)
})
