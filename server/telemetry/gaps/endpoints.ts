import { Type } from 'typebox'
import { readGapAlerts } from '../../alerts/gap-alerts.ts'
import type { Context } from '../../http/context.ts'
import { cursorAfter, RowId } from '../../http/cursor.ts'
import { endpoint } from '../../http/endpoint.ts'
import { CursorSeries } from '../../http/envelope.ts'
import { exampleOf } from '../../http/example.ts'
import { type ExportItems, fetched, pageItems } from '../../http/export-items.ts'
import { LoggerId, limit, Timestamp } from '../../http/params.ts'
import { type Bounds, openWindow } from '../../http/windows.ts'
import { requireLogger } from '../../plant/device-ids.ts'
import type { Queries } from '../../storage/database.ts'
import { Gap, gapExample, gapRecord, type StoredGap } from './gap.ts'

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
  /** The oldest gap of the page before; null for the first page. */
  after: { start_at: string; gap_id: number } | null
}

interface Asked {
  logger_id?: number | undefined
  limit?: number | undefined
}

/** Parameters of `within`. */
async function boundsOf({ site, window }: Requested, { logger_id }: Asked, db: Queries) {
  if (logger_id !== undefined) await requireLogger(db, site.site_id, logger_id)
  return [site.site_id, logger_id ?? null, window.start, window.end]
}

const within = `site_id = $1 AND ($2::int IS NULL OR logger_id = $2)
  AND ($3::timestamptz IS NULL OR coalesce(end_at, 'infinity') > $3)
  AND ($4::timestamptz IS NULL OR start_at < $4)`

export const gapColumns = `gap_id, logger_id, source_type, source_id, start_at, end_at,
  expected_count AS expected_sample_count, received_count AS received_sample_count, cause,
  during_daylight, status, backfilled_at, backfilled_count AS backfilled_sample_count, detected_at`

/** The newest gaps, ascending by start and in whole instants. */
async function readGaps(request: Requested, asked: Asked, { db, clock }: Context) {
  const { limit: page_size = gaps_by_default } = asked
  const { after } = request
  const bounds = await boundsOf(request, asked, db)
  const [counted] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM gaps WHERE ${within}`,
    bounds,
  )
  const newest = await db.query<StoredGap>(
    `SELECT ${gapColumns} FROM gaps
     WHERE ${within} ${after ? 'AND (start_at, gap_id) < ($6::timestamptz, $7::bigint)' : ''}
     ORDER BY start_at DESC, gap_id DESC LIMIT $5`,
    [...bounds, page_size + 1, ...(after ? [after.start_at, after.gap_id] : [])],
  )
  const page = pageOf(newest, page_size)
  const { start_at, gap_id } = page.at(-1) ?? {}
  const is_cut = newest.length > page_size
  return {
    data: await gapRecords(db, request.site.site_id, page.reverse(), clock.now()),
    meta: {
      count: counted!.count,
      truncated: is_cut,
      next_start: null,
      previous_end: (is_cut && start_at?.toISOString()) || null,
      next_cursor: is_cut ? cursorAfter({ start_at, gap_id }) : null,
    },
  }
}

/** All gaps of a window, ascending, or a page of them. */
async function exportGaps(
  request: Requested,
  asked: Asked,
  context: Context,
): Promise<ExportItems> {
  if (asked.limit !== undefined || request.after !== null) {
    return pageItems((await readGaps(request, asked, context)).data)
  }
  const bounds = await boundsOf(request, asked, context.db)
  const now = context.clock.now()
  return {
    async *items(queries) {
      const ascending = `SELECT ${gapColumns} FROM gaps WHERE ${within} ORDER BY start_at, gap_id`
      for await (const batch of fetched<StoredGap>(queries, ascending, bounds)) {
        yield await gapRecords(queries, request.site.site_id, batch, now)
      }
    },
  }
}

export async function gapRecords(
  db: Queries,
  site_id: string,
  gaps: readonly StoredGap[],
  now: Date,
) {
  const alertOf = await readGapAlerts(db, site_id, gaps)
  return gaps.map((gap) => gapRecord({ ...gap, alert_id: alertOf(gap) }, now))
}

/**
 * The first rows up to the page size. An instant is not split, since `previous_end` continues
 * before it, unless one instant alone exceeds the page size.
 */
function pageOf(rows: readonly StoredGap[], page_size: number): StoredGap[] {
  const page = rows.slice(0, page_size)
  const cut_ms = rows[page_size]?.start_at.getTime()
  const whole = page.filter(({ start_at }) => start_at.getTime() !== cut_ms)
  return whole.length > 0 ? whole : page
}
