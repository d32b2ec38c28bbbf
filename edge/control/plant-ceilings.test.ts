import assert from 'node:assert/strict'
import test from 'node:test'
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import fc from 'fast-check'
import type { Permit } from './permit-terms.ts'
import { ceilingUnder, termsOf } from './plant-ceilings.ts'

const row = (max_power_kw: number): CurtailmentRow => ({
  group_id: '00000000-0000-4000-8000-000000000001',
  logger_id: 1,
  start_at: 1000,
  end_at: 2000,
  max_power_kw,
  released_at: null,
})
const permitOf = (permit_w: number | null): Permit | null =>
  permit_w === null ? null : { plant_w: new Map([[1, permit_w]]), site_w: null }
const ceilingOf = (rated_w: number, permit_w: number | null, rows: CurtailmentRow[]) =>
  ceilingUnder(termsOf({ logger_id: 1, rated_w }, { permit: permitOf(permit_w), rows }, 0))

test('rated power, permit and rows in any order give the same ceiling: their least', () => {
  const power_w = fc.integer({ min: 0, max: 2_000_000 })
  fc.assert(
    fc.property(
      power_w,
      fc.option(power_w),
      fc.array(power_w, { minLength: 1 }),
      fc.infiniteStream(fc.nat()),
      (rated_w, permit_w, limits_w, keys) => {
        const rows = limits_w.map((limit_w) => row(limit_w / 1000))
        const shuffled = rows
          .map((one) => ({ one, key: keys.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one)
        const ceiling = ceilingOf(rated_w, permit_w, rows)
        assert.deepEqual(ceilingOf(rated_w, permit_w, shuffled), ceiling)
        const least_w = Math.min(rated_w, permit_w ?? rated_w, ...limits_w)
        assert.ok(ceiling.ceiling_w <= least_w && ceiling.ceiling_w > least_w - 2)
        assert.equal(ceiling.may_raise, permit_w !== null)
      },
    ),
  )
})

test('a plant without permit and row is not held, not even to its rating', () => {
  assert.equal(ceilingOf(100_000, null, []).ceiling_w, Number.POSITIVE_INFINITY)
  const joint: Permit = { plant_w: new Map(), site_w: 1e6 }
  const terms = termsOf({ logger_id: 1, rated_w: 100_000 }, { permit: joint, rows: [] }, 0)
  assert.deepEqual(ceilingUnder(terms), { ceiling_w: 100_000, held_by: 'none', may_raise: false })
})

test('it says what holds the plant', () => {
  const held_by = (permit_w: number | null, rows: CurtailmentRow[]) =>
    ceilingOf(100_000, permit_w, rows).held_by
  assert.equal(held_by(null, []), 'none')
  assert.equal(held_by(200_000, []), 'none')
  assert.equal(held_by(90_000, [row(95)]), 'permit')
  assert.equal(held_by(90_000, [row(80)]), 'curtailment')
})
