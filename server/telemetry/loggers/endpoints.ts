import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { List, list, Series } from '../../http/envelope.ts'
import { LoggerId, telemetry_rows, telemetryLimit } from '../../http/params.ts'
import { default_hours, type SeriesWindow } from '../../http/time-windows.ts'
import { rowsWindow } from '../../http/windows.ts'
import { loggerExample } from '../../plant/device-examples.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import type { InverterFilter, InverterRow } from '../../plant/inverter.ts'
import { Logger, loggerRecord } from '../../plant/logger.ts'
import { measured, readingFrame } from '../../plant/quantities.ts'
import { type SiteFacts, situationOf } from '../../plant/situation.ts'
import { loggerReadingExample } from './examples.ts'
import type { LoggerStore } from './store.ts'

export interface Needs extends Context {
  sites: { facts(site_id: string): Promise<SiteFacts> }
  loggers: LoggerStore
  inverters: {
    live(site_id: string, day_start_at: Date, filter?: InverterFilter): Promise<InverterRow[]>
  }
}

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
  description: 'By id; retired ones carry `retired_at` and the last that was measured of them.',
  returns: List(Logger),
  example: { answer: { data: [loggerExample], meta: { count: 1 } } },
  async handle({ site: { site_id } }, needs: Needs) {
    const situation = situationOf(await needs.sites.facts(site_id), needs.clock.now())
    const [rows, edge, inverters] = await Promise.all([
      needs.loggers.live(site_id, situation.now),
      needs.loggers.edge(site_id),
      needs.inverters.live(site_id, situation.day_start_at, { in_service: true }),
    ])
    const invertersOf = Map.groupBy(inverters, ({ logger_id }) => logger_id)
    return list(
      rows.map((row) =>
        loggerRecord(row, { inverters: invertersOf.get(row.logger_id) ?? [], edge }, situation),
      ),
    )
  },
})

const LoggerReading = Type.Object(
  { ...readingFrame, ...measured('logger') },
  { additionalProperties: false, $id: 'LoggerReading' },
)

/** Which readings are asked for, of a device that exists. */
async function requireHistory(
  { db }: Context,
  site_id: string,
  { device_id, window }: { device_id: number; window: SeriesWindow },
) {
  await requireLogger(db, site_id, device_id)
  return { site_id, device_id, window }
}

export const loggerHistory = endpoint({
  ...loggers,
  path: '/loggers/{logger_id}/history',
  operation_id: 'loggers_history_list',
  summary: 'What a logger measured, over time',
  description: 'Ascending. Without a window: the last 24 hours.',
  params: { logger_id: LoggerId },
  window: rowsWindow(default_hours.telemetry),
  query: { limit: telemetryLimit },
  heavy: true,
  returns: Series(LoggerReading),
  example: {
    answer: {
      data: [loggerReadingExample],
      meta: { count: 1, truncated: false, next_start: null, previous_end: null },
    },
  },
  async handle({ site, params, query, window }, needs: Needs) {
    const wanted = await requireHistory(needs, site.site_id, {
      device_id: params.logger_id,
      window,
    })
    return needs.loggers.history({ ...wanted, limit: query.limit ?? telemetry_rows.by_default })
  },
  async exports({ site, params, query, window }, needs: Needs) {
    const wanted = await requireHistory(needs, site.site_id, {
      device_id: params.logger_id,
      window,
    })
    return needs.loggers.historyRows({ ...wanted, limit: query.limit ?? null })
  },
})
