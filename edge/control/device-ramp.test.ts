import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite } from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'
import { declaredOf, rampOf } from './declared-traits.ts'
import type { DeviceRecord } from './device-record.ts'
import { plainDevice } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 15_000 }
const device = (record: DeviceRecord | null = null) =>
  plainDevice({ facts, record, traits: { ramp_ms: 30_000 } })

/** Lowered from 80 W to 40 W. */
function lowered() {
  const one = device()
  one.reads(0, 100)
  one.takes(0, 80)
  for (let now_ms = 0; now_ms <= 60_000; now_ms += 5000) one.reads(now_ms, 80)
  one.limits.begin(40, 60_000)
  return one
}

test('a device that comes down is ramping, and counts with the earlier limit', () => {
  const { limits, reads } = lowered()
  assert.equal(limits.isRamping(60_000), false)
  limits.done(40, 60_500)
  reads(61_000, 40)
  assert.equal(limits.is_proven, true)
  assert.deepEqual([limits.held_w(61_000), limits.worst_w(61_000)], [40, 80])
  assert.deepEqual([limits.isRamping(61_000), limits.record.ramps_from_w], [true, 80])
  for (let now_ms = 65_000; now_ms <= 90_000; now_ms += 5000) reads(now_ms, 40)
  assert.equal(limits.worst_w(90_999), 80)
  reads(91_000, 40)
  assert.deepEqual([limits.worst_w(91_000), limits.isRamping(91_000)], [40, false])
  assert.equal(limits.record.ramps_from_w, null)
})

test('a ramp goes on over a restart, and a device of which nothing is saved comes from its ceiling', () => {
  const after = (record: DeviceRecord | null, limit_w: number) => {
    const { limits, reads } = device(record)
    for (let now_ms = 1000; now_ms <= 26_000; now_ms += 5000) reads(now_ms, limit_w)
    const before_w = limits.worst_w(30_999)
    reads(31_000, limit_w)
    return [before_w, limits.worst_w(31_000)]
  }
  const before = lowered()
  assert.deepEqual(after(before.limits.record, 40), [80, 40], 'it was sent, and not read back')
  before.limits.done(40, 60_500)
  before.reads(61_000, 40)
  assert.deepEqual(after(before.limits.record, 40), [80, 40])
  for (let now_ms = 65_000; now_ms <= 95_000; now_ms += 5000) before.reads(now_ms, 40)
  assert.deepEqual(after(before.limits.record, 40), [40, 40])
  assert.deepEqual(after(before.limits.record, 30), [40, 30], 'it was lowered meanwhile')
  assert.deepEqual(after(null, 40), [100, 40])
})

test("a ramp after another master's limit keeps its time over a restart", () => {
  const slow = (record: DeviceRecord | null = null) =>
    plainDevice({ facts, record, traits: { ramp_ms: 150_000 } })
  const before = slow()
  for (let now_ms = 0; now_ms <= 200_000; now_ms += 5000) before.reads(now_ms, 100)
  before.reads(205_000, 40)
  assert.equal(before.limits.worst_w(205_000), 100)
  const { limits, reads } = slow(before.limits.record)
  for (let now_ms = 1000; now_ms <= 146_000; now_ms += 5000) {
    reads(now_ms, 40)
    assert.equal(limits.worst_w(now_ms), 100, `at ${now_ms} ms`)
  }
  reads(151_000, 40)
  assert.equal(limits.worst_w(151_000), 40)
})

test('without a declared ramp it is 60 s; a declaration never shortens what the device says', () => {
  const unknown = { ramp_ms: null }
  assert.equal(rampOf(unknown, {}), 60_000)
  assert.equal(rampOf(unknown, { declared: declaredOf({ ramp_s: 0 }, 100) }), 0)
  assert.equal(rampOf({ ramp_ms: 150_000 }, { declared: declaredOf({ ramp_s: 5 }, 100) }), 150_000)
  assert.equal(rampOf({ ramp_ms: 1000 }, { declared: declaredOf({ ramp_s: 5 }, 100) }), 5000)
  assert.equal(rampOf({ ramp_ms: 1000 }, { declared: declaredOf(undefined, 100) }), 1000)
  const late = { ramp_ms: null, applies_within_ms: 6000 }
  assert.equal(
    rampOf(late, { declared: declaredOf({ ramp_s: 5 }, 100) }),
    11_000,
    'after its delay',
  )
  const both = declaredOf({ ramp_s: 5, latency_s: 4 }, 100)
  assert.equal(rampOf(late, { declared: both }), 11_000)
  assert.equal(rampOf({ ramp_ms: 20_000 }, { declared: both }), 24_000)
})

for (const [why, traits_of_all, limit, waits_ms] of [
  ['that its registers tell', { ramp_ms: 40_000 }, undefined, 40_000],
  ['that nothing tells', { ramp_ms: null }, undefined, 60_000],
  ['of site.yaml', { ramp_ms: null }, { ramp_s: 20 }, 20_000],
] as const) {
  test(`others rise when the ramp of one is over: ${why}`, async () => {
    const inverters = [1, 2, 3].map((id) => inverterOf(id, limit && { limit }))
    const loggers = [{ logger_id: 1, name: 'L', rated_power_kw: 300, inverters }]
    const site = await controlledSite({ traits: traits_of_all, site: { loggers } })
    await site.clock.advance(90_000)
    site.inverters[0]!.is_silent = true
    await site.clock.advance(30_000)
    assert.deepEqual(site.limits().slice(1), [50_000, 50_000])
    // It was without power, and comes back with all that it can.
    site.inverters[0]!.limit_w = null
    site.inverters[0]!.is_silent = false
    const back_at = site.clock.elapsedMs()
    while (site.limits()[0] === null) await site.clock.advance(100)
    const lowered_at = site.clock.elapsedMs()
    assert.ok(lowered_at - back_at < 20_000)
    await site.clock.advance(waits_ms - 200)
    assert.deepEqual(site.limits().slice(1), [50_000, 50_000])
    // A poll after the ramp ends it, and the next tick raises.
    await site.clock.advance(7000)
    assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  })
}
