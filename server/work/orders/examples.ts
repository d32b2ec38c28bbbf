import { categoryById } from '../categories.ts'
import { serviceTimes } from '../service-levels.ts'
import { entered, type StateRecord } from '../work-order-states.ts'
import type { WholeWorkOrder, WorkOrder } from './schemas.ts'
import { type StoredItem, type StoredWorkOrder, wholeRecord } from './store.ts'

const created_at = new Date('2026-06-20T09:12:00.000Z')
const started_at = new Date('2026-06-21T06:30:00.000Z')
const filled_in_at = new Date('2026-06-21T07:05:00.000Z')
const completed_at = new Date('2026-06-21T08:40:00.000Z')
const approved_at = new Date('2026-06-21T09:15:00.000Z')
const field_crew = { key_id: '0123456789ab', key_name: 'field crew' }
const control_room = { key_id: 'ba9876543210', key_name: 'control room' }

const untouched: StateRecord = {
  status: 'open',
  acknowledged_at: null,
  started_at: null,
  completed_at: null,
  completed_by: null,
  completed_by_key_id: null,
  approved_at: null,
  approved_by: null,
  cancelled_at: null,
}

const items = categoryById(2)!.default_checklist.map(
  (line, index): StoredItem => ({
    item_id: 301 + index,
    wo_id: 42,
    position: index + 1,
    category_id: 2,
    ...line,
    status: 'pending',
    value_number: null,
    value_text: null,
    value_bool: null,
    note: null,
    photo_ids: [],
    instrument: null,
    instrument_serial: null,
    calibration_due_date: null,
    defect_id: null,
    done_at: null,
    done_by: null,
    is_limit_open: false,
  }),
)

const order: StoredWorkOrder = {
  wo_id: 42,
  number: 'WO-2026-00042',
  ...untouched,
  title: 'String 3 of inverter 1 carries no current',
  description: 'Fuse or connector; take spare fuses of 15 A.',
  type: 'corrective',
  priority: 'high',
  location_id: null,
  logger_id: 1,
  inverter_id: 1,
  string_index: 3,
  bess_id: null,
  node_id: null,
  asset_label: null,
  category_id: 2,
  assigned_to: null,
  assigned_to_name: null,
  assigned_at: null,
  team: null,
  contractor: null,
  created_by: 'control room',
  created_at,
  updated_at: created_at,
  scheduled_start_at: null,
  scheduled_end_at: null,
  due_at: null,
  approval_note: null,
  cancel_reason: null,
  ...serviceTimes('high', created_at),
  alert_ids: [],
  defect_ids: [],
  labour_h: null,
  travel_km: null,
  parts: [],
  cost_amount: null,
  currency: null,
  downtime_min: null,
  lost_energy_kwh: null,
  influences_availability: false,
  influences_performance_ratio: false,
  safety_permit_no: null,
  loto_required: true,
  root_cause: null,
  resolution: null,
  attachments: [],
  last_attachment_id: 0,
  tags: ['fuse'],
  version: 1,
  checklist_total: items.length,
  checklist_done: 0,
  checklist_failed: 0,
}

export const createdExample: WholeWorkOrder = wholeRecord({ order, items }, created_at)

const { checklist: _checklist, ...listed } = createdExample
export const workOrderExample: WorkOrder = listed

const begun: StoredWorkOrder = {
  ...order,
  ...entered(order, 'in_progress', { ...field_crew, now: started_at }),
  team: 'Electrical south',
  assigned_at: started_at,
  updated_at: started_at,
  version: 2,
}
export const changedExample: WholeWorkOrder = wholeRecord({ order: begun, items }, started_at)

const measured_with = {
  instrument: 'Insulation tester',
  instrument_serial: 'A-1187',
  calibration_due_date: '2027-03-31',
}
const filled = items.map(
  (item): StoredItem =>
    item.code === 'insulation_positive_mohm'
      ? {
          ...item,
          ...measured_with,
          status: 'passed',
          value_number: 412,
          done_at: filled_in_at,
          done_by: 'field crew',
        }
      : item,
)
export const itemExample: WholeWorkOrder = wholeRecord(
  { order: { ...begun, checklist_done: 1, updated_at: filled_in_at, version: 3 }, items: filled },
  filled_in_at,
)

const done: StoredWorkOrder = {
  ...begun,
  ...entered(begun, 'completed', { ...field_crew, now: completed_at }),
  labour_h: 3.5,
  cost_amount: 245,
  currency: 'EUR',
  downtime_min: 130,
  root_cause: 'Fuse blown by a chafed cable.',
  resolution: 'Cable and fuse replaced.',
  parts: [{ sku: 'F-15A-1500', name: 'Fuse 15 A, 1500 V', quantity: 2, unit: 'piece' }],
  checklist_done: items.length,
}
const signed = filled.map((item): StoredItem => {
  const value = { value_number: item.min_value ?? 8, value_text: 'F. Crew', value_bool: true }
  const { type } = item
  return item.status === 'passed'
    ? item
    : {
        ...item,
        status: 'passed',
        done_at: completed_at,
        done_by: 'field crew',
        value_number: type === 'measurement' ? value.value_number : null,
        value_text: type === 'signature' ? value.value_text : null,
        value_bool: type === 'pass_fail' ? value.value_bool : null,
      }
})
export const approvedExample: WholeWorkOrder = wholeRecord(
  {
    order: {
      ...done,
      ...entered(done, 'approved', { ...control_room, now: approved_at }),
      approval_note: 'Checked on site.',
      updated_at: approved_at,
      version: 17,
    },
    items: signed,
  },
  approved_at,
)
