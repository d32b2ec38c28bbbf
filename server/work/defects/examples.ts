import { exampleOf } from '../../http/example.ts'
import { Defect } from './schemas.ts'

export const resolvedExample = exampleOf(Defect, {
  severity: 'high',
  status: 'resolved',
  location_id: null,
  bess_id: null,
  detection_method: 'thermography',
  warranty_reference: null,
  wo_id: null,
  assigned_to: null,
  alert_ids: [],
  attachments: [],
  reported_by: 'control room',
  resolved_at: '2026-06-21T08:40:00.000Z',
  resolved_by: 'field crew',
  created_at: '2026-06-20T09:05:00.000Z',
  updated_at: '2026-06-21T08:40:00.000Z',
  version: 2,
})

export const createdExample: Defect = {
  ...resolvedExample,
  status: 'open',
  resolution: null,
  resolved_at: null,
  resolved_by: null,
  updated_at: resolvedExample.created_at,
  version: 1,
}
