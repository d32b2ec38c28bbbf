import assert from 'node:assert/strict'
import test from 'node:test'
import type { LimitState, LimitTraits } from '../drivers/limit-control.ts'
import { controlledSite } from '../fixtures/controlled-site.ts'
import { inverterOf } from '../fixtures/sites.ts'
import { declaredOf, rampOf } from './declared-traits.ts'
import { DeviceLimits } from './device-limits.ts'
import type { DeviceRecord } from './device-record.ts'
import { plainTraits } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 15_000, revert_margin_ms: 10_000 }
const traits: LimitTraits = { ...plainTraits, ramp_ms: 30_000 }
const at = (limit_w: number | null): LimitState => ({ limit_w, static_max_w: 100, revert: null })

/** Polled each 5 s, so that it stays fresh. */
function pollUntil(limits: DeviceLimits, limit_w: number, until_ms: number, from_ms: number) {
  for (let now_ms = from_ms; now_ms <= until_ms; now_ms += 5000) {
    limits.onRead(at(limit_w), traits, now_ms)
  }
}

/** Lowered from 80 W to 40 W, which the register showed at 1 s. */
function lowered() {
  const limits = new DeviceLimits(facts, null)
  pollUntil(limits, 80, 100_000, 0)
  limits.begin(40, 100_500)
  limits.onRead(at(40), traits, 101_000)
  return limits
}

test('a device counts with its old limit until its ramp is over, and its register frees nothing', () => {
  const limits = lowered()
  assert.equal(limits.is_proven, true)
  assert.equal(limits.held_w(101_000), 40)
  pollUntil(limits, 40, 130_000, 105_000)
  assert.equal(limits.worst_w(130_999), 80)
  assert.equal(limits.worst_w(131_000), 40)
  limits.onRead(at(40), traits, 131_000)
  assert.equal(limits.record.ramps_from_w, null)
})

test('under a cloud the old limit counts all the same', () => {
  const limits = lowered()
  limits.onRead(at(40), traits, 105_000)
  limits.onPower(3, 105_000)
  assert.equal(limits.worst_w(105_000), 80)
})

test('a device never counts with less than its measured power', () => {
  const limits = new DeviceLimits(facts, null)
  const instant = { ...traits, ramp_ms: 0 }
  limits.onRead(at(40), instant, 0)
  limits.onPower(70, 0)
  assert.equal(limits.worst_w(0), 70)
  limits.onPower(41, 5000)
  assert.equal(limits.worst_w(5000), 40, 'what a meter errs by is no excess')
})

test('another lower limit on the way begins the time anew', () => {
  const limits = lowered()
  pollUntil(limits, 40, 120_000, 105_000)
  limits.begin(20, 120_000)
  limits.onRead(at(20), traits, 121_000)
  pollUntil(limits, 20, 150_000, 125_000)
  assert.equal(limits.worst_w(150_999), 80)
  assert.equal(limits.worst_w(151_000), 20)
})

test('power that falls as fast as the device can is no disobedience', () => {
  const limits = new DeviceLimits(facts, null)
  const slow = { ...traits, ramp_ms: 120_000 }
  for (let now_ms = 0; now_ms <= 150_000; now_ms += 5000) limits.onRead(at(80), slow, now_ms)
  limits.begin(0, 150_000)
  for (let now_ms = 151_000; now_ms < 271_000; now_ms += 5000) {
    limits.onRead(at(0), slow, now_ms)
    limits.onPower(80 * (1 - (now_ms - 151_000) / 120_000), now_ms)
    assert.equal(limits.is_ineffective, false, `at ${now_ms} ms`)
  }
  for (let now_ms = 275_000; now_ms < 290_000; now_ms += 5000) {
    limits.onRead(at(0), slow, now_ms)
    limits.onPower(30, now_ms)
  }
  assert.equal(limits.is_ineffective, true, 'after its time it is')
})

test('a restart on the way changes nothing, and an unknown device comes from all that it can', () => {
  const { record } = lowered()
  assert.equal(record.ramps_from_w, 80)
  const after = (before: DeviceRecord | null, limit_w: number) => {
    const limits = new DeviceLimits(facts, before)
    pollUntil(limits, limit_w, 25_000, 0)
    return [limits.worst_w(29_999), limits.worst_w(30_000)]
  }
  assert.deepEqual(after(record, 40), [80, 40])
  assert.deepEqual(after(null, 40), [100, 40])
  const settled = { ...record, intents: [], ramps_from_w: null }
  assert.deepEqual(after(settled, 40), [40, 40])
  assert.deepEqual(after(settled, 30), [100, 30], 'it was lowered meanwhile')
})

test('the old limit is on record before the lower one is sent', () => {
  const limits = new DeviceLimits(facts, null)
  pollUntil(limits, 80, 100_000, 0)
  limits.begin(40, 100_500)
  assert.equal(limits.record.ramps_from_w, 80)
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
    await site.clock.advance(6000)
    assert.deepEqual(site.limits(), [66_600, 66_600, 66_600])
  })
}
