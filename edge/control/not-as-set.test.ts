import assert from 'node:assert/strict'
import test from 'node:test'
import type { DeviceRecord } from './device-record.ts'
import { plainDevice } from './fixtures/plain-device.ts'

/** A device that is read each five seconds. */
function read(record: DeviceRecord | null = null, tolerance_w = 0) {
  const { limits, reads } = plainDevice({ record, traits: { tolerance_w } })
  let now_ms = 0
  const finds = (limit_w: number | null, static_max_w = 100_000) => {
    now_ms += 5000
    return reads(now_ms, limit_w, { static_max_w })
  }
  const begins = (limit_w: number) => {
    limits.begin(limit_w, now_ms)
    limits.done(limit_w, now_ms)
  }
  return { limits, finds, begins }
}

test('a read-back that differs by more than its tolerance is kept with the command', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(80_000)
  assert.equal(finds(79_000), 'lowered')
  assert.deepEqual(limits.not_as_set, { asked_w: 80_000, found_w: 79_000 })
  begins(78_000)
  finds(77_000)
  assert.deepEqual(limits.not_as_set, { asked_w: 78_000, found_w: 77_000 })
  assert.equal(limits.settable_max_w, 77_000)
  begins(77_000)
  finds(77_000)
  const again = read(limits.record)
  again.finds(77_000)
  assert.deepEqual(again.limits.not_as_set, { asked_w: 78_000, found_w: 77_000 })
  // The stored command may still take effect, until a read after its latency.
  again.finds(77_000)
  again.finds(60_000)
  assert.equal(again.limits.not_as_set, null, 'that is certainly of another')
  again.finds(null)
  assert.deepEqual([again.limits.not_as_set, again.limits.settable_max_w], [null, 100_000])
})

test('a limit found while a command may still take effect may be the rounding of that', () => {
  const { limits, finds, begins } = read()
  finds(null)
  begins(50_000)
  assert.equal(finds(10_000), 'lowered')
  assert.equal(finds(49_000), 'raised')
  assert.deepEqual(limits.not_as_set, { asked_w: 50_000, found_w: 49_000 })
  assert.equal(limits.limiterOf(49_000), null)
})

test('an observed rounding of an earlier version is not believed any more', () => {
  const habits = { rounds_by_w: 1000, rounds_up_w: 5000, doubt: null }
  const record = { static_max_w: 100_000, written_w: 80_000, before_w: null, intents: [] }
  const { limits, finds, begins } = read({ ...record, external_w: 90_000, habits } as DeviceRecord)
  finds(80_000)
  assert.equal(limits.settable_max_w, 90_000)
  begins(60_000)
  assert.equal(finds(59_000), 'lowered')
  assert.equal(limits.settable_max_w, 59_000)
})

test('a command that takes effect after its former limit was within the tolerance is the own one over a restart', () => {
  const { limits, finds, begins } = read(null, 8000)
  finds(null)
  begins(45_000)
  finds(45_000)
  begins(40_000)
  finds(45_000)
  assert.equal(finds(37_000), null)
  const again = read(limits.record, 8000)
  assert.equal(again.finds(37_000), null)
  assert.equal(again.limits.settable_max_w, 100_000)
})

test('a late command that is rounded within the tolerance does not lift the limit of another master', () => {
  const { limits, finds, begins } = read(null, 1000)
  finds(null)
  begins(50_000)
  assert.equal(finds(10_000), 'lowered')
  begins(10_000)
  assert.equal(finds(49_000), null)
  finds(10_000)
  assert.equal(limits.settable_max_w, 10_000)
})

test('the limit of another master stays over a restart, and while a ceiling is below it', () => {
  const first = read()
  first.finds(80_000)
  const { limits, finds } = read(first.limits.record)
  finds(80_000, 70_000)
  finds(80_000, 90_000)
  assert.equal(limits.settable_max_w, 80_000)
})

test('a command in percent of a lower ceiling may take effect as as much of a higher one', () => {
  const { limits, finds, begins } = read()
  finds(null, 50_000)
  begins(10_000)
  finds(10_000, 50_000)
  begins(20_000)
  assert.equal(finds(20_000), null)
  assert.equal(limits.worst_w(15_000), 40_000)
  assert.equal(finds(40_000), null)
  assert.equal(limits.has_external, false)
})
