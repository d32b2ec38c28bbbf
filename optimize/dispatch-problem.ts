/**
 * The problem: charging and discharging of each battery behind one connection in each period. Power
 * in kW at the connection, positive towards the grid; energy in kWh; money in the currency of the
 * prices.
 */

export const objectives = [
  'arbitrage',
  'self_consumption',
  'peak_shaving',
  'capacity_firming',
  'combined',
] as const
export type Objective = (typeof objectives)[number]

/** Of any length: hours and quarter hours may follow each other. */
export interface Period {
  /** Unix ms; consecutive. */
  start_ms: number
  end_ms: number
  /** Per MWh of export, and of import; null: unknown, and unfixed units stay idle. */
  price: number | null
  /** Per MWh of import, if it differs from `price`. */
  import_price?: number
  /** Expected PV power behind the connection, before any limit; 0 without. */
  pv_kw: number
  load_kw: number
}

/** Maximum power at a state of charge, linear between the points; concave. */
export interface LimitPoint {
  soc_pct: number
  power_kw: number
}

export interface Band {
  min_kw: number
  max_kw: number
}

export interface Unit {
  bess_id: number
  /** Energy at 100 % state of charge. */
  capacity_kwh: number
  soc_start_pct: number
  /** The window of plans, including the reserve. A unit that begins outside returns at once. */
  soc_min_pct: number
  soc_max_pct: number
  /** Minimum final state of charge; null: the initial one if possible, without being required. */
  soc_end_pct: number | null
  /** Value of a MWh in the cells at the end, for a plan for money; absent: none. */
  end_value_per_mwh?: number
  charge_limits: readonly LimitPoint[]
  discharge_limits: readonly LimitPoint[]
  /** Efficiency of charging and of discharging, 0 to 1. */
  charge_efficiency: number
  discharge_efficiency: number
  /** Per MWh discharged, at the connection. */
  degradation_cost_per_mwh: number
  /** Full cycles of `capacity_kwh` over the whole time, by energy drawn from the cells. */
  cycles_max: number | null
  /** Cycles from this period on are bounded separately; absent: not. */
  cycles_after?: { period: number; cycles_max: number | null }
  /** Maximum change of its mean power to the next period, kW per minute of the shorter one. */
  ramp_kw_min?: number | null
  /** Fixed power by period, if any (past or approved). */
  fixed_kw?: readonly (number | null)[]
  /** Range of power by period for other reasons, including 0; see `roomOf`. */
  room_kw?: readonly Band[]
}

export interface DispatchProblem {
  objective: Objective
  periods: readonly Period[]
  units: readonly Unit[]
  /** Maximum export and import of all together; null: no bound. */
  export_limit_kw: number | null
  import_limit_kw: number | null
  /** The plants are curtailed where export costs money; else only for lack of headroom. */
  pv_curtailable?: boolean
  /** Export peaks are shaved, too. */
  shave_export?: boolean
}

export type Bound =
  | 'soc_max'
  | 'charge_limit'
  | 'export_limit'
  | 'import_limit'
  | 'fixed_power'
  | 'unknown_price'
  | 'ramp'

export interface Violation {
  constraint: 'soc_end' | 'cycles' | 'ramp' | 'export_limit' | 'import_limit' | 'fixed_power'
  /** Null: of the connection. */
  bess_id: number | null
  /** The first period that misses it; null: the whole time. */
  period: number | null
  /** Largest amount in any period: % state of charge, kWh of cycles, else kW. */
  amount: number
  /** Of `soc_end`: the bounds that prevent it alone; else those that prevent it together. */
  bound_by: Bound[]
}

export const hoursOf = ({ start_ms, end_ms }: Pick<Period, 'start_ms' | 'end_ms'>) =>
  (end_ms - start_ms) / 3_600_000

/** Maximum energy drawn from the cells over the whole time, kWh. */
export const drawnMaxKwh = ({ cycles_max, capacity_kwh }: Unit) =>
  cycles_max === null ? Number.POSITIVE_INFINITY : cycles_max * capacity_kwh

/** Maximum change of the mean power between two neighbouring periods, kW; Infinity: no bound. */
export const rampMaxKw = ({ ramp_kw_min }: Unit, one: Period, next: Period): number =>
  (ramp_kw_min ?? Number.POSITIVE_INFINITY) * 60 * Math.min(hoursOf(one), hoursOf(next))

