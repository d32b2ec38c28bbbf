import assert from 'node:assert/strict'
import test from 'node:test'
import type { BessSchedule } from '@heliograph/sdk'
import { handoverOf } from './handover.ts'

const today = { hours: [{ soc_end_pct: 50 }, { soc_end_pct: 34.3 }] } as BessSchedule
const tomorrow = (status: string, soc_start_pct: number) =>
  ({
    schedule_id: 7,
    target_date: '2026-06-22',
    status,
    inputs: { soc_start_pct },
  }) as BessSchedule

test('the approved plan of the next day that begins with another charge is named', () => {
  assert.deepEqual(handoverOf(today, [tomorrow('proposed', 20), tomorrow('approved', 50.1)]), {
    schedule_id: 7,
    target_date: '2026-06-22',
    needs_pct: 50.1,
    ends_pct: 34.3,
  })
})

test('a plan that begins as this one ends, or that is not approved, is not broken', () => {
  assert.equal(handoverOf(today, [tomorrow('approved', 34.9)]), null)
  assert.equal(handoverOf(today, [tomorrow('proposed', 50.1)]), null)
  assert.equal(handoverOf(today, []), null)
})
