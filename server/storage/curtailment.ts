/** Curtailment rows as SQL conditions, and how the processes of the server notify each other. */
import { curtailment_rows_max, outsideSources } from '@heliograph/domain/curtailment'
import type { Queries } from './database.ts'

/** Notified when the desired state of a site has changed; the payload is the site_id. */
export const changed_channel = 'curtailment_changed'
/** Notified when an edge has reported; the payload is the site_id. */
export const reported_channel = 'curtailment_reported'

/** A confirmation within this time after the end of a row counts as immediate in energy sums. */
const confirmed_within_s = 60

/** Rows past their end that one `desired` message repeats; open rows have the rest of its space. */
export const unconfirmed_rows_max = curtailment_rows_max / 2

/**
 * SQL: the edge was sent row `r` and has not confirmed that the plant is restored. Such a row may
 * still limit the plant after its end. A row released before its start needs no restore: the edge
 * only has to know of the release.
 */
export const isUnconfirmed = `(
  r.told_at is not null and r.restored_at is null and r.closed_at is null
  and not (r.is_release_heard and r.released_at < r.start_at))`

/** SQL: group `g` is an order that an edge took from outside, which no command releases. */
export const isFromOutside = `g.source in (${outsideSources.map((name) => `'${name}'`).join(', ')})`

/** SQL: the release of row `r` was requested, or its end has come. */
const isPastEnd = (now: string) => `(r.released_at is not null or r.end_at <= ${now})`

/** SQL: row `r` is over and the plant may still be limited by it. */
export const isReleasing = (now: string) => `(${isPastEnd(now)} and ${isUnconfirmed})`

/**
 * SQL: when row `r`, which is neither scheduled, active nor releasing, came to be so. A closed
 * record keeps the instant of its closing when the edge confirms later.
 */
export const overAt = `greatest(
  least(r.end_at, r.released_at),
  coalesce(r.closed_at, r.restored_at, case
    when r.told_at is not null and r.is_release_heard and r.released_at < r.start_at
      then r.reported_at end))`

/** SQL: until when row `r` limited its plant, as far as known; `now` at most. */
export const heldUntil = (now: string) => `
  least(${now}, case
    when ${isReleasing(now)} then ${now}
    when ${overAt} > least(r.end_at, r.released_at) + interval '${confirmed_within_s} seconds'
      then ${overAt}
    else least(r.end_at, r.released_at)
  end)`

/**
 * Increments the desired version of a site and, on commit, notifies the server that is connected to
 * its edge. From here on, writes to the same site wait for each other.
 */
export async function noteChange(tx: Queries, site_id: string): Promise<void> {
  await tx.execute(
    `insert into desired_versions as v (site_id) values ($1)
     on conflict (site_id) do update set version = v.version + 1`,
    [site_id],
  )
  await tx.execute('select pg_notify($1, $2)', [changed_channel, site_id])
}

export async function noteReport(tx: Queries, site_id: string): Promise<void> {
  await tx.execute('select pg_notify($1, $2)', [reported_channel, site_id])
}

/** Closes the releasing rows of a group; returns how many. Nothing is sent to the edge. */
export async function closeGroup(
  tx: Queries,
  order: { site_id: string; group_id: string; now: Date; by: string; note: string },
): Promise<number> {
  const { site_id, group_id, now, by, note } = order
  const closed = await tx.execute(
    `update curtailment_rows r
     set closed_at = $3, closed_reason = 'operator', closed_by = $4, close_note = $5
     from curtailment_groups g
     where r.site_id = $1 and r.group_id = $2 and ${isReleasing('$3::timestamptz')}
       and g.site_id = r.site_id and g.group_id = r.group_id and not ${isFromOutside}`,
    [site_id, group_id, now, by, note],
  )
  // Releases that wait for these rows end now.
  if (closed > 0) await noteReport(tx, site_id)
  return closed
}

/**
 * Closes the releasing rows of a site without an edge, and marks its other rows as not sent, so
 * that their release waits for no confirmation.
 */
export async function closeWithoutEdge(tx: Queries, site_id: string, now: Date): Promise<void> {
  await tx.execute(
    `update curtailment_rows r set closed_at = $2, closed_reason = 'edge_removed'
     where r.site_id = $1 and ${isReleasing('$2::timestamptz')}`,
    [site_id, now],
  )
  await tx.execute(
    `update curtailment_rows r set told_at = null
     where r.site_id = $1 and ${isUnconfirmed} and not ${isPastEnd('$2::timestamptz')}`,
    [site_id, now],
  )
  await noteReport(tx, site_id)
}
