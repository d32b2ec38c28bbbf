/**
 * Instances of another planner, of homes: Wh per step, a value of what is left at the end, cars
 * that charge with a least power or not at all, demands and goals of charge. What our model has
 * is given to it; the rest is added to it here. What is reached is the money, as theirs counts
 * it.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { type DispatchModel, missedTerms, setCosts, type UnitColumns } from './dispatch-model.ts'
import { checkProblem, type DispatchProblem, type Unit } from './dispatch-problem.ts'
import { goalTerms } from './goals.ts'
import { type Term, totalOf } from './linear-program.ts'
import { createModel } from './model-of.ts'
import { findBest } from './search.ts'
import { loadSolver } from './solver.ts'

const folder = new URL('../../shared/data/bess/', import.meta.url)
const shared = existsSync(folder) ? readdirSync(folder).filter((name) => /\.json$/.test(name)) : []
if (shared.length === 0) process.stderr.write('LEFT OUT: ../shared/data/bess is not there\n')
const highs = await loadSolver()

interface Battery {
  s_min: number
  s_max: number
  s_initial: number
  c_min: number
  c_max: number
  d_max: number
  p_a: number
  charge_from_grid?: boolean
  s_goal?: number[]
  p_demand?: number[]
}

interface Request {
  batteries: Battery[]
  eta_c: number
  eta_d: number
  grid?: { p_max_imp?: number; p_max_exp?: number }
  time_series: { dt: number[]; gt: number[]; ft: number[]; p_N: number[]; p_E: number[] }
}

interface Instance {
  request: Request
  expected_response: { objective_value: number; batteries: { state_of_charge: number[] }[] }
}

function problemOf(request: Request): DispatchProblem {
  const { dt, gt, ft, p_N, p_E } = request.time_series
  let end_ms = 0
  const periods = dt.map((seconds, nth) => {
    const start_ms = end_ms
    end_ms += seconds * 1000
    const kw = (wh: number) => (wh * 3.6) / seconds
    return {
      start_ms,
      end_ms,
      price: p_E[nth]! * 1e6,
      import_price: p_N[nth]! * 1e6,
      pv_kw: kw(ft[nth]!),
      load_kw: kw(gt[nth]!),
    }
  })
  const units = request.batteries.map((battery, nth): Unit => {
    // One without any capacity is as one that cannot be charged.
    const capacity_kwh = Math.max(1, battery.s_max) / 1000
    const pct = (wh: number) => wh / 10 / capacity_kwh
    const limit = (watts: number) => [
      { soc_pct: 0, power_kw: battery.s_max > 0 ? watts / 1000 : 0 },
    ]
    return {
      bess_id: nth + 1,
      capacity_kwh,
      soc_start_pct: pct(battery.s_initial),
      soc_min_pct: pct(battery.s_min),
      soc_max_pct: 100,
      soc_end_pct: 0,
      charge_limits: limit(battery.c_max),
      discharge_limits: limit(battery.d_max),
      charge_efficiency: request.eta_c,
      discharge_efficiency: request.eta_d,
      degradation_cost_per_mwh: 0,
      cycles_max: null,
    }
  })
  const { p_max_exp, p_max_imp } = request.grid ?? {}
  const kw = (watts: number | undefined) => (watts === undefined ? null : watts / 1000)
  return {
    objective: 'arbitrage',
    periods,
    units,
    export_limit_kw: kw(p_max_exp),
    import_limit_kw: kw(p_max_imp),
  }
}

/** What theirs has besides; returns what it costs to miss it, at the price of theirs. */
function addTheirs(model: DispatchModel, battery: Battery, of: UnitColumns, dear: number): Term[] {
  const { program, problem, pairs } = model
  const costs: Term[] = []
  const missed = (weight: number) => {
    const column = program.column()
    costs.push([column, weight * dear])
    return column
  }
  const full_kwh = battery.s_max / 1000
  of.charge.forEach((charge, nth) => {
    const hours = (problem.periods[nth]!.end_ms - problem.periods[nth]!.start_ms) / 3_600_000
    const [least, most] = [battery.c_min / 1000, battery.c_max / 1000]
    const energy = of.energy_kwh[nth]!
    const wanted = battery.p_demand?.[nth] ?? 0
    // Discharged for the home alone.
    const exclusive = { one: of.discharge[nth]!, other: model.feed_in[nth]! }
    pairs.push({ ...exclusive, one_share: 1, other_share: 1 })
    if (battery.charge_from_grid !== true) {
      pairs.push({ one: charge, other: model.taken[nth]!, one_share: 1, other_share: 1 })
    }
    const is_charging = program.binary()
    program.row(
      [
        [charge, 1],
        [is_charging, -most],
      ],
      { upper: 0 },
    )
    const goal = nth > 0 ? (battery.s_goal?.[nth] ?? 0) / 1000 : 0
    if (goal > 0)
      program.row(
        [
          [energy, 1],
          [missed(1), 1],
        ],
        { lower: goal },
      )
    if (wanted === 0) {
      program.row(
        [
          [charge, 1],
          [is_charging, -least],
        ],
        { lower: 0 },
      )
      return
    }
    // Less than the least only where that would be more than full; nothing once it is full.
    const [is_nearly_full, is_full] = [program.binary(), program.binary()]
    program.row(
      [
        [charge, 1],
        [is_nearly_full, least],
        [is_charging, -least],
      ],
      { lower: 0 },
    )
    program.row(
      [
        [energy, 1],
        [is_nearly_full, -full_kwh],
      ],
      { lower: -least * hours },
    )
    program.row(
      [
        [energy, 1],
        [is_full, -full_kwh],
      ],
      { lower: 0 },
    )
    const demand_kw = Math.min(most, wanted / 1000 / hours)
    const weight = (2 - nth / of.charge.length) * hours
    program.row(
      [
        [charge, 1],
        [is_full, demand_kw],
        [missed(weight), 1],
      ],
      { lower: demand_kw },
    )
  })
  return costs
}

