import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { siteExample } from '../../plant/device-examples.ts'
import { Site } from '../../plant/site.ts'
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
    'Returns the sites of the key. Needs no scope. Health and counts are cached: they are ' +
    'refreshed after one second on request and are never older than five seconds.',
  returns: List(Site),
  example: { answer: list([siteExample]) },
  handle: ({ caller }, context: Context) => listedSites(caller, context),
})
