import assert from 'node:assert/strict'
import test from 'node:test'
import { playWeek } from './battery-weeks.ts'

/** Of each some hours; a whole week is `npm run simulate-battery`, which takes minutes. */
const seconds = 1.5 * 3600
const drawn = Math.floor(Math.random() * 1e9)

for (const seed of [1, drawn]) {
  test(`batteries and plants keep their limits for hours of faults, seed ${seed}`, async () => {
    const outcome = await playWeek(seed, seconds)
    assert.ok(outcome.pv_kwh > 50)
    assert.ok(outcome.charged_kwh + outcome.discharged_kwh > 5)
    assert.ok(outcome.reports > 2)
  })
}
