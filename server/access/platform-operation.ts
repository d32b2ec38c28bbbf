/** Shared parts of the operations of the platform, which take a session instead of a key. */
import { isGiven } from '../http/authorize.ts'
import type { Context } from '../http/context.ts'
import type { Caller } from '../http/endpoint.ts'
import { ApiError, badField } from '../http/errors.ts'
import type { Queries } from '../storage/database.ts'
import { AdminError } from './admin.ts'

export interface PlatformNeeds extends Pick<Context, 'clock' | 'db'> {
  /** `public_url` is the address that browsers use, or null when it is not configured. */
  mail: { is_sent: boolean; public_url: string | null }
  /** `version` is that of this server. */
  installation: { version: string }
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

/** Turns refusals of an administration function into answers; `field` is the one that is wrong. */
export async function asAnswer<Result>(work: () => Promise<Result>, field = ''): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    if (error.code === 'not_found') throw new ApiError('not_found')
    if (error.code === 'conflict') throw new ApiError('conflict_state', { message: error.message })
    throw badField(error.field || field, 'invalid_value', error.message)
  }
}
