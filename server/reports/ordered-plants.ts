import type { Violation } from '../http/errors.ts'
import { id_max } from '../http/params.ts'
import type { Queries } from '../storage/database.ts'

/** A violation for each plant that the site never had. */
export async function loggerFaults(
  db: Queries,
  site_id: string,
  logger_ids: readonly number[] | null,
): Promise<Violation[]> {
  if (logger_ids === null) return []
  const rows = await db.query<{ logger_id: number }>(
    'select logger_id from loggers where site_id = $1 and logger_id = any($2::int[])',
    [site_id, logger_ids.filter((logger_id) => logger_id >= 0 && logger_id <= id_max)],
  )
  const known = new Set(rows.map(({ logger_id }) => logger_id))
  return logger_ids.flatMap((logger_id, index): Violation[] =>
    known.has(logger_id)
      ? []
      : [
          {
            location: 'body',
            field: `logger_ids.${index}`,
            code: 'unknown_logger',
            message: `the site has no logger ${logger_id}`,
          },
        ],
  )
}
