import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { flowsOf, roomOf } from './connection.ts'
import { bandOf, followCourse } from './course.ts'
import { planDispatch } from './dispatch.ts'
import {
  type DispatchProblem,
  type Objective,
  objectives,
  type Period,
  type Unit,
} from './dispatch-problem.ts'
import { instanceOf } from './fixtures/instances.ts'
import { measure } from './goals.ts'
import { loadSolver } from './solver.ts'

const highs = await loadSolver()

const periodsOf = (prices: readonly (number | null)[], rest: Partial<Period>[] = []): Period[] =>
  prices.map((price, nth) => ({
    start_ms: nth * hour_ms,
    end_ms: (nth + 1) * hour_ms,
    price,
    pv_kw: 0,
    load_kw: 0,
    ...rest[nth],
  }))

/** 100 kWh, all of it, 50 kW; a fifth is lost when charging. */
const unit: Unit = {
  bess_id: 1,
  capacity_kwh: 100,
  soc_start_pct: 0,
  soc_min_pct: 0,
  soc_max_pct: 100,
  soc_end_pct: 0,
  charge_efficiency: 0.8,
  discharge_efficiency: 1,
  charge_limits: [{ soc_pct: 0, power_kw: 50 }],
  discharge_limits: [{ soc_pct: 0, power_kw: 50 }],
  degradation_cost_per_mwh: 0,
  cycles_max: null,
}

const problemOf = (
  periods: Period[],
  change: Partial<Unit> = {},
  more: Partial<DispatchProblem> = {},
): DispatchProblem => ({
  objective: 'arbitrage',
  periods,
  units: [{ ...unit, ...change }],
  export_limit_kw: null,
  import_limit_kw: null,
  ...more,
})

const powersOf = (problem: DispatchProblem) => {
  const plan = planDispatch(highs, problem)
  assert.equal(plan.status, 'optimal')
  assert.deepEqual(plan.violations, [])
  return plan.units[0]!.power_kw
}

test('arbitrage charges in the cheapest hours and discharges in the most expensive', () => {
  assert.deepEqual(powersOf(problemOf(periodsOf([80, 10, 90]))), [0, -50, 40])
  // Power for 12.5 of the 50 is worth 62.5 when it comes out again.
  assert.deepEqual(powersOf(problemOf(periodsOf([50, 10, 90]))), [-12.5, -50, 50])
  // 50 bought at 80 make 40 sold at 99: a loss.
  assert.deepEqual(powersOf(problemOf(periodsOf([80, 99]))), [0, 0])
})

test('ageing and cycle limits prevent unprofitable cycles', () => {
  const prices = periodsOf([10, 30, 10, 90])
  assert.deepEqual(powersOf(problemOf(prices)), [-50, 30, -50, 50])
  // A MWh sold at 30 needs 1.25 bought at 10: 17.5 are left.
  assert.deepEqual(
    powersOf(problemOf(prices, { degradation_cost_per_mwh: 17 })),
    [-50, 30, -50, 50],
  )
  const worn = powersOf(problemOf(prices, { degradation_cost_per_mwh: 18 }))
  assert.deepEqual([worn[1], worn[3]], [0, 50])
  assert.equal(powersOf(problemOf(prices, { cycles_max: 0.2 }))[3], 20)
})

test('where import has a revenue, a battery is filled once without burning energy', () => {
  const free = problemOf(periodsOf([-50, -50, -50]), { soc_end_pct: null })
  const power_kw = powersOf(free)
  // 50 kW taken fill 40 kWh: at most 125 kWh in all, unless some is given back: 50, 50, 25.
  assert.equal(
    power_kw.reduce((sum, power) => sum + power, 0),
    -125,
  )
  const { units } = planDispatch(highs, free)
  assert.equal(units[0]!.soc_pct.at(-1), 100)
  // 50 given back at −50 make room for 62.5 taken, of which 50 at −90.
  const full = problemOf(periodsOf([-50, -90, -50]), { soc_start_pct: 100, soc_end_pct: null })
  assert.deepEqual(powersOf(full), [50, -50, -12.5])
})

test('an hour without a price is idle', () => {
  assert.deepEqual(powersOf(problemOf(periodsOf([10, null, 90]))), [-50, 0, 40])
  assert.deepEqual(powersOf(problemOf(periodsOf([null, null]))), [0, 0])
})

