import type { Clock } from '@heliograph/domain/clock'
import { Type } from 'typebox'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import {
  InverterId,
  Nullable,
  StringIndex,
  telemetry_rows,
  telemetryLimit,
} from '../../http/params.ts'
import { default_hours, type SeriesWindow, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { stringExample, stringNowExample } from '../../plant/device-examples.ts'
import { PvString, pvStringRecord, StringNow, stringsNow } from '../../plant/pv-string.ts'
import { quantity, readingFrame } from '../../plant/quantities.ts'
import { type SiteFacts, situationOf } from '../../plant/situation.ts'
import { seriesText } from '../history.ts'
import { wholeInstants } from './page.ts'
import type { StringStore } from './store.ts'

export interface Needs {
  clock: Clock
  sites: { facts(site_id: string): Promise<SiteFacts> }
  inverters: { exists(site_id: string, inverter_id: number): Promise<boolean> }
  strings: StringStore
}

const strings = {
  method: 'GET',
  tag: 'Strings',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

async function demandInverter(site_id: string, inverter_id: number, { inverters }: Needs) {
  if (!(await inverters.exists(site_id, inverter_id))) {
    throw new ApiError('not_found', { inverter_id })
  }
}

export const listStrings = endpoint({
  ...strings,
  path: '/strings/inverter/{inverter_id}',
  operation_id: 'strings_list',
  summary: 'The strings of an inverter: panels, orientation, where they are connected',
  params: { inverter_id: InverterId },
  returns: List(PvString),
  example: { answer: { data: [stringExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { inverter_id } }, needs: Needs) {
    await demandInverter(site_id, inverter_id, needs)
    return list((await needs.strings.configuration(site_id, inverter_id)).map(pvStringRecord))
  },
})

export const listStringsNow = endpoint({
  ...strings,
  path: '/strings/inverter/{inverter_id}/current',
  operation_id: 'strings_current_list',
  summary: 'What the strings of an inverter measured last',
  description: 'Every string in service, measured or not.',
  params: { inverter_id: InverterId },
  returns: List(StringNow),
  example: { answer: { data: [stringNowExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, params: { inverter_id } }, needs: Needs) {
    await demandInverter(site_id, inverter_id, needs)
    const situation = situationOf(await needs.sites.facts(site_id), needs.clock.now())
    const [rows, ranges] = await Promise.all([
      needs.strings.inService(site_id, inverter_id),
      needs.strings.latest(site_id, inverter_id),
    ])
    return list(rows.flatMap((row) => stringsNow(row, ranges, situation)))
  },
})

const StringReading = Type.Object(
  {
    measured_at: readingFrame.measured_at,
    string_index: StringIndex,
    current_a: quantity('current_a'),
    voltage_v: quantity('voltage_v'),
    power_kw: Nullable(
      Type.Number({ description: 'DC power, kW: current times voltage, where both are measured.' }),
    ),
    quality: readingFrame.quality,
  },
  { additionalProperties: false, $id: 'StringReading' },
)

/** Which readings are asked for; 404 for an unknown inverter or string. */
async function demandHistory(
  site_id: string,
  inverter_id: number,
  { window, string_index }: { window: SeriesWindow; string_index?: number | undefined },
  needs: Needs,
) {
  await demandInverter(site_id, inverter_id, needs)
  if (string_index !== undefined) {
    const is_there = await needs.strings.exists(site_id, inverter_id, string_index)
    if (!is_there) throw new ApiError('not_found', { inverter_id, string_index })
  }
  return { site_id, inverter_id, string_index: string_index ?? null, window }
}

export const stringHistory = endpoint({
  ...strings,
  path: '/strings/inverter/{inverter_id}/history',
  operation_id: 'strings_history_list',
  summary: 'What the strings of an inverter measured, over time',
  description:
    'One item for each string and instant, by instant and string; `limit` and `meta.count` count ' +
    'these. Without a window: the last 24 hours. A page ends with a whole instant, so that going ' +
    'on by `next_start` or `previous_end` leaves nothing out. A `limit` below the number of ' +
    'strings gives the first strings of one instant and neither of the two: raise it, or ask ' +
    'string by string.',
  params: { inverter_id: InverterId },
  window: rowsWindow(default_hours.telemetry),
  query: {
    string_index: Type.Optional(StringIndex),
    limit: telemetryLimit,
  },
  heavy: true,
  returns: Series(StringReading),
  example: {
    answer: {
      data: [
        {
          measured_at: '2026-06-21T10:00:05Z',
          string_index: 0,
          current_a: 10.1,
          voltage_v: 842,
          power_kw: 8.5042,
          quality: 'good',
        },
      ],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site, params, query, window }, needs: Needs) {
    const asked = { window, string_index: query.string_index }
    const wanted = await demandHistory(site.site_id, params.inverter_id, asked, needs)
    const request = { ...wanted, limit: query.limit ?? telemetry_rows.by_default }
    const [instants, count] = await Promise.all([
      needs.strings.history(request),
      needs.strings.historyCount(request),
    ])
    const page = wholeInstants(instants, { limit: request.limit, newest: request.window.newest })
    return seriesText(
      page.items,
      seriesMeta(request.window, {
        count: Math.max(count, page.returned),
        returned: page.returned,
        first_time: page.is_cut ? null : (page.first_at?.toISOString() ?? null),
        last_time: page.is_cut ? null : (page.last_at?.toISOString() ?? null),
      }),
    )
  },
  async exports({ site, params, query, window }, needs: Needs) {
    const asked = { window, string_index: query.string_index }
    const wanted = await demandHistory(site.site_id, params.inverter_id, asked, needs)
    return needs.strings.historyRows({ ...wanted, limit: query.limit ?? null })
  },
})
