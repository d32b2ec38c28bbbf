/** The open alerts of all sites of a user, for the pages. */
import { Type } from 'typebox'
import { type PlatformNeeds, platformOperation } from '../access/platform-operation.ts'
import { SiteId } from '../access/schemas.ts'
import { mayRead, requireModule, requireScope } from '../http/authorize.ts'
import { pageOf, RowId } from '../http/cursor.ts'
import { endpoint } from '../http/endpoint.ts'
import { CursorList, cursorList } from '../http/envelope.ts'
import * as field from '../http/fields.ts'
import { limit, Named, Timestamp } from '../http/params.ts'
import { readOpenAlerts } from './listed.ts'
import { AlertRecord, alertRecord } from './record.ts'

const [page_size_max, page_size] = [500, 100]

const SiteAlert = Named('SiteAlert', {
  site_id: SiteId,
  site_name: field.Text('The name of the site.', 'Heliograph Demo Park'),
  ...AlertRecord.properties,
})

export const listOpenAlerts = endpoint({
  ...platformOperation,
  role: 'viewer',
  method: 'GET',
  path: '/platform/alerts',
  operation_id: 'platform_alerts_list',
  summary: 'List the open alerts of all sites',
  description:
    'Returns the active and acknowledged alerts of the sites of the user, newest first by ' +
    '`started_at`. `meta.count` counts all pages. Needs the scope `alerts:read` of the role and ' +
    'the module `basic_scada` of the plan.',
  query: { limit: limit(page_size_max, page_size) },
  cursor: { started_at: Timestamp, site_id: Type.String({ maxLength: 64 }), alert_id: RowId },
  returns: CursorList(SiteAlert),
  async handle({ caller, query, after }, { db, clock }: PlatformNeeds) {
    requireScope(caller, 'alerts:read')
    requireModule(caller, 'basic_scada')
    const { client_id, site_ids } = caller
    const { limit: size = page_size } = query
    const { alerts, count } = await readOpenAlerts(db, {
      client_id,
      site_ids: site_ids && [...site_ids],
      after,
      limit: size + 1,
    })
    const shown = { now: clock.now(), has_money: mayRead(caller, 'earnings:read') }
    const records = alerts.map((alert) => {
      const { site_id, site_name } = alert
      return { site_id, site_name, ...alertRecord(alert, shown) }
    })
    const placeOf = ({ started_at, site_id, alert_id }: (typeof records)[number]) => ({
      started_at,
      site_id,
      alert_id,
    })
    return cursorList(pageOf(records, size, placeOf), count)
  },
})
