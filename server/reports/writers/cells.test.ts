import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  cellText,
  dayName,
  digitsOf,
  instantName,
  known,
  numberText,
  periodText,
  stampText,
  zoneText,
} from './cells.ts'
import { documentOf } from './fixtures/sample-documents.ts'

const space = '\u00a0'

test('numbers have separated thousands, a minus sign, and no minus zero', () => {
  assert.equal(numberText(1_234_567.891, 1), `1${space}234${space}567.9`)
  assert.equal(numberText(-1234, 0), `\u22121${space}234`)
  assert.equal(numberText(-0.04, 1), '0.0')
  assert.equal(numberText(999.96, 1), `1${space}000.0`)
  assert.equal(numberText(123, 0), '123')
})

test('a number as text has the value of the number', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
  fc.assert(
    fc.property(finite, fc.integer({ min: 0, max: 6 }), (value, digits) => {
      const read = Number(numberText(value, digits).replaceAll(space, '').replace('\u2212', '-'))
      assert.equal(read + 0, Number(value.toFixed(digits)) + 0)
    }),
  )
})

test('decimals are as given, else as needed, at most two', () => {
  assert.equal(digitsOf([1, 2.5, null]), 1)
  assert.equal(digitsOf([1 / 3]), 2)
  assert.equal(digitsOf([3, Number.NaN, 'x']), 0)
  assert.equal(digitsOf([1.234], 3), 3)
  assert.equal(digitsOf([1.234], -1), 0)
})

test('invalid values are shown as unknown', () => {
  const shown = (value: Parameters<typeof known>[0]) =>
    cellText(known(value), { digits: 1, timezone: 'UTC' })
  for (const none of [null, undefined, Number.NaN, Infinity, new Date(Number.NaN)]) {
    assert.equal(shown(none), '–')
  }
  assert.deepEqual([shown(0), shown(false), shown('')], ['0.0', 'no', ''])
})

test('instants are shown in local time, with the offset for a repeated hour', () => {
  const at = (text: string) => new Date(text)
  assert.equal(instantName(at('2026-07-01T10:00:00Z'), 'Europe/Prague'), '1 Jul 2026, 12:00')
  assert.equal(instantName(at('2026-07-01T10:00:00Z'), 'Asia/Kathmandu'), '1 Jul 2026, 15:45')
  const twice = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((text) =>
    stampText(at(text), 'Europe/Prague'),
  )
  assert.deepEqual(twice, ['25 Oct 2026, 02:30 UTC+02:00', '25 Oct 2026, 02:30 UTC+01:00'])
  assert.equal(stampText(at('2026-01-01T00:00:30Z'), 'America/New_York').slice(-9), 'UTC-05:00')
})

test('days have short names; other texts are unchanged', () => {
  assert.equal(dayName('2026-11-01'), '1 Nov 2026')
  assert.equal(dayName('2026-11-01', 'without_year'), '1 Nov')
  assert.equal(dayName('All'), 'All')
  assert.equal(cellText('2026-11-01', { kind: 'date', digits: 0, timezone: 'UTC' }), '1 Nov 2026')
  assert.equal(cellText('2026-11-01', { kind: 'text', digits: 0, timezone: 'UTC' }), '2026-11-01')
})

test('a period of whole days is shown as days, another as instants', () => {
  const plain = (text: string) => text.replace(/\s/g, ' ')
  assert.equal(plain(periodText(documentOf([]))), '1 – 30 Nov 2026')
  const day = { period_end_at: new Date('2026-11-01T23:00:00Z') }
  assert.equal(plain(periodText(documentOf([], day))), '1 Nov 2026')
  const hours = { period_end_at: new Date('2026-11-01T10:00:00Z') }
  assert.equal(periodText(documentOf([], hours)), '1 Nov 2026, 00:00 to 1 Nov 2026, 11:00')
})

test('the time zone has both offsets of a period with a clock change', () => {
  assert.equal(zoneText(documentOf([])), 'Europe/Prague, UTC+01:00')
  const october = { period_start_at: new Date('2026-09-30T22:00:00Z') }
  assert.equal(zoneText(documentOf([], october)), 'Europe/Prague, UTC+02:00 then UTC+01:00')
})
