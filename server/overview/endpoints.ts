import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import type { Forecasts } from '../forecasts/forecasts.ts'
import { mayRead } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import type { Caller } from '../http/endpoint.ts'
import { endpoint } from '../http/endpoint.ts'
import { List, list } from '../http/envelope.ts'
import { ApiError } from '../http/errors.ts'
import { JsonText } from '../http/json-text.ts'
import { LocationId } from '../http/params.ts'
import type { Site } from '../plant/site.ts'
import { locationExample, overviewExample, statusExample } from './examples.ts'
import {
  type LiveNeeds,
  readLiveNodes,
  readLivePlant,
  readLiveUnits,
  type UnitNeeds,
} from './live.ts'
import { Location, locationRecord } from './location.ts'
import { Overview, overviewOf } from './overview.ts'
import { PlantStatus, plantStatus } from './status.ts'
import type { PlantStore } from './store.ts'

export interface Needs extends Context, LiveNeeds, UnitNeeds {
  plants: PlantStore
  predictions: { forecasts: Pick<Forecasts, 'issued'> }
  siteSummaries: { find(caller: Caller, site_id: string): Promise<Site | undefined> }
}

const plant = { method: 'GET', tag: 'Plant', scope: 'plant:read', module: 'basic_scada' } as const

export const getOverview = endpoint({
  ...plant,
  path: '/overview',
  operation_id: 'overview_get',
  summary: 'The whole site live, in one answer',
  description:
    'Returns the whole live state of a site: poll it instead of one request for each device. ' +
    '`plant:read` is enough for devices, weather and predictions. The further sections are null ' +
    'and named in `missing_sections` without the scope or module that each names.',
  returns: Overview,
  example: { answer: overviewExample },
  async handle({ site: { site_id }, caller }, needs: Needs) {
    const [live, nodes, site, forecasts, units] = await Promise.all([
      readLivePlant(site_id, needs),
      readLiveNodes(site_id, needs),
      needs.siteSummaries.find(caller, site_id),
      readForecasts(site_id, needs),
      mayRead(caller, 'bess:read') ? readLiveUnits(site_id, needs) : null,
    ])
    if (!site) throw new ApiError('not_found', { site_id })
    // Tens of thousands of strings: written at once, as tests have checked it.
    const may_read_curtailment = mayRead(caller, 'curtailment:read')
    const may_read_alerts = mayRead(caller, 'alerts:read')
    const readable = { may_read_curtailment, may_read_alerts }
    return new JsonText(
      JSON.stringify(overviewOf({ live, nodes, site, ...readable, forecasts, units })),
    )
  },
})

/** The last issued forecasts of the site for today and tomorrow, UTC. */
function readForecasts(site_id: string, { predictions, clock }: Needs) {
  const now_ms = clock.now().getTime()
  const dates = [0, 1].map((ahead) => utcDate(now_ms + ahead * day_ms))
  return predictions.forecasts.issued({ site_id, target: 'site' }, dates)
}

export const getPlantStatus = endpoint({
  ...plant,
  path: '/plant/status',
  operation_id: 'plant_status_get',
  summary: 'The plant live: sums and counts over its devices',
  returns: PlantStatus,
  example: { answer: statusExample },
  async handle({ site }, needs: Needs) {
    const live = await readLivePlant(site.site_id, needs)
    return plantStatus(live, live.situation)
  },
})

export const listLocations = endpoint({
  ...plant,
  path: '/locations',
  operation_id: 'locations_list',
  summary: 'The locations of the site',
  description: 'By id; retired ones carry `retired_at`.',
  returns: List(Location),
  example: { answer: { data: [locationExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, caller }, { plants }: Needs) {
    const is_maintenance_read = mayRead(caller, 'om:read')
    return list((await plants.locations({ site_id, is_maintenance_read })).map(locationRecord))
  },
})

export const getLocation = endpoint({
  ...plant,
  path: '/locations/{location_id}',
  operation_id: 'locations_get',
  summary: 'One location',
  params: { location_id: LocationId },
  cache: 'resource',
  returns: Location,
  example: { answer: locationExample },
  async handle({ site: { site_id }, caller, params: { location_id } }, { plants }: Needs) {
    const is_maintenance_read = mayRead(caller, 'om:read')
    const [location] = await plants.locations({ site_id, location_id, is_maintenance_read })
    if (!location) throw new ApiError('not_found', { location_id })
    return locationRecord(location)
  },
})
