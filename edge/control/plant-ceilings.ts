/** What a plant is held to now by all that is known, and whether anybody asked for that. */
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import { wattsWithin } from '@heliograph/domain/watts'
import { boundOf, type Permit } from './permit-terms.ts'

export interface Terms {
  permit: Permit | null
  /** Of this plant, in force. */
  rows: readonly CurtailmentRow[]
}

/** What holds a plant. Whole watts; infinite: nothing of that kind does. */
export interface PlantTerms {
  permit_w: number
  row_w: number
  /** Where nobody asked for control of a plant, it is not even held to its rated power. */
  rated_w: number
  /** False while its permit is not known: then nothing is ever raised. */
  may_raise: boolean
}

export interface Ceiling {
  ceiling_w: number
  /** What holds the plant below its rated power. */
  held_by: 'none' | 'curtailment' | 'permit'
  may_raise: boolean
}

/** @param cut_w comes off its permit */
export function termsOf(
  { logger_id, rated_w }: { logger_id: number; rated_w: number },
  { permit, rows }: Terms,
  cut_w: number,
): PlantTerms {
  const is_idle = isIdle({ logger_id }, { permit, rows })
  return {
    permit_w: (boundOf(permit, logger_id) ?? Number.POSITIVE_INFINITY) - cut_w,
    row_w: leastOf(rows),
    rated_w: is_idle ? Number.POSITIVE_INFINITY : rated_w,
    may_raise: permit?.plant_w.has(logger_id) ?? false,
  }
}

export const leastOf = (rows: readonly CurtailmentRow[]): number =>
  Math.min(Number.POSITIVE_INFINITY, ...rows.map((row) => wattsWithin(row.max_power_kw)))

/** @param battery_w what its batteries have of permit and rows */
export function ceilingUnder(terms: PlantTerms, battery_w = 0): Ceiling {
  const { permit_w, row_w, rated_w, may_raise } = terms
  const bound_w = Math.min(rated_w, permit_w)
  const ceiling_w = Math.min(bound_w, row_w)
  const left_w = Math.max(0, Math.min(permit_w, row_w) - battery_w)
  // Where batteries hold it lower, that may tell of the permit.
  if (left_w < ceiling_w) return { ceiling_w: left_w, held_by: 'permit', may_raise }
  const held_by = row_w < bound_w ? 'curtailment' : bound_w < rated_w ? 'permit' : 'none'
  return { ceiling_w, held_by, may_raise }
}

/** Nobody asked for control of it. */
export function isIdle({ logger_id }: { logger_id: number }, { permit, rows }: Terms): boolean {
  const is_bound = boundOf(permit, logger_id) !== null || (permit?.site_w ?? null) !== null
  return !is_bound && rows.length === 0
}
