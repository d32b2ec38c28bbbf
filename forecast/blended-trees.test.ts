import assert from 'node:assert/strict'
import test from 'node:test'
import { type BlendOptions, predictBlend, trainBlend } from './blended-trees.ts'
import { featureTable } from './feature-table.ts'
import { predictBoosting } from './gradient-boosting.ts'
import { predictForest } from './quantile-forest.ts'
import { percentile_levels } from './quantiles.ts'
import { coverage } from './scores.ts'
import { seededRandom } from './seeded-random.ts'

const options: BlendOptions = {
  boosted_levels: [0.05, 0.5, 0.95],
  boosting: {
    trees: 60,
    learning_rate: 0.1,
    leaves: 8,
    min_leaf: 30,
    column_share: 0.7,
    row_share: 0.5,
  },
  forest: { trees: 40, min_leaf: 10, column_share: 0.6 },
}

/** A target whose spread grows with `x`: y = x + x * u, u uniform from -0.5 to 0.5. */
function fan(rows: number, seed: number) {
  const random = seededRandom(seed)
  const column = () => Float64Array.from({ length: rows }, random)
  const [x, noise] = [column(), column()]
  return { table: featureTable({ x, noise }), target: x.map((v) => v * (0.5 + random())) }
}

const past = fan(2000, 1)
const unseen = fan(1000, 2)
const model = trainBlend(past.table, past.target, options, seededRandom(3))

test('a blend is the mean of its boosted quantiles and its forest', () => {
  const [low, median, high] = predictBlend(model, unseen.table, options.boosted_levels)
  const boosted = model.boosted.map((trees) => predictBoosting(trees, unseen.table))
  const forest = predictForest(model.forest, unseen.table, options.boosted_levels)
  let compared = 0
  for (let row = 0; row < 1000; row++) {
    if (!(boosted[0]![row]! <= boosted[1]![row]! && boosted[1]![row]! <= boosted[2]![row]!))
      continue
    compared += 1
    for (const [i, column] of [low!, median!, high!].entries()) {
      const halfway = (boosted[i]![row]! + forest[i]![row]!) / 2
      assert.ok(Math.abs(column[row]! - halfway) < 1e-12)
    }
  }
  assert.ok(compared > 900)
})

test('quantiles never cross, and have their coverage on new rows', () => {
  const quantiles = predictBlend(model, unseen.table, percentile_levels)
  quantiles.slice(1).forEach((column, i) => {
    assert.ok(column.every((value, row) => value >= quantiles[i]![row]!))
  })
  const held = coverage(unseen.target, quantiles[9]!, quantiles[89]!)!
  assert.ok(Math.abs(held - 0.8) < 0.06, `${held}`)
})

test('leaves of tail quantiles have more rows than those of the median', () => {
  const bare = { ...options.boosting, trees: 1, leaves: 1000, min_leaf: 20, row_share: 1 }
  const { boosted } = trainBlend(
    past.table,
    past.target,
    { ...options, boosting: bare },
    seededRandom(4),
  )
  const [fewest_of_tail, fewest_of_median] = boosted.map((trees) => {
    const rows = new Map<number, number>()
    for (const answer of predictBoosting(trees, past.table)) {
      rows.set(answer, (rows.get(answer) ?? 0) + 1)
    }
    return Math.min(...rows.values())
  })
  assert.ok(fewest_of_tail! >= 200, `${fewest_of_tail}`)
  assert.ok(fewest_of_median! >= 20 && fewest_of_median! < 40, `${fewest_of_median}`)
})

test('a blend survives structuredClone', () => {
  const clone = structuredClone(model)
  assert.deepEqual(
    predictBlend(clone, unseen.table, [0.5]),
    predictBlend(model, unseen.table, [0.5]),
  )
})
