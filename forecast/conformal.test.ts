import assert from 'node:assert/strict'
import test from 'node:test'
import { adaptiveLevel, conformalRank } from './conformal.ts'
import { seededRandom } from './seeded-random.ts'

test('the rank leaves as many scores above as the level allows, with one row added', () => {
  assert.equal(conformalRank(19, 0.9), 17)
  assert.equal(conformalRank(10, 0.8), 8)
  // More than so few scores can vouch for: the outermost stands.
  assert.deepEqual([conformalRank(5, 0.9), conformalRank(1, 0.9)], [4, 0])
  // A hundred scores that prove as much as nine, or as ten.
  assert.deepEqual([conformalRank(100, 0.9, 9), conformalRank(100, 0.8, 10)], [99, 87])
  assert.deepEqual([conformalRank(5, 1.2), conformalRank(5, -0.1)], [4, 0])
})

test('the share of new scores below the rank is the level', () => {
  const random = seededRandom(2)
  let below = 0
  for (let trial = 0; trial < 4000; trial++) {
    const scores = Float64Array.from({ length: 29 }, random).sort()
    if (random() < scores[conformalRank(29, 0.9)]!) below += 1 / 4000
  }
  assert.ok(Math.abs(below - 0.9) < 0.015, `${below}`)
})

test('the adaptive level holds its coverage where plain calibration does not', () => {
  const random = seededRandom(5)
  const past = Float64Array.from({ length: 200 }, random).sort()
  const coveredWith = (step: number) => {
    let level = 0.8
    let covered = 0
    for (let row = 0; row < 3000; row++) {
      // Errors have become larger than those that the intervals are calibrated with.
      const error = Math.sqrt(random())
      const is_covered = error <= past[conformalRank(past.length, level)]! ? 1 : 0
      covered += is_covered / 3000
      level = adaptiveLevel(level, 0.8, is_covered, step)
    }
    return covered
  }
  assert.ok(coveredWith(0) < 0.7)
  assert.ok(Math.abs(coveredWith(0.02) - 0.8) < 0.02)
})
