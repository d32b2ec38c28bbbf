import assert from 'node:assert/strict'
import test from 'node:test'
import { readPriceCsv } from './csv.ts'

const now = new Date('2026-06-21T10:00:00Z')
const read = (text: string) => readPriceCsv(text, now)

const header = 'start_at,end_at,price_per_mwh'

test('rows in any order and with any offset, ascending by their start', () => {
  const { rows, faults } = read(
    '\ufeffprice_per_mwh, currency,start_at,end_at\r\n' +
      '-0.01,BGN,2026-06-21T12:15:00+02:00,2026-06-21T12:30:00+02:00\r\n' +
      '\r\n' +
      '55.5,,2026-06-21T09:00Z,2026-06-21T10:00Z\r\n',
  )
  assert.deepEqual(faults, [])
  assert.deepEqual(
    rows.map((row) => [row.line, row.start_ms, row.price_micro, row.currency]),
    [
      [4, Date.parse('2026-06-21T09:00Z'), 55_500_000, null],
      [2, Date.parse('2026-06-21T10:15Z'), -10_000, 'BGN'],
    ],
  )
})

test('every fault is told with its line', () => {
  const { faults } = read(
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
      '3 overlaps line 2',
      '4 overlaps line 2',
      "5 start_at: '2026-06-21T12:00' is not a timestamp with an offset",
      "6 end_at: '2026-02-30T13:00Z' is not a timestamp with an offset",
      '7 end_at: a period must have 15, 30 or 60 minutes',
      '8 start_at: a period of 15 minutes must start at a multiple of 15 minutes UTC',
      `9 price_per_mwh: '"5"' is not a decimal number`,
      '10 4 columns instead of 3',
      '11 end_at: a period must have 15, 30 or 60 minutes',
    ],
  )
})

test('a header that is none is told once', () => {
  const reasons = (text: string) => read(text).faults.map(({ reason }) => reason)
  assert.deepEqual(reasons(''), ['the header has no start_at, no end_at, no price_per_mwh'])
  assert.deepEqual(reasons(`${header},volume\n1,2,3,4`), ["unknown column 'volume'"])
  assert.deepEqual(reasons(`${header},end_at\n1,2,3,4`), ['duplicate column'])
  assert.deepEqual(reasons(`${header}\n\n`), ['no row follows'])
})

test('offsets of no clock, years out of reach and hours off the hour are refused', () => {
  const faultOf = (start_at: string, end_at: string) => {
    const { rows, faults } = read(`${header}\n${start_at},${end_at},5`)
    assert.equal(rows.length + faults.length, 1)
    return faults[0]?.reason ?? new Date(rows[0]!.start_ms).toISOString()
  }
  for (const offset of ['+25:00', '-25:00', '+14:15', '-14:01', '+02:60', '+15:00']) {
    const start_at = `2026-05-03 00:00${offset}`
    const why = `start_at: '${start_at}' is not a timestamp with an offset`
    assert.equal(faultOf(start_at, `2026-05-03 01:00${offset}`), why)
  }
  assert.equal(
    faultOf('2026-05-03 00:00+14:00', '2026-05-03 01:00+14:00'),
    '2026-05-02T10:00:00.000Z',
  )
  assert.equal(
    faultOf('2026-05-03 00:30-03:30', '2026-05-03 01:30-03:30'),
    '2026-05-03T04:00:00.000Z',
  )

  const reach = /is not from 1970-01-01 to 2031-06-21$/
  assert.match(faultOf('0001-05-02T00:00Z', '0001-05-02T01:00Z'), reach)
  assert.match(faultOf('1969-12-31T23:00Z', '1970-01-01T00:00Z'), reach)
  assert.match(faultOf('2031-06-20T23:30Z', '2031-06-21T00:30Z'), reach)
  assert.match(faultOf('2996-05-02T00:00Z', '2996-05-02T01:00Z'), reach)
  assert.equal(faultOf('1970-01-01T00:00Z', '1970-01-01T01:00Z'), '1970-01-01T00:00:00.000Z')
  assert.equal(faultOf('2031-06-20T23:00Z', '2031-06-21T00:00Z'), '2031-06-20T23:00:00.000Z')

  const grid = (minutes: number) =>
    `start_at: a period of ${minutes} minutes must start at a multiple of ${minutes} minutes UTC`
  assert.equal(faultOf('2026-05-01T00:15Z', '2026-05-01T01:15Z'), grid(60))
  assert.equal(faultOf('2026-05-01T00:30Z', '2026-05-01T01:30Z'), grid(60))
  assert.equal(faultOf('2026-05-01T00:15Z', '2026-05-01T00:45Z'), grid(30))
  assert.equal(faultOf('2026-05-01T00:30Z', '2026-05-01T01:00Z'), '2026-05-01T00:30:00.000Z')
})
