import assert from 'node:assert/strict'
import test from 'node:test'
import type { LimitState, LimitTraits } from '../drivers/limit-control.ts'
import { DeviceLimits } from './device-limits.ts'
import type { DeviceRecord } from './device-record.ts'
import { plainTraits as volatile } from './fixtures/plain-device.ts'

const facts = { rated_w: 100, default_max_w: 110, fresh_ms: 15_000, revert_margin_ms: 10_000 }
const lasting: LimitTraits = { ...volatile, survives_power_loss: true }

const at = (limit_w: number | null, changes: Partial<LimitState> = {}): LimitState => ({
  limit_w,
  static_max_w: 100,
  revert: null,
  ...changes,
})

/** One that was read once, at 0 ms. */
function readAt(limit_w: number | null, traits = volatile, record: DeviceRecord | null = null) {
  const limits = new DeviceLimits(facts, record)
  limits.onRead(at(limit_w), traits, 0)
  return limits
}

test('one that another raises twice within a minute counts with all, until it was left alone', () => {
  const limits = readAt(100)
  const lower = (at_ms: number) => {
    limits.begin(40, at_ms)
    return limits.onRead(at(40), volatile, at_ms)
  }
  lower(0)
  const seen = [20_000, 79_000, 90_000].map((at_ms) => {
    // Read in between as well, so that it was not silent.
    limits.onRead(at(40), volatile, at_ms - 5000)
    const foreign = limits.onRead(at(90), volatile, at_ms)
    lower(at_ms)
    return [foreign, limits.isContested(at_ms), limits.worst_w(at_ms)]
  })
  assert.deepEqual(seen, [
    ['raised', false, 40],
    ['raised', true, 100],
    ['raised', true, 100],
  ])
  limits.onRead(at(40), volatile, 149_999)
  assert.equal(limits.worst_w(149_999), 100)
  assert.equal(limits.worst_w(150_000), 40)
})

test('one that was never read may deliver what the site file says', () => {
  assert.equal(new DeviceLimits(facts, null).worst_w(0), 110)
})

test('a fresh read counts; a silent device counts with its own ceiling', () => {
  const limits = readAt(40)
  assert.equal(limits.worst_w(15_000), 40)
  assert.equal(limits.worst_w(15_001), 100)
  assert.equal(readAt(null).worst_w(0), 100)
})

test('a silent device whose limit survives counts with it, unless a timer ends it', () => {
  const limits = readAt(40, lasting)
  assert.equal(limits.worst_w(1e9), 40)
  limits.begin(60, 1e9)
  assert.equal(limits.worst_w(2e9), 60)
  const timed = new DeviceLimits(facts, null)
  timed.onRead(at(40, { revert: { in_ms: 1e12, to_w: 40 } }), lasting, 0)
  assert.equal(timed.worst_w(20_000), 100)
})

test('a raise counts as done from its beginning, a lower only when it was read back', () => {
  const raised = readAt(40)
  raised.begin(60, 0)
  assert.equal(raised.worst_w(0), 60)
  const lowered = readAt(40)
  lowered.begin(20, 0)
  assert.equal(lowered.worst_w(0), 40)
  lowered.onRead(at(20), volatile, 1000)
  assert.equal(lowered.worst_w(1000), 20)
  assert.equal(lowered.is_proven, true)
})

test('a timer counts with what it leads to before it runs out', () => {
  const limits = new DeviceLimits(facts, null)
  limits.onRead(at(40, { revert: { in_ms: 12_000, to_w: 90 } }), volatile, 0)
  assert.equal(limits.worst_w(1999), 40)
  assert.equal(limits.isSettled(1999), true)
  assert.equal(limits.worst_w(2000), 90)
  assert.equal(limits.isSettled(2000), false)
})

