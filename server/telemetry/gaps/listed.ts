import { readGapAlerts } from '../../alerts/gap-alerts.ts'
import { cursorAfter, type Paged } from '../../http/cursor.ts'
import type { Queries } from '../../storage/database.ts'
import type { Cause, Status } from './evidence.ts'
import type { SourceType } from './sources.ts'

export interface GapRow extends StoredGap {
  alert_id: number | null
}

export interface StoredGap {
  gap_id: number
  logger_id: number | null
  source_type: SourceType
  source_id: string
  start_at: Date
  end_at: Date | null
  expected_count: number
  received_count: number
  cause: Cause
  during_daylight: boolean
  status: Status
  backfilled_at: Date | null
  backfilled_count: number
  detected_at: Date
}

export interface GapRequest {
  site_id: string
  /** null: of all loggers. */
  logger_id: number | null
  /** Gaps that share some time with [start, end); null where that side is open. */
  start: string | null
  end: string | null
  /** The oldest gap of the page before; null for the first page. */
  after: { start_at: string; gap_id: number } | null
  limit: number
}

export interface GapStore {
  /** The newest gaps, ascending by their start, whole instants; `count` is of all pages. */
  newest(request: GapRequest): Promise<Paged<GapRow> & { count: number }>
}

export function createGapStore(db: Queries): GapStore {
  return {
    async newest({ site_id, logger_id, start, end, after, limit }) {
      const values: unknown[] = [site_id]
      const add = (value: unknown) => `$${values.push(value)}`
      const within = [
        'site_id = $1',
        ...(logger_id === null ? [] : [`logger_id = ${add(logger_id)}`]),
        ...(end === null ? [] : [`start_at < ${add(end)}`]),
        ...(start === null ? [] : [`coalesce(end_at, 'infinity') > ${add(start)}`]),
      ].join(' and ')
      const [counted] = await db.query<{ count: number }>(
        `select count(*) as count from gaps where ${within}`,
        values,
      )
      const before =
        after === null
          ? ''
          : `and (start_at, gap_id) < (${add(after.start_at)}::timestamptz, ${add(after.gap_id)}::bigint)`
      const newest = await db.query<StoredGap>(
        `select gap_id, logger_id, source_type, source_id, start_at, end_at, expected_count,
           received_count, cause, during_daylight, status, backfilled_at, backfilled_count,
           detected_at
         from gaps where ${within} ${before}
         order by start_at desc, gap_id desc limit ${limit + 1}`,
        values,
      )
      const page = pageOf(newest, limit)
      const { start_at, gap_id } = page.at(-1) ?? {}
      return {
        rows: await withAlerts(db, site_id, page.reverse()),
        next_cursor: newest.length > limit ? cursorAfter({ start_at, gap_id }) : null,
        count: counted!.count,
      }
    },
  }
}

export async function withAlerts(
  db: Queries,
  site_id: string,
  gaps: readonly StoredGap[],
): Promise<GapRow[]> {
  const alertOf = await readGapAlerts(db, site_id, gaps)
  return gaps.map((gap) => ({ ...gap, alert_id: alertOf(gap) }))
}

/**
 * The first rows up to a limit, of which one instant is not torn apart: whoever goes on before it,
 * by `previous_end`, would miss the rest. Unless it alone has more than the limit.
 */
function pageOf(rows: readonly StoredGap[], limit: number): StoredGap[] {
  const page = rows.slice(0, limit)
  const cut_ms = rows[limit]?.start_at.getTime()
  const whole = page.filter(({ start_at }) => start_at.getTime() !== cut_ms)
  return whole.length > 0 ? whole : page
}
