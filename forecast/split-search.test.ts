import assert from 'node:assert/strict'
import test from 'node:test'
import { featureTable } from './feature-table.ts'
import { type BinnedTable, binTable, fitBins } from './histogram-bins.ts'
import { seededRandom } from './seeded-random.ts'
import {
  bestSplit,
  bestSplitOfRows,
  createBinTally,
  createHistogram,
  fillHistogram,
  partitionRows,
  subtractHistogram,
} from './split-search.ts'

const random = seededRandom(3)
const count = 300
const columns = Int32Array.of(0, 2)
const values = Float64Array.from({ length: count }, () => random() - 0.3)
const table = binned()

function binned(): BinnedTable {
  const column = (steps: number) =>
    Float64Array.from({ length: count }, () => Math.floor(random() * steps) || Number.NaN)
  const features = featureTable({ a: column(1000), b: column(9), c: column(40) })
  return binTable(fitBins(features), features)
}

function squaredError(rows: readonly number[]): number {
  const mean = rows.reduce((sum, row) => sum + values[row]!, 0) / rows.length
  return rows.reduce((sum, row) => sum + (values[row]! - mean) ** 2, 0)
}

/** Every split there is, tried one by one. */
function bestByTrial(rows: Int32Array, min_leaf: number): number {
  let gain = 0
  for (const column of columns) {
    for (let bin = 0; bin < 255; bin++) {
      const first = [...rows].filter((row) => table.columns[column]![row]! <= bin)
      const second = [...rows].filter((row) => table.columns[column]![row]! > bin)
      if (Math.min(first.length, second.length) < min_leaf) continue
      gain = Math.max(gain, squaredError([...rows]) - squaredError(first) - squaredError(second))
    }
  }
  return gain
}

function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-9, `${actual}, not ${expected}`)
}

test('both searches find the split of an exhaustive search', () => {
  const tally = createBinTally()
  for (const min_leaf of [1, 5, 40]) {
    const rows = Int32Array.from({ length: 120 }, () => Math.floor(random() * count))
    const histogram = createHistogram(columns.length)
    fillHistogram(histogram, table, columns, rows, values)
    const wanted = bestByTrial(rows, min_leaf)
    assertNear(bestSplit(histogram, table, columns, min_leaf)?.gain, wanted)
    assertNear(bestSplitOfRows(tally, table, columns, rows, values, min_leaf)?.gain, wanted)
  }
})

test('a node too small, or without a gain, is not split', () => {
  const rows = Int32Array.from({ length: count }, (_, row) => row)
  const same = new Float64Array(count).fill(0.1)
  for (const [of_rows, min_leaf] of [
    [values, 151],
    [same, 1],
  ] as const) {
    const histogram = createHistogram(columns.length)
    fillHistogram(histogram, table, columns, rows, of_rows)
    assert.equal(bestSplit(histogram, table, columns, min_leaf), null)
    assert.equal(bestSplitOfRows(createBinTally(), table, columns, rows, of_rows, min_leaf), null)
  }
})

test("subtracting a child's histogram gives that of its sibling", () => {
  const rows = Int32Array.from({ length: count }, (_, row) => row)
  const [parent, first, second] = [1, 2, 3].map(() => createHistogram(columns.length))
  fillHistogram(parent!, table, columns, rows, values)
  const middle = partitionRows(rows, new Int32Array(count), table.columns[1]!, 4)
  assert.ok(middle > 50 && middle < 250)
  fillHistogram(first!, table, columns, rows.subarray(0, middle), values)
  fillHistogram(second!, table, columns, rows.subarray(middle), values)
  subtractHistogram(parent!, first!)
  parent!.forEach((value, i) => {
    assertNear(value, second![i]!)
  })
})

test('a partition keeps every row, and the order on both sides', () => {
  const rows = Int32Array.from({ length: count }, (_, row) => row)
  const bins = table.columns[2]!
  const middle = partitionRows(rows, new Int32Array(count), bins, 10)
  const all = Array.from({ length: count }, (_, row) => row)
  assert.deepEqual(
    [...rows.subarray(0, middle)],
    all.filter((row) => bins[row]! <= 10),
  )
  assert.deepEqual(
    [...rows.subarray(middle)],
    all.filter((row) => bins[row]! > 10),
  )
})