test('what was begun before a restart may have been done or not', () => {
  const written = { written_w: 80, before_w: 40, intents: [80] }
  const record = { static_max_w: 100, ...written, external_w: null }
  const limits = new DeviceLimits(facts, record)
  assert.equal(limits.worst_w(0), 100)
  assert.equal(limits.onRead(at(40), volatile, 0), null)
  assert.equal(limits.worst_w(0), 80)
  assert.equal(limits.has_external, false)
})

test('of all that was begun before a restart any may come through', () => {
  const before = readAt(null)
  before.begin(80, 0)
  before.begin(60, 1000)
  before.begin(20, 2000)
  const limits = readAt(60, volatile, before.record)
  assert.equal(limits.settable_max_w, 100)
  assert.equal(limits.worst_w(0), 80)
  limits.onRead(at(20), volatile, 1000)
  assert.equal(limits.is_proven, true)
  assert.equal(limits.onRead(at(80), volatile, 5000), null)
  assert.equal(limits.settable_max_w, 100)
})

test('what a read overtook just before a restart may come through after it', () => {
  const before = readAt(null)
  before.begin(80, 0)
  before.begin(40, 1000)
  before.onRead(at(40), volatile, 2000)
  assert.equal(before.is_proven, true)
  const limits = readAt(40, volatile, before.record)
  assert.equal(limits.worst_w(0), 80)
  limits.onRead(at(80), volatile, 5000)
  assert.equal(limits.settable_max_w, 100)
})

test('nothing is left of a write in the record once its time is over', () => {
  const limits = readAt(null)
  limits.begin(80, 0)
  limits.begin(60, 0)
  limits.onRead(at(60), volatile, 1000)
  assert.deepEqual(limits.record.intents, [80, 60])
  limits.onRead(at(60), volatile, 15_000)
  assert.deepEqual(limits.record.intents, [])
  assert.equal(limits.onRead(at(80), volatile, 16_000), 'raised')
})

test('one that is refused for long keeps the highest and the lowest that was begun', () => {
  const limits = readAt(40)
  limits.begin(90, 0)
  limits.begin(5, 0)
  for (let nth = 0; nth < 60; nth += 1) limits.begin(10 + nth, nth * 60_000)
  limits.onRead(at(40), volatile, 3_600_000)
  assert.equal(limits.record.intents.length, 16)
  assert.equal(limits.record.intents.at(-1), 69)
  assert.equal(limits.worst_w(3_600_000), 90)
  assert.equal(limits.least_w, 5)
})

test('a write that was not done leaves no limit of another behind, also after a silence', () => {
  const limits = readAt(null)
  limits.begin(40, 0)
  limits.onRead(at(40), volatile, 1000)
  limits.begin(80, 2000)
  limits.lost()
  assert.equal(limits.onRead(at(40), volatile, 60_000), null)
  assert.equal(limits.settable_max_w, 100)
})

test('a raise that was overtaken by a lower may come through yet', () => {
  const limits = readAt(40)
  limits.begin(80, 0)
  limits.onRead(at(40), volatile, 1000)
  limits.begin(40, 2000)
  limits.onRead(at(40), volatile, 3000)
  assert.equal(limits.is_proven, true)
  assert.equal(limits.worst_w(3000), 80)
  assert.equal(limits.onRead(at(80), volatile, 4000), null)
  limits.onRead(at(40), volatile, 10_000)
  assert.equal(limits.worst_w(17_000), 40)
})

test('a write that was repeated may come through once more after another lowered it', () => {
  const limits = readAt(40)
  limits.begin(80, 0)
  limits.begin(80, 1000)
  limits.onRead(at(80), volatile, 2000)
  assert.equal(limits.onRead(at(10), volatile, 3000), 'lowered')
  assert.equal(limits.worst_w(3000), 80)
  assert.equal(limits.onRead(at(80), volatile, 4000), null)
  assert.equal(limits.settable_max_w, 10)
})

