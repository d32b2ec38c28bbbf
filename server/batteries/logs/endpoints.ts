import type { Clock } from '@heliograph/domain/clock'
import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import { type Paged, RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries, List, list, Series } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { pageItems } from '../../http/export-items.ts'
import { limit, Timestamp, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { batterySeverities } from '../active-alarms.ts'
import { AlarmState } from '../alarms.ts'
import { Deviation, deviationsOf } from '../deviations.ts'
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
import { alarmEventsExport, dispatchesExport, notesExport } from './exports.ts'
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
import type { BatteryLogStore, UnitAsked } from './store.ts'

export interface Needs {
  clock: Clock
  batteryLogs: BatteryLogStore
}

const of_unit = {
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  params: { bess_id: BessId },
} as const

async function demandUnit(asked: UnitAsked, { batteryLogs }: Needs) {
  const unit = await batteryLogs.unit(asked)
  if (!unit) throw new ApiError('not_found', { bess_id: asked.bess_id })
  return unit
}

const askedOf = ({
  site,
  params,
}: {
  site: { site_id: string }
  params: { bess_id: number }
}): UnitAsked => ({ site_id: site.site_id, bess_id: params.bess_id })

export const listDeviations = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/deviations',
  operation_id: 'bess_deviations_list',
  summary: 'How far a battery was from its approved schedule, and why',
  description:
    'The hours of the day that are over, ascending; those in which nothing was planned and ' +
    'nothing measured are left out. Energy is what the counters rose by, evenly over a silence ' +
    'of up to an hour, or the integral of the power where they do not tell.',
  query: {
    target_date: Type.Optional(
      Type.String({
        format: 'date',
        description: 'The day, UTC; today where none is given.',
        examples: ['2026-06-21'],
      }),
    ),
  },
  returns: List(Deviation),
  example: { answer: { data: [deviationExample], meta: { count: 1 } } },
  async handle(request, needs: Needs) {
    const unit = await demandUnit(askedOf(request), needs)
    const now = needs.clock.now()
    const date = request.query.target_date ?? utcDate(now)
    return list(deviationsOf(await needs.batteryLogs.day(unit, { date, now })))
  },
})

export const getPcsFaults = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/pcs/faults',
  operation_id: 'bess_pcs_faults_get',
  summary: 'The fault words of the PCS of a battery, live',
  description: 'As they were read last, bit by bit; no set bit is left out.',
  returns: PcsFaults,
  example: { answer: faultsExample },
  async handle(request, needs: Needs) {
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const [parts, conditions] = await Promise.all([
      needs.batteryLogs.pcsWords(asked),
      needs.batteryLogs.conditions(asked),
    ])
    return pcsFaults(parts, conditions)
  },
})

export const listAlarmStates = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/states',
  operation_id: 'bess_alarms_states_list',
  summary: 'Every alarm that a battery can raise, and whether it is set',
  description:
    'Of the unit, its PCS and its clusters by the words that were read last, then what the edge ' +
    'noticed: what does not answer, a heartbeat that stands still, what the fire alarm system ' +
    'says. An alarm of clusters is listed for each cluster in which it is set, and once where it ' +
    'is set in none.',
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
  async handle(request, needs: Needs) {
    const { only_set = false, severity } = request.query
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const { states } = await needs.batteryLogs.alarms(asked)
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
  'Returns the newest rows, ascending, as many as `limit` says. `meta.next_cursor` leads to the ' +
  'rows before them. `meta.truncated` says that there are such rows. '
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
  summary: 'When alarms of a battery were set and cleared',
  description: `${whichRows}With what the unit measured within the minute before.`,
  query: {
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 120,
        description: 'Only this alarm, by its `code` in /bess/{bess_id}/alarms/states.',
        examples: ['OVER_TEMP_WARNING'],
      }),
    ),
    limit: page,
  },
  cursor: { occurred_at: Timestamp, event_id: RowId },
  heavy: true,
  returns: CursorSeries(AlarmTransition),
  example: { answer: { data: [alarmTransitionExample], meta: { count: 1, ...whole } } },
  async handle({ query, after, ...request }, needs: Needs) {
    const { code = null, limit = rows_by_default } = query
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const page = { code, after, limit }
    const { rows, next_cursor, count } = await needs.batteryLogs.alarmEvents(asked, page)
    return logPage({ rows: rows.map(alarmTransition), next_cursor }, count)
  },
  async exports({ query, after, ...request }, needs: Needs) {
    const { code = null, limit } = query
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    if (limit === undefined && after === null) return alarmEventsExport(asked, code)
    const page = { code, after, limit: limit ?? rows_by_default }
    const { rows } = await needs.batteryLogs.alarmEvents(asked, page)
    return pageItems(rows.map(alarmTransition))
  },
})

