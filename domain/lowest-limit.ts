/** Which devices a limit stops, as it is below the lowest that they follow. */
import type { LimitResponse, Logger } from './site.ts'

/**
 * Lowest limit above 0 of the drivers whose devices have one, in percent of rated power. Lower
 * limits are sent as 0.
 */
export const lowestLimitPct: Readonly<Record<string, number>> = { sungrow_sg: 30 }

type LimitedDevice = Pick<Logger['inverters'][number], 'limit' | 'driver'>

/**
 * Whether a device of the plant would be sent 0 under this limit, by what its driver and `limit` of
 * `site.yaml` say. Each device gets the same percentage of its rated power.
 */
export function isBelowLowestLimit(
  { controller, inverters }: Pick<Logger, 'controller' | 'inverters'>,
  max_power_kw: number,
): boolean {
  const rated_kw = inverters.reduce((sum, { rated_ac_power_kw }) => sum + rated_ac_power_kw, 0)
  const share_pct = (100 * max_power_kw) / rated_kw
  if (share_pct === 0 || share_pct >= 100) return false
  const devices: readonly LimitedDevice[] = controller ? [controller] : inverters
  return devices.some((device) => share_pct + small_pct < lowestPct(device))
}

/** For the error of the division: a share that is exactly the lowest limit is sent. */
const small_pct = 1e-9

/** Lowest share that is not sent as 0. The tolerance is taken off before the limit is sent. */
function lowestPct({ driver, limit = {} }: LimitedDevice): number {
  const { step_pct = 0, tolerance_pct = 0, least_pct = 0 }: LimitResponse = limit
  const lowest_pct = Math.max(least_pct, step_pct, lowestLimitPct[driver] ?? 0)
  const sent_pct = step_pct > 0 ? Math.ceil(lowest_pct / step_pct) * step_pct : lowest_pct
  return sent_pct + tolerance_pct
}