test('a lower limit that we find at first stays, and one that comes later too', () => {
  const limits = readAt(40)
  assert.equal(limits.has_external, true)
  assert.equal(limits.settable_max_w, 40)
  limits.begin(30, 0)
  limits.onRead(at(30), volatile, 1000)
  assert.equal(limits.onRead(at(20), volatile, 30_000), 'lowered')
  assert.equal(limits.settable_max_w, 20)
})

test('another that moves its own limit before we ever set one is followed', () => {
  const limits = readAt(40)
  assert.equal(limits.onRead(at(70), volatile, 5000), null)
  assert.equal(limits.settable_max_w, 70)
  assert.equal(limits.onRead(at(null), volatile, 10_000), null)
  assert.equal(limits.settable_max_w, 100)
})

test('one that is raised by another is told from one that lost its limit', () => {
  const contended = readAt(null)
  contended.begin(50, 0)
  contended.onRead(at(50), volatile, 1000)
  assert.equal(contended.onRead(at(70), volatile, 20_000), 'lost')
  const held = readAt(null)
  held.begin(50, 0)
  held.onRead(at(50), volatile, 1000)
  held.onRead(at(50), volatile, 14_000)
  assert.equal(held.onRead(at(70), volatile, 20_000), 'raised')
  assert.equal(held.settable_max_w, 70)
})

test('what lowers another limit while we were away is obeyed, also above what we wrote', () => {
  const written = { written_w: 30, before_w: null, intents: [] }
  const record = { static_max_w: 100, ...written, external_w: 90 }
  const limits = readAt(60, volatile, record)
  assert.equal(limits.settable_max_w, 60)
})

test('one that delivers more than its limit counts with its ceiling until it obeys again', () => {
  const limits = readAt(null)
  limits.begin(50, 0)
  limits.onRead(at(50), volatile, 1000)
  for (const now_ms of [1000, 5000, 29_999]) limits.onPower(100, now_ms)
  assert.equal(limits.is_ineffective, false)
  for (const now_ms of [30_000, 35_000, 40_000]) limits.onPower(100, now_ms)
  limits.onRead(at(50), volatile, 40_000)
  assert.equal(limits.is_ineffective, true)
  assert.equal(limits.worst_w(40_000), 100)
  limits.begin(40, 41_000)
  assert.equal(limits.is_ineffective, true)
  limits.onPower(39, 42_000)
  assert.equal(limits.is_ineffective, false)
})

test('lowering it again and again does not hide that it does not obey', () => {
  const limits = readAt(null)
  limits.begin(90, 0)
  limits.onRead(at(90), volatile, 1000)
  for (let now_ms = 20_000; now_ms < 60_000; now_ms += 5000) {
    limits.begin(80 - now_ms / 1000, now_ms)
    limits.onPower(100, now_ms)
  }
  assert.equal(limits.is_ineffective, true)
})

test('its register is spared: raises keep their distance', () => {
  const limits = readAt(40, { ...volatile, min_interval_ms: 10_000 })
  limits.begin(30, 5000)
  assert.equal(limits.mayRaiseAt(14_999), false)
  assert.equal(limits.mayRaiseAt(15_000), true)
})

test('what was not sent is as if it had not been begun, unless it was begun before as well', () => {
  const ours = { written_w: 40, before_w: null, external_w: null, intents: [] }
  const limits = readAt(40, volatile, { static_max_w: 100, ...ours })
  const before = limits.record
  limits.begin(80, 0)
  assert.equal(limits.worst_w(0), 80)
  limits.withdraw()
  assert.equal(limits.worst_w(0), 40)
  const none = { made_w: null, written_for: null }
  assert.deepEqual({ ...limits.record, ...none }, { ...before, ...none })
  limits.begin(80, 1000)
  limits.begin(80, 2000)
  limits.withdraw()
  assert.equal(limits.worst_w(2000), 80)
  limits.onRead(at(40), volatile, 3000)
  assert.equal(limits.onRead(at(80), volatile, 5000), null, 'it came through')
  assert.equal(limits.settable_max_w, 100)
})
