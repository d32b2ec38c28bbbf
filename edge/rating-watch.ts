import type { Pcs } from '@heliograph/domain/battery'
import type { LinkEvent } from '@heliograph/domain/link'
import type { Inverter } from '@heliograph/domain/site'
import type { Conditions, Said, Source } from './conditions.ts'
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
  const differs =
    Math.abs(rated_power_kw - rated_ac_power_kw) * 100 > tolerance_pct * rated_ac_power_kw
  const figures = `${rated_power_kw} kW by itself, ${rated_ac_power_kw} kW by the site file`
  const message = `inverter ${inverter_id} is rated ${figures}`
  const said = { at, message, details: { rated_power_kw, rated_ac_power_kw } }
  return eventOf(differs, { ...source, said }, conditions)
}

/** A PCS may be built for more than the battery behind it is used at, though not for many times. */
const pcs_built_ratio_max = 2

/** The same of a PCS, which must be built for what the site file says, less 5 percent. */
export function pcsRatingEvent(
  built_kw: number | null,
  {
    bess_id,
    pcs_idx,
    rated_power_kw,
  }: { bess_id: number } & Pick<Pcs, 'pcs_idx' | 'rated_power_kw'>,
  { conditions, at }: { conditions: Conditions; at: number },
): LinkEvent | null {
  // Nothing is built for no power: a zero was never filled in.
  if (built_kw === null || built_kw === 0) return null
  const source: Source = { source_kind: 'pcs', source_id: `${bess_id}.${pcs_idx}` }
  const differs =
    built_kw * 100 < (100 - tolerance_pct) * rated_power_kw ||
    built_kw > pcs_built_ratio_max * rated_power_kw
  const figures = `${built_kw} kW by itself, ${rated_power_kw} kW by the site file`
  const message = `PCS ${pcs_idx} of battery ${bess_id} is rated ${figures}`
  const said = { at, message, details: { max_discharge_power_kw: built_kw, rated_power_kw } }
  return eventOf(differs, { ...source, said }, conditions)
}

function eventOf(
  differs: boolean,
  { said, ...source }: Source & { said: Said },
  conditions: Conditions,
): LinkEvent | null {
  if (!differs) return conditions.fall(source, code, said)
  return conditions.rise({ ...source, code, severity: 'warning' }, said)
}
