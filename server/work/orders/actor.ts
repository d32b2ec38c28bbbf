import type { Clock } from '@heliograph/domain/clock'
import type { Caller } from '../../http/endpoint.ts'
import { ApiError } from '../../http/errors.ts'
import { requireMatch } from '../../http/etag.ts'
import type { Transaction } from '../../storage/database.ts'
import { readStored, type StoredWhole, wholeRecord } from './store.ts'

/** Who does what at which site, and when. */
export interface Actor extends Pick<Caller, 'key_id' | 'key_name'> {
  site_id: string
  if_match: string | null
  /** Read-only fields that the body has of what it changes. */
  read_only: Readonly<Record<string, unknown>>
  /** When the request came. */
  now: Date
  clock: Clock
}

/**
 * The work order, kept from others until the transaction ends: 404, or 412 where it is not the one
 * that was seen. Defects may be linked to it meanwhile.
 */
export async function demandWorkOrder(
  tx: Transaction,
  { site_id, if_match, now }: Actor,
  wo_id: number,
): Promise<StoredWhole> {
  await tx.query('select from work_orders where site_id = $1 and wo_id = $2 for no key update', [
    site_id,
    wo_id,
  ])
  const stored = await readStored(tx, { site_id, wo_id })
  if (stored === null) throw new ApiError('not_found', { wo_id })
  requireMatch(if_match, wholeRecord(stored, now))
  return stored
}
