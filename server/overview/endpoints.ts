import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { readIssuedForecasts } from '../forecasts/forecasts.ts'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import { type Caller, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import { FileAnswer, FileBytes } from '../http/file-answer.ts'
import { JsonText } from '../http/json-text.ts'
import { open_metrics_type, openMetricsText } from '../http/open-metrics.ts'
import { overviewExample, statusExample } from './examples.ts'
import { readLiveNodes, readLivePlant, readLiveUnits } from './live.ts'
import { siteMetrics } from './metrics.ts'
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
    const [parts, nodes, forecasts] = await Promise.all([
      readParts(site_id, caller, context),
      readLiveNodes(site_id, context),
      readForecasts(site_id, context),
    ])
    // Serialised without a check of the schema, since a site may have tens of thousands of strings.
    return new JsonText(JSON.stringify(overviewOf({ ...parts, nodes, forecasts })))
  },
})

/** What the overview and the metrics share. */
async function readParts(site_id: string, caller: Caller, context: Context) {
  const [live, site, units] = await Promise.all([
    readLivePlant(site_id, context),
    findSite(caller, site_id, context),
    mayRead(caller, 'bess:read') ? readLiveUnits(site_id, context) : null,
  ])
  if (!site) throw new ApiError('not_found', { site_id })
  const may_read_curtailment = mayRead(caller, 'curtailment:read')
  const may_read_alerts = mayRead(caller, 'alerts:read')
  return { live, site, units, may_read_curtailment, may_read_alerts }
}

export const getMetrics = endpoint({
  ...plant,
  path: '/metrics',
  operation_id: 'metrics_get',
  summary: 'The live state of the site as metrics for Prometheus',
  description:
    'An extension. Returns the values of /overview, without its strings and sensors, as text of ' +
    'OpenMetrics 1.0 in base units. Series that need a scope or module that the key lacks, and ' +
    'values that are stale or not measured, are left out. Scrape it every 15 s or less often.',
  file_types: [open_metrics_type],
  returns: FileBytes,
  example: { answer: metricsFile(Buffer.from('# EOF\n')) },
  async handle({ site: { site_id }, caller }, context: Context) {
    const parts = await readParts(site_id, caller, context)
    const overview = overviewOf({ ...parts, nodes: [], forecasts: [] })
    const alerts = parts.may_read_alerts ? parts.live.alerts : null
    const text = openMetricsText(siteMetrics(overview, alerts), { site_id })
    return metricsFile(Buffer.from(text))
  },
})

function metricsFile(bytes: Buffer): FileAnswer {
  const content_type = `${open_metrics_type}; version=1.0.0; charset=utf-8`
  return new FileAnswer({ bytes, content_type })
}

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
