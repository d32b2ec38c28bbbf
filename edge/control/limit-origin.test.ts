import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite, rowOf, start_at } from '../fixtures/controlled-site.ts'
import { memoryControlStore } from './control-store.ts'
import { TracedLimits } from './limit-origin.ts'

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

test('a limit that is found without a record of ours has no origin, and gets none later', async () => {
  const site = await controlledSite({
    permit_w: 200_000,
    prepare: (inverter) => {
      // Shares that differ: the others have what the first may not.
      if (inverter.inverter_id === 1) inverter.static_max_w = 40_000
    },
  })
  await site.clock.advance(10_000)
  assert.deepEqual(site.limits().slice(1), [80_000, 80_000])
  site.store = memoryControlStore()
  for (let nth = 0; nth < 3; nth += 1) {
    site.restart()
    await site.clock.advance(10_000)
    assert.equal(site.controller.limitedBy(2), 'unknown')
  }
  // Back to what was found, as a row lets it: its figure is as little known as before.
  const row = rowOf(60)
  await site.controller.hear([row])
  await site.clock.advance(10_000)
  const released_at = site.clock.now().getTime()
  const higher = rowOf(199, { group_id: '0193a1de-0000-7000-8000-000000000002' })
  await site.controller.hear([{ ...row, released_at }, higher])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits().slice(1), [79_500, 79_500])
  site.permit = null
  site.restart()
  await site.clock.advance(10_000)
  assert.notEqual(site.controller.limitedBy(2), 'external')
})

test("another's limit is told where the device was followed since it had none", async () => {
  const site = await controlledSite({ permit_w: 250_000 })
  await site.clock.advance(10_000)
  const [first, second] = site.inverters
  first!.limit_w = 30_000
  // As the permit had it, which a device may fall back to.
  second!.limit_w = 82_000
  for (const _ of ['now', 'after a restart']) {
    await site.clock.advance(10_000)
    assert.equal(site.controller.limitedBy(1), 'external')
    assert.equal(site.controller.limitedBy(2), 'unknown')
    site.restart()
  }
})

test('a limit that is first found after a restart may be one of its own, set on a full disk', async () => {
  const site = await controlledSite({ permit_w: 250_000 })
  await site.clock.advance(10_000)
  site.inverters[0]!.limit_w = 30_000
  site.restart()
  await site.clock.advance(10_000)
  assert.equal(site.controller.limitedBy(1), 'unknown')
})

test('a row gives away nothing of the permit through a device that does not obey it', async () => {
  const site = await controlledSite({ permit_w: 200_000 })
  await site.clock.advance(10_000)
  site.inverters[0]!.forgets = true
  const row = rowOf(150, { end_at: start_at + 3_600_000 })
  await site.controller.hear([row])
  await site.clock.advance(60_000)
  // The others have what it leaves of the row: of that the permit could be reckoned.
  assert.deepEqual(site.limits(), [66_600, 41_700, 41_700])
  assert.notEqual(site.controller.limitedBy(2), 'curtailment')
})

test('a row gives away nothing of the permit through a silent device that keeps its limit', async () => {
  const site = await controlledSite({ permit_w: 200_000, traits: { survives_power_loss: true } })
  await site.clock.advance(10_000)
  site.inverters[0]!.is_silent = true
  await site.clock.advance(30_000)
  await site.controller.hear([rowOf(150)])
  await site.clock.advance(20_000)
  assert.deepEqual(site.limits(), [66_600, 41_700, 41_700])
  assert.notEqual(site.controller.limitedBy(2), 'curtailment')
})

test('the fail-safe that a device falls back to is a figure of the permit, and is not told', async () => {
  const site = await controlledSite({
    permit_w: 198_000,
    prepare: (inverter) => {
      // So the others are set to more than they are armed with.
      if (inverter.inverter_id === 1) inverter.static_max_w = 40_000
    },
  })
  await site.clock.advance(10_000)
  const [, second, third] = site.inverters
  assert.deepEqual([second!.limit_w, second!.armed], [79_000, [66_000]])
  second!.limit_w = 66_000
  third!.limit_w = 30_000
  await site.clock.advance(10_000)
  assert.equal(site.controller.limitedBy(2), 'unknown')
  assert.equal(site.controller.limitedBy(3), 'external')
})

