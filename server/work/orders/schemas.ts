import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named, Nullable, page } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Attachment, GivenAttachments } from '../attachments.ts'
import {
  Amount,
  Currency,
  devices,
  Flag,
  Id,
  Ids,
  Line,
  Name,
  nullable,
  optional,
  placeFilters,
  Tags,
  Text,
  Time,
  Title as TitleOf,
  Version,
} from '../fields.ts'
import { planned_days_max, priorities, serviceRule } from '../service-levels.ts'
import { workOrderStates } from '../work-order-states.ts'
import { ChecklistItem, NewItem } from './item-schemas.ts'

const workOrderTypes = [
  'corrective',
  'preventive',
  'inspection',
  'cleaning',
  'vegetation',
  'commissioning',
  'warranty',
  'emergency',
] as const

const checklist_max = 200

export const WorkOrderId = Id('A work order of the site.', 42)

const Status = Type.Enum([...workOrderStates])
const Priority = field.OneOf(
  priorities,
  `Deadlines for acknowledgement and completion after creation: ${serviceRule}.`,
)
const Part = Named('WorkOrderPart', {
  sku: Nullable(Text(100, 'F-15A-1500', 'Stock number.')),
  name: Name('Fuse 15 A, 1500 V'),
  quantity: field.FromZero('In `unit`.', { maximum: 1e9, examples: [2] }),
  unit: Line(20, 'piece'),
})

const Title = TitleOf('String 3 of inverter 1 carries no current')

/** Optional fields that clients may clear with null. */
export const nullables = {
  ...devices,
  node_id: Text(100, '1', 'A sensor node.'),
  asset_label: Text(200, 'Gate at the south fence', 'The subject of the work, if it has no id.'),
  assigned_to: Name('ada@example.com', 'The assignee, by any name. Lists can be filtered by it.'),
  assigned_to_name: Name(
    'Ada Brandt',
    'Display name of the assignee. Cleared when the assignee changes.',
  ),
  team: Name('Electrical south'),
  contractor: Name('Sunny Service Ltd'),
  scheduled_start_at: Time('Start of planned work.', '2026-06-22T06:00:00Z'),
  scheduled_end_at: Time(
    `End of planned work, at most ${planned_days_max} days after the start. Alerts of the devices ` +
      'are suppressed meanwhile.',
    '2026-06-22T14:00:00Z',
  ),
  due_at: Time(
    'Deadline, for example of a contract. Fixed once the work is completed.',
    '2026-06-24T16:00:00Z',
  ),
  labour_h: Amount(1e6, 3.5, 'Total working hours of all people.'),
  travel_km: Amount(1e6, 84),
  cost_amount: field.Num('In `currency`.', { minimum: -1e12, maximum: 1e12, examples: [245] }),
  currency: Currency,
  downtime_min: Amount(1e8, 130, 'Downtime of the device.'),
  lost_energy_kwh: Amount(1e12, 41.2, 'Energy lost by the fault and by the work.'),
  safety_permit_no: Text(100, 'PTW-118', 'Number of the permit to work, if any.'),
  root_cause: Text(20_000, 'Fuse blown by a chafed cable.'),
  resolution: Text(20_000, 'Cable and fuse replaced.', 'What was done.'),
} as const

/** Optional fields that are never null. */
const valued = {
  description: Text(20_000, 'Fuse or connector; take spare fuses of 15 A.', 'Free text.'),
  type: Type.Enum([...workOrderTypes]),
  priority: Priority,
  parts: Type.Array(Part, { maxItems: 200, description: 'Parts used.' }),
  influences_availability: Flag('Whether the downtime counts against availability.', true),
  influences_performance_ratio: Flag('Whether the downtime counts against the performance ratio.'),
  loto_required: Flag('Whether lock-out/tag-out is required before work starts.', true),
  tags: Tags,
} as const

const links = {
  alert_ids: Ids(
    'Alerts handled by the work order. A new one without a device takes the device of its alerts.',
  ),
  defect_ids: Ids(
    'Defects repaired by the work order. A defect belongs to one work order until that is cancelled. ' +
      'Verified defects can be neither added nor removed.',
  ),
} as const

const given = {
  ...optional({ ...nullable(nullables), ...valued, ...links }),
  attachments: Type.Optional(GivenAttachments),
}

export type NewWorkOrder = Static<typeof NewWorkOrder>
export const NewWorkOrder = Named('NewWorkOrder', {
  title: Title,
  ...given,
  category_id: Type.Optional(
    Nullable(Id('An inspection category of /om/categories, which gives the checklist.', 2)),
  ),
  checklist: Type.Optional(
    Type.Array(NewItem, {
      maxItems: checklist_max,
      description: 'Replaces the checklist of the category.',
    }),
  ),
})

export type WorkOrderChange = Static<typeof WorkOrderChange>
export const WorkOrderChange = Named('WorkOrderChange', {
  title: Type.Optional(Title),
  ...given,
  status: Type.Optional(Status),
  cancel_reason: Type.Optional(
    Nullable(Text(2000, 'Done with WO-2026-00041.', 'Allowed only with status `cancelled`.')),
  ),
})

export const Approval = Named('WorkOrderApproval', {
  note: Type.Optional(Nullable(Text(2000, 'Checked on site.', 'A remark for colleagues.'))),
})

const workOrder = {
  wo_id: WorkOrderId,
  number: field.Text('Number for people.', 'WO-2026-00042'),
  title: Title,
  status: Status,
  ...nullable(nullables),
  ...valued,
  ...links,
  category_id: Nullable(Type.Integer()),
  assigned_at: Nullable(At('When the assignment last changed.')),
  created_by: field.Text('Name of the key; `system` for the system itself.', 'control room'),
  created_at: At('When the work order was created.'),
  updated_at: At('When the work order or its checklist last changed.'),
  acknowledged_at: Nullable(At('When the status first left `open` after creation.')),
  started_at: Nullable(At('When the status first became `in_progress`.')),
  completed_at: Nullable(At('When the work was completed; null after reopening.')),
  completed_by: Nullable(Type.String()),
  approved_at: Nullable(At('When the work was approved.')),
  approved_by: Nullable(Type.String()),
  approval_note: Nullable(Type.String()),
  cancelled_at: Nullable(At('When the work order was cancelled.')),
  cancel_reason: Nullable(Type.String()),
  response_due_at: Nullable(At('Deadline for acknowledgement, by priority.')),
  resolution_due_at: Nullable(At('Deadline for completion, by priority.')),
  sla_breached: Flag('Whether a deadline or `due_at` was missed.'),
  checklist_total: field.Count('Items of the checklist.', 1),
  checklist_done: field.Count('Items that are not `pending`.', 1),
  checklist_failed: field.Count('Items that failed.'),
  attachments: Type.Array(Attachment),
  version: Version,
} as const

export type WorkOrder = Static<typeof WorkOrder>
export const WorkOrder = Named('WorkOrder', workOrder)

export type WholeWorkOrder = Static<typeof WholeWorkOrder>
export const WholeWorkOrder = Named('WholeWorkOrder', {
  ...workOrder,
  checklist: Type.Array(ChecklistItem, { description: 'Items by position.' }),
})

export const filters = {
  status: Type.Optional(field.OneOf(workOrderStates, 'Returns only work orders in this state.')),
  ...placeFilters('work orders'),
  assigned_to: Type.Optional(
    field.Text('Returns only work orders with exactly this assignee.', {
      maxLength: 200,
      examples: ['Ada'],
    }),
  ),
  ...page,
}
