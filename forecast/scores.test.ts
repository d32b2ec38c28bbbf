import assert from 'node:assert/strict'
import test from 'node:test'
import { coverage, meanAbsoluteError, meanPinballLoss, pinballLoss } from './scores.ts'

const column = (...values: number[]) => Float64Array.from(values)
const unknown = Number.NaN

function assertNear(actual: number | null, expected: number, within = 1e-12): void {
  assert.ok(actual !== null && Math.abs(actual - expected) <= within, `${actual}, not ${expected}`)
}

test('pinball loss weighs low predictions by the level, high ones by the rest', () => {
  assertNear(pinballLoss(column(10), column(8), 0.9), 1.8)
  assertNear(pinballLoss(column(10), column(12), 0.9), 0.2)
  assertNear(pinballLoss(column(10, 10, unknown), column(8, 12, 3), 0.9), 1)
  assertNear(meanPinballLoss(column(10), [column(8), column(12)], [0.1, 0.9]), 0.2)
})

test('coverage includes the bounds, and leaves out unknown rows', () => {
  const [lower, upper] = [column(0, 0, 0, unknown, 0), column(1, 1, 1, 1, 1)]
  assert.equal(coverage(column(0, 1, 1.1, 0.5, unknown), lower, upper), 2 / 3)
  assert.equal(coverage(column(unknown), column(0), column(1)), null)
})

test('the error of a point forecast is the mean absolute one', () => {
  assertNear(meanAbsoluteError(column(10, 20, unknown), column(13, 16, 5)), 3.5)
})

test('scores without rows are null, and wrong lengths are refused', () => {
  assert.equal(meanAbsoluteError(column(), column()), null)
  assert.equal(meanAbsoluteError(column(unknown), column(1)), null)
  assert.equal(meanPinballLoss(column(unknown), [column(1)], [0.5]), null)
  assert.equal(meanPinballLoss(column(1), [], []), null)
  assert.throws(() => meanAbsoluteError(column(1), column(1, 2)), /2 forecasts for 1 rows/)
  assert.throws(() => meanPinballLoss(column(1), [], [0.5]), /no column for level 0/)
})
