import assert from 'node:assert/strict'
import test from 'node:test'
import type { LimitTraits } from '../drivers/limit-control.ts'
import { restOf } from './device-limits.ts'
import type { DeviceRecord } from './device-record.ts'
import { plainDevice } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 100, fresh_ms: 15_000 }

const device = (record: DeviceRecord | null = null, traits: Partial<LimitTraits> = {}) =>
  plainDevice({ facts, record, traits })

/** Read once, at 0 ms. */
function readAt(limit_w: number | null, traits: Partial<LimitTraits> = {}) {
  const one = device(null, traits)
  one.reads(0, limit_w)
  return one
}

/** The edge restarts, and everything that was known is durable. */
const restarted = ({ limits }: ReturnType<typeof device>) => device(limits.record)

/** A record of an earlier version: the limit is the own one, and nothing is under way. */
const saved: DeviceRecord = {
  static_max_w: 100,
  written_w: 40,
  before_w: null,
  external_w: null,
  intents: [],
  ramps_from_w: null,
}

test('the core goes by site.yaml, and after a contact by what the device says of itself', () => {
  const one = plainDevice({
    facts: { ...facts, default_max_w: 110, declared: { applies_within_ms: 8000, ramp_ms: 5000 } },
    traits: {
      survives_power_loss: true,
      min_interval_ms: 10_000,
      ramp_ms: 20_000,
      min_limit_w: 10,
      tolerance_w: 5,
    },
  })
  assert.equal(one.limits.worst_w(0), 110)
  assert.deepEqual([one.limits.comes_down_ms, one.limits.stays], [0, false])
  one.reads(0, 40)
  const { keeps_limit, smallest_limit_w, tolerance_w, latency_ms, ramp_ms } = one.limits.source
  assert.deepEqual([keeps_limit, smallest_limit_w, tolerance_w], [true, 10, 5])
  assert.deepEqual([latency_ms, ramp_ms, one.limits.comes_down_ms], [10_000, 28_000, 38_000])
  assert.equal(one.limits.stays, true)
  one.reads(1000, 40, { revert: { in_ms: 60_000, to_w: 90 } })
  assert.equal(one.limits.stays, false)
  assert.deepEqual(one.limits.source.read!.timer, { at_ms: 61_000, to_w: 90 })
})

test('a command of a device without a latency may still take effect for 6 s', () => {
  const { limits, reads } = readAt(40)
  limits.begin(80, 0)
  limits.done(80, 1000)
  reads(6999, 40)
  assert.equal(limits.worst_w(6999), 80)
  reads(7000, 40)
  assert.equal(limits.worst_w(7000), 40)
})

test('a slow read says nothing of a command that may take effect after it began', () => {
  const { limits } = readAt(40)
  const state = { limit_w: 40, static_max_w: 100, revert: null }
  limits.begin(80, 0)
  limits.done(80, 1000)
  limits.onRead(state, 9000, 6999)
  assert.equal(limits.worst_w(9000), 80)
  limits.onRead(state, 9500, 9000)
  assert.equal(limits.worst_w(9500), 40)
})

test('a command is proven by a read after it', () => {
  const { limits, reads } = readAt(40)
  limits.begin(60, 1000)
  assert.deepEqual([limits.is_proven, limits.told_w], [false, 40])
  limits.done(60, 2000)
  reads(1999, 60)
  assert.equal(limits.is_proven, false)
  reads(2000, 60)
  assert.deepEqual([limits.is_proven, limits.told_w], [true, 60])
})

test('a device that holds more than its command after its latency fails', () => {
  const { limits, reads } = readAt(100)
  limits.begin(40, 0)
  limits.done(40, 0)
  reads(6000, 100)
  assert.deepEqual([limits.isFailing(6000), limits.obeys(6000)], [false, true])
  assert.deepEqual([limits.isFailing(6001), limits.obeys(6001)], [true, false])
  reads(7000, 40)
  assert.deepEqual([limits.isFailing(7000), limits.obeys(7000)], [false, true])
  assert.deepEqual([limits.isFailing(22_001), limits.obeys(22_001)], [false, false], 'stale')
})

test('a command that is under way at a restart may have been done or not', () => {
  const before = readAt(null)
  before.takes(0, 40)
  before.reads(10_000, 40)
  before.limits.begin(80, 10_000)
  for (const limit_w of [40, 80]) {
    const { limits, reads } = restarted(before)
    assert.equal(limits.worst_w(0), 80)
    assert.equal(reads(0, limit_w), null)
    assert.deepEqual([limits.worst_w(0), limits.has_external], [80, false])
    reads(6000, limit_w)
    assert.equal(limits.worst_w(6000), limit_w)
  }
})

