import { exampleOf } from '../../http/example.ts'
import { AlarmState } from '../alarms.ts'
import { Deviation } from '../deviations.ts'
import { AlarmCounts, AlarmTransition, ControlEntry, DispatchEntry, PcsFaults } from './schemas.ts'

const fault = {
  bit: 7,
  code: 'OVER_TEMP',
  name: 'Overtemperature',
  severity: 'major' as const,
  asserted_since_at: '2026-06-21T09:58:12.000Z',
}

const word = {
  pcs_idx: 0,
  word_index: 1,
  register: null,
  raw: 128,
  hex: '0x00000080',
  is_available: true,
  bits: [fault],
  table_id: 'sunspec-inverter',
  table_version: '1',
}

export const faultsExample = exampleOf(PcsFaults, {
  measured_at: '2026-06-21T10:00:04.000Z',
  words: [word],
  active: [{ pcs_idx: 0, word_index: 1, ...fault }],
  active_count: 1,
  highest_severity: 'major',
  table_version: '1',
})

const alarm = {
  code: 'OVER_TEMP_WARNING',
  name: 'Overtemperature, pre-alarm',
  message: 'Overtemperature, pre-alarm',
  severity: 'warning' as const,
}

export const alarmStateExample = exampleOf(AlarmState, {
  ...alarm,
  level: 1,
  is_set: true,
  set_at: '2026-06-21T09:41:30.000Z',
  raw_value: 46.5,
  threshold_value: 45,
  threshold_unit: 'C',
  recommended_action: 'Check cooling and filters; lower the power until it has cooled.',
  alert_id: 812,
})

export const alarmTransitionExample = exampleOf(AlarmTransition, {
  ...alarm,
  event_id: 5120,
  occurred_at: '2026-06-21T09:41:30.000Z',
  received_at: '2026-06-21T09:41:30.640Z',
  soc_pct: 64.5,
  power_kw: 180.25,
})

export const countsExample = exampleOf(AlarmCounts, {
  measured_at: '2026-06-21T10:00:04.000Z',
  active: { warning: 1, major: 1 },
  total_active: 2,
  last_24h: { warning: 3, major: 1 },
  by_source: { bms: 1, pcs: 1 },
  unacknowledged: 2,
})

export const dispatchExample = exampleOf(DispatchEntry, {
  dispatch_id: 812,
  issued_at: '2026-06-21T09:00:00.000Z',
  schedule_id: 41,
  source: 'schedule',
  requested_power_kw: 180,
  clamped_power_kw: 150,
  clamp_reason: 'power_limit',
  acknowledged_at: '2026-06-21T09:00:00.420Z',
  soc_pct: 72,
  status: 'clamped',
  latency_ms: 420,
})

export const controlExample = exampleOf(ControlEntry, {
  log_id: 340,
  occurred_at: '2026-06-21T09:00:00.000Z',
  tier: 'protection',
  actor: 'bms_limit',
  action: 'clamp',
  from_power_kw: 180,
  to_power_kw: 150,
  reason_code: 'bms_limit',
  message: 'The BMS limit is below the setpoint of the schedule',
  overrode_tier: 'dispatch',
  schedule_id: 41,
  soc_pct: 72,
  success: true,
})

export const deviationExample = exampleOf(Deviation, {
  hour: 9,
  start_at: '2026-06-21T09:00:00.000Z',
  end_at: '2026-06-21T10:00:00.000Z',
  planned_power_kw: 180,
  actual_avg_power_kw: 150,
  deviation_kw: -30,
  planned_energy_kwh: 180,
  actual_energy_kwh: 150,
  deviation_kwh: -30,
  deviation_pct: -16.67,
  within_tolerance: false,
  tolerance_kw: 9,
  reason: 'power_limit',
  cost_amount: 2.55,
  currency: 'EUR',
  completeness_pct: 100,
})
