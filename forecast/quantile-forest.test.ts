import assert from 'node:assert/strict'
import test from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { featureTable } from './feature-table.ts'
import { type ForestOptions, predictForest, trainForest } from './quantile-forest.ts'
import { percentile_levels } from './quantiles.ts'
import { seededRandom } from './seeded-random.ts'

const options: ForestOptions = { trees: 60, min_leaf: 20, column_share: 0.6 }

/** A target whose spread grows with `x`: y = x + x * u, u uniform from -0.5 to 0.5. */
function fan(rows: number, seed: number) {
  const random = seededRandom(seed)
  const column = () => Float64Array.from({ length: rows }, random)
  const [x, noise] = [column(), column()]
  return { table: featureTable({ x, noise }), target: x.map((v) => v * (0.5 + random())) }
}

test('quantiles on new rows follow the spread of the target', () => {
  const { table, target } = fan(3000, 1)
  const unseen = fan(1500, 2)
  const model = trainForest(table, target, options, seededRandom(3))
  const levels = [0.1, 0.5, 0.9]
  predictForest(model, unseen.table, levels).forEach((predicted, i) => {
    const below = unseen.target.filter((value, row) => value <= predicted[row]!).length / 1500
    assert.ok(Math.abs(below - levels[i]!) < 0.03, `${below} of the rows below P${levels[i]}`)
    const error = predicted.reduce(
      (sum, value, row) =>
        sum + Math.abs(value - unseen.table.columns[0]![row]! * (0.5 + levels[i]!)) / 1500,
      0,
    )
    assert.ok(error < 0.05, `P${levels[i]} is off by ${error}`)
  })
})

test('quantiles never cross, and are targets of the training', () => {
  const { table, target } = fan(500, 4)
  const model = trainForest(table, target, options, seededRandom(5))
  const quantiles = predictForest(model, table, percentile_levels)
  const seen = new Set(target)
  for (let row = 0; row < table.rows; row++) {
    quantiles.forEach((column, level) => {
      assert.ok(seen.has(column[row]!))
      if (level > 0) assert.ok(column[row]! >= quantiles[level - 1]![row]!)
    })
  }
})

test('a leaf of all rows predicts the quantiles of the drawn rows', () => {
  const table = featureTable({ x: Float64Array.from({ length: 1000 }, (_, i) => i) })
  const target = table.columns[0]!.map((x) => x / 1000)
  const model = trainForest(
    table,
    target,
    { trees: 50, min_leaf: 501, column_share: 1 },
    seededRandom(6),
  )
  assert.equal(model.trees.columns.length, 50)
  const [lowest, median, highest] = predictForest(model, table, [0, 0.5, 1])
  assert.equal(lowest![0], 0)
  assert.ok(Math.abs(median![0]! - 0.5) < 0.01)
  assert.equal(highest![0], 0.999)
})

test('more targets than ranks are thinned', () => {
  const rows = 70_000
  const x = Float64Array.from({ length: rows }, (_, i) => i / rows)
  const model = trainForest(
    featureTable({ x }),
    x,
    { trees: 2, min_leaf: 5000, column_share: 1 },
    seededRandom(8),
  )
  assert.equal(model.targets.length, 65_536)
  const asked = featureTable({ x: Float64Array.of(0.02, 0.98) })
  const [median] = predictForest(model, asked, [0.5])
  assert.ok(median![0]! < 0.15 && median![1]! > 0.85)
})

test('the same seed gives the same forest, also after structuredClone', () => {
  const { table, target } = fan(200, 9)
  const train = (seed: number) => trainForest(table, target, options, seededRandom(seed))
  const model = train(1)
  assert.deepEqual(train(1), model)
  assert.notDeepEqual(train(2), model)
  assert.deepEqual(structuredClone(model), model)
  assert.deepEqual(deserialize(serialize(model)), model)
})

test('invalid data and requests are refused', () => {
  const { table, target } = fan(20, 1)
  const train = (change: Partial<ForestOptions>) => () =>
    trainForest(table, target, { ...options, ...change }, seededRandom(1))
  assert.throws(train({ trees: 0 }), /trees is 0/)
  assert.throws(train({ column_share: 0 }), /column_share is 0/)
  assert.throws(train({ min_leaf: 0.5 }), /min_leaf is 0.5/)
  assert.throws(() => predictForest(train({})(), table, [0.5, 0.4]), /0.4 does not ascend/)
  assert.throws(() => predictForest(train({})(), table, [1.2]), /1.2 does not ascend/)
})
