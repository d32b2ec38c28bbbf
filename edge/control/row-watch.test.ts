import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { rowOf, start_at } from '../fixtures/controlled-site.ts'
import { newlyHeld, type PlantLook, RowWatch } from './row-watch.ts'

const row = rowOf(60)
/** A clock that did not jump. */
const wall = (at: number) => ({ now: at, earliest: at, latest: at })

function watchOf(more: Parameters<typeof rowOf>[1] = {}) {
  const watch = new RowWatch(newlyHeld(rowOf(60, more), start_at), 0)
  /** So long after the start; whether there was something to report. */
  const look = (at_ms: number, plant: Partial<PlantLook> = {}) =>
    watch.look({
      ...wall(start_at + at_ms),
      now_ms: at_ms,
      rated_w: 300_000,
      held_w: 60_000,
      is_ramping: false,
      below: null,
      is_known: true,
      is_settled: true,
      power: null,
      failure: null,
      refusal: null,
      failed_attempts: 0,
      ...plant,
    })
  return { watch, look }
}

const powerAt = (at_ms: number, measured_w: number, unmeasured_w = 0) => ({
  power: { measured_w, unmeasured_w, from_ms: at_ms, to_ms: at_ms },
})

test('a row is applied when the worst case is within it, and verified by what is measured after', () => {
  const { watch, look } = watchOf()
  assert.equal(look(0, { held_w: 60_001 }), true)
  assert.equal(watch.held.applied_at, null)
  assert.equal(look(1000, { ...powerAt(900, 50_000) }), true)
  assert.equal(watch.held.applied_at, start_at + 1000)
  assert.equal(watch.held.verified_at, null)
  assert.equal(look(2000, { ...powerAt(900, 50_000) }), false)
  assert.equal(look(3000, { ...powerAt(2500, 60_500) }), true)
  assert.equal(watch.held.verified_at, start_at + 3000)
  assert.deepEqual([watch.held.samples, watch.held.compliant_samples], [1, 1])
})

test('what is above the limit for a while is counted in seconds', () => {
  const { watch, look } = watchOf()
  look(1000)
  look(6000, powerAt(6000, 61_000))
  look(11_000, powerAt(11_000, 59_000))
  // A device without a measurement may deliver all that it can.
  look(16_000, powerAt(16_000, 40_000, 30_000))
  const { samples, compliant_samples, violation_s, verified_at } = watch.held
  assert.deepEqual([samples, compliant_samples, violation_s], [3, 1, 10])
  assert.equal(verified_at, start_at + 11_000)
})

test('while it is in force it is told each minute', () => {
  const { look } = watchOf()
  const told = Array.from({ length: 181 }, (_, nth) => look(nth * 1000)).filter(Boolean)
  assert.equal(told.length, 4)
})

test('what the registers of the devices let them deliver is told as it is', () => {
  const { watch, look } = watchOf()
  look(0, { held_w: 140_000 })
  assert.deepEqual([watch.held.applied_at, watch.held.observed_limit_kw], [null, 140])
  look(1000, { held_w: 40_000 })
  assert.deepEqual([watch.held.applied_at, watch.held.observed_limit_kw], [start_at + 1000, 40])
  look(2000, { held_w: Number.POSITIVE_INFINITY })
  assert.equal(watch.held.observed_limit_kw, null)
})

test('the end is restored once every device stands where it belongs, and is told once', () => {
  const { watch, look } = watchOf({ end_at: start_at + minute_ms })
  look(0)
  assert.equal(look(minute_ms, { is_settled: false }), true)
  assert.equal(watch.held.restore_started_at, start_at + minute_ms)
  assert.equal(look(minute_ms + 1000), true)
  assert.equal(watch.held.restored_at, start_at + minute_ms + 1000)
  assert.equal(watch.isUnderWay(wall(start_at + minute_ms + 2000)), false)
  const day_ms = 86_400_000
  assert.equal(watch.isForgotten(wall(start_at + 3 * day_ms), 3 * day_ms), false)
  const over = wall(start_at + 4 * day_ms)
  assert.equal(watch.isForgotten(over, 4 * day_ms), true)
  assert.equal(watch.isForgotten(over, 2 * minute_ms), false, 'only the clock says so')
  assert.equal(watch.isForgotten({ ...over, earliest: start_at }, 4 * day_ms), false)
})

