import assert from 'node:assert/strict'
import test from 'node:test'
import { type Dispatched, scheduleProgress } from './schedule-status.ts'

const target_date = '2026-06-21'

/** Status, reason and failure code of an approved schedule that discharges in hours 10 and 19. */
function progress(at: string, told: Partial<Dispatched>, state: 'approved' | 'superseded') {
  const dispatched: Dispatched = {
    powered_hours: [10, 19],
    executed_hours: [],
    newest_status: null,
    failure_code: null,
    ...told,
  }
  const found = scheduleProgress({ state, target_date, dispatched }, new Date(at))
  return [found.status, found.status_reason, found.failure_code]
}
const at = (time: string, told: Partial<Dispatched> = {}) =>
  progress(`2026-06-${time}:00Z`, told, 'approved')

const failing = { newest_status: 'failed', failure_code: 'pcs_stale' } as const

test('the clock alone makes nothing dispatching or completed', () => {
  assert.deepEqual(at('20T23:59'), ['approved', null, null])
  assert.deepEqual(at('21T00:00'), ['approved', 'not_reported', null])
  assert.deepEqual(at('21T23:59'), ['approved', 'not_reported', null])
  assert.deepEqual(at('22T00:00'), ['failed', 'not_reported', null])
})

test('while its day runs the newest report counts', () => {
  for (const newest_status of ['sent', 'acknowledged', 'achieved', 'clamped'] as const) {
    assert.deepEqual(at('21T10:30', { newest_status }), ['dispatching', null, null])
  }
  const idle = { executed_hours: [0, 1] }
  assert.deepEqual(at('21T02:30', { ...failing, ...idle }), [
    'dispatching',
    'interrupted',
    'pcs_stale',
  ])
  assert.deepEqual(at('21T10:30', { ...failing, ...idle }), ['failed', 'not_executed', 'pcs_stale'])
  assert.deepEqual(at('21T19:30', { ...failing, executed_hours: [10] }), [
    'dispatching',
    'interrupted',
    'pcs_stale',
  ])
  // A setpoint that was never taken within its hour.
  assert.deepEqual(at('21T11:00', { newest_status: 'expired' }), ['failed', 'not_executed', null])
})

test('a day that is over is completed by hours with power, all or some', () => {
  const executed = (...executed_hours: number[]) =>
    at('22T00:00', { executed_hours, newest_status: 'achieved' })
  assert.deepEqual(executed(10, 19, 20), ['completed', null, null])
  assert.deepEqual(executed(19, 20), ['completed', 'partly_executed', null])
  assert.deepEqual(executed(20), ['failed', 'not_executed', null])
  const still = { powered_hours: [], executed_hours: [3], newest_status: 'achieved' } as const
  assert.deepEqual(at('22T00:00', still), ['completed', null, null])
})

test('what another schedule took the place of stays superseded', () => {
  const told = { executed_hours: [10], newest_status: 'achieved' } as const
  const found = progress('2026-06-22T00:00:00Z', told, 'superseded')
  assert.deepEqual(found, ['superseded', null, null])
})
