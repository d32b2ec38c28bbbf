import type { Method, RequestSite } from './endpoint.ts'
import { ApiError } from './errors.ts'

export const isWrite = (method: Method) => method !== 'GET'

/** Rejects writes to a site in commissioning safe mode. */
export function refuseInSafeMode(site: RequestSite): void {
  if (site.safe_mode) throw new ApiError('conflict_safe_mode')
}
