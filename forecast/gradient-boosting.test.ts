import assert from 'node:assert/strict'
import test from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { type FeatureTable, featureTable } from './feature-table.ts'
import { type BoostingOptions, predictBoosting, trainBoosting } from './gradient-boosting.ts'
import { quantileInPlace } from './quantiles.ts'
import { drawShare } from './row-sampler.ts'
import { seededRandom } from './seeded-random.ts'

const one_tree: BoostingOptions = {
  quantile: null,
  trees: 1,
  learning_rate: 1,
  leaves: 2,
  min_leaf: 1,
  column_share: 1,
  row_share: 1,
}
const many_trees: BoostingOptions = {
  quantile: 0.5,
  trees: 150,
  learning_rate: 0.1,
  leaves: 8,
  min_leaf: 100,
  column_share: 0.7,
  row_share: 0.5,
}

/** A target whose spread grows with `x`: y = x + x * u, u uniform from -0.5 to 0.5. */
function fan(rows: number, seed: number): { table: FeatureTable; target: Float64Array } {
  const random = seededRandom(seed)
  const column = () => Float64Array.from({ length: rows }, random)
  const [x, noise] = [column(), column()]
  const target = x.map((value) => value * (0.5 + random()))
  return { table: featureTable({ x, noise }), target }
}

test('a tree finds the step of the target, and predicts the mean on each side', () => {
  const x = Float64Array.of(1, 2, 3, 10, 11, 12)
  const table = featureTable({ x })
  const model = trainBoosting(table, Float64Array.of(1, 2, 3, 7, 8, 9), one_tree, seededRandom(1))
  assert.deepEqual([...predictBoosting(model, table)], [2, 2, 2, 8, 8, 8])
})

test('a leaf of a quantile tree predicts the quantile of its rows', () => {
  const { table, target } = fan(500, 1)
  const options = { ...one_tree, quantile: 0.9, leaves: 4, min_leaf: 30 }
  const model = trainBoosting(table, target, options, seededRandom(1))
  const predicted = predictBoosting(model, table)
  const answers = new Set(predicted)
  assert.equal(answers.size, 4)
  for (const answer of answers) {
    const rows = target.filter((_, row) => predicted[row] === answer)
    assert.ok(rows.length >= 30)
    assert.ok(Math.abs(quantileInPlace(rows, 0.9) - answer) < 1e-12)
  }
})

test('a tree fits the residuals of those before on its rows', () => {
  const { table, target } = fan(400, 5)
  const options = { ...many_trees, quantile: null, leaves: 4, min_leaf: 10 }
  const after = (trees: number) =>
    predictBoosting(trainBoosting(table, target, { ...options, trees }, seededRandom(3)), table)
  const [one, two] = [after(1), after(2)]
  // The draws of the base, and of rows and columns of each tree.
  const random = seededRandom(3)
  const draws = [400, 400, 2, 400].map((count, nth) =>
    drawShare(count, nth === 2 ? options.column_share : options.row_share, random),
  )
  const leaves = Map.groupBy(draws[3]!, (row) => Math.round(1e9 * (two[row]! - one[row]!)))
  assert.ok(leaves.size > 1)
  for (const [added, rows] of leaves) {
    const left = rows.reduce((sum, row) => sum + target[row]! - one[row]!, 0) / rows.length
    assert.ok(Math.abs(added / 1e9 - options.learning_rate * left) < 2e-9)
  }
})

test('quantiles on new rows follow the spread of the target', () => {
  const { table, target } = fan(4000, 2)
  const unseen = fan(4000, 3)
  for (const quantile of [0.1, 0.5, 0.9]) {
    const model = trainBoosting(table, target, { ...many_trees, quantile }, seededRandom(4))
    const predicted = predictBoosting(model, unseen.table)
    const below = unseen.target.filter((value, row) => value <= predicted[row]!).length / 4000
    assert.ok(Math.abs(below - quantile) < 0.03, `${below} of the rows below P${quantile}`)
    const error = predicted.reduce(
      (sum, value, row) =>
        sum + Math.abs(value - unseen.table.columns[0]![row]! * (0.5 + quantile)) / 4000,
      0,
    )
    assert.ok(error < 0.03, `P${quantile} is off by ${error}`)
  }
})

test('a quantile tree splits by spread where the mean is equal', () => {
  const x = Float64Array.from({ length: 40 }, (_, row) => (row < 20 ? 0 : 1))
  const target = x.map((value, row) => (row % 2 === 0 ? 1 : -1) * (value === 0 ? 1 : 3))
  const table = featureTable({ x })
  const model = trainBoosting(table, target, { ...one_tree, quantile: 0.7 }, seededRandom(1))
  assert.deepEqual(
    predictBoosting(model, table),
    x.map((value) => (value === 0 ? 1 : 3)),
  )
})

test('a missing value is distinct from all others', () => {
  const x = Float64Array.of(1, 2, 3, Number.NaN, Number.NaN, Number.NaN)
  const table = featureTable({ x })
  const model = trainBoosting(table, Float64Array.of(1, 1, 1, 5, 5, 5), one_tree, seededRandom(1))
  assert.deepEqual([...predictBoosting(model, table)], [1, 1, 1, 5, 5, 5])
})

test('the same seed gives the same model, also after structuredClone', () => {
  const { table, target } = fan(300, 7)
  const train = (seed: number) => trainBoosting(table, target, many_trees, seededRandom(seed))
  const model = train(8)
  assert.deepEqual(train(8), model)
  assert.notDeepEqual(train(9), model)
  assert.deepEqual(structuredClone(model), model)
  assert.deepEqual(deserialize(serialize(model)), model)
})

test('invalid training data are refused', () => {
  const { table, target } = fan(10, 1)
  const train = (change: Partial<BoostingOptions>) => () =>
    trainBoosting(table, target, { ...one_tree, ...change }, seededRandom(1))
  assert.throws(train({ quantile: 1 }), /quantile is 1/)
  assert.throws(train({ row_share: 0 }), /row_share is 0/)
  assert.throws(train({ column_share: 1.1 }), /column_share is 1.1/)
  assert.throws(train({ min_leaf: 0 }), /min_leaf is 0/)
  const model = train({})()
  assert.throws(() => predictBoosting(model, featureTable({ z: target })), /is z, not x/)
})
