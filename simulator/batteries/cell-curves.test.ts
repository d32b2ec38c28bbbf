import assert from 'node:assert/strict'
import test from 'node:test'
import { restVoltage } from '@heliograph/physics/cell-curves'
import { curvesOf } from './cell-curves.ts'

test('a full and an empty cell at rest are within the operating voltages', () => {
  for (const chemistry of ['lfp', 'nmc'] as const) {
    const cell = curvesOf({ bess_id: 1, chemistry })
    assert.ok(restVoltage(cell, 1) < cell.operating_v.max)
    assert.ok(restVoltage(cell, 0) > cell.operating_v.min)
    assert.ok(cell.operating_v.max < cell.hard_v.max && cell.operating_v.min > cell.hard_v.min)
  }
})

test('a chemistry without curves is refused by name', () => {
  assert.throws(() => curvesOf({ bess_id: 7, chemistry: 'flow' }), /battery 7.*not flow/)
})
