import type { LinkEvent } from '@heliograph/domain/link'
import type { Inverter } from '@heliograph/domain/site'
import type { Conditions, Source } from './conditions.ts'
import type { InverterRatings } from './drivers/driver.ts'

const code = 'rating_differs'
const tolerance_pct = 5

/**
 * The event when an inverter's own rated power begins or ceases to differ from the site file's by
 * more than 5 percent of it. Everything relative to the rating is wrong then: the site file, or the
 * device, is another than was meant. A rating that is not known tells nothing, not even an end.
 */
export function ratingEvent(
  ratings: InverterRatings | null,
  { inverter_id, rated_ac_power_kw }: Pick<Inverter, 'inverter_id' | 'rated_ac_power_kw'>,
  { conditions, at }: { conditions: Conditions; at: number },
): LinkEvent | null {
  if (!ratings || ratings.rated_power_kw === null) return null
  const { rated_power_kw } = ratings
  const source: Source = { source_kind: 'inverter', source_id: String(inverter_id) }
  const details = { rated_power_kw, rated_ac_power_kw }
  const differs =
    Math.abs(rated_power_kw - rated_ac_power_kw) * 100 > tolerance_pct * rated_ac_power_kw
  const figures = `${rated_power_kw} kW by itself, ${rated_ac_power_kw} kW by the site file`
  const message = `inverter ${inverter_id} is rated ${figures}`
  if (!differs) return conditions.fall(source, code, { at, message, details })
  return conditions.rise({ ...source, code, severity: 'warning' }, { at, message, details })
}
