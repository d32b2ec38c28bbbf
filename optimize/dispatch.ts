/**
 * The best dispatch of batteries at one connection, as a linear programme over HiGHS.
 *
 * Power is split into charging and discharging. That both happen at once, which a battery cannot,
 * pays only where prices are negative or a limit binds: binary columns are added for the periods in
 * which a solution does so, until none does. Bounds that may turn out to be contradictory (the
 * state of charge to end with, what the connection may carry) can be exceeded at a price above any
 * other, so that there always is a solution, which says what could not be held.
 */
import type { Highs } from 'highs'
import {
  checkProblem,
  type DispatchProblem,
  hoursOf,
  type LimitPoint,
  type Period,
  type Unit,
  type Violation,
} from './dispatch-problem.ts'
import { LinearProgram, type SolverStatus, solve } from './linear-program.ts'

export interface UnitPlan {
  bess_id: number
  /** By period: kW at the connection, positive discharges. */
  power_kw: number[]
  /** By period, at its end. */
  soc_pct: number[]
}

export interface DispatchPlan {
  status: SolverStatus
  gap_pct: number | null
  /** Rounds until nothing charged and discharged at once. */
  rounds: number
  units: UnitPlan[]
  violations: Violation[]
}

export interface PlanOptions {
  time_limit_s?: number
  gap_ratio?: number
}

const rounds_max = 12
/** kW and %: less is the solver's rounding. */
const small = 1e-6

export function planDispatch(
  highs: Highs,
  problem: DispatchProblem,
  { time_limit_s = 10, gap_ratio = 1e-6 }: PlanOptions = {},
): DispatchPlan {
  checkProblem(problem)
  const model = new DispatchModel(problem)
  const binaries = new Set<number>()
  for (let rounds = 1; ; rounds += 1) {
    const { status, values, gap_pct } = solve(highs, model.program, {
      ...{ binaries, time_limit_s, gap_ratio },
    })
    if (values === null) return { status, gap_pct, rounds, units: [], violations: [] }
    const mixed = model.mixed(values)
    if (mixed.length === 0 || rounds === rounds_max) {
      return { status, gap_pct, rounds, ...model.read(values) }
    }
    for (const both of mixed) binaries.add(model.separate(both))
  }
}

interface UnitColumns {
  unit: Unit
  charge: number[]
  discharge: number[]
  energy_kwh: number[]
}

interface Both {
  of: UnitColumns
  period: number
}

class DispatchModel {
  readonly program = new LinearProgram()
  readonly #problem: DispatchProblem
  readonly #units: UnitColumns[]
  /** Columns that are above 0 where a bound is not held. */
  readonly #slacks: { column: number; violation: Omit<Violation, 'amount'>; share: number }[] = []
  /** Per MWh, above everything that a MWh can be worth. */
  readonly #penalty: number
  readonly #exports: number[] = []
  readonly #imports: number[] = []

  constructor(problem: DispatchProblem) {
    this.#problem = problem
    const { periods, units } = problem
    const dearest = Math.max(1, ...periods.map(({ price }) => Math.abs(price ?? 0)))
    const ageing = Math.max(0, ...units.map((unit) => unit.degradation_cost_per_mwh))
    this.#penalty = 100 * (dearest + ageing)
    this.#units = units.map((unit) => this.#addUnit(unit))
    for (const [nth, period] of periods.entries()) this.#addBalance(period, nth)
    this.#addObjective()
  }

