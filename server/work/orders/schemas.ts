import { type Static, type TSchema, Type } from 'typebox'
import { id_max, Nullable, page } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { Attachment, GivenAttachments } from '../attachments.ts'
import { Currency, Line, Name, Tags, Title as TitleOf } from '../fields.ts'
import { planned_days_max, priorities, serviceRule } from '../service-levels.ts'
import { workOrderStates } from '../work-order-states.ts'
import { ChecklistItem, NewItem } from './item-schemas.ts'

const closed = { additionalProperties: false } as const

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

const linked_max = 200
const checklist_max = 200

export const WorkOrderId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'A work order of the site.',
  examples: [42],
})

const Status = Type.Enum([...workOrderStates])
const Priority = Type.Enum([...priorities], {
  description: `How soon it is to be taken up and done, from creation: ${serviceRule}.`,
})
const Id = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: id_max, description, examples: [example] })
const Text = (maxLength: number, example: string, description?: string) =>
  Type.String({ maxLength, ...(description && { description }), examples: [example] })
const Amount = (maximum: number, example: number, description?: string) =>
  Type.Number({ minimum: 0, maximum, ...(description && { description }), examples: [example] })
const Time = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [example] })
const Ids = (description: string) =>
  Type.Array(Type.Integer({ minimum: 0, maximum: id_max }), {
    maxItems: linked_max,
    uniqueItems: true,
    description,
  })

const Part = Type.Object(
  {
    sku: Nullable(Text(100, 'F-15A-1500', 'What the store calls it.')),
    name: Name('Fuse 15 A, 1500 V'),
    quantity: Type.Number({ minimum: 0, maximum: 1e9, description: 'In `unit`.', examples: [2] }),
    unit: Line(20, 'piece'),
  },
  { ...closed, $id: 'WorkOrderPart' },
)

const Title = TitleOf('String 3 of inverter 1 carries no current')

/** What a client may set, and take back with null. */
const nullables = {
  location_id: Id('A place of the site. Where none is given, that of the device.', 2),
  logger_id: Id('The plant. Where an inverter is given and no plant, that of the inverter.', 1),
  inverter_id: Id('An inverter, of the plant where that is given.', 1),
  string_index: Id('A string of the inverter, counted from 0.', 3),
  bess_id: Id('A battery unit.', 1),
  node_id: Text(100, '1', 'A sensor node.'),
  asset_label: Text(200, 'Gate at the south fence', 'What it is about, where no id names it.'),
  assigned_to: Name('ada@example.com', 'Whose work it is, by any name; lists are filtered by it.'),
  assigned_to_name: Name('Ada Brandt', 'What people call them; null again with another.'),
  team: Name('Electrical south'),
  contractor: Name('Sunny Service Ltd'),
  scheduled_start_at: Time('Planned work from here …', '2026-06-22T06:00:00Z'),
  scheduled_end_at: Time(
    `… to here, later than its start and at most ${planned_days_max} days: alerts that it ` +
      'explains are suppressed.',
    '2026-06-22T14:00:00Z',
  ),
  due_at: Time(
    'Until when it was promised, as by a contract; fixed once completed.',
    '2026-06-24T16:00:00Z',
  ),
  labour_h: Amount(1e6, 3.5, 'Hours worked, of all people together.'),
  travel_km: Amount(1e6, 84),
  cost_amount: Type.Number({
    minimum: -1e12,
    maximum: 1e12,
    description: 'In `currency`.',
    examples: [245],
  }),
  currency: Currency,
  downtime_min: Amount(1e8, 130, 'How long the device stood still.'),
  lost_energy_kwh: Amount(1e12, 41.2, 'Energy that was lost by the fault and by the work.'),
  safety_permit_no: Text(100, 'PTW-118', 'Number of the permit to work, where one was issued.'),
  root_cause: Text(20_000, 'Fuse blown by a chafed cable.'),
  resolution: Text(20_000, 'Cable and fuse replaced.', 'What was done.'),
} as const

/** What a client may set, and what is never null. */
const valued = {
  description: Text(
    20_000,
    'Fuse or connector; take spare fuses of 15 A.',
    'Any text; kept as it is.',
  ),
  type: Type.Enum([...workOrderTypes]),
  priority: Priority,
  parts: Type.Array(Part, { maxItems: 200, description: 'What was used.' }),
  influences_availability: Type.Boolean({
    description: 'Whether its downtime counts against the availability.',
    examples: [true],
  }),
  influences_performance_ratio: Type.Boolean({
    description: 'Whether its downtime counts against the performance ratio.',
    examples: [false],
  }),
  loto_required: Type.Boolean({
    description: 'Lock-out, tag-out before work begins.',
    examples: [true],
  }),
  tags: Tags,
} as const

const links = {
  alert_ids: Ids('Alerts that it is about. A new one without a device has that of its alerts.'),
  defect_ids: Ids(
    'Defects that it sees to. A defect belongs to one work order, until that is cancelled; one ' +
      'that is verified joins none, and stays whichever are sent.',
  ),
} as const

