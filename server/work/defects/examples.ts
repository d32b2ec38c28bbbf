import { enteredDefect, newDefectState } from '../defect-states.ts'
import type { Defect } from './schemas.ts'
import { defectRecord, type StoredDefect } from './store.ts'

const created_at = new Date('2026-06-20T09:05:00.000Z')
const resolved_at = new Date('2026-06-21T08:40:00.000Z')

const reported: StoredDefect = {
  defect_id: 7,
  number: 'DEF-2026-00007',
  severity: 'high',
  ...newDefectState,
  title: 'Hot spot on a module of string 3 of inverter 1',
  description: '21 K above its neighbours.',
  type: 'hotspot',
  safety_relevant: false,
  location_id: null,
  logger_id: 1,
  inverter_id: 1,
  string_index: 3,
  bess_id: null,
  module_position: 'row 12, table 3, module 7',
  latitude: 48.6213,
  longitude: 12.1702,
  detected_at: new Date('2026-06-20T08:30:00.000Z'),
  detection_method: 'thermography',
  temperature_delta_k: 21,
  affected_module_count: 1,
  affected_power_kw: 0.4,
  estimated_loss_kwh_year: 310,
  estimated_loss_amount_year: 22,
  currency: 'EUR',
  warranty_claim: false,
  warranty_reference: null,
  wo_id: null,
  alert_ids: [],
  reported_by: 'control room',
  assigned_to: null,
  resolution: null,
  attachments: [],
  last_attachment_id: 0,
  tags: ['flight 2026-06'],
  version: 1,
  created_at,
  updated_at: created_at,
}
export const createdExample: Defect = defectRecord(reported)

export const resolvedExample: Defect = defectRecord({
  ...reported,
  ...enteredDefect(reported, 'resolved', { key_name: 'field crew', now: resolved_at }),
  resolution: 'Module replaced.',
  updated_at: resolved_at,
  version: 2,
})