test('self-consumption minimises import at any cost', () => {
  const rest = [{ pv_kw: 50 }, {}, { load_kw: 40 }]
  const problem = problemOf(periodsOf([90, 500, 10], rest), {}, { objective: 'self_consumption' })
  assert.deepEqual(powersOf(problem), [-50, 0, 40])
  assert.deepEqual(powersOf({ ...problem, objective: 'arbitrage' }), [-50, 40, 0])
})

test('peak shaving lowers the import peak, and the export peak if requested', () => {
  const rest = [{ load_kw: 10 }, { load_kw: 100 }, { load_kw: 60 }]
  const problem = problemOf(periodsOf([90, 10, 90], rest), {}, { objective: 'peak_shaving' })
  const plan = planDispatch(highs, problem)
  // 50 kW more in the first hour: 60; 40 kWh of it in the second: 60.
  assert.deepEqual(plan.units[0]!.power_kw, [-50, 40, 0])
  assert.deepEqual(
    plan.flows.map(({ net_kw }) => net_kw),
    [-60, -60, -60],
  )
  const sunny = problemOf(
    periodsOf([90, 10, 50], [{}, { pv_kw: 80 }]),
    {},
    {
      objective: 'peak_shaving' as Objective,
      shave_export: true,
    },
  )
  const exported = planDispatch(highs, sunny).flows.map(({ net_kw }) => net_kw)
  assert.ok(Math.max(...exported) <= 36, String(exported))
})

test('firming makes export as steady as the battery can', () => {
  const rest = [{ pv_kw: 60 }, { pv_kw: 20 }, { pv_kw: 40 }]
  const problem = problemOf(
    periodsOf([50, 50, 50], rest),
    { soc_end_pct: null, charge_efficiency: 1 },
    {
      objective: 'capacity_firming',
    },
  )
  const { flows } = planDispatch(highs, problem)
  assert.equal(measure(problem, planDispatch(highs, problem).units, 'ramps'), 0)
  assert.deepEqual(new Set(flows.map(({ net_kw }) => net_kw)).size, 1)
})

test('firming burns no energy, and proves that no plan is steadier', () => {
  const problem = problemOf(
    periodsOf([50, 50, 50], [{ pv_kw: 50 }, { pv_kw: 80 }, { pv_kw: 50 }]),
    { soc_start_pct: 80, soc_end_pct: 80, discharge_efficiency: 0.8 },
    { objective: 'capacity_firming' },
  )
  const plan = planDispatch(highs, problem)
  assert.deepEqual([plan.status, measure(problem, plan.units, 'ramps')], ['optimal', 0])
  // Full, it gives x at first and takes x / 0.64 back at noon: 50 + x = 80 - x / 0.64.
  const full = {
    ...problem,
    units: [{ ...problem.units[0]!, soc_start_pct: 100, soc_end_pct: 100 }],
  }
  const fuller = planDispatch(highs, full)
  assert.deepEqual(fuller.units[0]!.power_kw, [11.707, -18.293, 0])
  // One that charges and discharges at once would be.
  assert.equal(fuller.status, 'optimal')
  assert.ok(fuller.gap_pct! <= 0.01)
  // What the panels give beyond the connection is not made steady by holding it back.
  const clipped = { ...problem, export_limit_kw: 60 }
  assert.equal(measure(clipped, [], 'ramps'), 60)
})

test('infeasible demands are proven, and short time never reports feasible ones so', () => {
  const demands = (change: Partial<Unit>, time_limit_s = 10) => {
    const problem = problemOf(periodsOf([10, -20, -30, 40, 60]), change)
    const plan = planDispatch(highs, problem, { time_limit_s })
    assert.equal(plan.violations.length > 0, plan.demands === 'infeasible')
    if (plan.status === 'optimal') assert.ok(plan.gap_pct !== null && plan.gap_pct <= 0.01)
    return plan.demands
  }
  assert.equal(demands({ soc_end_pct: 100 }), 'met')
  assert.equal(demands({ soc_end_pct: 100, fixed_kw: [null, null, null, 0, 0] }), 'met')
  assert.equal(demands({ soc_end_pct: 100, fixed_kw: [0, 0, 0, null, null] }), 'infeasible')
  assert.equal(
    demands({ soc_start_pct: 100, fixed_kw: [-10, null, null, null, null] }),
    'infeasible',
  )
  for (const time_limit_s of [0, 1e-5, 1e-4, 1e-3, 1e-2]) {
    assert.ok(['met', 'unknown'].includes(demands({ soc_end_pct: 100 }, time_limit_s)))
  }
})

