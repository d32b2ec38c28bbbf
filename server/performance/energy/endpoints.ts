import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { utcDate } from '@heliograph/domain/utc-day'
import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { SpanList } from '../../http/envelope.ts'
import { ApiError } from '../../http/errors.ts'
import { exampleOf } from '../../http/example.ts'
import { spanHandlers } from '../../http/export-items.ts'
import * as field from '../../http/fields.ts'
import { IdList, InverterId, idsOf, LoggerId } from '../../http/params.ts'
import { default_hours } from '../../http/time-windows.ts'
import { pastSpan, type Span, spanMeta, spanSince, spanWindow } from '../../http/windows.ts'
import { awakeTime } from '../../plant/daylight.ts'
import { requireInverter, requireLogger } from '../../plant/device-ids.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import type { Queries } from '../../storage/database.ts'
import { readStringHours } from '../rollups/store.ts'
import type { Bounds, Now } from './figures.ts'
import {
  readLoggerDays,
  readLoggerHours,
  readLoggers,
  readStringCapacities,
} from './logger-hours.ts'
import { energyMatrix } from './matrix.ts'
import { daySummary, loggerHours, stringHours } from './records.ts'
import { DaySummary, EnergyMatrix, HourOfDay, LoggerHourRecord, StringHour } from './schemas.ts'

const basic = { method: 'GET', module: 'basic_scada' } as const

const note =
  'Energy is the difference of the inverter counters, or the integral of power without counters; ' +
  'see `energy_source`. The energy of a counter over a gap is distributed to the hours of the gap; ' +
  'see `estimated_energy_kwh`. The hours of a day add up to the day; late readings update both. ' +
  'The current hour is updated every five minutes.'

async function nowAt(site_id: string, { db, clock }: Context): Promise<Now> {
  const now_ms = clock.now().getTime()
  return { now_ms, awake: awakeTime(await siteFacts(db, site_id)) }
}

export const plantSummary = endpoint({
  ...basic,
  path: '/plant/summary',
  tag: 'Plant',
  scope: 'plant:read',
  operation_id: 'plant_summary_list',
  summary: 'Get the energy of a day by logger and for the site',
  description: `Returns the energy of a UTC day; the current day up to now. ${note}`,
  query: {
    date: Type.Optional(field.Day('UTC day. Defaults to today.')),
  },
  returns: DaySummary,
  async handle({ site: { site_id }, query }, context: Context) {
    const now = await nowAt(site_id, context)
    const day = Date.parse(query.date ?? utcDate(now.now_ms))
    const request = { start_ms: day, end_ms: day + day_ms, logger_ids: null }
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
  ...spanHandlers(async (request: SeriesRequest<{ logger_id: number }>, context) => {
    const { site, params, window } = request
    await requireLogger(context.db, site.site_id, params.logger_id)
    const now = await nowAt(site.site_id, context)
    return {
      items: (queries) => loggerHourWeeks(queries, { ...site, ...params }, fullHours(window), now),
    }
  }),
})

interface SeriesRequest<Params> {
  site: { site_id: string }
  params: Params
  window: Span
}

/** From the first full hour of a span. */
function fullHours({ start, end }: Span): Bounds {
  const start_ms = ceilTo(Date.parse(start), hour_ms)
  return { start_ms, end_ms: Math.max(start_ms, Date.parse(end)) }
}

const noon = exampleOf(HourOfDay)
const night = { expected_energy_kwh: null, curtailed_energy_kwh: null, completeness_pct: null }
const hours = Array.from({ length: 24 }, (_, hour) => ({
  ...noon,
  hour,
  start_at: `2026-06-21T${String(hour).padStart(2, '0')}:00:00.000Z`,
  ...(hour !== noon.hour && night),
  energy_kwh: hour === noon.hour ? noon.energy_kwh : 0,
}))

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
  example: {
    answer: exampleOf(EnergyMatrix, {
      data: [exampleOf(EnergyMatrix.properties.data.items, { logger_id: 1, hours })],
      meta: { totals_by_hour: hours.map(({ hour, energy_kwh }) => ({ hour, energy_kwh })) },
    }),
  },
  async handle({ site: { site_id }, query, window }, context: Context) {
    const now = await nowAt(site_id, context)
    const days = wholeDays(window)
    const request = { ...days, logger_ids: await requiredLoggers(context.db, site_id, query) }
    const [loggers, rows] = await Promise.all([
      readLoggers(context.db, site_id, request),
      readLoggerDays(context.db, site_id, request),
    ])
    return energyMatrix({ ...days, ...spanMeta(window) }, loggers, rows, now)
  },
  export_lines: ({ date, logger_id, hours }) =>
    (hours as object[]).map((hour) => ({ date, logger_id, ...hour })),
  async exports({ site: { site_id }, query, window }, context: Context) {
    const now = await nowAt(site_id, context)
    const logger_ids = await requiredLoggers(context.db, site_id, query)
    return { items: (queries) => matrixWeeks(queries, site_id, logger_ids, wholeDays(window), now) }
  },
})

