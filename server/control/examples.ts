import { exampleOf } from '../http/example.ts'
import { CurtailmentRow, group_id_example } from './curtailment-row.ts'
import { CurtailmentGroup, CurtailmentRelease } from './schemas.ts'

export const rowExample = exampleOf(CurtailmentRow, {
  logger_id: 2,
  limit_value: 240,
  max_power_kw: 240,
  limit_pct_of_rated: 60,
  created_by: 'control room',
  acknowledged_at: '2026-06-21T10:00:00.080Z',
  applied_at: '2026-06-21T10:00:00.910Z',
  verified_at: '2026-06-21T10:00:05.000Z',
  apply_latency_ms: 910,
  last_checked_at: '2026-06-21T10:20:05.000Z',
  observed_limit_kw: 240,
  compliance_pct: 100,
  curtailed_energy_kwh: 30.2,
  lost_revenue_amount: 1.87542,
  avoided_cost_amount: 0,
})

export const pastRowExample: CurtailmentRow = {
  ...rowExample,
  status: 'cancelled',
  is_active: false,
  restored: true,
  restore_started_at: '2026-06-21T12:00:00.090Z',
  restored_at: '2026-06-21T12:00:01.240Z',
  release_requested_at: '2026-06-21T12:00:00.000Z',
  cancelled_at: '2026-06-21T12:00:01.240Z',
  cancelled_by: 'control room',
}

export const groupExample = exampleOf(CurtailmentGroup, {
  status: 'active',
  scope: 'logger',
  limit_mode: 'kw',
  hold_until_at: rowExample.end_at,
  schedules: [rowExample],
  warnings: [],
  skipped: [],
})

/** A plant without a permit at the edge. */
const refusedExample: CurtailmentRow = {
  ...pastRowExample,
  id: 43,
  logger_id: 3,
  status: 'releasing',
  restored: false,
  restored_at: null,
  releasing_reason: 'raise_refused',
  cancelled_at: null,
  failure_code: 'raise_refused',
  failure_message: 'no grid permit of this plant is known: it needs an entry in the permit file',
}

export const releaseExample = exampleOf(CurtailmentRelease, {
  group_id: group_id_example,
  status: 'releasing',
  schedules: [pastRowExample, refusedExample],
  pending_restore_count: 1,
})
