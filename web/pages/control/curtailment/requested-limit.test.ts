import assert from 'node:assert/strict'
import test from 'node:test'
import { faultsOf, newLimit, type RequestedLimit, spanOf } from './requested-limit.ts'

const berlin = 'Europe/Berlin'
const now_ms = Date.parse('2026-10-24T10:00:00Z')
const hours = 3_600_000
const requested = (change: Partial<RequestedLimit>): RequestedLimit => ({
  ...newLimit('2026-10-24T12:00'),
  limit_value: 60,
  ...change,
})
const faults = (change: Partial<RequestedLimit>) =>
  Object.keys(faultsOf(requested(change), berlin, now_ms))
const span = (change: Partial<RequestedLimit>) => spanOf(requested(change), berlin, now_ms)

test('a new requested lacks only how much', () => {
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults({ limit_value: '' }), ['limit_value'])
  assert.deepEqual(span({}), { start_ms: now_ms, end_ms: now_ms + hours })
})

test('how much is at least nothing, and limits something', () => {
  const wrong = [-1, '', 'much', 100, 250]
  assert.deepEqual(
    wrong.filter((limit_value) => faults({ limit_value })[0] !== 'limit_value'),
    [],
  )
  assert.deepEqual(faults({ limit_value: 0 }), [])
  assert.deepEqual(faults({ limit_value: 99.9 }), [])
  assert.deepEqual(faults({ limit_mode: 'kw', limit_value: 250 }), [])
  assert.deepEqual(faults({ limit_mode: 'kw', limit_value: -1 }), ['limit_value'])
})

test('until a time is counted through the night that has an hour more', () => {
  const night = { duration: 'until', end: '2026-10-25T12:00' }
  assert.deepEqual(faults(night), [])
  assert.deepEqual(span(night), { start_ms: now_ms, end_ms: now_ms + 25 * hours })
  assert.deepEqual(span({ duration: '1440' }), { start_ms: now_ms, end_ms: now_ms + 24 * hours })
})

test('times that no clock shows, and ends that come too early, are told at their field', () => {
  const later = { begins: 'later' } as const
  assert.deepEqual(faults({ ...later, start: '2027-03-28T02:30' }), ['start'])
  assert.deepEqual(faults({ ...later, start: '' }), ['start'])
  assert.deepEqual(faults({ duration: 'until', end: '' }), ['end'])
  assert.deepEqual(faults({ duration: 'until', end: '2026-10-24T12:00' }), ['end'])
  assert.deepEqual(faults({ ...later, start: '2026-10-24T08:00', duration: '60' }), ['start'])
  const over = { start: '2026-10-24T08:00', duration: 'until', end: '2026-10-24T09:00' }
  assert.deepEqual(faults({ ...later, ...over }), ['end'])
  assert.deepEqual(faults({ ...later, start: '2026-10-25T08:00', duration: 'open' }), ['duration'])
})

test('there is a span as soon as there is a sense in it', () => {
  assert.deepEqual(span({ duration: 'open' }), { start_ms: now_ms, end_ms: now_ms + 168 * hours })
  assert.equal(span({ duration: 'until', end: '' }), null)
  assert.equal(span({ duration: 'until', end: '2026-10-24T11:00' }), null)
  assert.equal(span({ begins: 'later', start: '' }), null)
  assert.equal(span({ begins: 'later', start: '2026-10-24T08:00', duration: '60' }), null)
})
