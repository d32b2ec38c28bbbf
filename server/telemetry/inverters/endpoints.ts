import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { ApiError, invalid } from '../../http/errors.ts'
import { InverterId, LoggerId, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, type SeriesWindow } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { alarmTableOf, alarmTablesOf, lookedUpTables } from '../../plant/alarm-tables.ts'
import { inverterExample } from '../../plant/device-examples.ts'
import { requireInverter } from '../../plant/device-ids.ts'
import { Inverter, inverterRecord } from '../../plant/inverter.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { type SiteFacts, situationOf } from '../../plant/situation.ts'
import { AlarmDecoding, AlarmTableRow, AlarmWord, decodeByAll } from './alarms.ts'
import { alarmRowExample, decodingExample, inverterReadingExample } from './examples.ts'
import type { InverterStore } from './store.ts'

export interface Needs extends Context {
  sites: { facts(site_id: string): Promise<SiteFacts> }
  loggers: { exists(site_id: string, logger_id: number): Promise<boolean> }
  inverters: InverterStore
}

const inverters = {
  method: 'GET',
  tag: 'Inverters',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

export const listInverters = endpoint({
  ...inverters,
  path: '/inverters',
  operation_id: 'inverters_list',
  summary: 'The inverters of the site, live',
  description: 'By id; retired ones carry `retired_at` and the last that was measured of them.',
  query: { logger_id: Type.Optional(LoggerId) },
  returns: List(Inverter),
  example: { answer: { data: [inverterExample], meta: { count: 1 } } },
  async handle({ site: { site_id }, query }, { clock, sites, inverters, loggers }: Needs) {
    const { logger_id } = query
    if (logger_id !== undefined && !(await loggers.exists(site_id, logger_id))) {
      throw new ApiError('not_found', { logger_id })
    }
    const situation = situationOf(await sites.facts(site_id), clock.now())
    const rows = await inverters.live(site_id, situation.day_start_at, query)
    return list(rows.map((row) => inverterRecord(row, situation)))
  },
})

export const getInverter = endpoint({
  ...inverters,
  path: '/inverters/{inverter_id}',
  operation_id: 'inverters_get',
  summary: 'One inverter with live telemetry',
  params: { inverter_id: InverterId },
  returns: Inverter,
  example: { answer: inverterExample },
  async handle({ site: { site_id }, params: { inverter_id } }, { clock, sites, inverters }: Needs) {
    const situation = situationOf(await sites.facts(site_id), clock.now())
    const [row] = await inverters.live(site_id, situation.day_start_at, { inverter_id })
    if (!row) throw new ApiError('not_found', { inverter_id })
    return inverterRecord(row, situation)
  },
})

const InverterReading = Type.Object(
  { ...readingFrame, ...measured('inverter') },
  { additionalProperties: false, $id: 'InverterReading' },
)

/** Which readings are asked for, of a device that exists. */
async function requireHistory(
  { db }: Context,
  site_id: string,
  { device_id, window }: { device_id: number; window: SeriesWindow },
) {
  await requireInverter(db, site_id, device_id)
  return { site_id, device_id, window }
}

export const inverterHistory = endpoint({
  ...inverters,
  path: '/inverters/{inverter_id}/history',
  operation_id: 'inverters_history_list',
  summary: 'What an inverter measured, over time',
  description:
    'Ascending. Without a window: the last 24 hours. What its MPPTs measured are arrays, one ' +
    'element for each MPPT from MPPT 0 on.',
  params: { inverter_id: InverterId },
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(InverterReading),
  example: {
    answer: {
      data: [inverterReadingExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site, params, query, window }, needs: Needs) {
    const wanted = await requireHistory(needs, site.site_id, {
      device_id: params.inverter_id,
      window,
    })
    return needs.inverters.history({ ...wanted, limit: query.limit ?? telemetry_rows.by_default })
  },
  async exports({ site, params, query, window }, needs: Needs) {
    const wanted = await requireHistory(needs, site.site_id, {
      device_id: params.inverter_id,
      window,
    })
    return needs.inverters.historyRows({ ...wanted, limit: query.limit ?? null })
  },
})

export const listAlarmTable = endpoint({
  ...inverters,
  path: '/inverters/alarms/table',
  operation_id: 'inverters_alarms_table_list',
  summary: 'What each alarm bit of the inverters of the site means',
  description:
    'The tables of the drivers and of the manufacturers of the inverters in service, one row for ' +
    'each bit of each alarm word.',
  cache: 'static',
  returns: List(AlarmTableRow),
  example: { answer: { data: [alarmRowExample], meta: { count: 1 } } },
  async handle({ site }, { inverters }: Needs) {
    const tables = alarmTablesOf(await inverters.devices(site.site_id))
    return list(tables.flatMap(({ rows }) => [...rows]))
  },
})

export const decodeAlarmWords = endpoint({
  ...inverters,
  path: '/inverters/alarms/decode',
  operation_id: 'inverters_alarms_decode',
  summary: 'What the set bits of alarm words mean',
  description:
    'Decodes each word by the table of `inverter_id`, by `table_id`, or without either by every ' +
    'table in use at the site: the same bit means different alarms to different makers. Every set ' +
    'bit is in `alarms`, or in `unknown_bits` where a table does not explain it. Rejected with 422 ' +
    'when both are given, and with 404 when there is no such inverter or table.',
  query: {
    inverter_id: Type.Optional(InverterId),
    table_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'A table of /inverters/alarms/table, also where no inverter here uses it.',
        examples: ['sunspec-inverter'],
      }),
    ),
    alarm_1: Type.Optional(AlarmWord(1)),
    alarm_2: Type.Optional(AlarmWord(2)),
    alarm_3: Type.Optional(AlarmWord(3)),
    alarm_4: Type.Optional(AlarmWord(4)),
    alarm_5: Type.Optional(AlarmWord(5)),
  },
  returns: AlarmDecoding,
  example: { answer: decodingExample },
  async handle({ site, query }, { inverters }: Needs) {
    const { inverter_id, table_id, ...words } = query
    if (inverter_id !== undefined && table_id !== undefined) {
      const message = 'must not be given beside inverter_id'
      throw invalid({ location: 'query', field: 'table_id', code: 'not_allowed_value', message })
    }
    if (table_id !== undefined) {
      const table = lookedUpTables.find((one) => one.table_id === table_id)
      if (!table) throw new ApiError('not_found', { table_id })
      return decodeByAll([table], words)
    }
    const devices = await inverters.devices(site.site_id, inverter_id)
    if (inverter_id === undefined) return decodeByAll(alarmTablesOf(devices), words)
    if (!devices[0]) throw new ApiError('not_found', { inverter_id })
    const table = alarmTableOf(devices[0])
    return decodeByAll(table ? [table] : [], words)
  },
})
