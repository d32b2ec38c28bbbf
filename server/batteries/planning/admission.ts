/** Limits concurrent plans: each holds a database connection until it is done. */
import { ApiError } from '../../http/errors.ts'

/** Plans of all sites; other connections stay free for other requests. */
const total_max = 6
/** Plans of one site, which run one after the other anyway. */
const site_max = 3
/** Above this number only sites without a running plan are admitted. */
const shared_max = 4
const retry_after_s = 2

/** Runs work for a site, or rejects it with 503 and the reason in its details. */
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

const busy = (reason: 'plans_of_site' | 'plans_of_server', details: Record<string, number>) =>
  new ApiError(
    'service_unavailable',
    { reason, ...details, retry_after_s },
    { 'retry-after': String(retry_after_s) },
  )
