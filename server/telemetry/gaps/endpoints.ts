import { Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries } from '../../http/envelope.ts'
import { exampleOf } from '../../http/example.ts'
import { type ExportItems, pageItems } from '../../http/export-items.ts'
import { LoggerId, limit, Timestamp } from '../../http/params.ts'
import { type Bounds, openWindow } from '../../http/windows.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import { Gap, gapExample, gapRecord } from './gap.ts'
import { type GapRequest, gapsExport, newestGaps } from './listed.ts'

const GapSeries = CursorSeries(Gap)
const gaps_by_default = 100
const gapLimit = limit(500, gaps_by_default)

const gaps = {
  method: 'GET',
  tag: 'Plant',
  scope: 'plant:read',
  module: 'basic_scada',
} as const

const listed = {
  description:
    'Returns the gaps that overlap the window, ascending by start; without a window all gaps. A gap ' +
    'is a time without readings longer than three polls and a minute, or shorter if jumps in frame ' +
    'numbers prove that readings were lost. Inverters, combiners and loggers without a met station ' +
    'have no gaps at night: they may sleep until 15 minutes after the sun has risen to 3°, and from ' +
    '15 minutes before it sinks below 3°. `limit` keeps the newest gaps: `next_cursor` continues ' +
    'with the gaps before them and `previous_end` with the gaps that started earlier. `next_start` ' +
    'is always null.',
  window: openWindow,
  cursor: { start_at: Timestamp, gap_id: RowId },
  returns: GapSeries,
  example: {
    answer: exampleOf(GapSeries, { data: [gapExample], meta: { count: 1, next_cursor: null } }),
  },
}

export const listGaps = endpoint({
  ...gaps,
  ...listed,
  path: '/gaps',
  operation_id: 'gaps_list',
  summary: 'The gaps in the data of the site',
  query: { logger_id: Type.Optional(LoggerId), limit: gapLimit },
  handle: (request, context: Context) => readGaps(request, request.query, context),
  exports: (request, context: Context) => exportGaps(request, request.query, context),
})

export const listLoggerGaps = endpoint({
  ...gaps,
  ...listed,
  path: '/gaps/logger/{logger_id}',
  operation_id: 'gaps_logger_list',
  summary: 'The gaps in the data of a logger and its devices',
  params: { logger_id: LoggerId },
  query: { limit: gapLimit },
  handle: (request, context: Context) =>
    readGaps(request, { ...request.params, ...request.query }, context),
  exports: (request, context: Context) =>
    exportGaps(request, { ...request.params, ...request.query }, context),
})

interface Requested {
  site: { site_id: string }
  window: Bounds
  after: GapRequest['after']
}

interface Asked {
  logger_id?: number | undefined
  limit?: number | undefined
}

async function readGaps(
  { site: { site_id }, window, after }: Requested,
  { logger_id, limit: page_size = gaps_by_default }: Asked,
  { db, clock }: Context,
) {
  if (logger_id !== undefined) await requireLogger(db, site_id, logger_id)
  const asked = { site_id, logger_id: logger_id ?? null, ...window, after, page_size }
  const { rows, next_cursor, count } = await newestGaps(db, asked)
  return {
    data: rows.map((row) => gapRecord(row, clock.now())),
    meta: {
      count,
      truncated: next_cursor !== null,
      next_start: null,
      previous_end: next_cursor === null ? null : (rows[0]?.start_at.toISOString() ?? null),
      next_cursor,
    },
  }
}

async function exportGaps(
  request: Requested,
  asked: Asked,
  context: Context,
): Promise<ExportItems> {
  const { logger_id, limit } = asked
  if (limit !== undefined || request.after !== null) {
    return pageItems((await readGaps(request, asked, context)).data)
  }
  const { site_id } = request.site
  if (logger_id !== undefined) await requireLogger(context.db, site_id, logger_id)
  const now = context.clock.now()
  const bounds = { site_id, logger_id: logger_id ?? null, ...request.window }
  return gapsExport(bounds, (row) => gapRecord(row, now))
}
