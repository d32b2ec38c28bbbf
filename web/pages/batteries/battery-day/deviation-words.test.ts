import assert from 'node:assert/strict'
import test from 'node:test'
import type { BatteryDeviation } from '@heliograph/sdk'
import { summaryOf } from './deviation-words.ts'

const hour = (change: Partial<BatteryDeviation>) =>
  ({
    planned_soc_end_pct: 50,
    within_tolerance: true,
    cost_amount: 0,
    currency: 'EUR',
    ...change,
  }) as BatteryDeviation
const unplanned = { planned_soc_end_pct: null, within_tolerance: false, cost_amount: 9.99 }

test('hours without a plan deviate from none, and cost nothing by it', () => {
  assert.equal(
    summaryOf([hour(unplanned), hour(unplanned)]),
    'No approved plan was in force so far.',
  )
  assert.equal(
    summaryOf([hour({}), hour({ within_tolerance: false, cost_amount: 2 }), hour(unplanned)]),
    '1 of 2 planned hours deviated. Cost: €2.00.',
  )
  assert.equal(
    summaryOf([hour({}), hour(unplanned)]),
    'All 1 planned hours so far went as planned.',
  )
})
