import assert from 'node:assert/strict'
import test from 'node:test'
import { DeviceLimits } from './device-limits.ts'
import { plainFacts as facts, plainTraits as traits } from './fixtures/plain-device.ts'

/** It was told 50 kW, and another lowered it to 30 kW after that; read each five seconds. */
function lowered() {
  const limits = new DeviceLimits(facts, null)
  let now_ms = 0
  const finds = (limit_w: number | null, static_max_w = 100_000) => {
    now_ms += 5000
    return limits.onRead({ limit_w, static_max_w, revert: null }, traits, now_ms)
  }
  const rests = (ms: number) => {
    now_ms += ms
  }
  finds(null)
  limits.begin(50_000, now_ms)
  for (let nth = 0; nth < 5; nth += 1) finds(50_000)
  assert.equal(finds(30_000), 'lowered')
  assert.equal(limits.settable_max_w, 30_000)
  return { limits, finds, rests }
}

test('a device that was away comes back without its limits, and that of another still counts', () => {
  const gone = lowered()
  gone.limits.lost()
  assert.equal(gone.finds(null), 'lost')
  assert.equal(gone.limits.settable_max_w, 30_000)
  const unread = lowered()
  unread.rests(15_000)
  assert.equal(unread.finds(null), 'lost')
  assert.equal(unread.limits.settable_max_w, 30_000)
})

test('what is found with another ceiling does not lift the limit of another', () => {
  const { limits, finds } = lowered()
  finds(null, 120_000)
  assert.equal(limits.settable_max_w, 30_000)
})

test('another that raises its limit while it is looked at is followed', () => {
  const { limits, finds } = lowered()
  assert.equal(finds(70_000), 'raised')
  assert.equal(limits.settable_max_w, 70_000)
})