type Names<Of> = { [Name in keyof Of]: Of[Name] }
const each = <Of extends Record<string, TSchema>, To extends TSchema>(
  of: Of,
  change: (schema: TSchema) => To,
) => Object.fromEntries(Object.entries(of).map(([name, schema]) => [name, change(schema)]))

type OptionalNullables = {
  [Name in keyof typeof nullables]: ReturnType<
    typeof Type.Optional<ReturnType<typeof Nullable<(typeof nullables)[Name]>>>
  >
}
type Optionals<Of extends Record<string, TSchema>> = {
  [Name in keyof Of]: ReturnType<typeof Type.Optional<Of[Name]>>
}
type PresentNullables = {
  [Name in keyof typeof nullables]: ReturnType<typeof Nullable<(typeof nullables)[Name]>>
}

const optional = {
  ...(each(nullables, (schema) => Type.Optional(Nullable(schema))) as OptionalNullables),
  ...(each({ ...valued, ...links }, Type.Optional) as Optionals<
    Names<typeof valued & typeof links>
  >),
  attachments: Type.Optional(GivenAttachments),
}

export type NewWorkOrder = Static<typeof NewWorkOrder>
export const NewWorkOrder = Type.Object(
  {
    title: Title,
    ...optional,
    category_id: Type.Optional(
      Nullable(Id('An inspection category of /om/categories, whose checklist it gets.', 2)),
    ),
    checklist: Type.Optional(
      Type.Array(NewItem, {
        maxItems: checklist_max,
        description: 'Its own checklist, in the place of that of the category.',
      }),
    ),
  },
  { ...closed, $id: 'NewWorkOrder' },
)

export type WorkOrderChange = Static<typeof WorkOrderChange>
export const WorkOrderChange = Type.Object(
  {
    title: Type.Optional(Title),
    ...optional,
    status: Type.Optional(Status),
    cancel_reason: Type.Optional(
      Nullable(Text(2000, 'Done with WO-2026-00041.', 'With status `cancelled` alone.')),
    ),
  },
  { ...closed, $id: 'WorkOrderChange' },
)

export const Approval = Type.Object(
  { note: Type.Optional(Nullable(Text(2000, 'Checked on site.', 'For those who read it.'))) },
  { ...closed, $id: 'WorkOrderApproval' },
)

const count = (description: string) => Type.Integer({ minimum: 0, description })

const workOrder = {
  wo_id: WorkOrderId,
  number: Type.String({ description: 'What people call it.', examples: ['WO-2026-00042'] }),
  title: Title,
  status: Status,
  ...(each(nullables, Nullable) as PresentNullables),
  ...valued,
  ...links,
  category_id: Nullable(Type.Integer()),
  assigned_at: Nullable(At('When whose work it is was decided last.')),
  created_by: Type.String({ description: 'Name of the key; `system` for the system itself.' }),
  created_at: At('When it was created.'),
  updated_at: At('When it or its checklist was changed last.'),
  acknowledged_at: Nullable(
    At('First change of its status after its creation, other than to `open`.'),
  ),
  started_at: Nullable(At('First time that it was `in_progress`.')),
  completed_at: Nullable(At('Null again where it was sent back.')),
  completed_by: Nullable(Type.String()),
  approved_at: Nullable(At('When it was approved.')),
  approved_by: Nullable(Type.String()),
  approval_note: Nullable(Type.String()),
  cancelled_at: Nullable(At('When it was cancelled.')),
  cancel_reason: Nullable(Type.String()),
  response_due_at: Nullable(At('By its priority: until when it is to be acknowledged.')),
  resolution_due_at: Nullable(At('By its priority: until when it is to be completed.')),
  sla_breached: Type.Boolean({
    description: 'Whether either was missed, or `due_at`, by now.',
  }),
  checklist_total: count('Items of its checklist.'),
  checklist_done: count('Those that are not `pending`.'),
  checklist_failed: count('Those that failed.'),
  attachments: Type.Array(Attachment),
  version: Type.Integer({ minimum: 1, description: 'Goes up with every change of it.' }),
} as const

export type WorkOrder = Static<typeof WorkOrder>
export const WorkOrder = Type.Object(workOrder, { ...closed, $id: 'WorkOrder' })

export type WholeWorkOrder = Static<typeof WholeWorkOrder>
export const WholeWorkOrder = Type.Object(
  {
    ...workOrder,
    checklist: Type.Array(ChecklistItem, { description: 'In the order in which it is gone by.' }),
  },
  { ...closed, $id: 'WholeWorkOrder' },
)

/** What the list is filtered by. */
export const filters = {
  status: Type.Optional(
    Type.Enum([...workOrderStates], { description: 'Only those in this state.' }),
  ),
  location_id: Type.Optional(
    Type.Integer({ minimum: 0, maximum: id_max, description: 'Only those at this place itself.' }),
  ),
  logger_id: Type.Optional(
    Type.Integer({ minimum: 0, maximum: id_max, description: 'Only those of this plant.' }),
  ),
  assigned_to: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only those assigned to exactly this.',
      examples: ['Ada'],
    }),
  ),
  ...page,
}
