import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { type Paged, RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries, List, list, Series } from '../../http/envelope.ts'
import { type ExportItem, type ExportItems, fetched, pageItems } from '../../http/export-items.ts'
import { limit, Timestamp, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import type { Queries } from '../../storage/database.ts'
import { batterySeverities } from '../active-alarms.ts'
import { readPcsWords } from '../alarm-words.ts'
import { AlarmState } from '../alarms.ts'
import { readConditions } from '../conditions.ts'
import { Deviation, deviationsOf } from '../deviations.ts'
import { requireUnit } from '../earnings.ts'
import { readUnitDay } from '../unit-day.ts'
import { BessId } from '../units.ts'
import { alarmCounts } from './counts.ts'
import {
  alarmStateExample,
  alarmTransitionExample,
  controlExample,
  countsExample,
  deviationExample,
  dispatchExample,
  faultsExample,
} from './examples.ts'
import { pcsFaults } from './faults.ts'
import { alarmTransition, controlEntry, dispatchEntry } from './records.ts'
import {
  AlarmCounts,
  AlarmTransition,
  ControlEntry,
  DispatchEntry,
  PcsFaults,
  Tier,
} from './schemas.ts'
import {
  type AlarmEvent,
  alarmEventPage,
  alarmEvents,
  type DispatchRow,
  dispatchesIn,
  dispatchPage,
  type NoteRow,
  notePage,
  notes,
  raisedSince,
  readAlarms,
} from './store.ts'

const of_unit = {
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  params: { bess_id: BessId },
} as const

interface OfUnit {
  site: { site_id: string }
  params: { bess_id: number }
}

/** @throws ApiError not_found */
const unitOf = (db: Queries, { site, params }: OfUnit) =>
  requireUnit(db, { site_id: site.site_id, bess_id: params.bess_id })

/** A whole log as a file, in the order of the JSON answers. */
const exported = <Row>(
  statement: string,
  values: readonly unknown[],
  recordOf: (row: Row) => ExportItem,
): ExportItems => ({
  async *items(queries) {
    for await (const rows of fetched<Row>(queries, statement, values)) yield rows.map(recordOf)
  },
})

export const listDeviations = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/deviations',
  operation_id: 'bess_deviations_list',
  summary: 'Deviations of a battery from its approved schedule',
  description:
    'Returns the past hours of the day, ascending, without hours in which nothing was planned and ' +
    'nothing measured. Energy is the difference of the counters, spread evenly over gaps of up to ' +
    'an hour, or the integral of power where the counters give no value.',
  query: {
    target_date: Type.Optional(
      Type.String({
        format: 'date',
        description: 'UTC day. Defaults to today.',
        examples: ['2026-06-21'],
      }),
    ),
  },
  returns: List(Deviation),
  example: { answer: { data: [deviationExample], meta: { count: 1 } } },
  async handle(request, { db, clock }: Context) {
    const unit = await unitOf(db, request)
    const now = clock.now()
    const date = request.query.target_date ?? utcDate(now)
    return list(deviationsOf(await readUnitDay(db, unit, { date, now })))
  },
})

export const getPcsFaults = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/pcs/faults',
  operation_id: 'bess_pcs_faults_get',
  summary: 'Current fault words of the PCS of a battery',
  description: 'Returns the words read last, bit by bit, with every bit that is set.',
  returns: PcsFaults,
  example: { answer: faultsExample },
  async handle(request, { db }: Context) {
    const { site_id, bess_id } = await unitOf(db, request)
    const [parts, conditions] = await Promise.all([
      readPcsWords(db, site_id, bess_id),
      readConditions(db, { site_id, bess_id }),
    ])
    return pcsFaults(parts, conditions)
  },
})

export const listAlarmStates = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/states',
  operation_id: 'bess_alarms_states_list',
  summary: 'States of all alarms of a battery',
  description:
    'Returns every alarm that the unit can raise, set or not: those of the unit, its PCS and its ' +
    'clusters by the words read last, then those detected by the edge (lost communication, a ' +
    'heartbeat that stopped, the fire alarm system). An alarm of clusters is listed for each ' +
    'cluster in which it is set, or once where it is set in none.',
  query: {
    only_set: Type.Optional(
      Type.Boolean({ description: 'Only alarms that are set.', examples: [true] }),
    ),
    severity: Type.Optional(
      Type.Enum([...batterySeverities], {
        description: 'Only alarms of exactly this severity.',
        examples: ['critical'],
      }),
    ),
  },
  returns: List(AlarmState),
  example: { answer: { data: [alarmStateExample], meta: { count: 1 } } },
  async handle(request, { db }: Context) {
    const { only_set = false, severity } = request.query
    const { states } = await readAlarms(db, await unitOf(db, request))
    return list(
      states.filter(
        (state) =>
          (!only_set || state.is_set) && (severity === undefined || state.severity === severity),
      ),
    )
  },
})

const rows_by_default = 100
const page = limit(telemetry_rows.max, rows_by_default)
const whichRows =
  'Returns the newest `limit` rows, ascending. `meta.next_cursor` leads to older rows; ' +
  '`meta.truncated` is true while there are any. '
