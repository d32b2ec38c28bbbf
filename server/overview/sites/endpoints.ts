import { endpoint } from '../../http/endpoint.ts'
import { List } from '../../http/envelope.ts'
import { Site } from '../../plant/site.ts'
import { siteExample } from '../../plant/site-example.ts'
import type { SiteSummaries } from './summaries.ts'

export interface Needs {
  siteSummaries: Pick<SiteSummaries, 'list'>
}

export const listSites = endpoint({
  method: 'GET',
  path: '/v1/sites',
  operation_id: 'sites_list',
  tag: 'Sites',
  scope: null,
  module: null,
  summary: 'The sites that the key can access',
  description:
    'Any valid key will do. Health and counts are those of the last seconds: they are read again ' +
    'every second while somebody asks, and are never older than five.',
  returns: List(Site),
  example: { answer: { data: [siteExample], meta: { count: 1 } } },
  handle: ({ caller }, { siteSummaries }: Needs) => siteSummaries.list(caller),
})
