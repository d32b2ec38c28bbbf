import { type Static, Type } from 'typebox'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { Nullable } from '../../http/params.ts'
import { categories, frequencies, inspectedThings } from '../categories.ts'
import { itemTypes } from '../checklists.ts'

const closed = { additionalProperties: false } as const

const Line = Type.Object(
  {
    code: Nullable(
      Type.String({ description: 'What is measured, by a name that ends in its unit; else null.' }),
    ),
    title: Type.String(),
    instruction: Nullable(Type.String()),
    type: Type.Enum([...itemTypes]),
    required: Type.Boolean(),
    unit: Nullable(Type.String({ examples: ['MΩ'] })),
    min_value: Nullable(Type.Number({ description: 'In `unit`: at least so much passes.' })),
    max_value: Nullable(Type.Number({ description: 'In `unit`: at most so much passes.' })),
  },
  { ...closed, $id: 'DefaultChecklistItem' },
)

type InspectionCategory = Static<typeof InspectionCategory>
const InspectionCategory = Type.Object(
  {
    category_id: Type.Integer({ description: 'What work orders name it by.', examples: [2] }),
    code: Type.String({ examples: ['pv_string_test'] }),
    name: Type.String(),
    description: Nullable(Type.String()),
    parent_category_id: Nullable(Type.Integer()),
    applies_to: Type.Array(Type.Enum([...inspectedThings])),
    frequency: Nullable(Type.Enum([...frequencies], { description: 'How often as a rule.' })),
    standard_reference: Nullable(
      Type.String({ description: 'The standard that its lines follow.' }),
    ),
    default_checklist: Type.Array(Line, {
      description: 'What a work order of this category begins with, in this order.',
    }),
    is_active: Type.Boolean({ description: 'Whether it is for new work orders.' }),
  },
  { ...closed, $id: 'InspectionCategory' },
)

const served = (category: (typeof categories)[number]): InspectionCategory => ({
  ...category,
  default_checklist: [...category.default_checklist],
})

export const listCategories = endpoint({
  method: 'GET',
  tag: 'Maintenance',
  scope: 'om:read',
  module: 'om',
  path: '/om/categories',
  operation_id: 'om_categories_list',
  summary: 'Inspection categories with their checklists',
  description:
    'The same at every site. Limits are those of the standard that is named, and are null where ' +
    'the maker, the data sheet or the conditions decide: who measures sets them.',
  cache: 'static',
  returns: List(InspectionCategory),
  example: { answer: list([served(categories[1]!)]) },
  handle: async () => list(categories.map(served)),
})