test('an end that the server asks for again is reported again, as it was', () => {
  const { watch, look } = watchOf({ end_at: start_at + minute_ms })
  look(0)
  look(minute_ms)
  look(minute_ms + 1000)
  const { restored_at } = watch.held
  watch.hear(watch.held.row, start_at + minute_ms - 1)
  assert.equal(watch.isUnderWay(wall(start_at + 2 * minute_ms)), false, 'the row was not over')
  assert.equal(watch.hear(watch.held.row, start_at + 2 * minute_ms), false)
  assert.equal(watch.isUnderWay(wall(start_at + 2 * minute_ms)), true)
  assert.equal(look(2 * minute_ms), true)
  assert.equal(watch.held.restored_at, restored_at)
  assert.equal(watch.isUnderWay(wall(start_at + 2 * minute_ms + 1000)), false)
})

test('a row that is released before it began is over, and nothing is said to be restored', () => {
  const later = { start_at: start_at + minute_ms, end_at: start_at + 2 * minute_ms }
  const { watch, look } = watchOf(later)
  look(0)
  assert.equal(watch.hear({ ...row, ...later, released_at: start_at + 500 }, start_at + 500), true)
  assert.equal(look(1000), true)
  assert.equal(watch.isUnderWay(wall(start_at + 2000)), false)
  assert.equal(look(3000), false)
  const { applied_at, restore_started_at, restored_at } = watch.held
  assert.deepEqual([applied_at, restore_started_at, restored_at], [null, null, null])
  assert.equal(watch.hear({ ...row, ...later }, start_at + 3000), false)
  assert.equal(watch.held.row.released_at, start_at + 500)
})

test('the newest report is the newest also after the clock was set back', () => {
  const { watch, look } = watchOf()
  look(5000)
  const before = watch.held.reported_at
  look(1000, { now_ms: 70_000 })
  assert.ok(watch.held.reported_at > before)
})

test('failures count while something is pending', () => {
  const { watch, look } = watchOf()
  const failure = { code: 'timeout', message: 'inverter 1 does not answer' } as const
  look(0, { held_w: 90_000, failed_attempts: 5 })
  look(1000, { held_w: 90_000, failed_attempts: 7, failure })
  assert.deepEqual([watch.held.retry_count, watch.held.failure_code], [2, 'timeout'])
  look(2000, { failed_attempts: 8, failure })
  assert.deepEqual([watch.held.retry_count, watch.held.failure_code], [2, null])
})

test('before all devices were asked after a restart nothing is sampled, and nothing failed', () => {
  const before = watchOf()
  before.look(1000)
  before.look(6000, powerAt(6000, 50_000))
  const watch = new RowWatch(before.watch.held, 7000)
  const look = (at_ms: number, is_known: boolean, unmeasured_w: number) =>
    watch.look({
      ...wall(start_at + at_ms),
      now_ms: at_ms,
      rated_w: 300_000,
      held_w: 180_000,
      is_ramping: false,
      below: null,
      is_known,
      is_settled: false,
      refusal: null,
      failed_attempts: 0,
      failure: { code: 'timeout', message: 'inverter 1 does not answer' },
      ...powerAt(at_ms, 30_000, unmeasured_w),
    })
  look(8000, false, 100_000)
  const { samples, compliant_samples, violation_s, failure_code } = watch.held
  assert.deepEqual([samples, compliant_samples, violation_s, failure_code], [1, 1, 0, null])
  assert.equal(watch.held.observed_power_kw, 50)
  look(10_000, true, 100_000)
  assert.equal(watch.held.violation_s, 2)
  assert.equal(watch.held.failure_code, 'timeout')
})

test('a row that is over and whose plant may not be raised says so, until it is restored', () => {
  const { watch, look } = watchOf({ end_at: start_at + minute_ms })
  const refused = { refusal: 'no grid permit of this plant is known', is_settled: false }
  look(0, refused)
  look(1000, refused)
  assert.equal(watch.held.failure_code, null, 'it is in force: nothing is to be raised')
  const failure = { code: 'timeout', message: 'inverter 1 does not answer' } as const
  assert.equal(look(minute_ms, { ...refused, failure }), true)
  const { failure_code, failure_message, restored_at } = watch.held
  assert.deepEqual([failure_code, restored_at], ['raise_refused', null])
  assert.equal(failure_message, 'no grid permit of this plant is known')
  // It may be raised again, and is not yet.
  look(minute_ms + 1040, { is_settled: false })
  assert.equal(watch.held.failure_code, null)
  look(minute_ms + 2000)
  assert.deepEqual([watch.held.failure_code, watch.held.restored_at], [null, start_at + 62_000])
})

test('where nothing has to be raised, no refusal is told', () => {
  const { watch, look } = watchOf({ end_at: start_at + minute_ms })
  const refusal = 'the clock jumped: nothing is raised for a minute'
  for (const at_ms of [0, 1000, minute_ms, minute_ms + 500, minute_ms + 1000]) {
    look(at_ms, { refusal })
    assert.equal(watch.held.failure_code, null)
  }
  assert.equal(watch.held.restored_at, start_at + minute_ms)
})
