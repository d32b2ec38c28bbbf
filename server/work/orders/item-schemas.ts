import { type Static, Type } from 'typebox'
import { id_max, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { itemStatuses, itemTypes } from '../checklists.ts'
import { Line } from '../fields.ts'

const closed = { additionalProperties: false } as const
const number_max = 1e15

export const ItemId = Type.Integer({
  minimum: 0,
  maximum: id_max,
  description: 'An item of the checklist of the work order.',
  examples: [311],
})

const ItemType = Type.Enum([...itemTypes], {
  description:
    '`check`: looked at and in order; `pass_fail`: a statement, `value_bool`; `measurement`: ' +
    '`value_number` in `unit`; `text` and `signature`: `value_text`; `photo`: `photo_ids`.',
})
const ItemStatus = Type.Enum([...itemStatuses])
const Figure = (description: string, example: number) =>
  Type.Number({ minimum: -number_max, maximum: number_max, description, examples: [example] })
const Text = (maxLength: number, example: string, description?: string) =>
  Type.String({ maxLength, ...(description && { description }), examples: [example] })

const title = Line(300, 'Insulation of the positive pole to earth')
const code = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,59}$',
  description: 'What is measured, by a name that ends in its unit; else null.',
  examples: ['insulation_positive_mohm'],
})
const min_value = Figure('In `unit`: at least so much passes.', 1)
const max_value = Figure('In `unit`: at most so much passes.', 1000)
const unit = Line(20, 'MΩ')
const photo_ids = Type.Array(Type.Integer({ minimum: 1, maximum: id_max }), {
  maxItems: 100,
  uniqueItems: true,
  description: 'Attachments of the work order.',
})
const entered = {
  value_number: Nullable(Figure('What was measured, in `unit`.', 412)),
  value_text: Nullable(Text(5000, 'A. Brandt')),
  value_bool: Nullable(Type.Boolean({ examples: [true] })),
  note: Nullable(Text(5000, 'Measured after rain.')),
  photo_ids,
  instrument: Nullable(Text(200, 'Insulation tester', 'Maker and type.')),
  instrument_serial: Nullable(Text(100, 'A-1187')),
  calibration_due_date: Nullable(
    Type.String({ format: 'date', description: 'Until when the tester is calibrated.' }),
  ),
  defect_id: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: id_max,
      description: 'The defect that was found by it.',
      examples: [7],
    }),
  ),
} as const

export type NewItem = Static<typeof NewItem>
export const NewItem = Type.Object(
  {
    title,
    type: Type.Optional(Type.Enum([...itemTypes], { default: 'check' })),
    required: Type.Optional(Type.Boolean({ default: true, examples: [true] })),
    instruction: Type.Optional(Nullable(Text(5000, 'With 1000 V.'))),
    code: Type.Optional(Nullable(code)),
    unit: Type.Optional(Nullable(unit)),
    min_value: Type.Optional(Nullable(min_value)),
    max_value: Type.Optional(Nullable(max_value)),
  },
  { ...closed, $id: 'NewChecklistItem' },
)

export type ItemChange = Static<typeof ItemChange>
export const ItemChange = Type.Object(
  {
    status: Type.Optional(ItemStatus),
    value_number: Type.Optional(entered.value_number),
    value_text: Type.Optional(entered.value_text),
    value_bool: Type.Optional(entered.value_bool),
    min_value: Type.Optional(
      Nullable(Figure('Of a measurement whose checklist leaves the limits to who measures.', 700)),
    ),
    max_value: Type.Optional(Nullable(Figure('As `min_value`.', 770))),
    note: Type.Optional(entered.note),
    photo_ids: Type.Optional(photo_ids),
    instrument: Type.Optional(entered.instrument),
    instrument_serial: Type.Optional(entered.instrument_serial),
    calibration_due_date: Type.Optional(entered.calibration_due_date),
    defect_id: Type.Optional(entered.defect_id),
  },
  { ...closed, $id: 'ChecklistItemChange' },
)

export type ChecklistItem = Static<typeof ChecklistItem>
export const ChecklistItem = Type.Object(
  {
    item_id: ItemId,
    wo_id: Type.Integer(),
    position: Type.Integer({ minimum: 1, description: 'From 1.' }),
    category_id: Nullable(Type.Integer({ description: 'The category that it comes from.' })),
    code: Nullable(code),
    title,
    instruction: Nullable(Type.String()),
    type: ItemType,
    required: Type.Boolean({ description: 'The work is not completed while it is `pending`.' }),
    status: ItemStatus,
    unit: Nullable(unit),
    min_value: Nullable(min_value),
    max_value: Nullable(max_value),
    within_limits: Nullable(
      Type.Boolean({ description: 'Null without a value, and without limits.' }),
    ),
    ...entered,
    done_at: Nullable(At('When its status or its value was set last; null while it is `pending`.')),
    done_by: Nullable(Type.String({ description: 'Name of the key.' })),
  },
  { ...closed, $id: 'ChecklistItem' },
)
