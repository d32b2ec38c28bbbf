import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list } from '../../http/envelope.ts'
import { LoggerId, Named } from '../../http/params.ts'
import { loggerExample, measuredIn } from '../../plant/device-examples.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import { Logger, loggerRecord } from '../../plant/logger.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { siteSituation } from '../../plant/site-facts.ts'
import { deviceHistory, ReadingSeries, seriesExample } from '../history.ts'
import { liveInverters } from '../inverters/store.ts'
import { liveLoggers, servingEdge } from './store.ts'

const loggers = {
  method: 'GET',
  tag: 'Loggers',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

export const listLoggers = endpoint({
  ...loggers,
  path: '/loggers',
  operation_id: 'loggers_list',
  summary: 'The loggers (plants) of the site, live',
  description:
    'Returns every logger by id, with its latest measurements. Retired loggers carry `retired_at` ' +
    'and their last measurements.',
  returns: List(Logger),
  example: { answer: list([loggerExample]) },
  async handle({ site: { site_id } }, context: Context) {
    const { db } = context
    const situation = await siteSituation(context, site_id)
    const [rows, edge, inverters] = await Promise.all([
      liveLoggers(db, site_id, situation.now),
      servingEdge(db, site_id),
      liveInverters(db, site_id, situation.day_start_at, { in_service: true }),
    ])
    const invertersOf = Map.groupBy(inverters, ({ logger_id }) => logger_id)
    return list(
      rows.map((row) =>
        loggerRecord(row, { inverters: invertersOf.get(row.logger_id) ?? [], edge }, situation),
      ),
    )
  },
})

const LoggerReading = Named('LoggerReading', { ...readingFrame, ...measured('logger') })

export const loggerHistory = endpoint({
  ...loggers,
  ...deviceHistory<{ logger_id: number }>('logger', async (db, { site_id, logger_id }) => {
    await requireLogger(db, site_id, logger_id)
    return { device_id: logger_id }
  }),
  path: '/loggers/{logger_id}/history',
  operation_id: 'loggers_history_list',
  summary: 'The readings of a logger over time',
  description: 'Returns readings in ascending order. Defaults to the last 24 hours.',
  params: { logger_id: LoggerId },
  returns: ReadingSeries(LoggerReading),
  example: seriesExample({
    measured_at: '2026-06-21T10:00:00Z',
    quality: 'good' as const,
    ...measuredIn('logger', loggerExample),
  }),
})
