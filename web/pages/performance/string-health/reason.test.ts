import assert from 'node:assert/strict'
import test from 'node:test'
import type { StringHealth } from '@heliograph/sdk'
import { open_circuit, reasonOf } from './reason.ts'

const reason = (change: Partial<StringHealth>) =>
  reasonOf({
    status: 'healthy',
    excluded_reason: null,
    deviation_pct: null,
    compared_with: 'peers',
    suspected_cause: null,
    confidence_pct: null,
    affected_by_string_index: null,
    below_since_date: null,
    step_loss_pct: null,
    step_loss_since_date: null,
    ...change,
  } as StringHealth)

test('without a verdict it says why there is none', () => {
  const no_data = { status: 'no_data' } as const
  assert.equal(reason({ ...no_data, excluded_reason: 'no_light' }), 'No data: low irradiance')
  assert.equal(reason(no_data), 'No data: unknown reason')
})

test('the verdict says how far it is off, in which direction and beside what', () => {
  assert.equal(reason({}), 'Healthy')
  assert.equal(reason({ deviation_pct: 1.26 }), 'Healthy, 1.3 % more power than its peers')
  const low = { status: 'watch', deviation_pct: -3.14, compared_with: 'expected' } as const
  assert.equal(reason(low), 'Watch, 3.1 % less power than expected')
  assert.equal(reason({ deviation_pct: 0 }), 'Healthy, same power as its peers')
  assert.equal(reason({ deviation_pct: -0.04 }), 'Healthy, same power as its peers')
})

test('everything that is known of it is one sentence', () => {
  const text = reason({
    status: 'critical',
    deviation_pct: -22,
    suspected_cause: 'shading',
    confidence_pct: 71.6,
    affected_by_string_index: 0,
    below_since_date: '2026-06-01',
    step_loss_pct: 12,
    step_loss_since_date: '2026-06-03',
  })
  assert.equal(
    text,
    'Critical, 22.0 % less power than its peers, possibly shading (72 % confidence), ' +
      'affected by string 0 of its MPPT, since 1 Jun 2026, permanent loss of 12.0 % since 3 Jun 2026',
  )
})

test('a cause that nobody knows is not told, and one without a confidence has none', () => {
  const dead = { status: 'dead', confidence_pct: null } as const
  assert.equal(reason({ ...dead, suspected_cause: 'unknown' }), 'Dead')
  assert.equal(
    reason({ ...dead, suspected_cause: 'fuse' }),
    'Dead, open circuit: a fuse, a connector or a cable',
  )
})

test('of a dead string no cause is preferred: the list says what its I-V curve says', () => {
  const dead = { status: 'dead', confidence_pct: 50 } as const
  for (const suspected_cause of ['fuse', 'connector'] as const) {
    assert.equal(reason({ ...dead, suspected_cause }), `Dead, ${open_circuit}`)
  }
})
