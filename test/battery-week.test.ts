import assert from 'node:assert/strict'
import test from 'node:test'
import { faultsOf, playNights } from './battery-nights.ts'
import { playWeek } from './battery-weeks.ts'

/** Of each some hours; a whole week is `npm run simulate-battery`, which takes minutes. */
const seconds = 1.5 * 3600

test('batteries and plants keep their limits for hours of faults, seed 1', async () => {
  const outcome = await playWeek(1, seconds)
  assert.ok(outcome.pv_kwh > 50)
  assert.ok(outcome.charged_kwh + outcome.discharged_kwh > 5)
  assert.ok(outcome.reports > 2)
})

const night_parts = [
  { part: 'evening', begins: '2026-06-21T18:50:00Z' },
  { part: 'dawn', begins: '2026-06-22T02:10:00Z' },
] as const

for (const { part, begins } of night_parts) {
  test(`a battery and inverters that are off at night share a permit in the ${part}, seed 3`, async () => {
    const outcome = await playNights(3, { begins, seconds: 6660 })
    assert.deepEqual(faultsOf(outcome), [])
    assert.ok(outcome.falls_asleep >= 2)
    if (part === 'evening') assert.ok(outcome.evening_peak_in_the_dark.discharged_kwh > 50)
    else assert.ok(outcome.limits_at_light_pct !== null)
  })
}
