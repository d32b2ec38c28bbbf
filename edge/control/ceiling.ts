/** What a plant may deliver now. All power in whole watts. */
import { type CurtailmentRow, isInForce } from '@heliograph/domain/curtailment'
import { wattsWithin } from '@heliograph/domain/watts'

export interface Ceiling {
  ceiling_w: number
  /** What holds the plant below its rated power. */
  held_by: 'none' | 'curtailment' | 'permit'
  /** False while the permit is not known: then nothing is ever raised. */
  may_raise: boolean
  /** The plant has no permit: a device that comes back with more is lowered to what it held. */
  is_kept?: boolean
}

interface PlantFacts {
  logger_id: number
  rated_w: number
  /** The permit less its guard; null while it is not known. */
  permit_w: number | null
}

/**
 * The least of rated power, permit and every row of the plant that is in force, in any order.
 *
 * @param now_ms Unix ms; null: all of the rows are in force
 */
export function plantCeiling(
  { logger_id, rated_w, permit_w }: PlantFacts,
  rows: Iterable<CurtailmentRow>,
  now_ms: number | null,
): Ceiling {
  let row_w = Number.POSITIVE_INFINITY
  for (const row of rows) {
    if (row.logger_id !== logger_id) continue
    if (now_ms !== null && !isInForce(row, now_ms)) continue
    row_w = Math.min(row_w, wattsWithin(row.max_power_kw))
  }
  const bound_w = Math.min(rated_w, permit_w ?? rated_w)
  const held_by = row_w < bound_w ? 'curtailment' : bound_w < rated_w ? 'permit' : 'none'
  return { ceiling_w: Math.min(bound_w, row_w), held_by, may_raise: permit_w !== null }
}
