/** One-off reports over freely chosen dates. */

import { Type } from 'typebox'
import { SiteId } from '../access/schemas.ts'
import { isGiven, loadSites, requireModule, siteKey } from '../http/authorize.ts'
import { endpoint } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import { Closed, Named } from '../http/params.ts'
import { refuseInSafeMode } from '../http/safe-mode.ts'
import type { Needs } from './endpoints.ts'
import { one_off_fields, orderOnce } from './one-off.ts'
import { RunId } from './run.ts'

export const orderReport = endpoint({
  tag: 'Platform',
  scope: null,
  module: null,
  role: 'operator',
  method: 'POST',
  path: '/platform/report-runs',
  operation_id: 'platform_report_order',
  summary: 'Order a one-off report',
  description:
    'Returns the queued run. The run is listed with `trigger` `manual` and without a subscription, ' +
    'and is not mailed. Rejected with 409 while the site is in safe mode or 20 runs are queued.',
  body: Closed({ site_id: SiteId, ...one_off_fields }),
  status: 202,
  returns: Named('PlatformQueuedReport', { run_id: RunId, status: Type.Enum(['queued']) }),
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
  async handle({ tx, caller, body }, { clock, reportCatalog }: Needs) {
    const { site_id, ...order } = body
    requireModule(caller, 'basic_scada')
    const key = siteKey(caller.client_id, site_id)
    const site = isGiven(site_id, caller) ? (await loadSites(tx, [key])).get(key) : undefined
    if (!site) throw badField('site_id', 'unknown_reference', 'is not a site of the client')
    refuseInSafeMode(site)
    const { timezone } = site
    const of = { site_id, timezone, caller, catalog: reportCatalog, now: clock.now() }
    return { run_id: await orderOnce(tx, order, of), status: 'queued' as const }
  },
})
