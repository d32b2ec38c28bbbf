import { exampleOf } from '../http/example.ts'
import { AlertRecord } from './record.ts'

export const alertExample = exampleOf(AlertRecord, {
  started_at: '2026-06-21T08:10:00.000Z',
  detected_at: '2026-06-21T08:25:00.000Z',
  ended_at: null,
  acknowledged_at: null,
  resolved_at: null,
  rule_id: 'string_zero_current',
  created_at: '2026-06-21T08:25:00.000Z',
})

export const acknowledgedExample: AlertRecord = {
  ...alertExample,
  status: 'acknowledged',
  acknowledged_at: '2026-06-21T10:00:00.000Z',
  acknowledged_by: 'control room',
  ack_note: 'Technician on the way.',
  work_order_id: 42,
}

export const resolvedExample: AlertRecord = {
  ...acknowledgedExample,
  status: 'resolved',
  resolved_at: '2026-06-21T10:00:00.000Z',
  resolved_by: 'control room',
  resolution: 'manual',
  resolution_note: 'The fuse was replaced.',
}
