/**
 * What is to be decided: how much each battery of one connection charges and discharges in each
 * period. Power in kW at the connection, positive towards the grid; energy in kWh; money in the
 * currency of the prices.
 */

export const objectives = [
  'arbitrage',
  'self_consumption',
  'peak_shaving',
  'capacity_firming',
] as const
export type Objective = (typeof objectives)[number]

export interface Period {
  /** Unix ms; consecutive. */
  start_ms: number
  end_ms: number
  /** Per MWh: what a MWh fed in earns and one taken costs; null: nobody knows, nothing is done. */
  price: number | null
  /** Expected power of the plants behind the connection, before any limit; 0 without. */
  pv_kw: number
  /** What is consumed behind the connection. */
  load_kw: number
}

/** The most at a state of charge, between the points on straight lines; concave. */
export interface LimitPoint {
  soc_pct: number
  power_kw: number
}

export interface Unit {
  bess_id: number
  /** The energy that 100 % of the state of charge holds. */
  capacity_kwh: number
  soc_start_pct: number
  soc_min_pct: number
  soc_max_pct: number
  /** At the end at least so much; null: at least what it began with or the minimum. */
  soc_end_pct: number | null
  charge_limits: readonly LimitPoint[]
  discharge_limits: readonly LimitPoint[]
  /** Of charging and of discharging, 0 to 1. */
  charge_efficiency: number
  discharge_efficiency: number
  /** Per MWh discharged. */
  degradation_cost_per_mwh: number
  /** Full cycles of `capacity_kwh` over the whole time; null for no bound. */
  cycles_max: number | null
  /** By period: the power that it is fixed to, where it is. */
  fixed_kw?: readonly (number | null)[]
}

export interface DispatchProblem {
  objective: Objective
  periods: readonly Period[]
  units: readonly Unit[]
  /** What all together may feed in, and take; without bound. */
  export_limit_kw: number | null
  import_limit_kw: number | null
}

/** Bounds that could not be held: by how much, and of which unit. */
export interface Violation {
  constraint: 'soc_end' | 'soc_start' | 'export_limit' | 'import_limit' | 'fixed_power'
  bess_id: number | null
  /** % of the state of charge, or kW. */
  amount: number
}

export const hoursOf = ({ start_ms, end_ms }: Period) => (end_ms - start_ms) / 3_600_000

/** @throws {RangeError} naming what makes no sense */
export function checkProblem({ periods, units }: DispatchProblem): void {
  periods.forEach(({ start_ms, end_ms, price, pv_kw, load_kw }, nth) => {
    const before = periods[nth - 1]
    if (!(end_ms > start_ms) || (before && before.end_ms !== start_ms)) {
      throw new RangeError(`period ${nth} does not follow on the one before`)
    }
    if (price !== null && !Number.isFinite(price)) throw new RangeError(`period ${nth}: price`)
    if (!(pv_kw >= 0) || !(load_kw >= 0)) throw new RangeError(`period ${nth}: pv_kw or load_kw`)
  })
  for (const unit of units) {
    const { soc_min_pct, soc_max_pct, capacity_kwh } = unit
    const refuse = (what: string) => new RangeError(`unit ${unit.bess_id}: ${what}`)
    if (!(capacity_kwh > 0)) throw refuse('capacity_kwh')
    if (!(soc_min_pct >= 0 && soc_min_pct < soc_max_pct && soc_max_pct <= 100)) {
      throw refuse('soc_min_pct and soc_max_pct')
    }
    for (const share of [unit.charge_efficiency, unit.discharge_efficiency]) {
      if (!(share > 0 && share <= 1)) throw refuse('an efficiency is above 0 and at most 1')
    }
    if (unit.charge_limits.length === 0 || unit.discharge_limits.length === 0) {
      throw refuse('a limit has at least one point')
    }
  }
}
