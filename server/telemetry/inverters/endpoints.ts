import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { type AlarmTable, alarmCategories } from '@heliograph/domain/alarms/table'
import { severities } from '@heliograph/domain/link'
import { type Static, Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { ApiError, invalid } from '../../http/errors.ts'
import * as field from '../../http/fields.ts'
import { Closed, InverterId, LoggerId, Named, Nullable } from '../../http/params.ts'
import { alarmTableOf, alarmTablesOf, lookedUpTables, noTable } from '../../plant/alarm-tables.ts'
import { inverterExample, measuredIn } from '../../plant/device-examples.ts'
import { requireInverter, requireLogger } from '../../plant/device-ids.ts'
import { Inverter, inverterRecord } from '../../plant/inverter.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { siteSituation } from '../../plant/site-facts.ts'
import { deviceHistory, ReadingSeries, seriesExample } from '../history.ts'
import { alarmingDevices, liveInverters } from './store.ts'

const word_max = 2 ** 32 - 1

const AlarmWord = (nth: number) =>
  field.Count(`\`alarm_${nth}\` of an inverter, a bit mask.`, { maximum: word_max })

const row = {
  table_id: field.Text('The alarm table of this row.'),
  manufacturer: field.Text('The manufacturer of the devices.'),
  model_family: Nullable(Type.String()),
  alarm_word: field.Int('1 for `alarm_1`.', { minimum: 1, maximum: 5 }),
  bit: field.Count('0 is the least significant.', { maximum: 31 }),
  code: Type.String(),
  name: Type.String(),
  description: Type.String(),
  severity: Type.Enum([...severities]),
  category: Type.Enum([...alarmCategories]),
  cause: Nullable(Type.String()),
  recommended_action: Nullable(Type.String()),
  auto_clears: field.FlagOrNull('Null if not documented.'),
  stops_production: field.FlagOrNull('Null if not documented.'),
  sunspec_event: field.TextOrNull('The equivalent SunSpec event.'),
  table_version: field.Text('Increases when a row of the table changes.'),
}

const AlarmTableRow = Named('AlarmTableRow', row)

const Place = {
  table_id: field.TextOrNull('The alarm table; null when no table is in use at the site.'),
  word: field.Int('1 for `alarm_1`.', { minimum: 1, maximum: 5 }),
}

type AlarmDecoding = Static<typeof AlarmDecoding>
const AlarmDecoding = Named('AlarmDecoding', {
  input: Closed(
    {
      alarm_1: Nullable(AlarmWord(1)),
      alarm_2: Nullable(AlarmWord(2)),
      alarm_3: Nullable(AlarmWord(3)),
      alarm_4: Nullable(AlarmWord(4)),
      alarm_5: Nullable(AlarmWord(5)),
    },
    { description: 'The words of the request; null for words not given.' },
  ),
  tables: Type.Array(
    Closed({
      table_id: Type.String(),
      manufacturer: Type.String(),
      model_family: Nullable(Type.String()),
      table_version: Type.String(),
    }),
    { description: 'The tables that decoded the words.' },
  ),
  alarms: Type.Array(Named('DecodedAlarm', { ...row, word: Place.word }), {
    description: 'Alarms set, by table, word and bit.',
  }),
  unknown_bits: Type.Array(
    Closed({
      ...Place,
      bit: Type.Integer({ minimum: 0, maximum: 31 }),
      mask: field.Int('The bit as a number.', { minimum: 1 }),
    }),
    { description: 'Set bits that the table does not list.' },
  ),
  not_available: Type.Array(
    Closed({ ...Place, value: Type.Integer({ minimum: 0, maximum: word_max }) }),
    { description: 'Words whose value means "not available" in this table.' },
  ),
  highest_severity: Nullable(Type.Enum([...severities])),
})

type WordName = 'alarm_1' | 'alarm_2' | 'alarm_3' | 'alarm_4' | 'alarm_5'

/** Decodes by every table; without tables every set bit is unknown. */
function decodeByAll(
  tables: readonly AlarmTable[],
  given: { [Word in WordName]?: number },
): AlarmDecoding {
  const { alarm_1 = null, alarm_2 = null, alarm_3 = null, alarm_4 = null, alarm_5 = null } = given
  const words = [alarm_1, alarm_2, alarm_3, alarm_4, alarm_5]
  const decoded = (tables.length > 0 ? tables : [noTable]).map((table) => ({
    table_id: table === noTable ? null : table.table_id,
    ...decodeAlarms(table, words),
  }))
  return {
    input: { alarm_1, alarm_2, alarm_3, alarm_4, alarm_5 },
    tables: tables.map(({ table_id, manufacturer, model_family, table_version }) => ({
      table_id,
      manufacturer,
      model_family,
      table_version,
    })),
    alarms: decoded.flatMap(({ alarms }) => alarms),
    unknown_bits: decoded.flatMap(({ table_id, unknown_bits }) =>
      unknown_bits.map((bit) => ({ table_id, ...bit })),
    ),
    not_available: decoded.flatMap(({ table_id, not_available }) =>
      not_available.map((word) => ({ table_id, ...word })),
    ),
    highest_severity:
      severities.findLast((severity) => decoded.some((one) => one.highest_severity === severity)) ??
      null,
  }
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
  description:
    'Returns the inverters by id, with their latest measurements. Retired inverters carry ' +
    '`retired_at` and their last measurements.',
  query: { logger_id: Type.Optional(LoggerId) },
  returns: List(Inverter),
  example: { answer: list([inverterExample]) },
  async handle({ site: { site_id }, query }, context: Context) {
    const { db } = context
    if (query.logger_id !== undefined) await requireLogger(db, site_id, query.logger_id)
    const situation = await siteSituation(context, site_id)
    const rows = await liveInverters(db, site_id, situation.day_start_at, query)
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
  async handle({ site: { site_id }, params: { inverter_id } }, context: Context) {
    const situation = await siteSituation(context, site_id)
    const [row] = await liveInverters(context.db, site_id, situation.day_start_at, { inverter_id })
    if (!row) throw new ApiError('not_found', { inverter_id })
    return inverterRecord(row, situation)
  },
})

const InverterReading = Named('InverterReading', { ...readingFrame, ...measured('inverter') })

export const inverterHistory = endpoint({
  ...inverters,
  ...deviceHistory<{ inverter_id: number }>('inverter', async (db, { site_id, inverter_id }) => {
    await requireInverter(db, site_id, inverter_id)
    return { device_id: inverter_id }
  }),
  path: '/inverters/{inverter_id}/history',
  operation_id: 'inverters_history_list',
  summary: 'The readings of an inverter over time',
  description:
    'Returns readings in ascending order. Defaults to the last 24 hours. Values of MPPTs are ' +
    'arrays with one element for each MPPT, from MPPT 0 on.',
  params: { inverter_id: InverterId },
  returns: ReadingSeries(InverterReading),
  example: seriesExample({
    measured_at: '2026-06-21T10:00:05Z',
    quality: 'good' as const,
    ...measuredIn('inverter', inverterExample),
    mppt_voltage_v: [842, 844],
    mppt_current_a: [20.1, 19.9],
    mppt_power_kw: [16.9, 16.8],
    mppt_temperature_c: null,
    mppt_energy_total_kwh: [40612.1, 40622.4],
  }),
})

const exampleTable = lookedUpTables.find(({ table_id }) => table_id === 'sunspec-inverter')!

export const listAlarmTable = endpoint({
  ...inverters,
  path: '/inverters/alarms/table',
  operation_id: 'inverters_alarms_table_list',
  summary: 'The alarm bits of the inverters of the site and their meaning',
  description:
    'Returns one row for each bit of each alarm word, from the alarm tables of the drivers and ' +
    'manufacturers of the inverters in service.',
  cache: 'static',
  returns: List(AlarmTableRow),
  example: { answer: list(exampleTable.rows.filter(({ code }) => code === 'OVER_TEMP')) },
  async handle({ site }, { db }: Context) {
    const tables = alarmTablesOf(await alarmingDevices(db, site.site_id))
    return list(tables.flatMap(({ rows }) => [...rows]))
  },
})

export const decodeAlarmWords = endpoint({
  ...inverters,
  path: '/inverters/alarms/decode',
  operation_id: 'inverters_alarms_decode',
  summary: 'Decode alarm words into alarms',
  description:
    'Returns the alarms of the set bits of each word. Decodes by the table of `inverter_id`, by ' +
    '`table_id`, or without either by every table in use at the site: the meaning of a bit depends ' +
    'on the manufacturer. Every set bit is in `alarms`, or in `unknown_bits` if the table lacks ' +
    'it. Rejected with 422 when both ids are given, and with 404 when the inverter or table does ' +
    'not exist.',
  query: {
    inverter_id: Type.Optional(InverterId),
    table_id: Type.Optional(
      field.Text('An alarm table. It need not be in use at the site.', {
        maxLength: 64,
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
  example: {
    answer: decodeByAll([exampleTable], { alarm_1: 128, alarm_2: 1, alarm_3: 4_294_967_295 }),
  },
  async handle({ site, query }, { db }: Context) {
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
    const devices = await alarmingDevices(db, site.site_id, inverter_id)
    if (inverter_id === undefined) return decodeByAll(alarmTablesOf(devices), words)
    if (!devices[0]) throw new ApiError('not_found', { inverter_id })
    const table = alarmTableOf(devices[0])
    return decodeByAll(table ? [table] : [], words)
  },
})