const whole = { truncated: false, next_start: null, previous_end: null, next_cursor: null }

/** A page of a log without a window. */
const logPage = <Row>({ rows, next_cursor }: Paged<Row>, count: number) => ({
  data: rows,
  meta: { count, ...whole, truncated: next_cursor !== null, next_cursor },
})

export const alarmHistory = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/history',
  operation_id: 'bess_alarms_history_list',
  summary: 'History of the alarms of a battery',
  description: `${whichRows}Each row has the readings of the unit within the minute before.`,
  query: {
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 120,
        description: 'Only this alarm; a `code` of /bess/{bess_id}/alarms/states.',
        examples: ['OVER_TEMP_WARNING'],
      }),
    ),
    limit: page,
  },
  cursor: { occurred_at: Timestamp, event_id: RowId },
  heavy: true,
  returns: CursorSeries(AlarmTransition),
  example: { answer: { data: [alarmTransitionExample], meta: { count: 1, ...whole } } },
  async handle({ query, after, ...request }, { db }: Context) {
    const { code = null, limit = rows_by_default } = query
    const unit = await unitOf(db, request)
    const { rows, next_cursor, count } = await alarmEventPage(db, unit, { code, after, limit })
    return logPage({ rows: rows.map(alarmTransition), next_cursor }, count)
  },
  async exports({ query, after, ...request }, { db }: Context) {
    const { code = null, limit } = query
    const unit = await unitOf(db, request)
    if (limit === undefined && after === null) {
      const values = [unit.site_id, String(unit.bess_id), code]
      return exported<AlarmEvent>(alarmEvents('asc'), values, alarmTransition)
    }
    const page = { code, after, limit: limit ?? rows_by_default }
    return pageItems((await alarmEventPage(db, unit, page)).rows.map(alarmTransition))
  },
})

export const countAlarms = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/counts',
  operation_id: 'bess_alarms_counts_get',
  summary: 'Count the alarms of a battery',
  description:
    'Returns the number of set alarms by severity and source. `last_24h` counts how often alarms ' +
    'were set in the last 24 hours.',
  returns: AlarmCounts,
  example: { answer: countsExample },
  async handle(request, { db, clock }: Context) {
    const unit = await unitOf(db, request)
    const [alarms, raised] = await Promise.all([
      readAlarms(db, unit),
      raisedSince(db, unit, new Date(clock.now().getTime() - day_ms)),
    ])
    return alarmCounts(alarms, raised)
  },
})

export const dispatchLog = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/dispatch-log',
  operation_id: 'bess_dispatch_log_list',
  summary: 'Setpoints of a battery and their results',
  description:
    'Returns setpoints ascending by `issued_at`. The window defaults to the last 24 hours.',
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(DispatchEntry),
  example: {
    answer: {
      data: [dispatchExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ query, window, ...request }, { db }: Context) {
    const unit = await unitOf(db, request)
    const limit = query.limit ?? telemetry_rows.by_default
    const { rows, count } = await dispatchPage(db, unit, window, limit)
    const [first_time = null, last_time = null] = [rows[0], rows.at(-1)].map((row) =>
      row?.issued_at.toISOString(),
    )
    return {
      data: rows.map(dispatchEntry),
      meta: seriesMeta(window, { count, returned: rows.length, first_time, last_time }),
    }
  },
  async exports({ query, window, ...request }, { db }: Context) {
    const unit = await unitOf(db, request)
    if (query.limit === undefined) {
      const values = [unit.site_id, unit.bess_id, window.start, window.end]
      return exported<DispatchRow>(dispatchesIn('asc', null), values, dispatchEntry)
    }
    return pageItems((await dispatchPage(db, unit, window, query.limit)).rows.map(dispatchEntry))
  },
})

export const controlLog = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/control-log',
  operation_id: 'bess_control_log_list',
  summary: 'Control log of a battery',
  description:
    `${whichRows}The log has each change of the deciding tier or of its decision, as reported by the ` +
    'edge, and each approval and rejection of a schedule through the API (tier `operator`, with ' +
    'the key or person as `actor`).',
  query: { tier: Type.Optional(Tier), limit: page },
  cursor: { occurred_at: Timestamp, nth: RowId },
  heavy: true,
  returns: CursorSeries(ControlEntry),
  example: { answer: { data: [controlExample], meta: { count: 1, ...whole } } },
  async handle({ query, after, ...request }, { db }: Context) {
    const { tier = null, limit = rows_by_default } = query
    const unit = await unitOf(db, request)
    const { rows, next_cursor, count } = await notePage(db, unit, { tier, after, limit })
    return logPage({ rows: rows.map(controlEntry), next_cursor }, count)
  },
  async exports({ query, after, ...request }, { db }: Context) {
    const { tier = null, limit } = query
    const unit = await unitOf(db, request)
    if (limit === undefined && after === null) {
      return exported<NoteRow>(notes('asc'), [unit.site_id, unit.bess_id, tier], controlEntry)
    }
    const page = { tier, after, limit: limit ?? rows_by_default }
    return pageItems((await notePage(db, unit, page)).rows.map(controlEntry))
  },
})
