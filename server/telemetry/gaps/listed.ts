import { readGapAlerts } from '../../alerts/gap-alerts.ts'
import { cursorAfter, type Paged } from '../../http/cursor.ts'
import { type ExportItem, type ExportItems, fetched } from '../../http/export-items.ts'
import type { Queries } from '../../storage/database.ts'
import type { GapRow, StoredGap } from './gap.ts'

export interface GapRequest {
  site_id: string
  /** null: all loggers and the site itself. */
  logger_id: number | null
  /** Gaps that overlap [start, end); null: no bound on that side. */
  start: string | null
  end: string | null
  /** The oldest gap of the page before; null for the first page. */
  after: { start_at: string; gap_id: number } | null
  page_size: number
}

const columns = `gap_id, logger_id, source_type, source_id, start_at, end_at,
  expected_count AS expected_sample_count, received_count AS received_sample_count, cause,
  during_daylight, status, backfilled_at, backfilled_count AS backfilled_sample_count, detected_at`

const within = `site_id = $1 AND ($2::int IS NULL OR logger_id = $2)
  AND ($3::timestamptz IS NULL OR coalesce(end_at, 'infinity') > $3)
  AND ($4::timestamptz IS NULL OR start_at < $4)`

type Bounds = Omit<GapRequest, 'after' | 'page_size'>
const boundsOf = ({ site_id, logger_id, start, end }: Bounds) => [site_id, logger_id, start, end]

/** The newest gaps, ascending by start and in whole instants; `count` covers all pages. */
export async function newestGaps(
  db: Queries,
  { after, page_size, ...bounds }: GapRequest,
): Promise<Paged<GapRow> & { count: number }> {
  const values = boundsOf(bounds)
  const [counted] = await db.query<{ count: number }>(
    `SELECT count(*) AS count FROM gaps WHERE ${within}`,
    values,
  )
  const newest = await db.query<StoredGap>(
    `SELECT ${columns} FROM gaps
     WHERE ${within} ${after ? 'AND (start_at, gap_id) < ($6::timestamptz, $7::bigint)' : ''}
     ORDER BY start_at DESC, gap_id DESC LIMIT $5`,
    [...values, page_size + 1, ...(after ? [after.start_at, after.gap_id] : [])],
  )
  const page = pageOf(newest, page_size)
  const { start_at, gap_id } = page.at(-1) ?? {}
  return {
    rows: await withAlerts(db, bounds.site_id, page.reverse()),
    next_cursor: newest.length > page_size ? cursorAfter({ start_at, gap_id }) : null,
    count: counted!.count,
  }
}

/** All gaps of a window, ascending. */
export const gapsExport = (bounds: Bounds, recordOf: (row: GapRow) => ExportItem): ExportItems => ({
  async *items(queries) {
    const ascending = `SELECT ${columns} FROM gaps WHERE ${within} ORDER BY start_at, gap_id`
    for await (const batch of fetched<StoredGap>(queries, ascending, boundsOf(bounds))) {
      yield (await withAlerts(queries, bounds.site_id, batch)).map(recordOf)
    }
  },
})

async function withAlerts(
  db: Queries,
  site_id: string,
  gaps: readonly StoredGap[],
): Promise<GapRow[]> {
  const alertOf = await readGapAlerts(db, site_id, gaps)
  return gaps.map((gap) => ({ ...gap, alert_id: alertOf(gap) }))
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
