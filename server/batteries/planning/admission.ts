/** Who may have batteries planned now: each holds a connection of the database until it is done. */
import { ApiError } from '../../http/errors.ts'

/** Together; the rest of the connections are left to everything else. */
const total_max = 6
/** Of one site, which are planned one after the other anyway. */
const site_max = 3
/** What is left beyond is for sites that plan nothing yet. */
const shared_max = 4
const retry_after_s = 2

/** Does work for a site, or refuses it: 503, with why in its details. */
export function createAdmission(): <Result>(
  site_id: string,
  work: () => Promise<Result>,
) => Promise<Result> {
  const running = new Map<string, number>()
  let total = 0
  return async (site_id, work) => {
    const own = running.get(site_id) ?? 0
    if (own >= site_max) throw busy('plans_of_site', { of_site: own, of_site_max: site_max })
    if (total >= (own === 0 ? total_max : shared_max)) throw busy('plans_of_server', {})
    running.set(site_id, own + 1)
    total += 1
    try {
      return await work()
    } finally {
      total -= 1
      const left = running.get(site_id)! - 1
      if (left > 0) running.set(site_id, left)
      else running.delete(site_id)
    }
  }
}

/** `reason`: of what too many run. */
const busy = (reason: 'plans_of_site' | 'plans_of_server', details: Record<string, number>) =>
  new ApiError(
    'service_unavailable',
    { reason, ...details, retry_after_s },
    { 'retry-after': String(retry_after_s) },
  )
