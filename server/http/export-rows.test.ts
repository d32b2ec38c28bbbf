import assert from 'node:assert/strict'
import { text as textOf } from 'node:stream/consumers'
import test from 'node:test'
import { systemTimers } from '@heliograph/domain/clock'
import fc from 'fast-check'
import { readCsv } from '../../test/conventions/csv.ts'
import { testDatabase } from '../../test/postgres.ts'
import { copyOut, inlined } from '../storage/copy-out.ts'
import { copyStatement, type ExportColumn } from './export-rows.ts'

const columns: readonly ExportColumn[] = [
  { name: 'nth', sql: 'nth', type: 'number' },
  { name: 'at', sql: 'at', type: 'instant' },
  { name: 'value', sql: 'value', type: 'number' },
  { name: 'is_on', sql: 'is_on', type: 'boolean' },
  { name: 'word', sql: 'word', type: 'word' },
  { name: 'note', sql: 'note', type: 'text' },
  { name: 'parts', sql: 'parts', type: 'numbers' },
  { name: 'more', sql: 'more', type: 'json' },
]

const from = `FROM jsonb_to_recordset($1::jsonb) AS r (nth int, at timestamptz, value float8,
  is_on boolean, word text, note text, parts float8[], more jsonb) ORDER BY nth`

const number = fc
  .double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 })
  .map((value) => (Math.abs(value) < 1e-300 ? 0 : value))
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })
const troubled = fc.stringMatching(/^[=+\-@＝'",;\n\r\t\\a1 $]{0,12}$/)
const row = fc.record({
  at: orNull(
    fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
  ),
  value: orNull(number),
  is_on: orNull(fc.boolean()),
  word: orNull(fc.constantFrom('mppt', 'fault')),
  note: orNull(
    fc.oneof(troubled, fc.string({ unit: 'grapheme' })).filter((s) => !s.includes('\0')),
  ),
  parts: orNull(fc.array(orNull(number), { maxLength: 4 })),
  more: orNull(
    fc.record({ text: troubled, list: fc.array(fc.integer()) }, { noNullPrototype: true }),
  ),
})

/** As a spreadsheet is to see it. */
function harmless(note: string): string {
  const starts = (text: string, at: number) => '=+-@＝＋－＠'.includes(text[at] ?? ' ')
  const cells = [...note].map((letter, at, all) => {
    const begins = at === 0 || [';', '\t', '\r', '\n'].includes(all[at - 1]!)
    return begins && starts(letter, 0) ? `'${letter}` : letter
  })
  return (/^[\t\r]/.test(note) ? "'" : '') + cells.join('')
}

function fieldValue(name: string, field: string): unknown {
  if (name === 'nth' || name === 'value') return Number(field)
  return name === 'is_on' || name === 'parts' || name === 'more' ? JSON.parse(field) : field
}

test('both forms give back every value of any rows', async (t) => {
  const { db, drop } = await testDatabase({ migrations: false })
  t.after(drop)
  const copied = (format: 'csv' | 'ndjson', values: string[]) => {
    const { bytes } = copyOut(db, {
      statement: copyStatement(format, { columns, from, values }),
      timeout_ms: 60_000,
      patience: { wait_ms: 60_000, bytes_min: 1 },
      timers: systemTimers,
      signal: new AbortController().signal,
    })
    return textOf(bytes)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (given) => {
      const rows = given.map((one, nth) => ({ nth, ...one }))
      const values = [JSON.stringify(rows)]
      const lines = (await copied('ndjson', values)).split('\n')
      assert.equal(lines.pop(), '')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        rows,
      )
      const csv = await copied('csv', values)
      assert.equal(csv.slice(0, csv.indexOf('\n')), columns.map(({ name }) => name).join(','))
      assert.deepEqual(
        readCsv(csv, fieldValue),
        rows.map((one) => ({ ...one, note: one.note && harmless(one.note) })),
      )
    }),
    { numRuns: 60 },
  )
})

test('values take the places of their numbers, and none may be missing', () => {
  assert.equal(
    inlined('a = $2 AND b = $1 OR $10', [1, "it's", ...Array(8).fill(null)]),
    `a = 'it''s' AND b = '1' OR NULL`,
  )
  assert.throws(() => inlined('$2', [1]), /no value for \$2/)
})
