import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList } from '../../http/envelope.ts'
import { siteExample } from '../../plant/device-examples.ts'
import { Site } from '../../plant/site.ts'
import { page_size_max, siteOrders } from './pages.ts'
import { listedSites } from './summaries.ts'

export const listSites = endpoint({
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'sites_list',
  tag: 'Sites',
  scope: null,
  module: null,
  summary: 'The sites that the key can access',
  description:
    'Returns the sites of the key: without parameters all of them, by `site_id`; with any ' +
    'parameter a page. `meta.count` counts all pages. Needs no scope. Health and counts are ' +
    'cached: they are refreshed after one second on request and are never older than five seconds.',
  query: {
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Only sites with this text in `site_id` or `name`, in upper or lower case.',
        examples: ['park'],
      }),
    ),
    sort: Type.Optional(
      Type.Enum([...siteOrders], {
        description:
          'The order; a minus reverses it. Numbers within names are compared as numbers. ' +
          'Defaults to `site_id`.',
        examples: ['name'],
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        'x-cap': page_size_max,
        description:
          `Maximum number of sites on a page. Values above ${page_size_max} count as ` +
          `${page_size_max}, which is also the default with another parameter.`,
        examples: [50],
      }),
    ),
  },
  cursor: { site_id: Type.String(), name: Type.String() },
  returns: CursorList(Site),
  example: { answer: cursorList({ rows: [siteExample], next_cursor: null }) },
  handle: ({ caller, query, after }, context: Context) =>
    listedSites({ caller, page: { ...query, after } }, context),
})
