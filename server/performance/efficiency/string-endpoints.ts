import { localDate } from '@heliograph/domain/local-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { AnyCase, Closed, IdList, InverterId, idsOf, Named } from '../../http/params.ts'
import { requireInverter } from '../../plant/device-ids.ts'
import { orientations } from '../../plant/orientation.ts'
import { health_thresholds } from '../diagnostics/string-health.ts'
import { periodNote } from '../period.ts'
import { diagnostics, siteAndPeriod } from './asked.ts'
import { judgeSite } from './string-health.ts'
import { comparedItems, efficiencyItems, healthItems } from './string-items.ts'
import {
  ComparedString,
  HealthThresholds,
  healthRule,
  StringEfficiency,
  StringHealth,
} from './string-schemas.ts'
import { readHours, readSteps } from './string-store.ts'

export const rankStrings = endpoint({
  ...diagnostics,
  path: '/efficiency/strings',
  operation_id: 'efficiency_strings_list',
  summary: 'Rank strings by specific yield within their orientation',
  description:
    'Returns connected strings grouped by orientation, the largest group first and the best string ' +
    `first in each group. ${periodNote}`,
  query: {
    inverter_ids: Type.Optional(
      IdList('Restricts the result to strings of these inverters: `1,2,3`.'),
    ),
    orientation: Type.Optional(
      AnyCase(orientations, {
        description: 'Restricts the result to groups with this orientation.',
      }),
    ),
  },
  returns: List(StringEfficiency),
  async handle({ site: { site_id }, query, window }, context: Context) {
    const { inverter_ids, orientation } = query
    const ids = inverter_ids === undefined ? undefined : idsOf(inverter_ids)
    for (const inverter_id of ids ?? []) await requireInverter(context.db, site_id, inverter_id)
    const { site, period } = await siteAndPeriod(site_id, window, context)
    const items = efficiencyItems(await judgeSite(context.db, site, period, ids), period)
    return list(
      orientation === undefined ? items : items.filter((item) => item.orientation === orientation),
    )
  },
})

export const healthMatrix = endpoint({
  ...diagnostics,
  path: '/efficiency/health-matrix',
  operation_id: 'efficiency_health_list',
  summary: 'List the health of each string and suspected causes',
  description: `Returns strings by inverter and index, including unconnected inputs. ${healthRule} ${periodNote}`,
  returns: Closed({
    data: Type.Array(StringHealth),
    meta: Named('StringHealthMeta', {
      count: Type.Integer({ minimum: 0, examples: [1] }),
      thresholds: HealthThresholds,
    }),
  }),
  async handle({ site: { site_id }, window }, context: Context) {
    const { site, period } = await siteAndPeriod(site_id, window, context)
    // `end_at` is exclusive.
    const last_date = localDate(period.end_at.getTime() - 1, site.timezone)
    const [inverters, steps] = await Promise.all([
      judgeSite(context.db, site, period),
      readSteps(context.db, site_id, last_date),
    ])
    const data = healthItems(inverters, steps, period)
    return { data, meta: { count: data.length, thresholds: thresholds() } }
  },
})

function thresholds() {
  const { watch, underperforming, critical, dead } = health_thresholds
  return {
    watch_pct: 100 * watch,
    underperforming_pct: 100 * underperforming,
    critical_pct: 100 * critical,
    dead_pct: 100 * dead,
  }
}

export const compareStrings = endpoint({
  ...diagnostics,
  path: '/strings/inverter/{inverter_id}/compare',
  operation_id: 'strings_compare_list',
  summary: 'Compare the strings of an inverter',
  description: `Returns the strings by index. ${healthRule} ${periodNote}`,
  params: { inverter_id: InverterId },
  returns: List(ComparedString),
  async handle({ site: { site_id }, params: { inverter_id }, window }, context: Context) {
    await requireInverter(context.db, site_id, inverter_id)
    const { site, period } = await siteAndPeriod(site_id, window, context)
    const [[inverter], hours] = await Promise.all([
      judgeSite(context.db, site, period, [inverter_id]),
      readHours(context.db, site_id, period, [inverter_id]),
    ])
    if (!inverter) return list([])
    return list(comparedItems(inverter, hours.get(inverter_id) ?? [], period, site.timezone))
  },
})
