import assert from 'node:assert/strict'
import test from 'node:test'
import { adaptiveLevel, calibrateIntervals, growIntervals } from './conformal.ts'
import { coverage } from './scores.ts'
import { seededRandom } from './seeded-random.ts'

const column = (...values: number[]) => Float64Array.from(values)

/** Intervals half as wide as they should be, about targets of changing spread. */
function narrow(rows: number, seed: number) {
  const random = seededRandom(seed)
  const spread = Float64Array.from({ length: rows }, () => 1 + 9 * random())
  return {
    actual: spread.map((width) => width * (random() - 0.5)),
    lower: spread.map((width) => -0.2 * width),
    upper: spread.map((width) => 0.2 * width),
  }
}

test('the share is that of the row at the level, in widths of its interval', () => {
  const [lower, upper] = [column(0, 0, 0, 0), column(10, 10, 10, 20)]
  // Outside by 1, inside by 2, outside by 3 of 10, inside by 4 of 20.
  const actual = column(11, 8, -3, 16)
  const share = (level: number) => calibrateIntervals(lower, upper, actual, level)
  assert.equal(share(0.4), -0.2)
  assert.equal(share(0.5), 0.1)
  assert.equal(share(0.8), 0.3)
  assert.equal(share(0.99), 0.3)
  assert.deepEqual(growIntervals({ lower: column(0, 5), upper: column(10, 6) }, 0.5), {
    lower: column(-5, 4.5),
    upper: column(15, 6.5),
  })
})

test('intervals that were too narrow cover what was asked, on rows never seen', () => {
  const seen = narrow(2000, 1)
  const share = calibrateIntervals(seen.lower, seen.upper, seen.actual, 0.8)
  assert.ok(Math.abs(share - 0.5) < 0.05, `grown by ${share}`)
  const unseen = narrow(2000, 2)
  assert.ok(coverage(unseen.actual, unseen.lower, unseen.upper)! < 0.45)
  const { lower, upper } = growIntervals(unseen, share)
  assert.ok(Math.abs(coverage(unseen.actual, lower, upper)! - 0.8) < 0.03)
})

test('intervals that are too wide shrink, and never turn inside out', () => {
  const [lower, upper] = [column(-1, -1, -1), column(1, 1, 1)]
  const share = calibrateIntervals(lower, upper, column(0, 0, 0), 0.5)
  assert.equal(share, -0.5)
  assert.deepEqual(growIntervals({ lower, upper }, share).lower, column(0, 0, 0))
  const shrunk = growIntervals({ lower, upper }, -0.8)
  assert.ok(shrunk.lower.every((low, row) => low <= shrunk.upper[row]!))
})

test('an interval of no width counts as the least width', () => {
  assert.equal(calibrateIntervals(column(5), column(5), column(7), 0.8, 4), 0.5)
  assert.deepEqual(growIntervals({ lower: column(5), upper: column(5) }, 0.5, 4), {
    lower: column(3),
    upper: column(7),
  })
})

test('rows that are unknown are left out; none at all is refused', () => {
  const [lower, upper] = [column(0, 0), column(1, 1)]
  assert.equal(calibrateIntervals(lower, upper, column(2, Number.NaN), 0.5), 1)
  assert.throws(() => calibrateIntervals(lower, upper, column(Number.NaN, Number.NaN), 0.5))
  assert.throws(() => calibrateIntervals(lower, upper, column(1), 0.5), /2, 2 bounds for 1 rows/)
})

test('the adaptive level keeps the promise where calibration alone breaks it', () => {
  const random = seededRandom(5)
  const past = Float64Array.from({ length: 200 }, random)
  const zeros = past.map(() => 0)
  const coveredWith = (step: number) => {
    let level = 0.8
    let covered = 0
    for (let row = 0; row < 3000; row++) {
      // Errors have become larger than those that the intervals are calibrated with.
      const error = Math.sqrt(random())
      const is_covered = error <= calibrateIntervals(zeros, zeros, past, level, 1) ? 1 : 0
      covered += is_covered / 3000
      level = adaptiveLevel(level, 0.8, is_covered, step)
    }
    return covered
  }
  assert.ok(coveredWith(0) < 0.7)
  assert.ok(Math.abs(coveredWith(0.02) - 0.8) < 0.02)
})
