import type { Gap } from './endpoints.ts'

export const gapExample: Gap = {
  gap_id: 41,
  logger_id: 2,
  source_type: 'inverter',
  source_id: '7',
  start_at: '2026-06-21T09:12:05.000Z',
  end_at: '2026-06-21T09:31:10.000Z',
  duration_s: 1145,
  expected_sample_count: 228,
  received_sample_count: 0,
  missing_sample_count: 228,
  completeness_pct: 0,
  cause: 'communication',
  during_daylight: true,
  status: 'unrecoverable',
  backfilled_at: null,
  backfilled_sample_count: 0,
  alert_id: 811,
  detected_at: '2026-06-21T09:15:00.000Z',
}
