/** Reports that a person orders once, over dates of their own. */
import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { SiteId } from '../access/schemas.ts'
import { isGiven, loadSites, requireModule, siteKey } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/errors.ts'
import { refuseInSafeMode } from '../http/safe-mode.ts'
import type { Catalog } from './catalog.ts'
import { one_off_fields, orderOnce } from './one-off.ts'
import { RunId } from './run.ts'

const closed = { additionalProperties: false } as const

export interface ReportOrderNeeds {
  clock: Clock
  reportCatalog: Catalog
}

export const orderReport = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'operator',
  method: 'POST',
  path: '/platform/report-runs',
  operation_id: 'platform_report_order',
  summary: 'Order one report over free dates',
  description:
    'The run is in the list of runs of the site, with `trigger` `manual` and no subscription, and ' +
    'is mailed to nobody. Rejected with 409 while the site is in safe mode or 20 runs wait.',
  body: Type.Object({ site_id: SiteId, ...one_off_fields }, closed),
  status: 202,
  returns: Type.Object(
    { run_id: RunId, status: Type.Enum(['queued']) },
    { ...closed, $id: 'PlatformQueuedReport' },
  ),
  example: {
    body: {
      site_id: 'demo',
      template_id: 'losses',
      start_date: '2026-05-11',
      end_date: '2026-05-24',
      format: 'pdf',
    },
    answer: { run_id: '5b1f0c1e-6f0b-4c55-8a53-0f6f3f4f2f11', status: 'queued' },
  },
  async handle({ tx, caller, body }, { clock, reportCatalog }: ReportOrderNeeds) {
    const { site_id, ...order } = body
    requireModule(caller, 'basic_scada')
    const key = siteKey(caller.client_id, site_id)
    const site = isGiven(site_id, caller) ? (await loadSites(tx, [key])).get(key) : undefined
    if (!site) {
      throw invalid({
        location: 'body',
        field: 'site_id',
        code: 'unknown_reference',
        message: 'is no site of the client',
      })
    }
    refuseInSafeMode(site)
    const of = { site, caller, catalog: reportCatalog, now: clock.now() }
    return { run_id: await orderOnce(tx, order, of), status: 'queued' as const }
  },
})
