import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { categories, InspectionCategory } from '../categories.ts'

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
  example: { answer: list([categories[1]!]) },
  handle: async () => list(categories),
})
