/** The gaps of a window as a file, all of them. */
import { type ExportItem, type ExportItems, fetched } from '../../http/export-items.ts'
import { type GapRequest, type GapRow, type StoredGap, withAlerts } from './listed.ts'

/** Ascending, as in a page; each as `recordOf` tells it. */
export const gapsExport = (
  { site_id, logger_id, start, end }: Omit<GapRequest, 'limit'>,
  recordOf: (row: GapRow) => ExportItem,
): ExportItems => ({
  async *items(queries) {
    const rows = fetched<StoredGap>(queries, within, [site_id, logger_id, start, end])
    for await (const batch of rows) {
      const told = await withAlerts(queries, site_id, batch)
      yield told.map(recordOf)
    }
  },
})

const within = `
  SELECT gap_id, logger_id, source_type, source_id, start_at, end_at, expected_count,
         received_count, cause, during_daylight, status, backfilled_at, backfilled_count,
         detected_at
  FROM gaps
  WHERE site_id = $1 AND ($2::int IS NULL OR logger_id = $2)
    AND ($3::timestamptz IS NULL OR coalesce(end_at, 'infinity') > $3)
    AND ($4::timestamptz IS NULL OR start_at < $4)
  ORDER BY start_at, gap_id`
