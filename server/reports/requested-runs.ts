/** Limits of runs that clients request. */
import { ApiError } from '../http/errors.ts'
import type { Transaction } from '../storage/database.ts'
import { countRequested } from './runs.ts'

/** Per site. */
const queued_runs_max = 20

/** Class of the PostgreSQL advisory lock for the report limits of a client: `hgrs`. */
const advisory_class = 0x68677273

/** Serialises writes that count against a limit of the client. */
export async function lockClient(tx: Transaction, client_id: number): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock($1, $2)', [advisory_class, client_id])
}

/**
 * Requires `lockClient`.
 * @throws ApiError conflict_state
 */
export async function requireQueueSpace(tx: Transaction, site_id: string): Promise<void> {
  if ((await countRequested(tx, site_id)) < queued_runs_max) return
  const message = `${queued_runs_max} requested runs are queued already: try again later`
  throw new ApiError('conflict_state', { current_state: 'queue_full', message })
}
