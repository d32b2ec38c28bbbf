/** What a plant is held to now by all that is known, and whether anybody asked for that. */
import type { CurtailmentRow } from '@heliograph/domain/curtailment'
import { wattsWithin } from '@heliograph/domain/watts'
import type { JointCeiling } from './battery-shares.ts'
import { type Ceiling, plantCeiling } from './ceiling.ts'
import type { ControlledDevice } from './controlled-device.ts'
import { heldAt } from './decide.ts'
import { boundOf, type Permit } from './permit-terms.ts'

interface Plant {
  logger_id: number
  rated_w: number
}

export interface Terms {
  permit: Permit | null
  /** Of this plant, in force. */
  rows: readonly CurtailmentRow[]
}

/**
 * What it is held to. `cut_w` comes off its permit; `battery_w` off what it shares with its
 * batteries, which is all but its rating. Where they hold it lower, that may tell of the permit.
 */
export function ceilingUnder(
  plant: Plant,
  { permit, rows }: Terms,
  cut_w: number,
  battery_w = 0,
): Ceiling {
  const { logger_id } = plant
  const bound_w = boundOf(permit, logger_id)
  const permit_w = bound_w === null ? null : bound_w - cut_w
  const rated_w = isIdle(plant, { permit, rows }) ? Number.POSITIVE_INFINITY : plant.rated_w
  const has_entry = permit?.plant_w.has(logger_id) ?? false
  const ceiling = plantCeiling({ logger_id, rated_w, permit_w }, rows, null)
  const held = { ...ceiling, may_raise: ceiling.may_raise && has_entry, is_kept: !has_entry }
  const joint = jointCeilingUnder(plant, { permit, rows }, cut_w)
  const left_w = Math.max(0, joint.ceiling_w - battery_w)
  return left_w < held.ceiling_w ? { ...held, ceiling_w: left_w, held_by: 'permit' } : held
}

/** What it and its batteries are held to together: the least of its permit and its rows. */
export function jointCeilingUnder(
  { logger_id }: Pick<Plant, 'logger_id'>,
  { permit, rows }: Terms,
  cut_w: number,
): Pick<JointCeiling, 'logger_id' | 'ceiling_w' | 'permit_w' | 'row_w'> {
  const permit_w = (boundOf(permit, logger_id) ?? Number.POSITIVE_INFINITY) - cut_w
  const row_w = Math.min(
    Number.POSITIVE_INFINITY,
    ...rows.map((row) => wattsWithin(row.max_power_kw)),
  )
  return { logger_id, row_w, permit_w, ceiling_w: Math.min(permit_w, row_w) }
}

/** Nobody asked for control of it: then it is not held, not even to its rated power. */
export function isIdle({ logger_id }: Pick<Plant, 'logger_id'>, { permit, rows }: Terms): boolean {
  const is_bound = boundOf(permit, logger_id) !== null || (permit?.site_w ?? null) !== null
  return !is_bound && rows.length === 0
}

/**
 * Where a site has no permit at all its devices are left alone as long as no row is in force. Where
 * it has one, and none of this plant, only what came back with more than it held is lowered.
 */
export function isAskedFor(
  { logger_id, limits }: Pick<ControlledDevice, 'logger_id' | 'limits'>,
  terms: Terms,
): boolean {
  if (!isIdle({ logger_id }, terms)) return true
  const { bound_w } = limits
  return terms.permit !== null && bound_w !== null && bound_w > heldAt(limits)
}
