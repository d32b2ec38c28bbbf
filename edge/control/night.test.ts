import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { solarPosition } from '@heliograph/physics/solar-position'
import fc from 'fast-check'
import { type ControlledSite, controlledSite, rowOf } from '../fixtures/controlled-site.ts'
import { siteOf } from '../fixtures/sites.ts'

const midnight = Date.parse('2026-06-21T23:00:00Z')
const { latitude, longitude } = siteOf([])
/** Civil twilight begins: no inverter has usable light before. */
const light_at = firstLight()

function firstLight(): number {
  let at = midnight
  while (solarPosition(at, latitude, longitude).elevation_deg < -6) at += 1000
  return at
}

test('a sleeping inverter leaves its part of an order to others, until before first light', async () => {
  assert.ok(light_at - midnight < day_ms)
  const drawn = fc.record({
    order_kw: fc.integer({ min: 0, max: 300 }),
    permit_kw: fc.integer({ min: 30, max: 300 }),
    asleep: fc.integer({ min: 1, max: 2 }),
    ramp_s: fc.constantFrom(0, 60, 240, 500),
    latency_s: fc.constantFrom(0, 5, 20),
  })
  await fc.assert(
    fc.asyncProperty(drawn, async ({ order_kw, permit_kw, asleep, ramp_s, latency_s }) => {
      const night_checked_at = light_at - (ramp_s + latency_s) * 1000 - 5 * minute_ms
      const begins_at = night_checked_at - ramp_s * 1000 - 5 * minute_ms
      let site: ControlledSite | null = null
      const serverNow = () => site && { at: site.clock.now().getTime(), error_ms: 0 }
      site = await controlledSite({
        begins: new Date(begins_at).toISOString(),
        permit_w: permit_kw * 1000,
        traits: { ramp_ms: ramp_s * 1000, applies_within_ms: latency_s * 1000 },
        needs: { serverNow },
        prepare: (inverter) => {
          inverter.available_w = 0
          inverter.applies_after_ms = latency_s * 1000
        },
      })
      const order = rowOf(order_kw, { start_at: begins_at, end_at: light_at + day_ms })
      await site.controller.hear([order])
      const advanceTo = (at: number) => site.clock.advance(at - site.clock.now().getTime())
      await site.clock.advance(minute_ms)
      const sleepers = site.inverters.slice(0, asleep)
      const awake = site.inverters.slice(asleep)
      for (const inverter of sleepers) inverter.is_silent = true
      const most_w = Math.min(order_kw, permit_kw) * 1000
      const allowed_w = (inverters: typeof awake) =>
        inverters.reduce((sum_w, { limit_w, static_max_w }) => sum_w + (limit_w ?? static_max_w), 0)
      // By night those that are awake have all of it, but for the steps of their registers.
      await advanceTo(night_checked_at)
      const by_night_w = allowed_w(awake)
      assert.ok(by_night_w <= most_w && by_night_w > Math.min(most_w, awake.length * 1e5) - 200)
      // As late as their power still comes down before first light. Sleepers may lose their limits.
      await advanceTo(light_at - ramp_s * 1000)
      const left_w = Math.max(0, most_w - sleepers.length * 100_000)
      assert.ok(allowed_w(awake) <= left_w, `${allowed_w(awake)} W of ${left_w} W`)
      await advanceTo(light_at)
      for (const inverter of sleepers) Object.assign(inverter, { is_silent: false, limit_w: null })
      for (const inverter of site.inverters) inverter.available_w = 100_000
      await site.clock.advance((4 * latency_s + 3 * ramp_s) * 1000 + 5 * minute_ms)
      const by_day_w = allowed_w(site.inverters)
      assert.ok(by_day_w <= most_w && by_day_w > Math.min(most_w, 300_000) - 400, String(by_day_w))
      assert.deepEqual(site.faults, [])
    }),
    { numRuns: 12, seed: 2026, endOnFailure: true },
  )
})
