/** The battery of the score and the bench of plans, and its problem on given prices. */
import type { DispatchProblem, Period, Unit } from '@heliograph/optimize/dispatch-problem'

/** 1 MW for two hours; 90 % from the grid to the grid, ageing of 5 per MWh. */
export const battery: Unit = {
  bess_id: 1,
  capacity_kwh: 2200,
  soc_start_pct: 50,
  soc_min_pct: 5,
  soc_max_pct: 95,
  soc_end_pct: 50,
  charge_limits: [{ soc_pct: 0, power_kw: 1000 }],
  discharge_limits: [{ soc_pct: 0, power_kw: 1000 }],
  charge_efficiency: Math.sqrt(0.9),
  discharge_efficiency: Math.sqrt(0.9),
  degradation_cost_per_mwh: 5,
  cycles_max: null,
}

/** Periods of equal length with these prices, without PV and load. */
export const periodsOf = (
  prices: readonly number[],
  { from_ms, length_ms }: { from_ms: number; length_ms: number },
): Period[] =>
  prices.map((price, nth) => {
    const start_ms = from_ms + nth * length_ms
    return { start_ms, end_ms: start_ms + length_ms, price, pv_kw: 0, load_kw: 0 }
  })

export const problemOf = (periods: readonly Period[], units: readonly Unit[]): DispatchProblem => ({
  objective: 'arbitrage',
  periods,
  units,
  export_limit_kw: null,
  import_limit_kw: null,
})
