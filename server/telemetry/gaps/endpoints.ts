import { type Static, Type } from 'typebox'
import type { Context } from '../../http/context.ts'
import { RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries } from '../../http/envelope.ts'
import { type ExportItems, pageItems } from '../../http/export-items.ts'
import { LoggerId, limit, Timestamp } from '../../http/params.ts'
import { openWindow } from '../../http/windows.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import { Gap, gapExample, gapRecord } from './gap.ts'
import { type GapRequest, gapsExport, newestGaps } from './listed.ts'

const GapSeries = CursorSeries(Gap)

const gaps = { method: 'GET', tag: 'Plant', scope: 'plant:read', module: 'basic_scada' } as const
const gaps_by_default = 100
const gapLimit = limit(500, gaps_by_default)
const rules =
  'Returns the gaps that overlap the window, ascending by start; without a window all gaps. A gap ' +
  'is a time without readings longer than three polls and a minute, or shorter if jumps in frame ' +
  'numbers prove that readings were lost. Inverters, combiners and loggers without a met station ' +
  'have no gaps at night: they may sleep until 15 minutes after the sun has risen to 3°, and from ' +
  '15 minutes before it sinks below 3°. `limit` keeps the newest gaps: `next_cursor` continues ' +
  'with the gaps before them and `previous_end` with the gaps that started earlier. `next_start` ' +
  'is always null.'
const place = { start_at: Timestamp, gap_id: RowId }
const example = {
  answer: {
    data: [gapExample],
    meta: {
      count: 1,
      truncated: false,
      next_start: null,
      previous_end: null,
      next_cursor: null,
    },
  },
}

export const listGaps = endpoint({
  ...gaps,
  path: '/gaps',
  operation_id: 'gaps_list',
  summary: 'The gaps in the data of the site',
  description: rules,
  window: openWindow,
  query: { logger_id: Type.Optional(LoggerId), limit: gapLimit },
  cursor: place,
  returns: GapSeries,
  example,
  async handle({ site: { site_id }, query, window, after }, context: Context) {
    const { logger_id = null, limit } = query
    if (logger_id !== null) await requireLogger(context.db, site_id, logger_id)
    return readGaps({ site_id, logger_id, ...window, after }, limit, context)
  },
  async exports({ site: { site_id }, query, window, after }, context: Context) {
    const { logger_id = null, limit } = query
    if (logger_id !== null) await requireLogger(context.db, site_id, logger_id)
    return exportGaps({ site_id, logger_id, ...window, after }, limit, context)
  },
})

export const listLoggerGaps = endpoint({
  ...gaps,
  path: '/gaps/logger/{logger_id}',
  operation_id: 'gaps_logger_list',
  summary: 'The gaps in the data of a logger and its devices',
  description: rules,
  params: { logger_id: LoggerId },
  window: openWindow,
  query: { limit: gapLimit },
  cursor: place,
  returns: GapSeries,
  example,
  async handle({ site: { site_id }, params, query, window, after }, context: Context) {
    const { logger_id } = params
    await requireLogger(context.db, site_id, logger_id)
    return readGaps({ site_id, logger_id, ...window, after }, query.limit, context)
  },
  async exports({ site: { site_id }, params, query, window, after }, context: Context) {
    const { logger_id } = params
    await requireLogger(context.db, site_id, logger_id)
    return exportGaps({ site_id, logger_id, ...window, after }, query.limit, context)
  },
})

type Requested = Omit<GapRequest, 'page_size'>

async function exportGaps(
  requested: Requested,
  limit: number | undefined,
  context: Context,
): Promise<ExportItems> {
  if (limit !== undefined || requested.after !== null) {
    return pageItems((await readGaps(requested, limit, context)).data)
  }
  const now = context.clock.now()
  return gapsExport(requested, (row) => gapRecord(row, now))
}

async function readGaps(
  requested: Requested,
  page_size = gaps_by_default,
  { db, clock }: Context,
): Promise<Static<typeof GapSeries>> {
  const { rows, next_cursor, count } = await newestGaps(db, { ...requested, page_size })
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
