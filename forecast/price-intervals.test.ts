import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  calibratePrices,
  calibration_days,
  observePrices,
  type PriceCalibration,
  type PriceQuantiles,
  uncalibrated,
} from './price-intervals.ts'
import { seededRandom } from './seeded-random.ts'

const raw: PriceQuantiles = { p10: 40, p50: 50, p90: 70 }

test('nothing changes without observations', () => {
  assert.deepEqual(calibratePrices([raw], uncalibrated), [{ ...raw, negative_probability: null }])
})

test('quantiles are stretched to the errors, on each side separately', () => {
  // Of 19 prices 10 % lie at 3 spreads below and as many at 2 above, the others at P50.
  const prices = [20, 20, 90, 90, ...Array.from({ length: 15 }, () => 50)]
  const day = prices.map(() => raw)
  const { days } = observePrices(uncalibrated, day, prices)
  const [calibrated] = calibratePrices([raw], { ...uncalibrated, days })
  assert.deepEqual([calibrated!.p10, calibrated!.p90], [50 - 3 * 10, 50 + 2 * 20])
  const halves = calibratePrices([raw], { days, below_level: 0.5, above_level: 0.5 })
  assert.deepEqual([halves[0]!.p10, halves[0]!.p90], [50, 50])
})

test('the probability of a price below 0 is the share of errors that lead there', () => {
  const errors = Array.from({ length: 99 }, (_, i) => (i - 49) / 10)
  const calibration = {
    ...uncalibrated,
    days: [{ errors, negatives: 0, negatives_expected: 0 }],
  }
  const chance = (p50: number) =>
    calibratePrices([{ p10: p50 - 10, p50, p90: p50 + 10 }], calibration)[0]!.negative_probability!
  // 29 errors are below -2, one is at it.
  assert.equal(chance(20), 29.5 / 100)
  assert.equal(chance(-20), 69.5 / 100)
  assert.ok(chance(500) < 0.01)
  assert.ok(chance(-500) > 0.99)
})

test('the probability of a price below 0 follows the ratio of observed to expected ones', () => {
  const errors = Array.from({ length: 99 }, (_, i) => (i - 49) / 10)
  const raw = { p10: 10, p50: 20, p90: 30 }
  const after = (negatives: number): PriceCalibration => ({
    ...uncalibrated,
    days: [{ errors, negatives, negatives_expected: 18 }],
  })
  const chance = (negatives: number) =>
    calibratePrices([raw], after(negatives))[0]!.negative_probability!
  assert.equal(chance(18), 0.295)
  // Two are taken for granted on both sides: none of 18 leaves a tenth of the odds.
  assert.ok(Math.abs(chance(0) - 0.0295 / (0.705 + 0.0295)) < 1e-12)
  const { negatives, negatives_expected } = observePrices(
    after(0),
    [raw, raw, raw],
    [-5, 0, 30],
  ).days.at(-1)!
  assert.equal(negatives, 1)
  assert.ok(Math.abs(negatives_expected - 3 * 0.295) < 1e-12)
})

/** Days of prices whose spread is `factor` times what their forecasts say, errors lopsided. */
function observe(
  calibration: PriceCalibration,
  days: number,
  factor: number,
  random: () => number,
): { calibration: PriceCalibration; within: number; below: number } {
  let next = calibration
  let within = 0
  let below = 0
  const periods = 24
  for (let day = 0; day < days; day++) {
    const raws = Array.from({ length: periods }, () => {
      const spread = 1 + 9 * random()
      return { p10: 30 - spread, p50: 30, p90: 30 + spread }
    })
    const prices = raws.map(({ p90 }) => {
      const side = random() < 0.5 ? -1 : 2
      return 30 + side * factor * (p90 - 30) * -Math.log(1 - random())
    })
    calibratePrices(raws, next).forEach(({ p10, p90 }, i) => {
      if (prices[i]! < p10) below++
      else if (prices[i]! <= p90) within++
    })
    next = observePrices(next, raws, prices)
  }
  return { calibration: next, within: within / days / periods, below: below / days / periods }
}

test('eight of ten prices are within the interval, also when the market changes', () => {
  const random = seededRandom(11)
  const calm = observe(uncalibrated, 300, 1, random)
  assert.ok(Math.abs(calm.within - 0.8) < 0.02, `calm: ${calm.within}`)
  assert.ok(Math.abs(calm.below - 0.1) < 0.015, `calm, below: ${calm.below}`)
  const wild = observe(calm.calibration, 300, 3, random)
  assert.ok(Math.abs(wild.within - 0.8) < 0.02, `wild: ${wild.within}`)
  assert.ok(Math.abs(wild.below - 0.1) < 0.015, `wild, below: ${wild.below}`)
  assert.equal(wild.calibration.days.length, calibration_days)
})

test('quantiles stay in order after any observation', () => {
  const price = fc.double({ min: -500, max: 4000, noNaN: true })
  const quantiles = fc
    .tuple(price, price, price)
    .map((three) => three.toSorted((a, b) => a - b))
    .map(([p10, p50, p90]) => ({ p10: p10!, p50: p50!, p90: p90! }))
  fc.assert(
    fc.property(fc.array(fc.tuple(quantiles, price), { maxLength: 30 }), quantiles, (day, next) => {
      const raws = day.map(([of]) => of)
      const prices = day.map(([, of]) => of)
      const twice = [raws, raws].reduce(
        (calibration, of) => observePrices(calibration, of, prices),
        uncalibrated,
      )
      const [calibrated] = calibratePrices([next], twice)
      assert.ok(calibrated!.p10 <= calibrated!.p50)
      assert.ok(calibrated!.p50 <= calibrated!.p90)
      const chance = calibrated!.negative_probability
      assert.ok(day.length === 0 ? chance === null : chance! > 0 && chance! < 1)
    }),
  )
})

test('forecasts without their prices are refused', () => {
  assert.throws(() => observePrices(uncalibrated, [raw], []), /1 forecasts for 0 prices/)
})
