import { exampleOf } from '../../http/example.ts'
import { ChecklistItem } from './item-schemas.ts'
import { WholeWorkOrder } from './schemas.ts'

const created_at = '2026-06-20T09:12:00.000Z'
const started_at = '2026-06-21T06:30:00.000Z'
const completed_at = '2026-06-21T08:40:00.000Z'
const approved_at = '2026-06-21T09:15:00.000Z'

const passed = exampleOf(ChecklistItem, {
  wo_id: 42,
  position: 7,
  category_id: 2,
  type: 'measurement',
  required: true,
  status: 'passed',
  within_limits: true,
  value_text: null,
  value_bool: null,
  note: null,
  photo_ids: [],
  calibration_due_date: '2027-03-31',
  defect_id: null,
  done_at: '2026-06-21T07:05:00.000Z',
  done_by: 'field crew',
})
const pending: ChecklistItem = {
  ...passed,
  status: 'pending',
  within_limits: null,
  value_number: null,
  instrument: null,
  instrument_serial: null,
  calibration_due_date: null,
  done_at: null,
  done_by: null,
}

export const approvedExample = exampleOf(WholeWorkOrder, {
  status: 'approved',
  priority: 'high',
  location_id: null,
  bess_id: null,
  node_id: null,
  asset_label: null,
  scheduled_start_at: null,
  scheduled_end_at: null,
  due_at: null,
  category_id: 2,
  tags: ['fuse'],
  alert_ids: [],
  defect_ids: [],
  attachments: [],
  created_by: 'control room',
  created_at,
  response_due_at: '2026-06-21T09:12:00.000Z',
  resolution_due_at: '2026-06-23T09:12:00.000Z',
  assigned_at: started_at,
  acknowledged_at: started_at,
  started_at,
  completed_at,
  completed_by: 'field crew',
  approved_at,
  approved_by: 'control room',
  approval_note: 'Checked on site.',
  updated_at: approved_at,
  version: 5,
  checklist_total: 1,
  checklist_done: 1,
  checklist: [passed],
})

export const itemExample: WholeWorkOrder = {
  ...approvedExample,
  status: 'in_progress',
  completed_at: null,
  completed_by: null,
  approved_at: null,
  approved_by: null,
  approval_note: null,
  parts: [],
  labour_h: null,
  travel_km: null,
  cost_amount: null,
  currency: null,
  downtime_min: null,
  lost_energy_kwh: null,
  root_cause: null,
  resolution: null,
  updated_at: passed.done_at!,
  version: 3,
}

export const changedExample: WholeWorkOrder = {
  ...itemExample,
  checklist: [pending],
  checklist_done: 0,
  updated_at: started_at,
  version: 2,
}

export const createdExample: WholeWorkOrder = {
  ...changedExample,
  status: 'open',
  assigned_to: null,
  assigned_to_name: null,
  team: null,
  contractor: null,
  assigned_at: null,
  acknowledged_at: null,
  started_at: null,
  updated_at: created_at,
  version: 1,
}

const { checklist: _checklist, ...workOrder } = createdExample
export const workOrderExample = workOrder
