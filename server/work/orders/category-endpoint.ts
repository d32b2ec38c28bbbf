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
      Type.String({
        description: 'Name of the measured quantity, ending in its unit; null for other items.',
      }),
    ),
    title: Type.String(),
    instruction: Nullable(Type.String()),
    type: Type.Enum([...itemTypes]),
    required: Type.Boolean(),
    unit: Nullable(Type.String({ examples: ['MΩ'] })),
    min_value: Nullable(Type.Number({ description: 'Lowest value that passes, in `unit`.' })),
    max_value: Nullable(Type.Number({ description: 'Highest value that passes, in `unit`.' })),
  },
  { ...closed, $id: 'DefaultChecklistItem' },
)

type InspectionCategory = Static<typeof InspectionCategory>
const InspectionCategory = Type.Object(
  {
    category_id: Type.Integer({ description: 'Id of the category in work orders.', examples: [2] }),
    code: Type.String({ examples: ['pv_string_test'] }),
    name: Type.String(),
    description: Nullable(Type.String()),
    parent_category_id: Nullable(Type.Integer()),
    applies_to: Type.Array(Type.Enum([...inspectedThings])),
    frequency: Nullable(Type.Enum([...frequencies], { description: 'Usual interval.' })),
    standard_reference: Nullable(Type.String({ description: 'The standard of the checklist.' })),
    default_checklist: Type.Array(Line, {
      description: 'The checklist of a new work order of this category, in this order.',
    }),
    is_active: Type.Boolean({ description: 'Whether new work orders may use the category.' }),
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
  summary: 'List inspection categories with their checklists',
  description:
    'Returns the categories, which are the same at every site. Limits come from the named standard. ' +
    'They are null where they depend on the manufacturer, the data sheet or the conditions, and ' +
    'are then set with the measurement.',
  cache: 'static',
  returns: List(InspectionCategory),
  example: { answer: list([served(categories[1]!)]) },
  handle: async () => list(categories.map(served)),
})
