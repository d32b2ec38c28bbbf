import assert from 'node:assert/strict'
import test from 'node:test'
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import fc from 'fast-check'
import { plantCeiling } from './ceiling.ts'

const row = (max_power_kw: number, changes: Partial<CurtailmentRow> = {}): CurtailmentRow => ({
  group_id: '00000000-0000-4000-8000-000000000001',
  logger_id: 1,
  start_at: 1000,
  end_at: 2000,
  max_power_kw,
  released_at: null,
  ...changes,
})

test('rated power, permit and rows in any order give the same ceiling: their least', () => {
  const power_w = fc.integer({ min: 0, max: 2_000_000 })
  fc.assert(
    fc.property(
      power_w,
      fc.option(power_w),
      fc.array(power_w),
      fc.infiniteStream(fc.nat()),
      (rated_w, permit_w, limits_w, keys) => {
        const facts = { logger_id: 1, rated_w, permit_w }
        const rows = limits_w.map((limit_w) => row(limit_w / 1000))
        const shuffled = rows
          .map((one) => ({ one, key: keys.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one)
        const ceiling = plantCeiling(facts, rows, 1500)
        assert.deepEqual(plantCeiling(facts, shuffled, 1500), ceiling)
        const least_w = Math.min(rated_w, permit_w ?? rated_w, ...limits_w)
        assert.ok(ceiling.ceiling_w <= least_w && ceiling.ceiling_w > least_w - 2)
        assert.equal(ceiling.may_raise, permit_w !== null)
      },
    ),
  )
})

test('a row holds its own plant from its start until before its end or its release', () => {
  const facts = { logger_id: 1, rated_w: 100_000, permit_w: 90_000 }
  const at = (now_ms: number, one: CurtailmentRow) => plantCeiling(facts, [one], now_ms).ceiling_w
  assert.equal(at(999, row(50)), 90_000)
  assert.equal(at(1000, row(50)), 50_000)
  assert.equal(at(1999, row(50)), 50_000)
  assert.equal(at(2000, row(50)), 90_000)
  assert.equal(at(1500, row(50, { released_at: 1400 })), 90_000)
  assert.equal(at(1500, row(50, { logger_id: 2 })), 90_000)
})

test('it says what holds the plant', () => {
  const held_by = (permit_w: number | null, rows: CurtailmentRow[]) =>
    plantCeiling({ logger_id: 1, rated_w: 100_000, permit_w }, rows, 1500).held_by
  assert.equal(held_by(null, []), 'none')
  assert.equal(held_by(200_000, []), 'none')
  assert.equal(held_by(90_000, [row(95)]), 'permit')
  assert.equal(held_by(90_000, [row(80)]), 'curtailment')
})