function moneyOf(request: Request): number {
  const problem = problemOf(request)
  checkProblem(problem)
  const model = createModel(problem)
  const { p_N, p_E } = request.time_series
  const prices = [...p_N, ...p_E, ...request.batteries.map(({ p_a }) => p_a)]
  const dear = 100 * 1e6 * Math.max(...prices, 1e-4)
  const money = goalTerms(model, 'money')
  const left = model.units.map(({ energy_kwh }, nth): Term => {
    return [energy_kwh.at(-1)!, -request.batteries[nth]!.p_a * 1e6]
  })
  const theirs = model.units.flatMap((of, nth) =>
    addTheirs(model, request.batteries[nth]!, of, dear),
  )
  const lost = model.spilled.map((column, nth): Term => {
    const { start_ms, end_ms } = problem.periods[nth]!
    return [column, (dear * (end_ms - start_ms)) / 3_600_000]
  })
  const missed = missedTerms(model).map(([column, cost]): Term => [column, (cost * dear) / 1000])
  setCosts(model, [...money, ...left, ...theirs, ...lost, ...missed])
  const search = { highs, model, left_s: 20, solves: 0 }
  const { values } = findBest(search, 0, () => 0.5)
  if (values === null) throw new Error('nothing was found in time')
  return -totalOf([...money, ...left], values) / 1000
}

/** Theirs reports what is left less what there is after the first step: as they optimise it. */
function expectedOf({ request, expected_response }: Instance): number {
  const { objective_value, batteries } = expected_response
  return batteries.reduce((sum, { state_of_charge }, nth) => {
    return sum + state_of_charge[0]! * request.batteries[nth]!.p_a
  }, objective_value)
}

for (const file of shared) {
  test(`${file}: the expected money is reached`, () => {
    const instance: Instance = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
    const money = moneyOf(instance.request)
    const expected = expectedOf(instance)
    assert.ok(
      Math.abs(money - expected) <= 0.001 + 5e-4 * Math.abs(expected),
      `${money}, expected ${expected}`,
    )
  })
}

/** Instances of two hours that are small enough to be solved by hand. */
const hour_s = 3600
const home: Battery = {
  s_min: 0,
  s_max: 1000,
  s_initial: 0,
  c_min: 0,
  c_max: 1000,
  d_max: 1000,
  p_a: 0,
  charge_from_grid: true,
}

test('cheap import serves the expensive hour, minus the losses of the battery', () => {
  // 625 Wh at 0.10 a kWh are the 500 Wh of the second hour, less a fifth.
  const money = moneyOf({
    batteries: [home],
    eta_c: 1,
    eta_d: 0.8,
    time_series: {
      dt: [hour_s, hour_s],
      gt: [0, 500],
      ft: [0, 0],
      p_N: [0.0001, 0.0003],
      p_E: [0, 0],
    },
  })
  assert.ok(Math.abs(money + 0.0625) < 1e-6, `${money}`)
})

test('PV fills the battery before the grid, and energy left has its value', () => {
  // 667 Wh of 1000 fill 600 Wh, 333 Wh are sold at 0.05 a kWh, 300 Wh of 600 are left at 0.20.
  const money = moneyOf({
    batteries: [{ ...home, s_max: 600, p_a: 0.0002, charge_from_grid: false }],
    eta_c: 0.9,
    eta_d: 1,
    time_series: {
      dt: [hour_s, hour_s],
      gt: [0, 300],
      ft: [1000, 0],
      p_N: [0.0003, 0.0003],
      p_E: [0.00005, 0.00005],
    },
  })
  assert.ok(Math.abs(money - (0.05 / 3 + 0.06)) < 1e-6, `${money}`)
})

test('export reaches its limit, and the battery takes the rest', () => {
  // 400 W are sold at 0.05 a kWh; 300 of the 500 Wh have room in the battery, at 0.02 a kWh.
  const money = moneyOf({
    batteries: [{ ...home, s_max: 300, p_a: 0.00002, charge_from_grid: false }],
    eta_c: 1,
    eta_d: 1,
    grid: { p_max_exp: 400 },
    time_series: { dt: [hour_s], gt: [0], ft: [900], p_N: [0.0003], p_E: [0.00005] },
  })
  assert.ok(Math.abs(money - (0.02 + 0.006)) < 1e-6, `${money}`)
})