test('combined costs at most 2 % of the revenue for lower peaks', () => {
  const prices = [10, 10, 11, 90, 90, 89]
  const problem = problemOf(periodsOf(prices), { charge_efficiency: 1 }, { objective: 'combined' })
  const money = (objective: Objective) => {
    const { units } = planDispatch(highs, { ...problem, objective })
    return [measure(problem, units, 'money'), measure(problem, units, 'exchange')] as const
  }
  const [best, high] = money('arbitrage')
  const [given, low] = money('combined')
  assert.equal(best, -8)
  assert.equal(high, 100)
  assert.ok(given <= best * 0.98 + 1e-3 && low <= 68, `${given} ${low}`)
})

test('the connection bounds all units together', () => {
  const units = [1, 2].map((bess_id) => ({ ...unit, bess_id, soc_start_pct: 100 }))
  const problem = { ...problemOf(periodsOf([90])), units, export_limit_kw: 70 }
  const total = (of: DispatchProblem) =>
    planDispatch(highs, of).units.map(({ power_kw }) => power_kw[0]!)
  assert.equal(
    total(problem).reduce((sum, power) => sum + power),
    70,
  )
})

test('PV is curtailed only for lack of headroom, unless it is curtailable', () => {
  const periods = periodsOf([-20, 40], [{ pv_kw: 100 }, { pv_kw: 100 }])
  const problem = problemOf(
    periods,
    { charge_limits: [{ soc_pct: 0, power_kw: 0 }] },
    {
      export_limit_kw: 80,
    },
  )
  const curtailed = (of: DispatchProblem) =>
    planDispatch(highs, of).flows.map(({ curtailed_kw }) => curtailed_kw)
  assert.deepEqual(curtailed(problem), [20, 20])
  assert.deepEqual(curtailed({ ...problem, pv_curtailable: true }), [100, 20])
  assert.deepEqual(
    flowsOf(problem, []).map(({ amount }) => amount),
    [-1.6, 3.2],
  )
})

test('fixed power stays, and the rest is planned around it', () => {
  const problem = problemOf(periodsOf([10, 50, 90]), { fixed_kw: [null, 30, null] })
  assert.deepEqual(powersOf(problem), [-50, 30, 10])
  const impossible = planDispatch(highs, problemOf(periodsOf([10]), { fixed_kw: [30] }))
  assert.deepEqual(impossible.violations, [
    { constraint: 'fixed_power', bess_id: 1, period: 0, amount: 30, bound_by: [] },
  ])
})

test('an unreachable end is approached as far as possible, with its binding bounds', () => {
  const boundBy = (
    change: Partial<Unit>,
    more: Partial<DispatchProblem> = {},
    prices = [10, 20],
  ) => {
    const plan = planDispatch(highs, problemOf(periodsOf(prices as number[]), change, more))
    assert.equal(plan.violations.length, 1)
    const { constraint, bess_id, amount, bound_by } = plan.violations[0]!
    assert.deepEqual([constraint, bess_id], ['soc_end', 1])
    return [amount, ...bound_by]
  }
  assert.deepEqual(boundBy({ soc_end_pct: 90 }), [10, 'charge_limit'])
  assert.deepEqual(boundBy({ soc_end_pct: 60 }, { import_limit_kw: 30 }), [12, 'import_limit'])
  assert.deepEqual(boundBy({ soc_end_pct: 80, soc_max_pct: 70 }), [10, 'soc_max'])
  assert.deepEqual(boundBy({ soc_end_pct: 60, fixed_kw: [0, null] }), [
    20,
    'charge_limit',
    'fixed_power',
  ])
  assert.deepEqual(boundBy({ soc_end_pct: 40, fixed_kw: [0, 0] }), [40, 'fixed_power'])
  const unknown = [null, null] as unknown as number[]
  assert.deepEqual(boundBy({ soc_end_pct: 40 }, {}, unknown), [40, 'unknown_price'])
  const slow = { soc_end_pct: 40, ramp_kw_min: 0.25, fixed_kw: [0, null] }
  assert.deepEqual(boundBy(slow), [28, 'fixed_power', 'ramp'])
})

test('a unit below its reserve returns first', () => {
  const problem = problemOf(periodsOf([90, 10, 50]), { soc_min_pct: 20, soc_end_pct: null })
  assert.deepEqual(powersOf(problem), [-25, -50, 40])
})

