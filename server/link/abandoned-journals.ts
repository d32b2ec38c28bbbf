import type { Database } from '../storage/database.ts'

/** The epoch of an edge's journal. Importers name theirs otherwise. */
const journal_epoch = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * The numbers of committed frames of journals that an edge no longer has: they keep frames from
 * being counted twice, and those of an abandoned journal are never sent again. The journal that an
 * edge has is the one of which it was last heard what it holds. Those of imports stay: one that was
 * interrupted asks what of it is there.
 */
export async function forgetAbandonedJournals(db: Database): Promise<void> {
  await db.execute(
    `delete from link_frames f using edges e
     where e.site_id = f.site_id and e.edge_id = f.edge_id
       and e.acked_epoch is not null and f.epoch <> e.acked_epoch and f.epoch ~ $1`,
    [journal_epoch],
  )
}