/** UTC days that overlap a window. */
function wholeDays({ start, end }: Span): Bounds {
  const start_ms = floorTo(Date.parse(start), day_ms)
  return { start_ms, end_ms: start === end ? start_ms : ceilTo(Date.parse(end), day_ms) }
}

/** The ids of the loggers in the query; null for all. */
async function requiredLoggers(
  db: Queries,
  site_id: string,
  query: { logger_ids?: string | undefined },
): Promise<number[] | null> {
  if (query.logger_ids === undefined) return null
  const logger_ids = idsOf(query.logger_ids)
  const rows = await db.query<{ logger_id: number }>(
    'select logger_id from loggers where site_id = $1 and logger_id = any ($2)',
    [site_id, logger_ids],
  )
  const known = new Set(rows.map(({ logger_id }) => logger_id))
  const unknown = logger_ids.find((logger_id) => !known.has(logger_id))
  if (unknown !== undefined) throw new ApiError('not_found', { logger_id: unknown })
  return logger_ids
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
  ...spanHandlers(async (request: SeriesRequest<{ inverter_id: number }>, context) => {
    const { site, params, window } = request
    await requireInverter(context.db, site.site_id, params.inverter_id)
    const now = await nowAt(site.site_id, context)
    const hours = overlappingHours(window)
    return { items: (queries) => stringHourWeeks(queries, { ...site, ...params }, hours, now) }
  }),
})

/** From the start of the first hour that overlaps a window to the end of the window. */
function overlappingHours({ start, end }: Span): Bounds {
  return { start_ms: floorTo(Date.parse(start), hour_ms), end_ms: Date.parse(end) }
}

/** Every hour of a logger in the window, which starts on a full hour. */
async function* loggerHourWeeks(
  db: Queries,
  { site_id, logger_id }: { site_id: string; logger_id: number },
  window: Bounds,
  now: Now,
) {
  const logger_ids = [logger_id]
  const [logger] = await readLoggers(db, site_id, { ...window, logger_ids })
  if (!logger) return
  for (const week of weeksOf(window)) {
    const rows = await readLoggerHours(db, site_id, { ...week, logger_ids })
    yield loggerHours(week, logger, rows, now)
  }
}

async function* matrixWeeks(
  db: Queries,
  site_id: string,
  logger_ids: readonly number[] | null,
  window: Bounds,
  now: Now,
) {
  const loggers = await readLoggers(db, site_id, { ...window, logger_ids })
  for (const week of weeksOf(window)) {
    const days = await readLoggerDays(db, site_id, { ...week, logger_ids })
    yield JSON.parse(String(energyMatrix(week, loggers, days, now).text)).data
  }
}

/** Hours of the strings of an inverter that start in the window. */
async function* stringHourWeeks(
  db: Queries,
  { site_id, inverter_id }: { site_id: string; inverter_id: number },
  window: Bounds,
  now: Now,
) {
  const strings = await readStringCapacities(db, site_id, inverter_id)
  for (const { start_ms: from_ms, end_ms: to_ms } of weeksOf(window)) {
    const asked = { inverter_ids: [inverter_id], from_ms, to_ms }
    const stored = await readStringHours(db, site_id, asked)
    yield stored.flatMap((hour) => stringHours(hour, strings, now))
  }
}

function* weeksOf({ start_ms, end_ms }: Bounds): Generator<Bounds> {
  for (let at = start_ms; at < end_ms; at += 7 * day_ms) {
    yield { start_ms: at, end_ms: Math.min(end_ms, at + 7 * day_ms) }
  }
}
