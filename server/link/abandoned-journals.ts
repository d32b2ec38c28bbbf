import type { Database } from '../storage/database.ts'

/** Epochs of edge journals are UUIDs; those of importers are not. */
const journal_epoch = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * Deletes the frame numbers of journals that an edge no longer has. Frame numbers prevent
 * duplicates, and an abandoned journal is never sent again. The current journal of an edge is the
 * one of its last report. Frame numbers of imports stay, since an interrupted import continues from
 * them.
 */
export async function forgetAbandonedJournals(db: Database): Promise<void> {
  await db.execute(
    `delete from link_frames f using edges e
     where e.site_id = f.site_id and e.edge_id = f.edge_id
       and e.acked_epoch is not null and f.epoch <> e.acked_epoch and f.epoch ~ $1`,
    [journal_epoch],
  )
}
