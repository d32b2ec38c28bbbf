/** Runs that somebody asks for wait in one queue, which has room for so many. */
import { ApiError } from '../http/errors.ts'
import type { Transaction } from '../storage/database.ts'
import { countAsked } from './runs.ts'

/** Of a site, asked for and not begun: what waits longer helps nobody. */
const asked_runs_max = 20

/** Of PostgreSQL's advisory locks, ours for whoever counts the reports of a client: `hgrs`. */
const advisory_class = 0x68677273

/** Who adds to what a limit counts takes turns from here on: of a client one at a time. */
export async function takeTurn(tx: Transaction, client_id: number): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock($1, $2)', [advisory_class, client_id])
}

/** Throws 409 where no further run may wait; in the turn of the client. */
export async function requireRoom(tx: Transaction, site_id: string): Promise<void> {
  if ((await countAsked(tx, site_id)) < asked_runs_max) return
  const message = `${asked_runs_max} runs that were asked for wait already: ask again later`
  throw new ApiError('conflict_state', { current_state: 'queue_full', message })
}
