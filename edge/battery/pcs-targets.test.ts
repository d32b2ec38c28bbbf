import assert from 'node:assert/strict'
import test from 'node:test'
import type { ControlledPcs } from './controlled-pcs.ts'
import { isCut, type PcsTarget } from './pcs-targets.ts'

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
