/** What the server itself notices, in the same table as what edges report. */
import type { LinkEvent, Severity } from '@heliograph/domain/link'
import type { Queries } from './database.ts'

interface ServerEvent {
  site_id: string
  at: Date
  /** `site` for what concerns a site as a whole; `source_id` is the site_id then. */
  source_kind: LinkEvent['source_kind'] | 'site'
  source_id: string
  code: string
  edge: LinkEvent['edge']
  severity: Severity
  message: string
  details?: Record<string, unknown>
}

/** Stores an event; what it tells of belongs into the same transaction. */
export async function recordEvent(
  db: Queries,
  { site_id, at, source_kind, source_id, code, edge, severity, message, details }: ServerEvent,
): Promise<void> {
  await db.execute(
    `insert into events
       (site_id, at, received_at, source_kind, source_id, code, edge, severity, message, details)
     values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)`,
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

/** The last event of this source and code in the order of their storing, if there is one. */
export async function lastEvent(
  db: Queries,
  {
    site_id,
    source_kind,
    source_id,
    code,
  }: Pick<ServerEvent, 'site_id' | 'source_kind' | 'source_id' | 'code'>,
): Promise<Pick<ServerEvent, 'at' | 'edge' | 'message'> | undefined> {
  const [last] = await db.query<Pick<ServerEvent, 'at' | 'edge' | 'message'>>(
    `select at, edge, message from events
     where site_id = $1 and source_kind = $2 and source_id = $3 and code = $4
     order by event_id desc limit 1`,
    [site_id, source_kind, source_id, code],
  )
  return last
}

/**
 * A recursive statement's part, `newest`, that has the newest event of each code and source among
 * those of the condition. It goes from one code of one source to the next, as their whole past is
 * long.
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
