/** Events of the server, in the same table as events of edges. */
import type { LinkEvent, Severity } from '@heliograph/domain/link'
import type { Queries } from './database.ts'
import { nextIdOf } from './site-ids.ts'

interface ServerEvent {
  site_id: string
  at: Date
  /** `site` for events of a whole site, whose `source_id` is the site_id. */
  source_kind: LinkEvent['source_kind'] | 'site'
  source_id: string
  code: string
  edge: LinkEvent['edge']
  severity: Severity
  message: string
  details?: Record<string, unknown>
}

type EventSource = Pick<ServerEvent, 'site_id' | 'source_kind' | 'source_id' | 'code'>

/** Stores an event. Call it in the transaction of the change that it reports. */
export async function recordEvent(
  db: Queries,
  { site_id, at, source_kind, source_id, code, edge, severity, message, details }: ServerEvent,
): Promise<void> {
  await db.execute(
    `insert into events
       (site_id, event_id, at, received_at, source_kind, source_id, code, edge, severity, message,
        details)
     values ($1, ${nextIdOf('site', '$1')}, $2, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)`,
    [
      site_id,
      at,
      source_kind,
      source_id,
      code,
      edge,
      severity,
      message,
      details === undefined ? null : JSON.stringify(details),
    ],
  )
}

/** The event of this source and code that was stored last, if any. */
export const lastEvent = (db: Queries, { site_id, source_kind, source_id, code }: EventSource) =>
  db.queryOne<Pick<ServerEvent, 'at' | 'edge' | 'message'>>(
    `select at, edge, message from events
     where site_id = $1 and source_kind = $2 and source_id = $3 and code = $4
     order by event_id desc limit 1`,
    [site_id, source_kind, source_id, code],
  )

/** Ends a condition of a source if it is active, not before it was raised; returns its end. */
export async function endCondition(
  db: Queries,
  source: EventSource,
  { at, message }: Pick<ServerEvent, 'at' | 'message'>,
): Promise<Date | null> {
  const last = await lastEvent(db, source)
  if (last?.edge !== 'rising') return null
  const ended_at = last.at > at ? last.at : at
  await recordEvent(db, { ...source, at: ended_at, edge: 'falling', severity: 'info', message })
  return ended_at
}

/**
 * SQL: a recursive CTE `newest` with the newest event of each source and code that meets the
 * condition. It skips from key to key in the index instead of scanning the history.
 */
export function newestEvents(condition: string): string {
  const columns = 'source_kind, source_id, code, edge, severity, message, at'
  const order = 'source_kind, source_id, code, at desc, event_id desc'
  return `
    with recursive newest as (
      (select ${columns} from events where ${condition} order by ${order} limit 1)
      union all
      select next.* from newest n cross join lateral (
        select ${columns} from events
        where ${condition}
          and (source_kind, source_id, code) > (n.source_kind, n.source_id, n.code)
        order by ${order} limit 1
      ) as next
    )`
}
