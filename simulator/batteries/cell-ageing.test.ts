import assert from 'node:assert/strict'
import test from 'node:test'
import { ageingLaws } from './cell-ageing.ts'

const fresh = { calendar_fade: 0, cycle_fade: 0, resistance_growth: 0 }
const year_s = 365.25 * 86_400
const resting = { seconds: year_s, soc: 0.5, temperature_c: 25, open_circuit_v: 3.69 }

test('a year of rest ages an LFP cell as in its paper, by the root of time', () => {
  const { rest } = ageingLaws.lfp
  const year = rest(fresh, resting)
  // 1.2571e-5 s^-0.5 x 0.60225 x sqrt(31.56e6 s)
  assert.ok(Math.abs(year.calendar_fade - 0.04253) < 1e-4, `${year.calendar_fade}`)
  const four = rest(fresh, { ...resting, seconds: 4 * year_s })
  assert.ok(Math.abs(four.calendar_fade - 2 * year.calendar_fade) < 1e-9)
  const inParts = [1, 2, 3, 4].reduce((so_far) => rest(so_far, resting), fresh)
  assert.ok(Math.abs(inParts.calendar_fade - four.calendar_fade) < 1e-9)
})

for (const [chemistry, { rest, cycle }] of Object.entries(ageingLaws)) {
  test(`${chemistry}: heat, charge, depth and use age a cell, which never recovers`, () => {
    const year = rest(fresh, resting)
    const hot = rest(fresh, { ...resting, temperature_c: 40 })
    const full = rest(fresh, { ...resting, soc: 0.95, open_circuit_v: 4.07 })
    assert.ok(year.calendar_fade > 0.005 && year.calendar_fade < 0.1, `${year.calendar_fade}`)
    assert.ok(hot.calendar_fade > year.calendar_fade)
    assert.ok(hot.resistance_growth > year.resistance_growth)
    assert.ok(full.calendar_fade > year.calendar_fade)

    const use = (depth: number, count: number) => {
      const half = { depth, rate_per_h: 0.5, mean_v: 3.7 }
      return Array.from({ length: count }).reduce<typeof fresh>(
        (so_far) => cycle(so_far, half),
        fresh,
      )
    }
    const thousand = use(0.8, 2000)
    assert.ok(thousand.cycle_fade > 0.01 && thousand.cycle_fade < 0.25, `${thousand.cycle_fade}`)
    assert.ok(use(0.8, 100).cycle_fade < thousand.cycle_fade)
    assert.ok(use(1, 1600).cycle_fade > use(0.5, 3200).cycle_fade, 'deep ones cost more')
    assert.ok(thousand.resistance_growth > 0)
  })
}
