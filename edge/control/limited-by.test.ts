import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite, rowOf } from '../fixtures/controlled-site.ts'
import { memoryControlStore } from './control-store.ts'
import { DeviceLimits } from './device-limits.ts'
import { plainFacts, plainTraits } from './fixtures/plain-device.ts'

const no_permit = { plant_w: new Map<number, number>(), site_w: null }

test('a limit of the permit is not named after a row, also when the permit is lost', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  for (const permit of [null, no_permit]) {
    site.permit = permit
    site.restart()
    await site.clock.advance(10_000)
    await site.controller.hear([rowOf(250)])
    await site.clock.advance(20_000)
    assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
    assert.equal(site.controller.limitedBy(1), 'permit')
  }
  const lower = rowOf(60, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([lower])
  await site.clock.advance(20_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
  site.restart()
  await site.clock.advance(10_000)
  assert.equal(site.controller.limitedBy(1), 'curtailment')
})

test("another's limit is named so, also after a restart and without a record", async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  site.inverters[0]!.limit_w = 30_000
  for (const _ of ['now', 'after a restart']) {
    await site.clock.advance(10_000)
    assert.equal(site.controller.limitedBy(1), 'external')
    assert.equal(site.controller.limitedBy(2), 'permit')
    site.restart()
  }
  site.store = memoryControlStore()
  site.restart()
  await site.clock.advance(10_000)
  assert.deepEqual(
    [1, 2].map((id) => site.controller.limitedBy(id)),
    ['external', 'external'],
  )
})

test('its record is another object only when something in it changed', () => {
  const traits = {
    survives_power_loss: true,
    min_interval_ms: 0,
    applies_within_ms: 0,
    ramp_ms: 0,
    min_limit_w: 0,
  }
  const facts = { rated_w: 100_000, default_max_w: 100_000, fresh_ms: 15_000, revert_margin_ms: 0 }
  const limits = new DeviceLimits(facts, null)
  const read = (limit_w: number | null, now_ms: number, static_max_w = 100_000) => {
    const { record } = limits
    limits.onRead({ limit_w, static_max_w, revert: null }, traits, now_ms)
    return limits.record === record
  }
  read(null, 0)
  assert.equal(read(null, 1000), true)
  assert.equal(read(null, 2000, 90_000), false)
  const before = limits.record
  limits.begin(50_000, 3000, 'curtailment')
  assert.notEqual(limits.record, before)
  assert.equal(read(50_000, 4000, 90_000), false, 'it is proven')
  assert.equal(read(50_000, 5000, 90_000), true)
  assert.equal(read(50_000, 60_000, 90_000), true)
  assert.equal(read(30_000, 61_000, 90_000), false, 'it is lowered by another')
})

test('what is found in place of a command is of nobody in particular', () => {
  const at = (limit_w: number | null) => ({ limit_w, static_max_w: 100_000, revert: null })
  const limits = new DeviceLimits(plainFacts, null)
  limits.onRead(at(null), plainTraits, 0)
  limits.begin(10_000, 0, 'permit')
  limits.onRead(at(40_000), plainTraits, 5000)
  assert.equal(limits.limiterOf(40_000), null)
  limits.onRead(at(10_000), plainTraits, 6000)
  assert.equal(limits.limiterOf(10_000), 'permit')
  limits.onRead(at(5000), plainTraits, 11_000)
  assert.equal(limits.limiterOf(5000), 'external')
})
