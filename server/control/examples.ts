import { type CurtailmentRow, noMoney } from './curtailment-row.ts'
import type { CurtailmentGroup, CurtailmentRelease } from './schemas.ts'

const group_id = '0d9c7d3e-6a58-4f3f-9f2e-4f1f3b1c7a52'

export const rowExample: CurtailmentRow = {
  id: 41,
  group_id,
  logger_id: 2,
  status: 'active',
  is_active: true,
  applied: true,
  restored: false,
  source: 'api',
  scope: 'logger',
  limit_mode: 'kw',
  limit_value: 240,
  start_at: '2026-06-21T10:00:00.000Z',
  end_at: '2026-06-28T10:00:00.000Z',
  max_power_kw: 240,
  requested_max_power_kw: 240,
  rated_power_kw: 400,
  limit_pct_of_rated: 60,
  created_at: '2026-06-21T10:00:00.000Z',
  acknowledged_at: '2026-06-21T10:00:00.080Z',
  applied_at: '2026-06-21T10:00:00.910Z',
  verified_at: '2026-06-21T10:00:05.000Z',
  restore_started_at: null,
  restored_at: null,
  release_requested_at: null,
  releasing_reason: null,
  cancelled_at: null,
  completed_at: null,
  closed_at: null,
  closed_reason: null,
  closed_by: null,
  close_note: null,
  apply_latency_ms: 910,
  last_checked_at: '2026-06-21T10:20:05.000Z',
  observed_limit_kw: 240,
  observed_power_kw: 239.4,
  compliance_pct: 100,
  violation_s: 0,
  retry_count: 0,
  failure_code: null,
  failure_message: null,
  available_power_kw: 331.5,
  curtailed_energy_kwh: 30.2,
  lost_revenue_amount: 1.87542,
  avoided_cost_amount: 0,
  currency: 'EUR',
  money_reason: null,
  created_by: 'control room',
  cancelled_by: null,
  idempotency_key: '6f1f0f0e-5d3c-4a70-8a9c-3b8c2a9d1e55',
  request_id: 'req-7f3a',
}

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

const asked: CurtailmentRow = {
  ...rowExample,
  applied: false,
  acknowledged_at: null,
  applied_at: null,
  verified_at: null,
  apply_latency_ms: null,
  last_checked_at: null,
  observed_limit_kw: null,
  observed_power_kw: null,
  compliance_pct: null,
  available_power_kw: null,
  curtailed_energy_kwh: null,
  ...noMoney,
}

export const groupExample: CurtailmentGroup = {
  group_id,
  status: 'active',
  scope: 'logger',
  limit_mode: 'kw',
  limit_value: 240,
  site_max_power_kw: null,
  hold_until_at: '2026-06-28T10:00:00.000Z',
  schedules: [asked],
  warnings: [],
  skipped: [],
}

const restoredExample: CurtailmentRow = {
  ...pastRowExample,
  id: 42,
  logger_id: 1,
  scope: 'site',
  limit_mode: 'percent',
  limit_value: 60,
}

/** Of a plant whose permit the edge does not know. */
const refusedExample: CurtailmentRow = {
  ...restoredExample,
  id: 43,
  logger_id: 3,
  status: 'releasing',
  restored: false,
  restored_at: null,
  releasing_reason: 'raise_refused',
  cancelled_at: null,
  failure_code: 'raise_refused',
  failure_message: 'no grid permit of this plant is known',
}

export const releaseExample: CurtailmentRelease = {
  group_id,
  status: 'releasing',
  schedules: [restoredExample, refusedExample],
  restored_count: 1,
  pending_restore_count: 1,
}
