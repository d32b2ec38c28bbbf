import assert from 'node:assert/strict'
import test from 'node:test'
import { readPriceCsv } from './csv.ts'

const header = 'start_at,end_at,price_per_mwh'

test('rows in any order and with any offset, ascending by their start', () => {
  const { rows, faults } = readPriceCsv(
    '\ufeffprice_per_mwh, currency,start_at,end_at\r\n' +
      '-0.01,BGN,2026-06-21T12:15:00+02:00,2026-06-21T12:30:00+02:00\r\n' +
      '\r\n' +
      '55.5,,2026-06-21T09:15Z,2026-06-21T10:15Z\r\n',
  )
  assert.deepEqual(faults, [])
  assert.deepEqual(
    rows.map((row) => [row.line, row.start_ms, row.price_micro, row.currency]),
    [
      [4, Date.parse('2026-06-21T09:15Z'), 55_500_000, null],
      [2, Date.parse('2026-06-21T10:15Z'), -10_000, 'BGN'],
    ],
  )
})

test('every fault is told with its line', () => {
  const { faults } = readPriceCsv(
    [
      header,
      '2026-06-21T10:00Z,2026-06-21T11:00Z,5',
      '2026-06-21T10:15Z,2026-06-21T10:30Z,5',
      '2026-06-21T10:30Z,2026-06-21T10:45Z,5',
      '2026-06-21T12:00,2026-06-21T13:00Z,5',
      '2026-06-21T12:00Z,2026-02-30T13:00Z,5',
      '2026-06-21T12:00Z,2026-06-21T14:00Z,5',
      '2026-06-21T12:05Z,2026-06-21T12:20Z,5',
      '2026-06-21T12:00Z,2026-06-21T13:00Z,"5"',
      '2026-06-21T12:00Z,2026-06-21T13:00Z,1,5',
      '2026-06-21T12:00Z,2026-06-21T11:00Z,5',
    ].join('\n'),
  )
  assert.deepEqual(
    faults.map(({ line, reason }) => `${line} ${reason}`),
    [
      '3 it overlaps line 2',
      '4 it overlaps line 2',
      "5 start_at: '2026-06-21T12:00' is no instant with an offset",
      "6 end_at: '2026-02-30T13:00Z' is no instant with an offset",
      '7 end_at: a period has 15, 30 or 60 minutes',
      '8 start_at: it is not on a quarter of an hour',
      `9 price_per_mwh: '"5"' is no decimal number`,
      '10 it has 4 columns, the header 3',
      '11 end_at: a period has 15, 30 or 60 minutes',
    ],
  )
})

test('a header that is none is told once', () => {
  const reasons = (text: string) => readPriceCsv(text).faults.map(({ reason }) => reason)
  assert.deepEqual(reasons(''), ['the header has no start_at, no end_at, no price_per_mwh'])
  assert.deepEqual(reasons(`${header},volume\n1,2,3,4`), ["unknown column 'volume'"])
  assert.deepEqual(reasons(`${header},end_at\n1,2,3,4`), ['a column is there twice'])
  assert.deepEqual(reasons(`${header}\n\n`), ['no row follows'])
})
