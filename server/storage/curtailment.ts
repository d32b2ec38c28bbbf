/** How the processes of the server tell each other of curtailment. */
import type { Queries } from './database.ts'

/** What edges are to carry out has changed; the payload is the site_id. */
export const changed_channel = 'curtailment_changed'
/** An edge has reported; the payload is the site_id. */
export const reported_channel = 'curtailment_reported'

/**
 * Makes every server with a connection to the site's edge tell it, once the transaction is
 * committed. Writes of one site take turns from here on.
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
