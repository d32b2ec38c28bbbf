import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { planDispatch } from './dispatch.ts'
import type { DispatchProblem, Period, Unit } from './dispatch-problem.ts'
import { measure } from './goals.ts'
import { bestEnds } from './outlook.ts'
import { loadSolver } from './solver.ts'

const highs = await loadSolver()

const periodsOf = (prices: readonly number[], from = 0): Period[] =>
  prices.map((price, nth) => ({
    start_ms: (from + nth) * hour_ms,
    end_ms: (from + nth + 1) * hour_ms,
    price,
    pv_kw: 0,
    load_kw: 0,
  }))

/** 100 kWh, all of it, 50 kW; a fifth is lost when charging. */
const unit: Unit = {
  bess_id: 1,
  capacity_kwh: 100,
  soc_start_pct: 50,
  soc_min_pct: 0,
  soc_max_pct: 100,
  soc_end_pct: 50,
  charge_efficiency: 0.8,
  discharge_efficiency: 1,
  charge_limits: [{ soc_pct: 0, power_kw: 50 }],
  discharge_limits: [{ soc_pct: 0, power_kw: 50 }],
  degradation_cost_per_mwh: 0,
  cycles_max: null,
}

const problemOf = (prices: readonly number[], change: Partial<Unit> = {}): DispatchProblem => ({
  objective: 'arbitrage',
  periods: periodsOf(prices),
  units: [{ ...unit, ...change }],
  export_limit_kw: null,
  import_limit_kw: null,
})

function endOf(day: readonly number[], after: readonly number[], change: Partial<Unit> = {}) {
  const outlook = { periods: periodsOf(after, day.length), cycles_max: [change.cycles_max ?? null] }
  return bestEnds(highs, problemOf(day, change), outlook)![0]!
}

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 0.03, `${actual}, not ${expected}`)
}

test('a day ends full before expensive hours, empty before cheap ones', () => {
  near(endOf([10, 10, 10], [90, 90]), 100)
  near(endOf([90, 90, 90], [10, 10]), 0)
  near(endOf([50, 50, 50], [60, 30, 30, 30]), 50)
})

test('energy left after the last price has the value of cheap hours', () => {
  near(endOf([40, 20, 40], []), 0)
  // It gives 1 kW at 60 for 21 hours, and keeps what the last two would pay 10 for.
  const prices = Array.from({ length: 24 }, (_, hour) => (hour < 21 ? 60 : hour === 21 ? 40 : 10))
  const [charge_limits, discharge_limits] = [0, 1].map((power_kw) => [{ soc_pct: 0, power_kw }])
  const end_pct = endOf(prices, [], {
    charge_limits: charge_limits!,
    discharge_limits: discharge_limits!,
  })
  assert.ok(end_pct > 27.9 && end_pct < 29.1, `${end_pct}`)
})

test('each day has its own cycles', () => {
  // Half a cycle sells what there is; the other half is that of the day after.
  near(endOf([90, 20, 20, 20], [90, 90, 5], { cycles_max: 0.5 }), 50)
})

test('the planned end plus the rest earn as much as both together', () => {
  const prices = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 21, maxLength: 21 })
  const earned = (problem: DispatchProblem) => {
    const { units, status } = planDispatch(highs, problem)
    assert.equal(status, 'optimal')
    const end_pct = Math.max(0, units[0]!.soc_pct.at(-1)!)
    return { money: -measure(problem, units, 'money'), end_pct }
  }
  fc.assert(
    fc.property(prices, prices, (day, later) => {
      // In the cheapest tenth of the last day power is for nothing: so is what is left.
      const after = [...later, 0, 0, 0]
      const both = earned(problemOf([...day, ...after], { soc_end_pct: 0 }))
      const soc_end_pct = endOf(day, after)
      const first = earned(problemOf(day, { soc_end_pct }))
      const second = earned(problemOf(after, { soc_start_pct: first.end_pct, soc_end_pct: 0 }))
      const parts = first.money + second.money
      assert.ok(parts > 0.999 * both.money - 0.01, `${parts}, ${both.money} together`)
    }),
    { numRuns: 20 },
  )
})
