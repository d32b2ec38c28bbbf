import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Checker, firstFault } from './first-fault.ts'

const Row = Type.Object({ at: Type.Integer(), values: Type.Array(Type.Number()) })
const Report = Type.Object(
  { rows: Type.Array(Row, { maxItems: 5000 }), names: Type.Array(Type.String()) },
  { additionalProperties: false },
)

/** Counts the entries of all lists in which faults were looked for. */
function watched() {
  const checker = Compile(Report)
  const seen = { entries: 0 }
  const entriesIn = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.values(value).reduce((sum: number, one) => sum + 1 + entriesIn(one), 0)
  const watching: Checker<unknown> = {
    Check: (value): value is unknown => checker.Check(value),
    Errors(value) {
      seen.entries += entriesIn(value)
      return checker.Errors(value)
    },
  }
  return { checker, watching, seen }
}

const rows = (count: number): { at: unknown; values: unknown[] }[] =>
  Array.from({ length: count }, (_, at) => ({ at, values: [1, 2] }))
const names = (count: number): unknown[] => Array.from({ length: count }, (_, nth) => `${nth}`)

test('in long lists the fault is the one that a search of all would find', () => {
  for (const nth of [0, 1, 63, 64, 2047, 2048, 4998, 4999]) {
    const report = { rows: rows(5000), names: names(3000) }
    report.rows[nth]!.at = 'late'
    const { checker, watching, seen } = watched()
    const [expected] = checker.Errors(report)
    assert.equal(firstFault(watching, report), `${expected!.instancePath}: ${expected!.message}`)
    assert.match(expected!.instancePath, new RegExp(`^/rows/${nth}/at$`))
    assert.ok(seen.entries < 600, `${seen.entries} entries`)
    assert.equal(report.rows.length, 5000)
  }
})

test('a fault in a list within a list, or beside it, is named by its place', () => {
  const inner = { rows: rows(300), names: [] }
  inner.rows[200]!.values = Array.from({ length: 1000 }, (_, nth) => (nth === 777 ? 'x' : nth))
  const { watching, seen } = watched()
  assert.equal(firstFault(watching, inner), '/rows/200/values/777: must be number')
  assert.ok(seen.entries < 600)
  const beside = { rows: rows(300), names: [...names(900), 7] }
  assert.equal(firstFault(watched().watching, beside), '/names/900: must be string')
})

test('a list that is too long, and a value without any, are named as well', () => {
  const { watching, seen } = watched()
  assert.equal(
    firstFault(watching, { rows: rows(5001), names: [] }),
    '/rows: 5001 entries are too many',
  )
  const fields = Object.fromEntries(names(1001).map((name) => [String(name), 0]))
  assert.equal(firstFault(watching, { rows: [fields], names: [] }), '/rows/0: has too many fields')
  assert.equal(seen.entries, 0)
  assert.equal(firstFault(watching, 7), ': must be object')
  assert.match(firstFault(watching, { rows: [] }), /^: must have required properties names/)
})
