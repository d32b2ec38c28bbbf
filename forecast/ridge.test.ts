import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type FeatureTable, featureTable } from './feature-table.ts'
import { predictRidge, type Ridge, trainRidge } from './ridge.ts'
import { seededRandom } from './seeded-random.ts'

const penalty = 7

function problem(seed: number, rows: number, features: number) {
  const random = seededRandom(seed)
  const columns = Array.from({ length: features }, (_, c) =>
    Float64Array.from({ length: rows }, () => 100 * c + 3 ** c * random()),
  )
  const table = featureTable(Object.fromEntries(columns.map((column, c) => [`x${c}`, column])))
  const target = Float64Array.from({ length: rows }, (_, row) =>
    columns.reduce((sum, column, c) => sum + column[row]! / 3 ** c, random() - 0.5),
  )
  return { table, target }
}

const anyProblem = fc
  .tuple(fc.integer(), fc.integer({ min: 3, max: 40 }), fc.integer({ min: 1, max: 6 }))
  .map(([seed, rows, features]) => problem(seed, rows, features))

/** Features as the model sees them, with a column of ones before them. */
function seen({ means, deviations }: Ridge, table: FeatureTable): number[][] {
  return Array.from({ length: table.rows }, (_, row) => [
    1,
    ...table.columns.map((column, c) => (column[row]! - means[c]!) / deviations[c]!),
  ])
}

/** Solves the normal equations by elimination; the first feature bears no penalty. */
function normalEquations(rows: number[][], target: number[]): number[] {
  const size = rows[0]!.length
  const matrix = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) =>
      rows.reduce((sum, row) => sum + row[i]! * row[j]!, i === j && i > 0 ? penalty : 0),
    ),
    rows.reduce((sum, row, r) => sum + row[i]! * target[r]!, 0),
  ])
  for (let i = 0; i < size; i++) {
    for (let other = 0; other < size; other++) {
      if (other === i) continue
      const factor = matrix[other]![i]! / matrix[i]![i]!
      for (let j = i; j <= size; j++) matrix[other]![j]! -= factor * matrix[i]![j]!
    }
  }
  return matrix.map((row, i) => row[size]! / row[i]!)
}

function assertClose(actual: number, expected: number, what: string): void {
  const off = Math.abs(actual - expected)
  assert.ok(off <= 1e-8 * (1 + Math.abs(expected)), `${what}: ${actual}, not ${expected}`)
}

test('weights solve the normal equations', () => {
  fc.assert(
    fc.property(anyProblem, ({ table, target }) => {
      const { model } = trainRidge(table, [target], penalty)
      const [intercept, ...weights] = normalEquations(seen(model, table), [...target])
      assertClose(model.intercepts[0]!, intercept!, 'intercept')
      weights.forEach((weight, c) => {
        assertClose(model.weights[0]![c]!, weight, `x${c}`)
      })
    }),
    { numRuns: 50 },
  )
})

test('the left-out prediction is that of a model without the row', () => {
  fc.assert(
    fc.property(anyProblem, ({ table, target }) => {
      const { model, left_out } = trainRidge(table, [target], penalty)
      const rows = seen(model, table)
      for (const row of [0, table.rows - 1]) {
        const others = rows.filter((_, r) => r !== row)
        const weights = normalEquations(
          others,
          [...target].filter((_, r) => r !== row),
        )
        const answer = weights.reduce((sum, weight, i) => sum + weight * rows[row]![i]!, 0)
        assertClose(left_out[0]![row]!, answer, `row ${row}`)
      }
    }),
    { numRuns: 50 },
  )
})

test('targets are independent of each other', () => {
  const { table, target } = problem(3, 30, 4)
  const other = target.map((value) => 5 - 2 * value)
  const alone = [target, other].map((one) => trainRidge(table, [one], penalty))
  const both = trainRidge(table, [target, other], penalty)
  const answers = predictRidge(both.model, table)
  for (const t of [0, 1]) {
    assert.deepEqual(answers[t], predictRidge(alone[t]!.model, table)[0])
    assert.deepEqual(both.left_out[t], alone[t]!.left_out[0])
  }
})

test('missing values and constant features have no effect', () => {
  const { table, target } = problem(5, 30, 2)
  // Its mean over 30 rows is not quite itself.
  const constant = new Float64Array(30).fill(0.7)
  const unknown = new Float64Array(30).fill(Number.NaN)
  const wide = featureTable({ x0: table.columns[0]!, x1: table.columns[1]!, constant, unknown })
  const narrow = predictRidge(trainRidge(table, [target], penalty).model, table)[0]!
  const { model } = trainRidge(wide, [target], penalty)
  assert.deepEqual([...model.deviations.subarray(2)], [0, 0])
  predictRidge(model, wide)[0]!.forEach((value, row) => {
    assertClose(value, narrow[row]!, `row ${row}`)
  })
  const without = featureTable({ x0: unknown, x1: unknown, constant: unknown, unknown })
  assertClose(predictRidge(model, without)[0]![0]!, model.intercepts[0]!, 'nothing known')
})

test('invalid data are refused', () => {
  const { table, target } = problem(1, 5, 2)
  assert.throws(() => trainRidge(table, [target], 0), /penalty is 0/)
  assert.throws(() => trainRidge(table, [target.subarray(1)], 1), /target has 4 rows/)
  assert.throws(() => trainRidge(table, [target.with(2, Number.NaN)], 1), /row 2 is NaN/)
  const { model } = trainRidge(table, [target], 1)
  assert.throws(() => predictRidge(model, featureTable({ x1: target, x0: target })), /x1, not x0/)
})
