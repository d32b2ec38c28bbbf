import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { SpanList, spanList } from '../../http/envelope.ts'
import { IdList, InverterId, idsOf, LoggerId } from '../../http/params.ts'
import { default_hours } from '../../http/time-windows.ts'
import { pastSpan, type Span, spanMeta, spanSince, spanWindow } from '../../http/windows.ts'
import { awakeTime } from '../../plant/daylight.ts'
import { requireInverter, requireLogger } from '../../plant/device-ids.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { readStringHours } from '../rollups/store.ts'
import {
  daySummaryExample,
  energyMatrixExample,
  loggerHourExample,
  stringHourExample,
} from './examples.ts'
import { hoursOfDay, loggerHoursExport, matrixExport, stringHoursExport } from './exports.ts'
import type { Bounds, Now } from './figures.ts'
import {
  readLoggerDays,
  readLoggerHours,
  readLoggers,
  readStringCapacities,
} from './logger-hours.ts'
import { energyMatrix } from './matrix.ts'
import { daySummary, loggerHours, stringHours } from './records.ts'
import { DaySummary, EnergyMatrix, LoggerHourRecord, StringHour } from './schemas.ts'

const basic = { method: 'GET', module: 'basic_scada' } as const
const whole = { truncated: false, next_start: null }

const note =
  'Energy is the difference of the inverter counters, or the integral of power without counters; ' +
  'see `energy_source`. The energy of a counter over a gap is distributed to the hours of the gap; ' +
  'see `estimated_energy_kwh`. The hours of a day add up to the day; late readings update both. ' +
  'The current hour is updated every five minutes.'

async function nowAt(site_id: string, { db, clock }: Context): Promise<Now> {
  const now_ms = clock.now().getTime()
  return { now_ms, awake: awakeTime(await siteFacts(db, site_id)) }
}

const exportBase = async (site_id: string, { db, clock }: Context) => ({
  site_id,
  position: await siteFacts(db, site_id),
  now_ms: clock.now().getTime(),
})

export const plantSummary = endpoint({
  ...basic,
  path: '/plant/summary',
  tag: 'Plant',
  scope: 'plant:read',
  operation_id: 'plant_summary_list',
  summary: 'Get the energy of a day by logger and for the site',
  description: `Returns the energy of a UTC day; the current day up to now. ${note}`,
  query: {
    date: Type.Optional(
      Type.String({ format: 'date', description: 'UTC day. Defaults to today.' }),
    ),
  },
  returns: DaySummary,
  example: { answer: daySummaryExample },
  async handle({ site: { site_id }, query }, context: Context) {
    const now = await nowAt(site_id, context)
    const day = Date.parse(query.date ?? utcDate(now.now_ms))
    const request = { start_at: new Date(day), end_at: new Date(day + day_ms), logger_ids: null }
    const [loggers, rows] = await Promise.all([
      readLoggers(context.db, site_id, request),
      readLoggerHours(context.db, site_id, request),
    ])
    return daySummary(day, loggers, rows, now)
  },
})

const floorTo = (time_ms: number, step_ms: number) => Math.floor(time_ms / step_ms) * step_ms
const ceilTo = (time_ms: number, step_ms: number) => Math.ceil(time_ms / step_ms) * step_ms

