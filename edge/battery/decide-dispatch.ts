/**
 * What one battery is to do now: the power that its schedule asks for, held by whoever comes before
 * it. Pure. Whole watts at the alternating side of its PCS, positive towards the grid.
 *
 * Whatever is not certain means zero power. Towards zero it goes at once, away from zero no faster
 * than its ramp.
 */
import { type ControlTier, controlTiers, type DispatchReport } from '@heliograph/domain/dispatch'

type ClampReason = NonNullable<DispatchReport['clamp_reason']>

export interface DispatchFacts {
  soc_min_pct: number
  soc_max_pct: number
  rated_charge_w: number
  rated_discharge_w: number
  /** From the cells to the grid: what the cells may give is so much less there. */
  discharge_ratio: number
  /** W per second; null: it goes there at once. */
  ramp_w_s: number | null
}

/** What its management system says of it, as read lately. */
export interface BatteryNow {
  soc_pct: number
  /** What the cells take and give now; null: it does not tell. */
  max_charge_w: number | null
  max_discharge_w: number | null
  cell_temperature_min_c: number | null
  cell_temperature_max_c: number | null
}

/** Why it is to stand still whatever is asked, or where it is asked to go that way. */
export interface Stop {
  only?: 'charge' | 'discharge'
  code: string
  clamp_reason: 'alarm' | null
  alarm_code: string | null
}

export interface UnitNow {
  facts: DispatchFacts
  /** By the hour in force; null: no schedule says anything of now. */
  asked_w: number | null
  /** null: it was not read lately, or its state of charge is not known. */
  battery: BatteryNow | null
  /** The first is told. */
  stops: readonly Stop[]
  /** What its PCS that can be commanded take and give together. */
  pcs_charge_w: number
  pcs_discharge_w: number
  /** It came to an end of its window, and goes on no further that way before it is well off it. */
  full_or_empty: 'full' | 'empty' | null
  /** The most that it may discharge beside its plant and the others at the connection. */
  room: { discharge_w: number; tier: 'permit' | 'operator' }
  /** Of that, what has been given up for it by now. */
  granted_w: number
  /** What it is told until now. */
  told_w: number
  /** Since that was decided, s. */
  passed_s: number
}

export interface DispatchDecision {
  /** Where it is to come to, and what to tell it now. */
  aim_w: number
  setpoint_w: number
  /** Who decides. */
  tier: ControlTier
  /** Who would have, where it was overridden. */
  overrode_tier: ControlTier | null
  clamp_reason: ClampReason | null
  /** What decides, in a word. */
  code: string
  alarm_code: string | null
}

interface Bound {
  most_w: number
  tier: ControlTier
  clamp_reason: ClampReason | null
  code: string
}

/**
 * Cells derate for their temperature only outside of about this range (lithium cells are commonly
 * charged at full power from 10 to 45 C): a limit of the management system that binds there is told
 * as one of temperature, and as one of power otherwise. Only the word goes by it.
 */
const temperate_c = [10, 45] as const

export function decideDispatch(unit: UnitNow): DispatchDecision {
  const { asked_w, battery, stops } = unit
  if (!battery) return stopped({ code: 'battery_stale', clamp_reason: null, alarm_code: null })
  const way = asked_w === null || asked_w === 0 ? null : asked_w > 0 ? 'discharge' : 'charge'
  const stop = stops.find(({ only = way }) => only === way)
  if (stop) return stopped(stop)
  const decided = { overrode_tier: null, clamp_reason: null, alarm_code: null }
  if (asked_w === null || asked_w === 0) {
    const code = asked_w === null ? 'no_schedule' : 'schedule'
    return { aim_w: 0, setpoint_w: 0, tier: 'dispatch', code, ...decided }
  }
  const is_discharge = asked_w > 0
  const bounds = is_discharge ? dischargeBounds(unit, battery) : chargeBounds(unit, battery)
  const bound = tightest(bounds)
  const aim_w =
    Math.sign(asked_w) * Math.floor(Math.max(0, Math.min(Math.abs(asked_w), bound.most_w)))
  const setpoint_w = setpointOf(unit, aim_w)
  if (bound.most_w >= Math.abs(asked_w)) {
    return { aim_w, setpoint_w, tier: 'dispatch', code: 'schedule', ...decided }
  }
  const { tier, clamp_reason, code } = bound
  return { ...decided, aim_w, setpoint_w, tier, clamp_reason, code, overrode_tier: 'dispatch' }
}