  /** Periods in which a unit does both at once. */
  mixed(values: Float64Array): Both[] {
    return this.#units.flatMap((of) =>
      of.charge.flatMap((charge, period) =>
        values[charge]! > small && values[of.discharge[period]!]! > small ? [{ of, period }] : [],
      ),
    )
  }

  /** Lets a unit do only one of both in a period, as the binary column that it returns says. */
  separate({ of: { charge, discharge }, period }: Both): number {
    const { columns } = this.program
    const is_charging = this.program.column({ upper: 1 })
    const [to, from] = [charge[period]!, discharge[period]!]
    this.program.row([...[[to, 1] as const], [is_charging, -columns[to]!.upper]], { upper: 0 })
    this.program.row([...[[from, 1] as const], [is_charging, columns[from]!.upper]], {
      upper: columns[from]!.upper,
    })
    return is_charging
  }

  read(values: Float64Array): Pick<DispatchPlan, 'units' | 'violations'> {
    const units = this.#units.map(({ unit, charge, discharge, energy_kwh }) => ({
      bess_id: unit.bess_id,
      power_kw: charge.map((column, nth) => tidy(values[discharge[nth]!]! - values[column]!)),
      soc_pct: energy_kwh.map((column) => tidy((100 * values[column]!) / unit.capacity_kwh)),
    }))
    const violations = this.#slacks.flatMap(({ column, violation, share }) => {
      const amount = values[column]! * share
      return amount > 1e-4 ? [{ ...violation, amount: tidy(amount) }] : []
    })
    return { units, violations }
  }

  #slack(violation: Omit<Violation, 'amount'>, per_mwh: number, share: number): number {
    const column = this.program.column({ cost: (this.#penalty * per_mwh) / 1000 })
    this.#slacks.push({ column, violation, share })
    return column
  }

  #addUnit(unit: Unit): UnitColumns {
    const { program } = this
    const { periods } = this.#problem
    const { capacity_kwh, bess_id } = unit
    const kwh = (soc_pct: number) => (soc_pct * capacity_kwh) / 100
    const start_kwh = kwh(unit.soc_start_pct)
    // One that begins outside of its window may stay there, but go no further.
    const lower = Math.min(kwh(unit.soc_min_pct), start_kwh)
    const upper = Math.max(kwh(unit.soc_max_pct), start_kwh)
    const columns: UnitColumns = { unit, charge: [], discharge: [], energy_kwh: [] }
    periods.forEach((period, nth) => {
      const hours = hoursOf(period)
      const isIdle = period.price === null
      const most = (points: readonly LimitPoint[]) =>
        isIdle ? 0 : Math.max(...points.map(({ power_kw }) => power_kw))
      const charge = program.column({ upper: most(unit.charge_limits) })
      const discharge = program.column({
        cost: (unit.degradation_cost_per_mwh * hours) / 1000,
        upper: most(unit.discharge_limits),
      })
      const energy_kwh = program.column({ lower, upper })
      const before = columns.energy_kwh.at(-1)
      const flows = [
        [energy_kwh, 1],
        [charge, -unit.charge_efficiency * hours],
        [discharge, hours / unit.discharge_efficiency],
      ] as const
      const from_kwh = before === undefined ? start_kwh : 0
      program.row(before === undefined ? flows : [...flows, [before, -1]], {
        lower: from_kwh,
        upper: from_kwh,
      })
      columns.charge.push(charge)
      columns.discharge.push(discharge)
      columns.energy_kwh.push(energy_kwh)
      for (const at of [before, energy_kwh]) {
        this.#addLimits(unit.charge_limits, { power: charge, at, capacity_kwh, start_kwh })
        this.#addLimits(unit.discharge_limits, { power: discharge, at, capacity_kwh, start_kwh })
      }
      this.#fix(unit, nth, { charge, discharge, hours })
    })
    this.#addEnd(columns)
    if (unit.cycles_max !== null) {
      const terms = columns.discharge.map((column, nth) => {
        return [column, hoursOf(periods[nth]!) / unit.discharge_efficiency] as const
      })
      program.row(terms, { upper: unit.cycles_max * capacity_kwh })
    }
    void bess_id
    return columns
  }

  /** At the beginning and the end of a period: what is between lies below the lines, too. */
  #addLimits(
    points: readonly LimitPoint[],
    at: { power: number; at: number | undefined; capacity_kwh: number; start_kwh: number },
  ): void {
    for (const [nth, point] of points.entries()) {
      const next = points[nth + 1]
      if (!next || next.power_kw === point.power_kw) continue
      const slope = (next.power_kw - point.power_kw) / (next.soc_pct - point.soc_pct)
      const per_kwh = (slope * 100) / at.capacity_kwh
      const at_zero_kw = point.power_kw - slope * point.soc_pct
      if (at.at === undefined) {
        const upper = Math.max(0, at_zero_kw + per_kwh * at.start_kwh)
        this.program.row([[at.power, 1]], { upper })
      } else {
        this.program.row(
          [
            [at.power, 1],
            [at.at, -per_kwh],
          ],
          { upper: at_zero_kw },
        )
      }
    }
  }

  #fix(
    { bess_id, fixed_kw }: Unit,
    nth: number,
    columns: { charge: number; discharge: number; hours: number },
  ): void {
    const power_kw = fixed_kw?.[nth] ?? null
    if (power_kw === null) return
    const violation = { constraint: 'fixed_power', bess_id } as const
    const less = this.#slack(violation, columns.hours, 1)
    const more = this.#slack(violation, columns.hours, 1)
    const { charge, discharge } = columns
    this.program.row(
      [
        [discharge, 1],
        [charge, -1],
        [less, 1],
        [more, -1],
      ],
      { lower: power_kw, upper: power_kw },
    )
  }

  #addEnd({ unit, energy_kwh }: UnitColumns): void {
    const last = energy_kwh.at(-1)
    if (last === undefined) return
    const { capacity_kwh, bess_id } = unit
    const end_pct = unit.soc_end_pct ?? Math.max(unit.soc_min_pct, unit.soc_start_pct)
    const slack = this.#slack({ constraint: 'soc_end', bess_id }, 1, 100 / capacity_kwh)
    this.program.row(
      [
        [last, 1],
        [slack, 1],
      ],
      { lower: (end_pct * capacity_kwh) / 100 },
    )
  }

  /** What goes to the grid is what the plants and the batteries give, less what is consumed. */
  #addBalance(period: Period, nth: number): void {
    const { export_limit_kw, import_limit_kw } = this.#problem
    const hours = hoursOf(period)
    const feed_in = this.program.column()
    const taken = this.program.column()
    // Panels can be held back where the connection is full: that costs what is lost and no more.
    const spilled = this.program.column({
      upper: period.pv_kw,
      cost: (this.#spilled * hours) / 1000,
    })
    const batteries = this.#units.flatMap(({ charge, discharge }) => [
      [discharge[nth]!, -1] as const,
      [charge[nth]!, 1] as const,
    ])
    const net_kw = period.pv_kw - period.load_kw
    this.program.row([[feed_in, 1], [taken, -1], [spilled, 1], ...batteries], {
      lower: net_kw,
      upper: net_kw,
    })
    this.#bound(feed_in, export_limit_kw, 'export_limit', hours)
    this.#bound(taken, import_limit_kw, 'import_limit', hours)
    this.#exports.push(feed_in)
    this.#imports.push(taken)
  }

  get #spilled(): number {
    return this.#penalty / 10
  }

  #bound(
    column: number,
    limit_kw: number | null,
    constraint: Violation['constraint'],
    hours: number,
  ): void {
    if (limit_kw === null) return
    const slack = this.#slack({ constraint, bess_id: null }, hours, 1)
    this.program.row(
      [
        [column, 1],
        [slack, -1],
      ],
      { upper: limit_kw },
    )
  }

  #addObjective(): void {
    const { objective, periods } = this.#problem
    const { columns } = this.program
    // The others come first, and money decides between what they leave equal.
    const money = objective === 'arbitrage' ? 1 : 1e-3
    periods.forEach((period, nth) => {
      const per_kw = (((period.price ?? 0) * hoursOf(period)) / 1000) * money
      columns[this.#exports[nth]!]!.cost -= per_kw
      columns[this.#imports[nth]!]!.cost += per_kw
    })
    if (objective === 'self_consumption') this.#addSelfConsumption()
    if (objective === 'peak_shaving') this.#addPeaks()
    if (objective === 'capacity_firming') this.#addFirming()
  }

  /** As little as can be is exchanged with the grid. */
  #addSelfConsumption(): void {
    this.#problem.periods.forEach((period, nth) => {
      for (const column of [this.#exports[nth]!, this.#imports[nth]!]) {
        this.program.columns[column]!.cost += hoursOf(period)
      }
    })
  }

  /** The highest export and the highest import are as low as can be. */
  #addPeaks(): void {
    for (const columns of [this.#exports, this.#imports]) {
      const peak = this.program.column({ cost: 1 })
      for (const column of columns) {
        this.program.row(
          [
            [column, 1],
            [peak, -1],
          ],
          { upper: 0 },
        )
      }
    }
  }

  /** What is fed in changes as little as can be from one period to the next. */
  #addFirming(): void {
    for (let nth = 1; nth < this.#exports.length; nth += 1) {
      const [up, down] = [this.program.column({ cost: 1 }), this.program.column({ cost: 1 })]
      this.program.row(
        [
          [this.#exports[nth]!, 1],
          [this.#imports[nth]!, -1],
          [this.#exports[nth - 1]!, -1],
          [this.#imports[nth - 1]!, 1],
          [up, -1],
          [down, 1],
        ],
        { lower: 0, upper: 0 },
      )
    }
  }
}

/** Without the solver's rounding, and no negative zero. */
const tidy = (value: number) => Math.round(value * 1e6) / 1e6 + 0