export const loggerHourlyEnergy = endpoint({
  ...basic,
  path: '/loggers/{logger_id}/hourly-energy',
  tag: 'Loggers',
  scope: 'energy:read',
  operation_id: 'loggers_hourly_energy_list',
  summary: 'List the hourly energy of a logger (plant)',
  description:
    'Returns every hour that starts at `since` or later up to the current hour, with or without ' +
    `data. ${note}`,
  params: { logger_id: LoggerId },
  window: spanSince(default_hours.diagnostics),
  heavy: true,
  returns: SpanList(LoggerHourRecord),
  example: { answer: { data: [loggerHourExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, params: { logger_id }, window }, context: Context) {
    await requireLogger(context.db, site_id, logger_id)
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = fullHours(window)
    const request = {
      start_at: new Date(start_ms),
      end_at: new Date(end_ms),
      logger_ids: [logger_id],
    }
    const [[logger], rows] = await Promise.all([
      readLoggers(context.db, site_id, request),
      readLoggerHours(context.db, site_id, request),
    ])
    const hours = logger ? loggerHours({ start_ms, end_ms }, logger, rows, now) : []
    return spanList(hours, window)
  },
  async exports({ site: { site_id }, params: { logger_id }, window }, context: Context) {
    await requireLogger(context.db, site_id, logger_id)
    const request = await exportBase(site_id, context)
    return loggerHoursExport({ ...request, logger_id, window: fullHours(window) })
  },
})

/** From the first full hour of a span. */
function fullHours({ start, end }: Span): Bounds {
  const start_ms = ceilTo(Date.parse(start), hour_ms)
  return { start_ms, end_ms: Math.max(start_ms, Date.parse(end)) }
}

export const energyByHour = endpoint({
  ...basic,
  path: '/energy/hourly',
  tag: 'Energy',
  scope: 'energy:read',
  operation_id: 'energy_hourly_list',
  summary: 'Get energy as a matrix of days and hours by logger',
  description:
    'Returns one item of 24 hours for each day and logger. Every day that overlaps the window is ' +
    `complete; future hours are \`null\`. The window defaults to the last 7 days. ${note}`,
  window: spanWindow(default_hours.diagnostics, day_ms),
  query: {
    logger_ids: Type.Optional(IdList('Loggers of the site. Defaults to all.')),
  },
  heavy: true,
  returns: EnergyMatrix,
  example: { answer: energyMatrixExample },
  async handle({ site: { site_id }, query, window }, context: Context) {
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = wholeDays(window)
    const logger_ids = query.logger_ids === undefined ? null : idsOf(query.logger_ids)
    const request = { start_at: new Date(start_ms), end_at: new Date(end_ms), logger_ids }
    const [loggers, rows] = await Promise.all([
      readLoggers(context.db, site_id, request),
      readLoggerDays(context.db, site_id, request),
    ])
    if (logger_ids !== null) await requireAll(context.db, site_id, logger_ids, loggers)
    return energyMatrix({ start_ms, end_ms, ...spanMeta(window) }, loggers, rows, now)
  },
  export_lines: hoursOfDay,
  async exports({ site: { site_id }, query, window: span }, context: Context) {
    const request = await exportBase(site_id, context)
    const window = wholeDays(span)
    const logger_ids = query.logger_ids === undefined ? null : idsOf(query.logger_ids)
    if (logger_ids !== null) {
      const [start_at, end_at] = [new Date(window.start_ms), new Date(window.end_ms)]
      const loggers = await readLoggers(context.db, site_id, { start_at, end_at, logger_ids })
      await requireAll(context.db, site_id, logger_ids, loggers)
    }
    return matrixExport({ ...request, logger_ids, window })
  },
})

/** UTC days that overlap a window. */
function wholeDays({ start, end }: Span): Bounds {
  const start_ms = floorTo(Date.parse(start), day_ms)
  return { start_ms, end_ms: start === end ? start_ms : ceilTo(Date.parse(end), day_ms) }
}

/** A logger that was retired before the window exists and has no items. */
async function requireAll(
  db: Queries,
  site_id: string,
  logger_ids: readonly number[],
  found: readonly { logger_id: number }[],
): Promise<void> {
  for (const logger_id of logger_ids) {
    if (found.some((logger) => logger.logger_id === logger_id)) continue
    await requireLogger(db, site_id, logger_id)
  }
}

export const stringEnergyByHour = endpoint({
  ...basic,
  path: '/strings/inverter/{inverter_id}/hourly',
  tag: 'Strings',
  scope: 'plant:read',
  operation_id: 'strings_hourly_list',
  summary: 'List the hourly energy of the strings of an inverter',
  description:
    'Returns one item for each hour and string, for the hours that overlap the window. Hours ' +
    'without daylight readings have no item. The window defaults to the last 7 days.',
  params: { inverter_id: InverterId },
  window: pastSpan(default_hours.diagnostics),
  heavy: true,
  returns: SpanList(StringHour),
  example: { answer: { data: [stringHourExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, params: { inverter_id }, window }, context: Context) {
    await requireInverter(context.db, site_id, inverter_id)
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = overlappingHours(window)
    const [strings, stored] = await Promise.all([
      readStringCapacities(context.db, site_id, inverter_id),
      readStringHours(context.db, site_id, {
        inverter_ids: [inverter_id],
        from_ms: start_ms,
        to_ms: end_ms,
      }),
    ])
    const items = stored.flatMap((hour) => stringHours(hour, strings, now))
    return spanList(items, window)
  },
  async exports({ site: { site_id }, params: { inverter_id }, window: span }, context: Context) {
    await requireInverter(context.db, site_id, inverter_id)
    const request = await exportBase(site_id, context)
    const strings = await readStringCapacities(context.db, site_id, inverter_id)
    const window = overlappingHours(span)
    return stringHoursExport({ ...request, inverter_id, strings, window })
  },
})

/** From the start of the first hour that overlaps a window to the end of the window. */
function overlappingHours({ start, end }: Span): Bounds {
  return { start_ms: floorTo(Date.parse(start), hour_ms), end_ms: Date.parse(end) }
}