const stopped = ({ code, clamp_reason, alarm_code }: Stop): DispatchDecision => ({
  aim_w: 0,
  setpoint_w: 0,
  tier: 'protection',
  overrode_tier: 'dispatch',
  clamp_reason,
  code,
  alarm_code,
})

function dischargeBounds({ facts, room, ...unit }: UnitNow, battery: BatteryNow): Bound[] {
  const is_empty = battery.soc_pct <= facts.soc_min_pct || unit.full_or_empty === 'empty'
  const cells_w = (battery.max_discharge_w ?? infinite) * facts.discharge_ratio
  return [
    ...(is_empty ? [protection(0, 'soc_min', 'soc_min')] : []),
    protection(cells_w, ofCells(battery), 'bms_limit'),
    protection(unit.pcs_discharge_w, 'power_limit', 'pcs_limit'),
    protection(facts.rated_discharge_w, 'power_limit', 'rated_power'),
    room.tier === 'permit'
      ? { most_w: room.discharge_w, tier: 'permit', clamp_reason: 'permit', code: 'permit' }
      : {
          most_w: room.discharge_w,
          tier: 'operator',
          clamp_reason: 'power_limit',
          code: 'curtailment',
        },
  ]
}

function chargeBounds({ facts, ...unit }: UnitNow, battery: BatteryNow): Bound[] {
  const is_full = battery.soc_pct >= facts.soc_max_pct || unit.full_or_empty === 'full'
  return [
    ...(is_full ? [protection(0, 'soc_max', 'soc_max')] : []),
    protection(battery.max_charge_w ?? infinite, ofCells(battery), 'bms_limit'),
    protection(unit.pcs_charge_w, 'power_limit', 'pcs_limit'),
    protection(facts.rated_charge_w, 'power_limit', 'rated_power'),
  ]
}

const infinite = Number.POSITIVE_INFINITY

const protection = (most_w: number, clamp_reason: ClampReason, code: string): Bound => ({
  most_w: Math.max(0, most_w),
  tier: 'protection',
  clamp_reason,
  code,
})

function ofCells(battery: BatteryNow): ClampReason {
  const { cell_temperature_min_c: min_c, cell_temperature_max_c: max_c } = battery
  const [low_c, high_c] = temperate_c
  const is_extreme = (min_c !== null && min_c < low_c) || (max_c !== null && max_c > high_c)
  return is_extreme ? 'temperature' : 'power_limit'
}

/** Of those that allow as little, the highest tier. */
function tightest(bounds: readonly Bound[]): Bound {
  return bounds.reduce((one, other) => {
    if (other.most_w !== one.most_w) return other.most_w < one.most_w ? other : one
    return controlTiers.indexOf(other.tier) < controlTiers.indexOf(one.tier) ? other : one
  })
}

/** Of its rating. */
const piece_ratio = 0.04

/** One that goes to the other side passes through zero first. */
function setpointOf({ facts, told_w, passed_s, granted_w }: UnitNow, aim_w: number): number {
  if (aim_w * told_w < 0) return 0
  const steps_w = facts.ramp_w_s === null ? infinite : facts.ramp_w_s * passed_s
  const most_w = Math.abs(told_w) + steps_w
  const size_w = Math.floor(Math.min(Math.abs(aim_w), most_w))
  if (aim_w < 0) return size_w === 0 ? 0 : -size_w
  const granted = Math.max(0, Math.floor(Math.min(size_w, granted_w)))
  // What was not given up for it yet is waited for, and pieces of it are no row of writes.
  const is_piece = granted < size_w && granted > told_w && told_w > 0
  const is_worth = granted - told_w >= piece_ratio * facts.rated_discharge_w
  return is_piece && !is_worth ? told_w : granted
}
