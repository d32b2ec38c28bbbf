import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { InverterId, Named, StringIndex } from '../../http/params.ts'
import { stringExample, stringNowExample } from '../../plant/device-examples.ts'
import { requireInverter } from '../../plant/device-ids.ts'
import { PvString, pvStringRecord, StringNow, stringsNow } from '../../plant/pv-string.ts'
import { readingFrame } from '../../plant/quantities.ts'
import { siteSituation } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import type { StoredReading } from '../blocks/store.ts'
import { historyParts, ReadingSeries, seriesExample } from '../history.ts'
import { exportInstantHistory, readInstantHistory } from '../instants.ts'
import type { StepQuery } from '../steps.ts'
import {
  latestStrings,
  stringConfiguration,
  stringExists,
  stringItems,
  stringReadings,
  stringsInService,
} from './store.ts'

const strings = {
  method: 'GET',
  tag: 'Strings',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

export const listStrings = endpoint({
  ...strings,
  path: '/strings/inverter/{inverter_id}',
  operation_id: 'strings_list',
  summary: 'The strings of an inverter: panels, orientation and inputs',
  params: { inverter_id: InverterId },
  returns: List(PvString),
  example: { answer: list([stringExample]) },
  async handle({ site: { site_id }, params: { inverter_id } }, { db }: Context) {
    await requireInverter(db, site_id, inverter_id)
    return list((await stringConfiguration(db, site_id, inverter_id)).map(pvStringRecord))
  },
})

export const listStringsNow = endpoint({
  ...strings,
  path: '/strings/inverter/{inverter_id}/current',
  operation_id: 'strings_current_list',
  summary: 'The latest measurements of the strings of an inverter',
  description: 'Returns every string in service, including strings without measurements.',
  params: { inverter_id: InverterId },
  returns: List(StringNow),
  example: { answer: list([stringNowExample]) },
  async handle({ site: { site_id }, params: { inverter_id } }, context: Context) {
    const { db } = context
    await requireInverter(db, site_id, inverter_id)
    const situation = await siteSituation(context, site_id)
    const [rows, ranges] = await Promise.all([
      stringsInService(db, site_id, inverter_id),
      latestStrings(db, site_id, inverter_id),
    ])
    return list(rows.flatMap((row) => stringsNow(row, ranges, situation)))
  },
})

const StringReading = Named('StringReading', {
  measured_at: readingFrame.measured_at,
  string_index: StringIndex,
  current_a: StringNow.properties.current_a,
  voltage_v: StringNow.properties.voltage_v,
  power_kw: StringNow.properties.power_kw,
  quality: readingFrame.quality,
})

/** @throws ApiError not_found for an unknown inverter or string */
async function requireStrings(
  db: Queries,
  {
    site_id,
    inverter_id,
    string_index,
  }: { site_id: string; inverter_id: number; string_index?: number | undefined },
): Promise<void> {
  await requireInverter(db, site_id, inverter_id)
  if (string_index === undefined) return
  if (!(await stringExists(db, site_id, inverter_id, string_index))) {
    throw new ApiError('not_found', { inverter_id, string_index })
  }
}

const stringParts = historyParts<
  { inverter_id: number },
  StepQuery & { limit?: number; string_index?: number }
>(
  'string',
  async (db, request) => {
    await requireStrings(db, request)
    const { inverter_id, string_index } = request
    const split = (reading: StoredReading) => stringReadings(reading, string_index)
    const { measured_at: _, ...values } = StringReading.properties
    return { device_id: inverter_id, names: Object.keys(values), key: 'string_index', split }
  },
  {
    page: (db, request) => readInstantHistory(db, 'string', request, stringItems),
    file: (_, request) => exportInstantHistory('string', request, stringItems),
  },
)

export const stringHistory = endpoint({
  ...strings,
  ...stringParts,
  path: '/strings/inverter/{inverter_id}/history',
  operation_id: 'strings_history_list',
  summary: 'The readings of the strings of an inverter over time',
  description:
    'Returns one item for each string and instant, ordered by instant and string. Defaults to the ' +
    'last 24 hours. `limit` and `meta.count` count items. A page ends with a whole instant, so ' +
    '`next_start` and `previous_end` skip nothing. A `limit` below the number of strings returns ' +
    'the first strings of one instant, with `next_start` and `previous_end` null: raise the limit ' +
    'or request one string at a time.',
  params: { inverter_id: InverterId },
  query: { string_index: Type.Optional(StringIndex), ...stringParts.query },
  returns: ReadingSeries(StringReading),
  example: seriesExample({
    measured_at: '2026-06-21T10:00:05Z',
    string_index: 0,
    current_a: 10.1,
    voltage_v: 842,
    power_kw: 8.5042,
    quality: 'good' as const,
  }),
})