test('an invalid problem is refused by name', () => {
  const refused = (change: Partial<Unit>, words: RegExp) =>
    assert.throws(() => planDispatch(highs, problemOf(periodsOf([1]), change)), words)
  refused({ capacity_kwh: 0 }, /unit 1: capacity_kwh/)
  refused({ charge_efficiency: 1.1 }, /efficiency/)
  refused({ soc_min_pct: 60, soc_max_pct: 50 }, /soc_min_pct is not below/)
  refused({ fixed_kw: [] }, /one per period/)
  const dip = [0, 50, 100].map((soc_pct) => ({ soc_pct, power_kw: soc_pct === 50 ? 1 : 9 }))
  refused({ charge_limits: dip }, /charge_limits is not concave/)
  const gap = [{ ...periodsOf([1])[0]!, start_ms: 5 }, periodsOf([1, 2])[1]!, periodsOf([1])[0]!]
  assert.throws(() => planDispatch(highs, problemOf(gap)), /period 2 does not follow/)
})

test('without time there is no plan, and no statement about demands', () => {
  const problem = problemOf(periodsOf([10, 90]), { soc_end_pct: 100 })
  const plan = planDispatch(highs, problem, { time_limit_s: 0 })
  const { status, gap_pct, units, demands } = plan
  assert.deepEqual([gap_pct, demands], [null, 'unknown'])
  assert.equal(units.length, status === 'timeout' ? 0 : 1)
  assert.notEqual(status, 'optimal')
})

const wish = fc.record({
  seed: fc.nat(1e6),
  objective: fc.constantFrom(...objectives),
  units: fc.integer({ min: 1, max: 3 }),
  grid: fc.constantFrom('hours' as const, 'mixed' as const),
  isNegative: fc.boolean(),
})

test('each battery can follow its plan, and all limits are met', () => {
  fc.assert(
    fc.property(wish, ({ seed, ...of }) => {
      const problem = instanceOf(seed, of)
      const plan = planDispatch(highs, problem, { time_limit_s: 2 })
      assert.deepEqual([plan.demands, plan.violations], ['met', []])
      plan.units.forEach(({ power_kw, soc_pct }, nth) => {
        const one = problem.units[nth]!
        const course = followCourse(one, problem.periods, power_kw)
        assert.equal(course.hindered, null)
        for (const [at, pct] of course.soc_pct.entries())
          assert.ok(Math.abs(pct - soc_pct[at]!) < 1e-3)
        for (const power of power_kw) assert.ok(!Object.is(power, -0))
        problem.periods.forEach(({ price }, at) => {
          if (price === null && !one.fixed_kw) assert.equal(power_kw[at], 0)
        })
      })
      const [most, least] = [problem.export_limit_kw ?? 1e9, -(problem.import_limit_kw ?? 1e9)]
      for (const { net_kw } of plan.flows)
        assert.ok(net_kw <= most + 0.01 && net_kw >= least - 0.01)
    }),
    { numRuns: 30 },
  )
})

test('a plan lies in its own bands, beside the other units', () => {
  const problem = instanceOf(5, {
    objective: 'arbitrage',
    units: 3,
    grid: 'hours',
    isNegative: false,
  })
  const { units } = planDispatch(highs, problem)
  for (const [nth, { bess_id, power_kw }] of units.entries()) {
    const room_kw = roomOf(problem, units, bess_id)
    const one = { ...problem.units[nth]!, room_kw }
    power_kw.forEach((power, first) => {
      const band = bandOf(one, problem.periods, power_kw, { first, last: first + 1 })
      assert.ok(band && power >= band.min_kw - 0.1 && power <= band.max_kw + 0.1)
    })
  }
})

test('a larger battery, or a wider limit, never earns less', () => {
  fc.assert(
    fc.property(fc.nat(1e6), fc.boolean(), (seed, isNegative) => {
      const of = { objective: 'arbitrage' as const, units: 2, grid: 'hours' as const, isNegative }
      const problem = instanceOf(seed, of)
      const cost = (one: DispatchProblem) => measure(one, planDispatch(highs, one).units, 'money')
      const now = cost(problem)
      const room = 1e-3 * Math.abs(now) + 0.05
      const wider = problem.units.map((one) => ({ ...one, soc_max_pct: 100, cycles_max: null }))
      assert.ok(cost({ ...problem, units: wider }) <= now + room)
      // Limits of export stay: where feeding in costs money, panels that they hold back save it.
      assert.ok(cost({ ...problem, import_limit_kw: null }) <= now + room)
    }),
    { numRuns: 20 },
  )
})