test('each command that is under way at a restart may take effect yet', () => {
  const before = readAt(null)
  for (const limit_w of [80, 60, 20]) {
    before.limits.begin(limit_w, 1000)
    before.limits.done(limit_w, 1000)
  }
  before.reads(2000, 20)
  assert.equal(before.limits.is_proven, true)
  const { limits, reads } = restarted(before)
  assert.equal(reads(0, 60), null)
  assert.equal(limits.worst_w(0), 80)
  assert.equal(reads(1000, 20), null)
  assert.equal(reads(5000, 80), null)
  assert.equal(limits.settable_max_w, 100)
})

test('nothing is left of a command in the record once it is shown alone, or its latency is over', () => {
  const alone = readAt(null)
  alone.takes(0, 80)
  assert.deepEqual(alone.limits.record.intents, [])
  const { limits, takes, reads } = readAt(null)
  limits.begin(80, 0)
  limits.done(80, 0)
  takes(0, 60)
  reads(5999, 60)
  assert.deepEqual(limits.record.intents, [80, 60])
  reads(6000, 60)
  assert.deepEqual(limits.record.intents, [])
  assert.equal(reads(7000, 80), 'raised')
})

test('a command that was refused leaves no external limit behind, also after a silence', () => {
  const { limits, takes, reads } = readAt(null)
  takes(0, 40)
  limits.begin(80, 2000)
  limits.lost()
  assert.equal(reads(60_000, 40), null)
  assert.equal(limits.settable_max_w, 100)
})

test('a limit raised by another master is told from a limit that was lost', () => {
  const held = (until_ms: number) => {
    const one = readAt(null)
    one.takes(0, 50)
    for (let now_ms = 5000; now_ms <= until_ms; now_ms += 5000) one.reads(now_ms, 50)
    return one
  }
  assert.equal(held(15_000).reads(20_000, 70), 'raised')
  assert.equal(held(0).reads(20_000, 70), 'lost')
  const gone = held(15_000)
  gone.limits.lost()
  assert.equal(gone.reads(20_000, 70), 'lost')
  assert.equal(held(15_000).reads(20_000, 30), 'lowered')
})

test('a limit that was lowered while the edge was away is respected, also above its own', () => {
  const { limits, reads } = device({ ...saved, written_w: 30, external_w: 90 })
  reads(0, 60)
  assert.equal(limits.settable_max_w, 60)
})

test('a device that another master raises twice in a minute is contested, not ineffective', () => {
  const { limits, reads, takes } = readAt(null)
  takes(0, 40)
  const seen = [20_000, 79_000].map((at_ms) => {
    reads(at_ms - 5000, 40)
    const foreign = reads(at_ms, 90)
    takes(at_ms, 40)
    return [foreign, limits.isContested(at_ms), limits.isIneffective(at_ms), limits.worst_w(at_ms)]
  })
  assert.deepEqual(seen, [
    ['raised', false, false, 40],
    ['raised', true, false, 100],
  ])
  assert.equal(limits.isContested(138_999), true)
  assert.equal(limits.isContested(139_000), false)
})

test('a device that delivers more than its limit is ineffective until 60 s after that', () => {
  const { limits, takes } = readAt(null)
  takes(0, 50)
  for (const now_ms of [1000, 15_000, 31_000]) {
    assert.equal(limits.isIneffective(now_ms), false)
    limits.onPower(60, now_ms)
  }
  assert.deepEqual([limits.isIneffective(31_000), limits.isContested(31_000)], [true, false])
  limits.onPower(50, 32_000)
  assert.deepEqual([limits.isIneffective(90_999), limits.isIneffective(91_000)], [true, false])
})

test('raises keep the pause of the profile', () => {
  const { limits } = readAt(40, { min_interval_ms: 10_000 })
  assert.equal(restOf(limits.source, 0), 0)
  limits.begin(30, 5000)
  assert.deepEqual(
    [14_000, 15_000].map((at_ms) => restOf(limits.source, at_ms)),
    [1000, 0],
  )
})

test('a command that was not sent is void', () => {
  const { limits, reads } = device(saved)
  reads(0, 40)
  const before = limits.record
  limits.begin(80, 0, 'curtailment')
  assert.equal(limits.worst_w(0), 80)
  limits.withdraw()
  assert.equal(limits.worst_w(0), 40)
  assert.deepEqual({ ...limits.record, written_for: null }, { ...before, written_for: null })
})

test('a repeated command that was not sent leaves the first one under way', () => {
  const { limits, reads } = device(saved)
  reads(0, 40)
  limits.begin(80, 1000)
  limits.done(80, 1000)
  limits.begin(80, 2000)
  limits.withdraw()
  assert.equal(limits.worst_w(2000), 80)
  reads(3000, 40)
  assert.equal(reads(5000, 80), null)
  assert.equal(limits.settable_max_w, 100)
})

test('a limit above the ceiling is told once', () => {
  const { limits, takes } = readAt(null)
  takes(1000, 50)
  const raisedAt = (now_ms: number) =>
    limits.onRead({ limit_w: 120, static_max_w: 100, revert: null }, now_ms)
  assert.deepEqual([5000, 10_000, 15_000].map(raisedAt), ['raised', null, null])
})
