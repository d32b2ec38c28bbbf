import assert from 'node:assert/strict'
import test from 'node:test'
import {
  isBreached,
  priorities,
  reprioritised,
  serviceHours,
  serviceTimes,
} from './service-levels.ts'

const created_at = new Date('2026-06-20T09:00:00Z')
const after = (hours: number) => new Date(created_at.getTime() + hours * 3_600_000)
const record = {
  acknowledged_at: null,
  completed_at: null,
  cancelled_at: null,
  ...serviceTimes('urgent', created_at),
  due_at: null,
}

test('the more urgent, the sooner', () => {
  for (const kind of ['response_h', 'resolution_h'] as const) {
    const hours = priorities.map((priority) => serviceHours[priority][kind])
    assert.deepEqual(
      hours.toSorted((a, b) => b - a),
      hours,
    )
  }
})

test('a time is missed once it has passed and nothing was done, or when it was done late', () => {
  assert.equal(isBreached(record, after(4)), false)
  assert.equal(isBreached(record, after(4.1)), true)
  const taken_up = { ...record, acknowledged_at: after(3) }
  assert.equal(isBreached(taken_up, after(24)), false)
  assert.equal(isBreached(taken_up, after(25)), true)
  assert.equal(isBreached({ ...taken_up, completed_at: after(20) }, after(99)), false)
  assert.equal(isBreached({ ...taken_up, completed_at: after(30) }, after(99)), true)
  assert.equal(isBreached({ ...record, acknowledged_at: after(5) }, after(6)), true)
})

test('what was cancelled in time is not late afterwards', () => {
  assert.equal(isBreached({ ...record, cancelled_at: after(2) }, after(99)), false)
  assert.equal(isBreached({ ...record, cancelled_at: after(9) }, after(99)), true)
})

test('what was promised counts where it is earlier, and only there', () => {
  const taken_up = { ...record, acknowledged_at: after(1) }
  assert.equal(isBreached({ ...taken_up, due_at: after(6) }, after(7)), true)
  assert.equal(
    isBreached({ ...taken_up, due_at: after(6), completed_at: after(5) }, after(7)),
    false,
  )
  assert.equal(isBreached({ ...taken_up, due_at: after(99) }, after(25)), true)
})

test('a new priority judges nothing anew that is over', () => {
  const low = serviceTimes('low', created_at)
  const order = { ...record, created_at }
  assert.deepEqual(reprioritised('low', order), low)
  assert.deepEqual(reprioritised('low', { ...order, acknowledged_at: after(9) }), {
    resolution_due_at: low.resolution_due_at,
  })
  const done = { ...order, acknowledged_at: after(9), completed_at: after(99) }
  assert.deepEqual(reprioritised('low', done), {})
})
