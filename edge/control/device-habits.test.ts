import assert from 'node:assert/strict'
import test from 'node:test'
import type { LimitTraits } from '../drivers/limit-control.ts'
import { DeviceLimits } from './device-limits.ts'
import type { DeviceRecord } from './device-record.ts'

const facts = {
  rated_w: 100_000,
  default_max_w: 100_000,
  fresh_ms: 15_000,
  revert_margin_ms: 10_000,
}
const traits: LimitTraits = {
  survives_power_loss: false,
  min_interval_ms: 0,
  applies_within_ms: 0,
  ramp_ms: 0,
  min_limit_w: 0,
}

/** A device that is read each five seconds. */
function read(record: DeviceRecord | null = null) {
  const limits = new DeviceLimits(facts, record)
  let now_ms = 0
  const finds = (limit_w: number | null, static_max_w = 100_000) => {
    now_ms += 5000
    return limits.onRead({ limit_w, static_max_w, revert: null }, traits, now_ms)
  }
  const begins = (limit_w: number) => limits.begin(limit_w, now_ms)
  return { limits, finds, begins }
}

/** It was told 80 kW and then a little less, and showed less than both. */
function rounding() {
  const device = read()
  device.finds(null)
  device.begins(80_000)
  device.finds(79_000)
  device.begins(78_900)
  device.finds(77_900)
  return device
}

test('one that shows less twice is known to round, and no other limit is another’s by that', () => {
  const { limits, finds, begins } = rounding()
  assert.deepEqual([limits.is_proven, limits.settable_max_w], [true, 100_000])
  begins(60_000)
  assert.equal(finds(59_000), null)
  assert.equal(limits.settable_max_w, 100_000)
  begins(50_000)
  finds(48_500)
  assert.ok(limits.settable_max_w < 48_500)
})

test('what it held all the time is no second time that it rounds', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  finds(79_000)
  begins(70_000)
  for (let nth = 0; nth < 6; nth += 1) finds(70_000)
  begins(71_000)
  // Not done yet.
  finds(70_000)
  assert.deepEqual([limits.is_proven, limits.record.habits?.rounds_by_w], [false, 0])
  finds(71_000)
  assert.equal(limits.settable_max_w, 78_998)
})

test('one that shows much less twice was set by another each time', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  assert.equal(finds(77_900), 'lowered')
  begins(77_800)
  assert.equal(finds(75_700), 'lowered')
  assert.equal(limits.settable_max_w, 75_700)
})

test('what it rounds by is known after a restart', () => {
  const { limits, finds, begins } = read(rounding().limits.record)
  finds(77_900)
  begins(60_000)
  assert.equal(finds(59_000), null)
  assert.deepEqual([limits.is_proven, limits.settable_max_w], [true, 100_000])
})

test('one that shows much less the first time, and little the second, was set by another', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  finds(78_500)
  begins(78_400)
  assert.equal(finds(78_300), 'lowered')
  assert.equal(limits.settable_max_w, 78_300)
})

test('what it shows already is no answer to what it is told then', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  finds(79_000)
  begins(limits.settable_max_w)
  // It is late with that.
  assert.equal(finds(79_000), null)
  finds(77_000)
  assert.deepEqual([limits.is_proven, limits.settable_max_w], [true, 100_000])
})

test('what another set while it was in doubt whether it rounds is not lifted by that', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  finds(79_000)
  begins(0)
  finds(0)
  limits.lost()
  assert.equal(finds(85_000), 'lost')
  begins(78_990)
  finds(78_000)
  begins(77_990)
  finds(77_000)
  assert.equal(limits.is_proven, true)
  assert.ok(limits.settable_max_w <= 85_000)
})

test('of another ceiling its steps are other ones', () => {
  const { limits, finds, begins } = rounding()
  finds(38_950, 50_000)
  begins(30_000)
  finds(29_000, 50_000)
  assert.ok(limits.settable_max_w < 29_000)
})

test("what comes through late, and rounded, does not lift another's limit", () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(50_000)
  finds(10_000)
  begins(10_000)
  assert.equal(finds(49_000), 'raised')
  finds(10_000)
  assert.equal(limits.settable_max_w, 10_000)
})

test("another's limit is still there when a ceiling was below it for a while", () => {
  const first = read()
  first.finds(80_000)
  const { limits, finds } = read(first.limits.record)
  finds(80_000, 70_000)
  finds(80_000, 90_000)
  assert.equal(limits.settable_max_w, 80_000)
})

test("another's limit in percent goes down with a ceiling, and not up again", () => {
  const { limits, finds } = read()
  finds(50_000)
  finds(25_000, 50_000)
  assert.equal(limits.settable_max_w, 25_000)
  finds(50_000)
  assert.equal(limits.settable_max_w, 25_000)
})

test('what was begun in percent of a lower ceiling may come through as as much of a higher', () => {
  const { limits, finds, begins } = read()
  finds(30_000, 50_000)
  begins(20_000)
  finds(30_000, 50_000)
  assert.equal(finds(60_000), null)
  assert.equal(limits.worst_w(15_000), 60_000)
  assert.equal(finds(40_000), null)
  assert.equal(limits.settable_max_w, 30_000)
})