export const countAlarms = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/counts',
  operation_id: 'bess_alarms_counts_get',
  summary: 'How many alarms of a battery are set, by severity and source',
  description: '`last_24h` counts how often alarms were set in the last 24 hours.',
  returns: AlarmCounts,
  example: { answer: countsExample },
  async handle(request, needs: Needs) {
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const now = needs.clock.now()
    const [alarms, raised] = await Promise.all([
      needs.batteryLogs.alarms(asked),
      needs.batteryLogs.raisedSince(asked, new Date(now.getTime() - day_ms)),
    ])
    return alarmCounts(alarms, raised)
  },
})

export const dispatchLog = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/dispatch-log',
  operation_id: 'bess_dispatch_log_list',
  summary: 'The setpoints of a battery, and what came of them',
  description: 'Ascending by `issued_at`. Without a window: the last 24 hours.',
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
  async handle(request, needs: Needs) {
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const { query, window } = request
    const limit = query.limit ?? telemetry_rows.by_default
    const { rows, count } = await needs.batteryLogs.dispatches(asked, window, limit)
    const [first_time = null, last_time = null] = [rows[0], rows.at(-1)].map((row) =>
      row?.issued_at.toISOString(),
    )
    return {
      data: rows.map(dispatchEntry),
      meta: seriesMeta(window, { count, returned: rows.length, first_time, last_time }),
    }
  },
  async exports(request, needs: Needs) {
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const { query, window } = request
    if (query.limit === undefined) return dispatchesExport(asked, window)
    const { rows } = await needs.batteryLogs.dispatches(asked, window, query.limit)
    return pageItems(rows.map(dispatchEntry))
  },
})

export const controlLog = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/control-log',
  operation_id: 'bess_control_log_list',
  summary: 'Who decided over a battery, and who was overridden',
  description:
    `${whichRows}Each change of who decides, or of what was decided, as the edge noted it, and each ` +
    'approval and rejection of a schedule by the API: tier `operator`, with who decided so.',
  query: { tier: Type.Optional(Tier), limit: page },
  cursor: { occurred_at: Timestamp, nth: RowId },
  heavy: true,
  returns: CursorSeries(ControlEntry),
  example: { answer: { data: [controlExample], meta: { count: 1, ...whole } } },
  async handle({ query, after, ...request }, needs: Needs) {
    const { tier = null, limit = rows_by_default } = query
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    const page = { tier, after, limit }
    const { rows, next_cursor, count } = await needs.batteryLogs.notes(asked, page)
    return logPage({ rows: rows.map(controlEntry), next_cursor }, count)
  },
  async exports({ query, after, ...request }, needs: Needs) {
    const { tier = null, limit } = query
    const asked = askedOf(request)
    await demandUnit(asked, needs)
    if (limit === undefined && after === null) return notesExport(asked, tier)
    const page = { tier, after, limit: limit ?? rows_by_default }
    const { rows } = await needs.batteryLogs.notes(asked, page)
    return pageItems(rows.map(controlEntry))
  },
})
