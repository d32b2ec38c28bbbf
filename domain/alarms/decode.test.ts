import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { decodeAlarms, setBits } from './decode.ts'
import { huaweiSun2000 } from './huawei-sun2000.ts'
import { sunspecInverter } from './sunspec-inverter.ts'
import { type AlarmTable, alarmTable, graded } from './table.ts'
import { alarmTables } from './tables.ts'

/** A table as a maker of 32-bit words might have it, with its highest bit in use. */
const wide = alarmTable(
  {
    table_id: 'wide',
    manufacturer: 'Test',
    model_family: null,
    table_version: '1',
    word_bits: 32,
    not_available: 'all_bits',
    severity_by: 'heliograph',
    source: 'this test',
  },
  [[graded('minor')(31, 'top', 'other', ['Top', 'The top bit.'])]],
)

const codes = (table: AlarmTable, words: (number | null)[]) =>
  decodeAlarms(table, words).alarms.map(({ word, bit, code }) => `${word}.${bit} ${code}`)

test('the set bits of each word are its alarms', () => {
  assert.deepEqual(codes(huaweiSun2000, [0b101, 1 << 15, 1]), [
    '1.0 2001',
    '1.2 2011',
    '2.15 2080',
    '3.0 2081',
  ])
  assert.deepEqual(codes(sunspecInverter, [1 << 7]), ['1.7 OVER_TEMP'])
})

test('the highest severity is that of the most severe alarm', () => {
  const highest = (word: number) => decodeAlarms(huaweiSun2000, [word]).highest_severity
  assert.equal(highest(0), null)
  assert.equal(highest(1 << 3), 'warning')
  assert.equal(highest((1 << 3) | 1), 'major')
  assert.equal(decodeAlarms(sunspecInverter, [0b11]).highest_severity, 'critical')
})

test('a bit of a vendor word is an unknown bit without a severity', () => {
  assert.deepEqual(decodeAlarms(sunspecInverter, [null, 0b1000, null, null, 2 ** 30]), {
    alarms: [],
    unknown_bits: [
      { word: 2, bit: 3, mask: 8 },
      { word: 5, bit: 30, mask: 2 ** 30 },
    ],
    not_available: [],
    highest_severity: null,
  })
})

test('bit 31 has a positive mask', () => {
  assert.deepEqual(codes(wide, [2 ** 31]), ['1.31 top'])
  assert.deepEqual(decodeAlarms(wide, [0, 2 ** 31 + 1]).unknown_bits, [
    { word: 2, bit: 0, mask: 1 },
    { word: 2, bit: 31, mask: 2_147_483_648 },
  ])
})

test('a bit above the width of the words is an unknown bit', () => {
  assert.deepEqual(decodeAlarms(huaweiSun2000, [2 ** 16]).unknown_bits, [
    { word: 1, bit: 16, mask: 65_536 },
  ])
})

test('a word that is not available has no alarms', () => {
  const cases: [AlarmTable, number][] = [
    [huaweiSun2000, 0xffff],
    [wide, 0xffff_ffff],
    [sunspecInverter, 0xffff_ffff],
    [sunspecInverter, 0x8000_0000],
    [sunspecInverter, 0x8000_0001],
  ]
  for (const [table, value] of cases) {
    assert.deepEqual(decodeAlarms(table, [0, value]), {
      alarms: [],
      unknown_bits: [],
      not_available: [{ word: 2, value }],
      highest_severity: null,
    })
  }
  assert.equal(decodeAlarms(huaweiSun2000, [0xfffe]).alarms.length, 15)
  assert.equal(decodeAlarms(sunspecInverter, [0x7fff_ffff]).unknown_bits.length, 15)
})

test('an invalid alarm word is refused by name', () => {
  for (const value of [-1, 2 ** 32, 1.5, Number.NaN]) {
    assert.throws(() => decodeAlarms(wide, [0, value]), {
      name: 'RangeError',
      message: `alarm_2 is ${value}, not an integer of 0 to 4294967295`,
    })
  }
  assert.throws(() => decodeAlarms(wide, [0, 0, 0, 0, 0, 0]), /6 alarm words, at most 5/)
})

const anyWord = fc.option(
  fc.oneof(fc.nat(0xffff), fc.integer({ min: 0, max: 0xffff_ffff }), fc.constant(2 ** 31)),
)
const anyTable = fc.constantFrom(...alarmTables, wide)

test('every set bit is exactly once an alarm, an unknown bit, or in a word not available', () => {
  fc.assert(
    fc.property(anyTable, fc.array(anyWord, { maxLength: 5 }), (table, words) => {
      const { alarms, unknown_bits, not_available } = decodeAlarms(table, words)
      const again = words.map(() => 0)
      for (const { word, bit } of [...alarms, ...unknown_bits]) again[word - 1]! += 2 ** bit
      for (const { word, value } of not_available) again[word - 1]! += value
      assert.deepEqual(
        again,
        words.map((value) => value ?? 0),
      )
      for (const { bit, mask } of unknown_bits) assert.equal(mask, 2 ** bit)
    }),
  )
})

test('the set bits of a word add up to it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (value) => {
      assert.equal(
        setBits(value).reduce((sum, bit) => sum + 2 ** bit, 0),
        value,
      )
    }),
  )
})
