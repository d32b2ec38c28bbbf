import { day_ms, utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { SpanList, spanList } from '../../http/envelope.ts'
import { IdList, InverterId, idsOf, LoggerId } from '../../http/params.ts'
import { default_hours, hour_ms } from '../../http/time-windows.ts'
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
  'Energy is the difference of the counters of the inverters, else the integral of their power, ' +
  'and says which. What a counter tells of a gap is shared out to the hours of it, and named. The ' +
  'sum of the hours is the day; late readings change both. The hour that is running is summed up ' +
  'every five minutes.'

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
  summary: 'Energy of a day, logger by logger, and of the site',
  description: `A day of UTC; today as far as it has passed. ${note}`,
  query: {
    date: Type.Optional(
      Type.String({ format: 'date', description: 'The day, UTC; today where none is given.' }),
    ),
  },
  returns: DaySummary,
  example: { answer: daySummaryExample },
  async handle({ site: { site_id }, query }, context: Context) {
    const now = await nowAt(site_id, context)
    const day = Date.parse(query.date ?? utcDate(now.now_ms))
    const asked = { start_at: new Date(day), end_at: new Date(day + day_ms), logger_ids: null }
    const [loggers, rows] = await Promise.all([
      readLoggers(context.db, site_id, asked),
      readLoggerHours(context.db, site_id, asked),
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
  summary: 'Energy of a logger (plant), hour by hour',
  description:
    'Every hour that begins at `since` or later, up to the one that is running, whether anything ' +
    `is known of it or not. ${note}`,
  params: { logger_id: LoggerId },
  window: spanSince(default_hours.diagnostics),
  heavy: true,
  returns: SpanList(LoggerHourRecord),
  example: { answer: { data: [loggerHourExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, params: { logger_id }, window }, context: Context) {
    await requireLogger(context.db, site_id, logger_id)
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = hoursBegun(window)
    const asked = {
      start_at: new Date(start_ms),
      end_at: new Date(end_ms),
      logger_ids: [logger_id],
    }
    const [[logger], rows] = await Promise.all([
      readLoggers(context.db, site_id, asked),
      readLoggerHours(context.db, site_id, asked),
    ])
    const hours = logger ? loggerHours({ start_ms, end_ms }, logger, rows, now) : []
    return spanList(hours, window)
  },
  async exports({ site: { site_id }, params: { logger_id }, window }, context: Context) {
    await requireLogger(context.db, site_id, logger_id)
    const asked = await exportBase(site_id, context)
    return loggerHoursExport({ ...asked, logger_id, window: hoursBegun(window) })
  },
})

/** From the first hour that begins in a span on. */
function hoursBegun({ start, end }: Span): Bounds {
  const start_ms = ceilTo(Date.parse(start), hour_ms)
  return { start_ms, end_ms: Math.max(start_ms, Date.parse(end)) }
}

export const energyByHour = endpoint({
  ...basic,
  path: '/energy/hourly',
  tag: 'Energy',
  scope: 'energy:read',
  operation_id: 'energy_hourly_list',
  summary: 'Energy as a matrix of days and hours, logger by logger',
  description:
    'An item for each day and logger, by these, of 24 hours each; every day that the window ' +
    'touches is there as a whole, and hours to come are `null`. Without a window: the last 7 ' +
    `days. ${note}`,
  window: spanWindow(default_hours.diagnostics, day_ms),
  query: {
    logger_ids: Type.Optional(IdList('Loggers of the site; all where none is given.')),
  },
  heavy: true,
  returns: EnergyMatrix,
  example: { answer: energyMatrixExample },
  async handle({ site: { site_id }, query, window }, context: Context) {
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = wholeDays(window)
    const logger_ids = query.logger_ids === undefined ? null : idsOf(query.logger_ids)
    const asked = { start_at: new Date(start_ms), end_at: new Date(end_ms), logger_ids }
    const [loggers, rows] = await Promise.all([
      readLoggers(context.db, site_id, asked),
      readLoggerDays(context.db, site_id, asked),
    ])
    if (logger_ids !== null) await requireAll(context.db, site_id, logger_ids, loggers)
    return energyMatrix({ start_ms, end_ms, ...spanMeta(window) }, loggers, rows, now)
  },
  export_lines: hoursOfDay,
  async exports({ site: { site_id }, query, ...request }, context: Context) {
    const asked = await exportBase(site_id, context)
    const window = wholeDays(request.window)
    const logger_ids = query.logger_ids === undefined ? null : idsOf(query.logger_ids)
    if (logger_ids !== null) {
      const [start_at, end_at] = [new Date(window.start_ms), new Date(window.end_ms)]
      const loggers = await readLoggers(context.db, site_id, { start_at, end_at, logger_ids })
      await requireAll(context.db, site_id, logger_ids, loggers)
    }
    return matrixExport({ ...asked, logger_ids, window })
  },
})

/** The days of UTC that a window touches. */
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
  summary: 'Energy of the strings of an inverter, hour by hour',
  description:
    'One item for each string and hour, by hour and string, of the hours that the window touches. ' +
    'What was not measured by day, the night among it, has no item. Without a window: the last 7 ' +
    'days.',
  params: { inverter_id: InverterId },
  window: pastSpan(default_hours.diagnostics),
  heavy: true,
  returns: SpanList(StringHour),
  example: { answer: { data: [stringHourExample], meta: { count: 1, ...whole } } },
  async handle({ site: { site_id }, params: { inverter_id }, window }, context: Context) {
    await requireInverter(context.db, site_id, inverter_id)
    const now = await nowAt(site_id, context)
    const { start_ms, end_ms } = touchedHours(window)
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
  async exports({ site: { site_id }, params: { inverter_id }, ...request }, context: Context) {
    await requireInverter(context.db, site_id, inverter_id)
    const asked = await exportBase(site_id, context)
    const strings = await readStringCapacities(context.db, site_id, inverter_id)
    const window = touchedHours(request.window)
    return stringHoursExport({ ...asked, inverter_id, strings, window })
  },
})

/** From the beginning of the first hour that a window touches to its end. */
function touchedHours({ start, end }: Span): Bounds {
  return { start_ms: floorTo(Date.parse(start), hour_ms), end_ms: Date.parse(end) }
}
