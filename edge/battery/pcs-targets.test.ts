import assert from 'node:assert/strict'
import test from 'node:test'
import { RoomLeft } from './pcs-targets.ts'

test('what one is raised by is no room for the next, of its plant or at its connection', () => {
  const plant = { ceiling_w: 80, row_w: Infinity, power_w: 30, most_w: 50, falls_w: 50 }
  const plants = [1, 2].map((logger_id) => ({ logger_id, ...plant, is_known: true }))
  const joint = {
    permit: null,
    now: 0,
    earliest: 0,
    latest: 0,
    now_ms: 0,
    is_settled: true,
    plants,
    site_w: 130,
  }
  const worst_w = new Map([
    [1, 30],
    [2, 50],
  ])
  const left = new RoomLeft(joint, worst_w, () => 20)
  assert.deepEqual([left.of(1), left.of(2), left.of(null)], [30, 10, 30])
  left.take(1, 25)
  assert.deepEqual([left.of(1), left.of(2), left.of(null)], [5, 5, 5])
  left.take(null, 15)
  assert.deepEqual([left.of(1), left.of(2), left.of(null)], [0, 0, 0])
})
