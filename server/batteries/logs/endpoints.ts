import { day_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries, List, list, Series } from '../../http/envelope.ts'
import { type ExportItem, type ExportItems, fetched, pageItems } from '../../http/export-items.ts'
import * as field from '../../http/fields.ts'
import { limit, Timestamp, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, seriesMeta } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { iso } from '../../plant/frame.ts'
import type { Queries } from '../../storage/database.ts'
import { batterySeverities } from '../active-alarms.ts'
import { readPcsWords } from '../alarm-words.ts'
import { AlarmState } from '../alarms.ts'
import { readConditions } from '../conditions.ts'
import { Deviation, deviationsOf } from '../deviations.ts'
import { requireUnit } from '../earnings.ts'
import { readUnitDay } from '../unit-day.ts'
import { BessId, type OfUnit } from '../units.ts'
import { pcsFaults } from './faults.ts'
import * as schemas from './schemas.ts'
import * as store from './store.ts'

const of_unit = {
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  params: { bess_id: BessId },
} as const

/** A whole log as a file, in the order of the JSON answers. */
const exported = <Row>(
  statement: string,
  values: readonly unknown[],
  entriesOf: (queries: Queries, rows: readonly Row[]) => Promise<ExportItem[]>,
): ExportItems => ({
  async *items(queries) {
    for await (const rows of fetched<Row>(queries, statement, values)) {
      yield await entriesOf(queries, rows)
    }
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
  query: { target_date: field.UtcDay },
  returns: List(Deviation),
  async handle({ site, params, query }, { db, clock }: Context) {
    const unit = await requireUnit(db, { ...site, ...params })
    const now = clock.now()
    const date = query.target_date ?? utcDate(now)
    return list(deviationsOf(await readUnitDay(db, unit, { date, now })))
  },
})

export const getPcsFaults = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/pcs/faults',
  operation_id: 'bess_pcs_faults_get',
  summary: 'Current fault words of the PCS of a battery',
  description: 'Returns the words read last, bit by bit, with every bit that is set.',
  returns: schemas.PcsFaults,
  async handle({ site, params }, { db }: Context) {
    const { site_id, bess_id } = await requireUnit(db, { ...site, ...params })
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
    only_set: Type.Optional(field.Flag('Only alarms that are set.', true)),
    severity: Type.Optional(
      field.OneOf(batterySeverities, 'Only alarms of exactly this severity.', 'critical'),
    ),
  },
  returns: List(AlarmState),
  async handle({ site, params, query }, { db }: Context) {
    const { only_set = false, severity } = query
    const { states } = await store.readAlarms(db, await requireUnit(db, { ...site, ...params }))
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

/** The handlers of a log without a window. */
const ofLog = <Row, Entry extends ExportItem, Query extends { limit?: number }, Place>(
  log: store.Log<Row, Entry>,
  filterOf: (query: Query) => string | undefined,
  placeOf: (after: Place) => readonly unknown[],
) => {
  type Asked = OfUnit & { query: Query; after: Place | null }
  const read = async (db: Queries, { site, params, query, after }: Asked) => {
    const unit = await requireUnit(db, { ...site, ...params })
    const of = { unit, filter: filterOf(query) ?? null }
    const limit = query.limit ?? rows_by_default
    const place = after && placeOf(after)
    return { of, page: () => store.readPage(db, log, of, { after: place, limit }) }
  }
  return {
    async handle(asked: Asked, { db }: Context) {
      const { rows, next_cursor, count } = await (await read(db, asked)).page()
      const truncated = next_cursor !== null
      return { data: rows, meta: { ...whole, count, truncated, next_cursor } }
    },
    async exports(asked: Asked, { db }: Context) {
      const { of, page } = await read(db, asked)
      if (asked.query.limit !== undefined || asked.after) return pageItems((await page()).rows)
      const values = [of.unit.site_id, of.unit.bess_id, of.filter]
      return exported<Row>(log.select('asc'), values, (queries, rows) =>
        log.entriesOf(queries, rows, of.unit),
      )
    },
  }
}

export const alarmHistory = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/history',
  operation_id: 'bess_alarms_history_list',
  summary: 'History of the alarms of a battery',
  description: `${whichRows}Each row has the readings of the unit within the minute before.`,
  query: {
    code: Type.Optional(
      field.Text('Only this alarm; a `code` of /bess/{bess_id}/alarms/states.', {
        minLength: 1,
        maxLength: 120,
        examples: ['OVER_TEMP_WARNING'],
      }),
    ),
    limit: page,
  },
  cursor: { occurred_at: Timestamp, event_id: RowId },
  heavy: true,
  returns: CursorSeries(schemas.AlarmTransition),
  ...ofLog(
    store.alarmLog,
    ({ code }: { code?: string; limit?: number }) => code,
    (after: { occurred_at: string; event_id: number }) => [after.occurred_at, after.event_id],
  ),
})

export const countAlarms = endpoint({
  ...of_unit,
  path: '/bess/{bess_id}/alarms/counts',
  operation_id: 'bess_alarms_counts_get',
  summary: 'Count the alarms of a battery',
  description:
    'Returns the number of set alarms by severity and source. `last_24h` counts how often alarms ' +
    'were set in the last 24 hours.',
  returns: schemas.AlarmCounts,
  async handle({ site, params }, { db, clock }: Context) {
    const unit = await requireUnit(db, { ...site, ...params })
    const [alarms, raised] = await Promise.all([
      store.readAlarms(db, unit),
      store.raisedSince(db, unit, new Date(clock.now().getTime() - day_ms)),
    ])
    return store.alarmCounts(alarms, raised)
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
  returns: Series(schemas.DispatchEntry),
  async handle({ site, params, query, window }, { db }: Context) {
    const unit = await requireUnit(db, { ...site, ...params })
    const limit = query.limit ?? telemetry_rows.by_default
    const { rows, count } = await store.dispatchPage(db, unit, window, limit)
    const first_time = iso(rows[0]?.issued_at ?? null)
    const last_time = iso(rows.at(-1)?.issued_at ?? null)
    const meta = seriesMeta(window, { count, returned: rows.length, first_time, last_time })
    return { data: rows.map(store.dispatchEntry), meta }
  },
  async exports({ site, params, query, window }, { db }: Context) {
    const unit = await requireUnit(db, { ...site, ...params })
    if (query.limit === undefined) {
      const values = [unit.site_id, unit.bess_id, window.start, window.end]
      return exported<store.DispatchRow>(store.dispatchesIn('asc', null), values, async (_, rows) =>
        rows.map(store.dispatchEntry),
      )
    }
    return pageItems(
      (await store.dispatchPage(db, unit, window, query.limit)).rows.map(store.dispatchEntry),
    )
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
  query: { tier: Type.Optional(schemas.Tier), limit: page },
  cursor: { occurred_at: Timestamp, nth: RowId },
  heavy: true,
  returns: CursorSeries(schemas.ControlEntry),
  ...ofLog(
    store.controlNotes,
    ({ tier }: { tier?: string; limit?: number }) => tier,
    (after: { occurred_at: string; nth: number }) => [after.occurred_at, after.nth],
  ),
})
