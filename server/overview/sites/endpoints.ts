import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorList, cursorList } from '../../http/envelope.ts'
import { exampleOf } from '../../http/example.ts'
import { Closed, Named } from '../../http/params.ts'
import { siteExample } from '../../plant/device-examples.ts'
import { Site } from '../../plant/site.ts'
import { SiteTotals } from '../../plant/site-status.ts'
import { page_size_max, siteOrders } from './pages.ts'
import { listedSites } from './summaries.ts'

const SiteList = Closed({
  data: Type.Array(Site),
  meta: Named('SiteListMeta', {
    ...CursorList(Site).properties.meta.properties,
    totals: Type.Optional(SiteTotals),
  }),
})

const { data, meta } = cursorList({ rows: [siteExample], next_cursor: null })
const answer = { data, meta: { ...meta, totals: exampleOf(SiteTotals) } }

export const listSites = endpoint({
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'sites_list',
  tag: 'Sites',
  scope: null,
  module: null,
  summary: 'The sites that the key can access',
  description:
    'Returns the sites of the key: all of them, by `site_id`; with any parameter but `include` a ' +
    'page. `meta.count` counts all pages. Needs no scope. Health and counts are cached: they are ' +
    'refreshed after one second on request and are never older than five seconds. With ' +
    '`include=status` each site has its power, energy, revenue and open alerts, each null without ' +
    'its scope or while unknown, and `meta.totals` has their sums over all pages. These metrics ' +
    'are updated in the background; the instant beside a metric tells how old it is.',
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
    include: Type.Optional(
      Type.Array(Type.Enum(['status']), {
        minItems: 1,
        description: '`status`: adds `status` to each site, and `meta.totals`.',
        examples: [['status']],
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
  returns: SiteList,
  example: { answer },
  handle({ caller, query: { include, ...query }, after }, context: Context) {
    const with_status = include?.includes('status') ?? false
    return listedSites({ caller, page: { ...query, after }, with_status }, context)
  },
})
