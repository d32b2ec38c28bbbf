import type { AlarmState } from '../alarms.ts'
import type { Deviation } from '../deviations.ts'
import type {
  AlarmCounts,
  AlarmTransition,
  ControlEntry,
  DispatchEntry,
  PcsFaults,
} from './schemas.ts'

const fault = {
  bit: 7,
  code: 'OVER_TEMP',
  name: 'Overtemperature',
  severity: 'major' as const,
  asserted_since_at: '2026-06-21T09:58:12.000Z',
}

export const faultsExample: PcsFaults = {
  measured_at: '2026-06-21T10:00:04.000Z',
  words: [
    {
      pcs_idx: 0,
      word_index: 1,
      register: null,
      raw: 128,
      hex: '0x00000080',
      is_available: true,
      bits: [fault],
      table_id: 'sunspec-inverter',
      table_version: '1',
    },
  ],
  active: [{ pcs_idx: 0, word_index: 1, ...fault }],
  active_count: 1,
  highest_severity: 'major',
  table_version: '1',
}

export const alarmStateExample: AlarmState = {
  code: 'OVER_TEMP_WARNING',
  name: 'Overtemperature, pre-alarm',
  message: 'Overtemperature, pre-alarm',
  description: 'A module comes near the highest temperature it may have.',
  source: 'bms',
  cluster_idx: null,
  pcs_idx: null,
  severity: 'warning',
  level: 1,
  is_set: true,
  set_at: '2026-06-21T09:41:30.000Z',
  cleared_at: null,
  raw_value: 46.5,
  threshold_value: 45,
  threshold_unit: 'C',
  latching: false,
  affects_power: false,
  recommended_action: 'Check cooling and filters; lower the power until it has cooled.',
  alert_id: 812,
}

export const alarmTransitionExample: AlarmTransition = {
  event_id: 5120,
  code: 'OVER_TEMP_WARNING',
  name: 'Overtemperature, pre-alarm',
  message: 'Overtemperature, pre-alarm',
  source: 'bms',
  cluster_idx: null,
  pcs_idx: null,
  severity: 'warning',
  transition: 'set',
  occurred_at: '2026-06-21T09:41:30.000Z',
  received_at: '2026-06-21T09:41:30.640Z',
  duration_s: null,
  value: null,
  unit: null,
  soc_pct: 64.5,
  power_kw: 180.25,
}

export const countsExample: AlarmCounts = {
  measured_at: '2026-06-21T10:00:04.000Z',
  active: { info: 0, warning: 1, major: 1, critical: 0 },
  total_active: 2,
  last_24h: { info: 0, warning: 3, major: 1, critical: 0 },
  by_source: { bms: 1, cluster: 0, pcs: 1, fire: 0, meter: 0, ems: 0, communication: 0 },
  unacknowledged: 2,
}

export const dispatchExample: DispatchEntry = {
  dispatch_id: 812,
  issued_at: '2026-06-21T09:00:00.000Z',
  schedule_id: 41,
  hour: 9,
  interval_start_at: '2026-06-21T09:00:00.000Z',
  source: 'schedule',
  requested_power_kw: 180,
  clamped_power_kw: 150,
  clamp_reason: 'power_limit',
  sent_at: '2026-06-21T09:00:00.180Z',
  acknowledged_at: '2026-06-21T09:00:00.420Z',
  achieved_power_kw: 149.5,
  achieved_at: '2026-06-21T09:00:06.000Z',
  soc_pct: 72,
  status: 'clamped',
  failure_code: null,
  latency_ms: 420,
}

export const controlExample: ControlEntry = {
  log_id: 340,
  occurred_at: '2026-06-21T09:00:00.000Z',
  tier: 'protection',
  actor: 'bms_limit',
  action: 'clamp',
  from_power_kw: 180,
  to_power_kw: 150,
  reason_code: 'bms_limit',
  message: 'The management system allows less than the schedule asks for',
  overrode_tier: 'dispatch',
  schedule_id: 41,
  alarm_code: null,
  soc_pct: 72,
  request_id: null,
  success: true,
}

export const deviationExample: Deviation = {
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
  planned_soc_end_pct: 30,
  actual_soc_end_pct: 36.5,
  within_tolerance: false,
  tolerance_kw: 9,
  reason: 'power_limit',
  cost_amount: 2.55,
  currency: 'EUR',
  completeness_pct: 100,
}
