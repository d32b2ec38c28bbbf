/** Shared parts of the operations of the platform, which take a session instead of a key. */
import { isGiven } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import type { Caller } from '../http/endpoint.ts'
import { badField } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'

export interface PlatformNeeds extends Pick<Context, 'clock' | 'db'> {
  /** `public_url` is the address that browsers use, or null when it is not configured. */
  mail: { is_sent: boolean; public_url: string | null }
}

export const platformOperation = { tag: 'Platform', scope: null, module: null } as const
export const forAdministrators = { ...platformOperation, role: 'administrator' } as const

/** @throws ApiError 422 for a site that the caller may not see */
export async function checkSite(db: Queries, caller: Caller, site_id: string): Promise<void> {
  const sites = await db.query('select from sites where client_id = $1 and site_id = $2', [
    caller.client_id,
    site_id,
  ])
  if (sites.length > 0 && isGiven(site_id, caller)) return
  throw badField('site_id', 'unknown_reference', 'must be a site of the client that you may see')
}
