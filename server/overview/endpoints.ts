import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { readIssuedForecasts } from '../forecasts/forecasts.ts'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { JsonText } from '../http/json-text.ts'
import { overviewExample, statusExample } from './examples.ts'
import { readLiveNodes, readLivePlant, readLiveUnits } from './live.ts'
import { Overview, overviewOf } from './overview.ts'
import { findSite } from './sites/summaries.ts'
import { PlantStatus, plantStatus } from './status.ts'

const plant = { method: 'GET', tag: 'Plant', scope: 'plant:read', module: 'basic_scada' } as const

export const getOverview = endpoint({
  ...plant,
  path: '/overview',
  operation_id: 'overview_get',
  summary: 'The live state of the whole site in one response',
  description:
    'Returns the live state of the whole site. Poll it instead of one request for each device. ' +
    '`plant:read` covers devices, weather and predictions. Every other section needs a scope and ' +
    'a module of its own; without them it is null and listed in `missing_sections`.',
  returns: Overview,
  example: { answer: overviewExample },
  async handle({ site: { site_id }, caller }, context: Context) {
    const [live, nodes, site, forecasts, units] = await Promise.all([
      readLivePlant(site_id, context),
      readLiveNodes(site_id, context),
      findSite(caller, site_id, context),
      readForecasts(site_id, context),
      mayRead(caller, 'bess:read') ? readLiveUnits(site_id, context) : null,
    ])
    if (!site) throw new ApiError('not_found', { site_id })
    // Serialised without a check of the schema, since a site may have tens of thousands of strings.
    const may_read_curtailment = mayRead(caller, 'curtailment:read')
    const may_read_alerts = mayRead(caller, 'alerts:read')
    const readable = { may_read_curtailment, may_read_alerts }
    return new JsonText(
      JSON.stringify(overviewOf({ live, nodes, site, ...readable, forecasts, units })),
    )
  },
})

/** The last issued forecasts of the site for today and tomorrow (UTC). */
function readForecasts(site_id: string, context: Context) {
  const now_ms = context.clock.now().getTime()
  const dates = [0, 1].map((ahead) => utcDate(now_ms + ahead * day_ms))
  return readIssuedForecasts(context, { site_id, target: 'site' }, dates)
}

export const getPlantStatus = endpoint({
  ...plant,
  path: '/plant/status',
  operation_id: 'plant_status_get',
  summary: 'The live state of the plant: sums and counts over its devices',
  returns: PlantStatus,
  example: { answer: statusExample },
  async handle({ site }, context: Context) {
    const live = await readLivePlant(site.site_id, context)
    return plantStatus(live, live.situation)
  },
})
