import assert from 'node:assert/strict'
import test from 'node:test'
import { createHeartbeat } from './heartbeat.ts'

test('a count that moves is a sign of life, one that stands for long is not', () => {
  const { onCount } = createHeartbeat(2000)
  assert.equal(onCount(7), null, 'nothing is known yet')
  assert.equal(onCount(9), true)
  // Five polls of two seconds are what it may stand.
  assert.deepEqual(
    [9, 9, 9, 9, 9, 9].map((count) => onCount(count)),
    [true, true, true, true, false, false],
  )
  assert.equal(onCount(0), true, 'it begins again at zero')
})

test('a count that never moved is unknown, then none; without one nothing is said', () => {
  const { onCount } = createHeartbeat(60_000)
  assert.deepEqual(
    [1, 1, 1, 1, null].map((count) => onCount(count)),
    [null, null, null, false, null],
  )
  assert.deepEqual([null, null].map(createHeartbeat(2000).onCount), [null, null])
})
