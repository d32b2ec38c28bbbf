import assert from 'node:assert/strict'
import test from 'node:test'
import type { ControlledPcs } from './controlled-pcs.ts'
import { isCut, type PcsTarget, RoomLeft } from './pcs-targets.ts'

/** Its register holds steps of 100 W. */
const pcs = { settable: (power_w: number) => Math.trunc(power_w / 100) * 100 } as ControlledPcs
const cut = (power_w: number, part_w: number) => {
  const rest = { bess_id: 1, logger_id: 1, wanted_w: part_w, worst_w: 0, held_w: 0 }
  const target: PcsTarget = { ...rest, pcs, power_w }
  return isCut([target], new Map([[pcs, part_w]]))
}

test('what a PCS is told short of its part tells of the room that there was', () => {
  assert.equal(cut(15_000, 50_000), true)
  assert.equal(cut(50_000, 50_000), false)
  assert.equal(cut(50_000, 50_055), false, 'its register holds no more')
  assert.equal(cut(0, 50_000), false, 'nothing tells nothing')
  assert.equal(cut(-20_000, -20_000), false)
})

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
