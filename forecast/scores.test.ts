import assert from 'node:assert/strict'
import test from 'node:test'
import { percentile_levels } from './quantiles.ts'
import {
  bias,
  coverage,
  crpsOfQuantiles,
  meanAbsoluteError,
  meanPinballLoss,
  normalisedError,
  pinballLoss,
  rootMeanSquareError,
  skill,
} from './scores.ts'

const column = (...values: number[]) => Float64Array.from(values)
const unknown = Number.NaN

function assertNear(actual: number | null, expected: number, within = 1e-12): void {
  assert.ok(actual !== null && Math.abs(actual - expected) <= within, `${actual}, not ${expected}`)
}

test('pinball loss weighs being too low by the level, being too high by the rest', () => {
  assertNear(pinballLoss(column(10), column(8), 0.9), 1.8)
  assertNear(pinballLoss(column(10), column(12), 0.9), 0.2)
  assertNear(pinballLoss(column(10, 10, unknown), column(8, 12, 3), 0.9), 1)
  assertNear(meanPinballLoss(column(10), [column(8), column(12)], [0.1, 0.9]), 0.2)
})

test('the score of a sure forecast is its absolute error', () => {
  const sure = percentile_levels.map(() => column(3))
  assertNear(crpsOfQuantiles(column(5), sure, percentile_levels), 2)
})

test('the score of a uniform forecast is that of the closed form', () => {
  const uniform = percentile_levels.map((level) => column(level))
  for (const actual of [0, 0.3, 0.5]) {
    const exact = actual ** 2 - actual + 1 / 3
    assertNear(crpsOfQuantiles(column(actual), uniform, percentile_levels), exact, 2e-4)
  }
})

test('coverage counts the bounds in, and leaves out what is unknown', () => {
  const [lower, upper] = [column(0, 0, 0, unknown, 0), column(1, 1, 1, 1, 1)]
  assert.equal(coverage(column(0, 1, 1.1, 0.5, unknown), lower, upper), 2 / 3)
  assert.equal(coverage(column(unknown), column(0), column(1)), null)
})

test('errors of point forecasts', () => {
  const [actual, predicted] = [column(10, 20, unknown), column(13, 16, 5)]
  assertNear(meanAbsoluteError(actual, predicted), 3.5)
  assertNear(normalisedError(actual, predicted, 50), 7)
  assertNear(rootMeanSquareError(actual, predicted), Math.sqrt(12.5))
  assertNear(bias(actual, predicted), -0.5)
})

test('skill is the share of the error that is gone', () => {
  assert.equal(skill(1, 4), 0.75)
  assert.equal(skill(6, 4), -0.5)
  assert.equal(skill(null, 4), null)
  assert.equal(skill(1, 0), null)
})

test('what is not known is null, what does not fit is refused', () => {
  assert.equal(meanAbsoluteError(column(), column()), null)
  assert.equal(rootMeanSquareError(column(unknown), column(1)), null)
  assert.equal(normalisedError(column(1), column(1), 0), null)
  assert.equal(meanPinballLoss(column(unknown), [column(1)], [0.5]), null)
  assert.equal(meanPinballLoss(column(1), [], []), null)
  assert.equal(crpsOfQuantiles(column(1), [], []), null)
  assert.throws(() => bias(column(1), column(1, 2)), /2 forecasts for 1 rows/)
  assert.throws(() => meanPinballLoss(column(1), [], [0.5]), /no column for level 0/)
})
