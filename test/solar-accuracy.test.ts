import assert from 'node:assert/strict'
import test from 'node:test'
import { percentile_levels } from '@heliograph/forecast/quantiles'
import { coverage, meanPinballLoss } from '@heliograph/forecast/scores'
import { gefcomFolder, readGefcom } from '../scripts/gefcom.ts'
import { gefcom_options, replayTask } from '../scripts/gefcom-replay.ts'

/** Fewer and coarser trees than `npm run score:gefcom` grows: seconds instead of a minute. */
const options = {
  boosted_levels: [0.05, 0.25, 0.5, 0.75, 0.95],
  boosting: { ...gefcom_options.boosting, trees: 60, learning_rate: 0.12, leaves: 12 },
  forest: { ...gefcom_options.forest, trees: 40 },
}

test('power of three plants in April 2013 is forecast better than by the winner of the day', (t) => {
  const folder = gefcomFolder()
  if (folder === null) return t.skip('LEFT OUT: ../shared/data/forecast is not there')
  const { actual, quantiles, is_night } = replayTask(readGefcom(folder), 1, options)
  assert.equal(actual.length, 3 * 30 * 24)
  const pinball = meanPinballLoss(actual, quantiles, percentile_levels)!
  assert.ok(pinball < 0.01273, `${pinball}`)
  const lit = (column: Float64Array) => column.filter((_, row) => is_night[row] === 0)
  const held = coverage(lit(actual), lit(quantiles[9]!), lit(quantiles[89]!))!
  assert.ok(held > 0.72 && held < 0.88, `${held}`)
  quantiles.forEach((column, i) => {
    const below = quantiles[i - 1]
    assert.ok(column.every((value, row) => value <= 1 && value >= (below?.[row] ?? 0)))
  })
})
