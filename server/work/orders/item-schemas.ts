import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { id_max, Named, Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { itemStatuses, itemTypes } from '../checklists.ts'
import { Id, Line, nullable, optional, Text } from '../fields.ts'

const number_max = 1e15

export const ItemId = Id('An item of the checklist of the work order.', 311)

const ItemType = field.OneOf(
  itemTypes,
  '`check`: inspected and in order; `pass_fail`: a statement, `value_bool`; `measurement`: ' +
    '`value_number` in `unit`; `text` and `signature`: `value_text`; `photo`: `photo_ids`.',
)
const ItemStatus = Type.Enum([...itemStatuses])
const Value = (description: string, example: number) =>
  field.Num(description, { minimum: -number_max, maximum: number_max, examples: [example] })

const title = Line(300, 'Insulation of the positive pole to earth')
const code = field.Text(
  'Name of the measured quantity, ending in its unit; null for other items.',
  { pattern: '^[a-z][a-z0-9_]{0,59}$', examples: ['insulation_positive_mohm'] },
)
const min_value = Value('Lowest value that passes, in `unit`.', 1)
const max_value = Value('Highest value that passes, in `unit`.', 1000)
const unit = Line(20, 'MΩ')
const entered = {
  ...nullable({
    value_number: Value('The measured value, in `unit`.', 412),
    value_text: Text(5000, 'A. Brandt'),
    value_bool: Type.Boolean({ examples: [true] }),
    note: Text(5000, 'Measured after rain.'),
    instrument: Text(200, 'Insulation tester', 'Manufacturer and model.'),
    instrument_serial: Text(100, 'A-1187'),
    calibration_due_date: field.Day('When the calibration of the instrument expires.'),
    defect_id: Id('The defect found with this item.', 7),
  }),
  photo_ids: Type.Array(Type.Integer({ minimum: 1, maximum: id_max }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Attachments of the work order.',
  }),
} as const

export type NewItem = Static<typeof NewItem>
export const NewItem = Named('NewChecklistItem', {
  title,
  ...optional({
    type: Type.Enum([...itemTypes], { default: 'check' }),
    required: Type.Boolean({ default: true, examples: [true] }),
    instruction: Nullable(Text(5000, 'With 1000 V.')),
    ...nullable({ code, unit, min_value, max_value }),
  }),
})

export type ItemChange = Static<typeof ItemChange>
export const ItemChange = Named(
  'ChecklistItemChange',
  optional({
    status: ItemStatus,
    min_value: Nullable(Value('Allowed only where the checklist leaves the limits open.', 700)),
    max_value: Nullable(Value('See `min_value`.', 770)),
    ...entered,
  }),
)

export type ChecklistItem = Static<typeof ChecklistItem>
export const ChecklistItem = Named('ChecklistItem', {
  item_id: ItemId,
  wo_id: Type.Integer(),
  position: field.Int('Position in the checklist, from 1.', { minimum: 1, examples: [7] }),
  category_id: field.IntOrNull('The category of the item.', 2),
  title,
  instruction: Nullable(Type.String()),
  type: ItemType,
  required: field.Flag('Whether the item must be filled in before the work can be completed.'),
  status: ItemStatus,
  ...nullable({ code, unit, min_value, max_value }),
  within_limits: field.FlagOrNull('Null without a value or without limits.', true),
  ...entered,
  done_at: Nullable(At('When status or value were last set; null while `pending`.')),
  done_by: field.TextOrNull('Name of the key.', 'field crew'),
})