/** @throws {RangeError} naming an invalid value */
export function checkProblem({ periods, units }: DispatchProblem): void {
  if (periods.length === 0) throw new RangeError('no periods')
  periods.forEach(({ start_ms, end_ms, price, import_price, pv_kw, load_kw }, nth) => {
    const before = periods[nth - 1]
    if (!(end_ms > start_ms) || (before && before.end_ms !== start_ms)) {
      throw new RangeError(`period ${nth} does not follow on the one before`)
    }
    for (const value of [price ?? 0, import_price ?? 0]) {
      if (!Number.isFinite(value)) throw new RangeError(`period ${nth}: price`)
    }
    if (!(pv_kw >= 0 && pv_kw < 1e9)) throw new RangeError(`period ${nth}: pv_kw`)
    if (!(load_kw >= 0 && load_kw < 1e9)) throw new RangeError(`period ${nth}: load_kw`)
  })
  const known = new Set<number>()
  for (const unit of units) {
    checkUnit(unit, periods.length)
    if (known.has(unit.bess_id)) throw new RangeError(`unit ${unit.bess_id} is there twice`)
    known.add(unit.bess_id)
  }
}

function checkUnit(unit: Unit, periods: number): void {
  const { soc_min_pct, soc_max_pct } = unit
  const check = (is_right: boolean, what: string) => {
    if (!is_right) throw new RangeError(`unit ${unit.bess_id}: ${what}`)
  }
  const isPercent = (value: number) => value >= 0 && value <= 100
  check(unit.capacity_kwh > 0 && unit.capacity_kwh < 1e9, 'capacity_kwh')
  check(isPercent(soc_min_pct) && isPercent(soc_max_pct), 'soc_min_pct or soc_max_pct')
  check(soc_min_pct < soc_max_pct, 'soc_min_pct is not below soc_max_pct')
  check(isPercent(unit.soc_start_pct), 'soc_start_pct')
  check(isPercent(unit.soc_end_pct ?? 0), 'soc_end_pct')
  for (const share of [unit.charge_efficiency, unit.discharge_efficiency]) {
    check(share > 0 && share <= 1, 'an efficiency is above 0 and at most 1')
  }
  check(unit.degradation_cost_per_mwh >= 0, 'degradation_cost_per_mwh')
  check((unit.end_value_per_mwh ?? 0) >= 0, 'end_value_per_mwh')
  check(drawnMaxKwh(unit) >= 0, 'cycles_max')
  check((unit.ramp_kw_min ?? 1) > 0, 'ramp_kw_min')
  const isIdleInRoom = (unit.room_kw ?? []).every(
    ({ min_kw, max_kw }) => min_kw <= 0 && max_kw >= 0,
  )
  check(isIdleInRoom, 'room_kw leaves no room to be idle')
  for (const rows of [unit.fixed_kw, unit.room_kw]) {
    check((rows ?? []).length === (rows ? periods : 0), 'fixed_kw or room_kw: one per period')
  }
  for (const name of ['charge_limits', 'discharge_limits'] as const) {
    check(unit[name].length > 0, `${name} has no point`)
    check(isConcave(unit[name]), `${name} is not concave, or not in order`)
  }
  // A unit that could neither charge when empty nor discharge when full would be stuck.
  check(limitAt(unit.charge_limits, soc_min_pct) > 0 || isOff(unit.charge_limits), 'charge_limits')
  check(
    limitAt(unit.discharge_limits, soc_max_pct) > 0 || isOff(unit.discharge_limits),
    'discharge_limits',
  )
}

const isOff = (points: readonly LimitPoint[]) => points.every(({ power_kw }) => power_kw === 0)

function isConcave(points: readonly LimitPoint[]): boolean {
  const slopes = points
    .slice(1)
    .map(
      (point, nth) =>
        (point.power_kw - points[nth]!.power_kw) / (point.soc_pct - points[nth]!.soc_pct),
    )
  return (
    points.every(({ power_kw, soc_pct }, nth) => {
      return power_kw >= 0 && soc_pct > (points[nth - 1]?.soc_pct ?? Number.NEGATIVE_INFINITY)
    }) && slopes.every((slope, nth) => nth === 0 || slope <= slopes[nth - 1]! + 1e-9)
  )
}

/** A line above a limit: at_zero_kw + kw_per_pct × state of charge. */
export interface LimitLine {
  at_zero_kw: number
  kw_per_pct: number
}

/** The limit is the lowest of these, never below 0; the first is level, at its highest point. */
export function limitLines(points: readonly LimitPoint[]): LimitLine[] {
  const lines = [{ at_zero_kw: mostOf(points), kw_per_pct: 0 }]
  points.slice(1).forEach((next, nth) => {
    const point = points[nth]!
    const kw_per_pct = (next.power_kw - point.power_kw) / (next.soc_pct - point.soc_pct)
    if (kw_per_pct !== 0) {
      lines.push({ at_zero_kw: point.power_kw - kw_per_pct * point.soc_pct, kw_per_pct })
    }
  })
  return lines
}

export const mostOf = (points: readonly LimitPoint[]) =>
  Math.max(...points.map(({ power_kw }) => power_kw))

/** Limit of a unit at a state of charge; extrapolated outside the points, at most level. */
export function limitAt(points: readonly LimitPoint[], soc_pct: number): number {
  const values = limitLines(points).map((line) => line.at_zero_kw + line.kw_per_pct * soc_pct)
  return Math.max(0, Math.min(...values))
}
