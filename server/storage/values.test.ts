import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { parseInt8, parseNumberArray, parseTimestamptz } from './values.ts'

const as = (oid: number) => pg.types.getTypeParser(oid as never) as (text: string) => unknown

/** PostgreSQL's text of an array. */
function arrayText(values: readonly unknown[]): string {
  return `{${values.map((value) => (Array.isArray(value) ? arrayText(value) : (value ?? 'NULL'))).join(',')}}`
}

test('number arrays read as the driver reads them, with null, NaN, infinities and nesting', () => {
  const element = fc.option(fc.double(), { nil: null })
  const row = fc.array(element, { maxLength: 40 })
  fc.assert(
    fc.property(
      fc.oneof(row, fc.array(fc.array(element, { minLength: 1, maxLength: 4 }))),
      (values) => {
        const text = arrayText(values).replaceAll('-0,', '0,')
        assert.deepEqual(parseNumberArray(text), as(1022)(text))
      },
    ),
  )
  assert.deepEqual(parseNumberArray('{}'), [])
  assert.deepEqual(parseNumberArray('{1e+20,1.5e-07,NULL}'), [1e20, 1.5e-7, null])
  assert.throws(() => parseNumberArray('[0:1]={1,2}'), /explicit bounds/)
})

test('timestamptz reads as the driver reads it', () => {
  const moment = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  const fractions = fc.constantFrom('', '.1', '.12', '.123', '.1239', '.999999', '.001', '.07')
  fc.assert(
    fc.property(
      moment,
      fractions,
      fc.constantFrom('+00', '+02', '-03:30'),
      (date, fraction, zone) => {
        const text = `${date.toISOString().slice(0, 19).replace('T', ' ')}${fraction}${zone}`
        assert.deepEqual(parseTimestamptz(text), as(1184)(text), text)
      },
    ),
  )
  for (const text of [
    'infinity',
    '-infinity',
    '0044-03-15 00:00:00+00 BC',
    '12026-01-01 00:00:00+00',
  ]) {
    assert.deepEqual(parseTimestamptz(text), as(1184)(text), text)
  }
})

test('an int8 beyond the safe range is an error, not a rounded number', () => {
  assert.equal(parseInt8('9007199254740991'), Number.MAX_SAFE_INTEGER)
  assert.equal(parseInt8('-9007199254740991'), Number.MIN_SAFE_INTEGER)
  assert.throws(() => parseInt8('9007199254740992'), /exceeds the safe integer range/)
})