test('a raise of a row that goes a part of the way tells from where it came', () => {
  const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 1000, revert_margin_ms: 0 }
  const limits = new TracedLimits(facts, null)
  const traits = {
    survives_power_loss: true,
    min_interval_ms: 0,
    applies_within_ms: 0,
    ramp_ms: 0,
    min_limit_w: 0,
  }
  const set = (limit_w: number, how: { is_raise: boolean; is_of_row: boolean }) => {
    limits.mark(limit_w, how)
    limits.begin(limit_w, 0)
    limits.onRead({ limit_w, static_max_w: 100, revert: null }, traits, 0)
    return limits.originOf(limit_w)
  }
  limits.onRead({ limit_w: null, static_max_w: 100, revert: null }, traits, 0)
  assert.equal(set(60, { is_raise: false, is_of_row: false }), 'permit')
  assert.equal(set(63, { is_raise: true, is_of_row: true }), 'permit')
  assert.equal(set(63, { is_raise: false, is_of_row: true }), 'permit')
  assert.equal(set(40, { is_raise: false, is_of_row: true }), 'curtailment')
  assert.equal(set(45, { is_raise: true, is_of_row: true }), 'curtailment')
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
  const limits = new TracedLimits(facts, null)
  const read = (limit_w: number | null, now_ms: number, static_max_w = 100_000) => {
    const { record } = limits
    limits.onRead({ limit_w, static_max_w, revert: null }, traits, now_ms)
    return limits.record === record
  }
  read(null, 0)
  assert.equal(read(null, 1000), true)
  assert.equal(read(null, 2000, 90_000), false)
  const before = limits.record
  limits.mark(50_000, { is_raise: false, is_of_row: true })
  limits.begin(50_000, 3000)
  assert.notEqual(limits.record, before)
  assert.equal(read(50_000, 4000, 90_000), false, 'it is proven')
  assert.equal(read(50_000, 5000, 90_000), true)
  assert.equal(read(50_000, 60_000, 90_000), true)
  assert.equal(read(30_000, 61_000, 90_000), false, 'it is lowered by another')
  const marked = limits.record
  limits.setForPermit(40_000)
  assert.notEqual(limits.record, marked)
})

test('what is found while it had not shown its limit yet has no origin', () => {
  const facts = {
    rated_w: 100_000,
    default_max_w: 100_000,
    fresh_ms: 15_000,
    revert_margin_ms: 10_000,
  }
  const traits = {
    survives_power_loss: false,
    min_interval_ms: 0,
    applies_within_ms: 0,
    ramp_ms: 0,
    min_limit_w: 0,
  }
  const at = (limit_w: number | null) => ({ limit_w, static_max_w: 100_000, revert: null })
  const limits = new TracedLimits(facts, null)
  limits.onRead(at(null), traits, 0)
  limits.begin(10_000, 0)
  limits.onRead(at(40_000), traits, 5000)
  assert.deepEqual([limits.isExternal(40_000), limits.originOf(40_000)], [true, null])
  limits.onRead(at(10_000), traits, 6000)
  limits.onRead(at(5000), traits, 11_000)
  assert.equal(limits.originOf(5000), 'external')
})

test('what may be its own doing is not told as another’s when it went along with a ceiling', () => {
  const facts = { rated_w: 100_000, default_max_w: 100_000, fresh_ms: 15_000, revert_margin_ms: 0 }
  const traits = {
    survives_power_loss: false,
    min_interval_ms: 0,
    applies_within_ms: 6000,
    ramp_ms: 0,
    min_limit_w: 0,
  }
  const met = (is_of_row: boolean) => {
    const limits = new TracedLimits(facts, null)
    const finds = (limit_w: number | null, now_ms: number, static_max_w = 100_000) =>
      limits.onRead({ limit_w, static_max_w, revert: null }, traits, now_ms)
    const sets = (limit_w: number, now_ms: number) => {
      limits.mark(limit_w, { is_raise: false, is_of_row })
      limits.begin(limit_w, now_ms)
      limits.taken(traits, now_ms)
    }
    finds(null, 0)
    sets(50_000, 0)
    // It rounds, and is within the time in which it may show anything.
    finds(47_000, 3000)
    sets(47_000, 3000)
    finds(47_000, 4000)
    assert.deepEqual([limits.isExternal(47_000), limits.originOf(47_000)], [true, null])
    finds(23_500, 30_000, 50_000)
    assert.deepEqual([limits.isExternal(23_500), limits.originOf(23_500)], [true, null])
    return { limits, finds }
  }
  met(true)
  const { limits, finds } = met(false)
  // It happens to be as much of this ceiling as was set for the permit of the one before.
  finds(25_000, 35_000, 50_000)
  finds(24_900, 40_000, 50_000)
  assert.equal(limits.originOf(24_900), null)
})
