import assert from 'node:assert/strict'
import test from 'node:test'
import { addSums, noSums, scoresOf, sumsOf } from './score-sums.ts'

const step = { p10: 24, p50: 40, p90: 56, actual: 50, persistence: 30, is_hindcast: false }
const other = { p10: 12, p50: 20, p90: 28, actual: 60, persistence: null, is_hindcast: true }

function assertNear(value: number | null, by_hand: number): void {
  assert.ok(value !== null && Math.abs(value - by_hand) < 1e-9, `${value}, not ${by_hand}`)
}

test('scores equal those computed by hand', () => {
  const sums = addSums(sumsOf(step, 100), sumsOf(other, 100))
  assert.deepEqual([sums.count, sums.hindcasts, sums.curtailed], [2, 1, 0])
  const scores = scoresOf(sums)
  assertNear(scores.mae, 25)
  assertNear(scores.rmse, Math.sqrt((10 ** 2 + 40 ** 2) / 2))
  assertNear(scores.bias, -25)
  assertNear(scores.mape_pct, (100 * (10 / 50 + 40 / 60)) / 2)
  assertNear(scores.coverage_pct, 50)
  // The first missed by 10 and persistence by 20; the second has none.
  assertNear(scores.skill_pct, 50)
  assertNear(scores.pinball, (0.1 * 26 + 0.5 * 10 + 0.1 * 6 + 0.1 * 48 + 0.5 * 40 + 0.9 * 32) / 6)
  assertNear(scores.r2, 1 - (10 ** 2 + 40 ** 2) / 2 / 25)
})

test('relative errors count from 5 % of rated power on', () => {
  const dim = sumsOf({ ...step, actual: 4.9 }, 100)
  assert.deepEqual([dim.relative_count, scoresOf(dim).mape_pct], [0, null])
  assert.equal(sumsOf({ ...step, actual: 5 }, 100).relative_count, 1)
})

test('without steps, or without variance, scores are null', () => {
  assert.deepEqual([...new Set(Object.values(scoresOf(noSums)))], [null])
  const sure = scoresOf(sumsOf({ ...step, persistence: step.actual }, 100))
  assert.deepEqual([sure.r2, sure.skill_pct], [null, null])
})
