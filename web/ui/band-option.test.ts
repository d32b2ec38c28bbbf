import assert from 'node:assert/strict'
import test from 'node:test'
import { bandOption } from './band-option.ts'

const optionOf = () =>
  bandOption({
    labels: ['10:00', '11:00', '12:00'],
    unit: 'EUR/MWh',
    p10: [-20, null, 5],
    p50: [-5, 8, 10],
    p90: [-10, 12, null],
    lines: [{ name: 'Was', values: [null, 9, 11] }],
  }) as {
    series: { name: string; data: (number | null)[]; markLine?: object }[]
    tooltip: { formatter(pointed: object[]): string }
  }

test('the band is as high as the upper is above the lower, and absent where one is not known', () => {
  const { series } = optionOf()
  const dataOf = (name: string) => series.find((one) => one.name === name)?.data
  assert.deepEqual(dataOf('P10'), [-20, null, 5])
  assert.deepEqual(dataOf('80 % band'), [10, null, null])
  assert.deepEqual(dataOf('Expected'), [-5, 8, 10])
  assert.deepEqual(dataOf('Was'), [null, 9, 11])
  assert.ok(series.every(({ markLine }) => markLine === undefined))
})

test('what is pointed at is told in words, what is not known as a dash', () => {
  const { formatter } = optionOf().tooltip
  assert.equal(
    formatter([{ dataIndex: 0 }]),
    '10:00\nExpected -5.0 EUR/MWh (-20.0 to -10.0)\nWas – EUR/MWh',
  )
  assert.equal(formatter([]), '')
})

test('where nothing is expected, the legend names only what is known', () => {
  const known = { name: 'Published', values: [1, 2] }
  const nothing = [null, null]
  const legendOf = (p50: (number | null)[]) => {
    const option = bandOption({
      labels: ['10:00', '11:00'],
      unit: 'EUR/MWh',
      lines: [known],
      p10: nothing,
      p50,
      p90: nothing,
    })
    return (option.legend as { data: (string | { name: string })[] }).data.length
  }
  assert.equal(legendOf(nothing), 1)
  assert.equal(legendOf([null, 3]), 3)
})

test('the axis of many days names each day once, at its midnight', () => {
  const labels = ['Sun 15 Nov 00:00', 'Sun 15 Nov 01:00', 'Mon 16 Nov 00:00']
  const { xAxis } = bandOption({
    labels,
    p10: [],
    p50: [],
    p90: [],
    lines: [],
    unit: 'kWh',
    by_day: true,
  }) as { xAxis: { axisLabel: typeof labelled } }
  const { interval, formatter } = xAxis.axisLabel
  const named = labels.filter((label, nth) => interval(nth, label)).map(formatter)
  assert.deepEqual(named, ['Sun 15 Nov', 'Mon 16 Nov'])
})

declare const labelled: {
  interval(nth: number, label: string): boolean
  formatter(label: string): string
}
