/** The plan of a schedule: optimiser, inputs, totals and violations. */
import { type Static, Type } from 'typebox'
import {
  AtOrNull,
  Closed,
  CountOrNull,
  Flag,
  FromZero,
  FromZeroOrNull,
  Int,
  IntOrNull,
  NumOrNull,
  OneOf,
  Percent,
  PercentOrNull,
  Text,
} from '../http/fields.ts'
import { priceSources } from '../markets/schemas.ts'
import { At } from '../plant/frame.ts'

const closed = { additionalProperties: false } as const

const ScheduleOptimizer = Closed('ScheduleOptimizer', {
  name: Type.String({ examples: ['highs'] }),
  version: Type.String(),
  solver_status: OneOf(
    ['optimal', 'feasible', 'infeasible', 'timeout'],
    '`feasible`: not proved optimal, within the time limit or after a revision. `timeout`: no ' +
      'plan was found within the time limit, and the schedule is idle.',
  ),
  solve_ms: FromZero('Solver time for all units planned together, ms.'),
  gap_pct: FromZeroOrNull(
    'Upper bound of the distance to the optimum, %; null where not applicable and after a ' +
      'revision.',
  ),
})

export type ScheduleInputs = Static<typeof ScheduleInputs>
export const ScheduleInputs = Closed('ScheduleInputs', {
  planned_from_at: At('Start of the first open hour at planning.'),
  forecast_run_at: AtOrNull('When the production forecast was issued; null without one.'),
  consumption_kwh: FromZeroOrNull(
    'Expected consumption behind the connection from `planned_from_at` on, kWh: for each quarter ' +
      'hour the mean of the same time on working days, or on weekends, of the four weeks ' +
      'before. Null without a forecast, and then planned as 0; see `consumption_days`.',
  ),
  consumption_days: IntOrNull(
    'Minimum number of measured days behind these means. Null without a forecast of ' +
      'consumption: no meter at the connection, fewer than four such days, no production ' +
      'forecast, or a battery that is not AC coupled.',
    { minimum: 1, examples: [20] },
  ),
  market_code: Text('Market of the prices.'),
  price_source: OneOf(
    [...priceSources, 'price_forecast'],
    'Source of the published prices; `price_forecast` without any.',
  ),
  price_status: OneOf(
    ['published', 'published_and_forecast', 'forecast', 'incomplete'],
    'Whether the open hours have published prices, published and then forecast prices, or ' +
      'forecast prices only. `incomplete`: some have neither and are idle.',
  ),
  price_step_min: Int('Step of the plan: 15 or 60 minutes.'),
  soc_start_pct: Percent('State of charge at `planned_from_at`.'),
  soc_start_source: OneOf(
    ['measured', 'approved_schedule'],
    '`measured`: the newest reading plus the planned change in the running hour. ' +
      '`approved_schedule`: the end of the schedule of the day before.',
  ),
  soc_end_target_pct: PercentOrNull(
    'Minimum state of charge at the end of the day, %: as requested, else that of the approved ' +
      'schedule of the day. Otherwise a plan for revenue (`arbitrage`, `combined`) uses the ' +
      'most profitable value by prices of the next day, and any other plan aims for the value ' +
      'at the start of the day.',
  ),
  soc_min_pct: Percent('Lower limit of the plan: operating window and reserve of the unit, %.'),
  soc_max_pct: Percent('Upper limit of the plan, %.'),
  capacity_kwh: FromZero('Energy between 0 and 100 % at the last measured state of health, kWh.'),
  efficiency_pct: Percent('Round-trip efficiency from grid to grid, %.'),
  efficiency_is_assumed: Flag(
    'Whether the efficiency is a typical value of the chemistry, as the inventory has none.',
  ),
  degradation_cost_per_mwh: FromZeroOrNull('Ageing cost per discharged MWh, in `totals.currency`.'),
  export_plan_limit_kw: FromZeroOrNull('Export limit of the site for plans, kW.'),
})

export type ScheduleTotals = Static<typeof ScheduleTotals>
export const ScheduleTotals = Closed('ScheduleTotals', {
  charge_kwh: FromZero('Energy charged at the connection, kWh.'),
  discharge_kwh: FromZero('Energy discharged at the connection, kWh.'),
  cycles: FromZero('Full cycles of the usable energy.'),
  expected_revenue_amount: NumOrNull('Revenue of discharging.'),
  expected_cost_amount: NumOrNull('Cost of charging and ageing.'),
  expected_degradation_amount: NumOrNull('Cost of ageing; part of `expected_cost_amount`.'),
  expected_net_amount: NumOrNull('Revenue minus cost; null where an hour with power has no price.'),
  expected_without_battery_amount: NumOrNull(
    'Revenue of the plants behind the connection in the open hours without any battery, within ' +
      '`export_plan_limit_kw`, minus the cost of consumption there. Null without a production ' +
      'forecast, and where energy flows in an hour without a price.',
  ),
  expected_connection_amount: NumOrNull(
    'Likewise with all batteries of the connection, without ageing.',
  ),
  currency: Text('ISO 4217, of the market.', { examples: ['EUR'] }),
  soc_min_pct: Percent('Lowest expected state of charge, %.'),
  soc_max_pct: Percent('Highest expected state of charge, %.'),
})

/** Constraints that a plan may violate, at planning or by the state of the unit at approval. */
const constraints = [
  'soc_min',
  'soc_max',
  'soc_end',
  'charge_limit',
  'discharge_limit',
  'export_limit',
  'import_limit',
  'room',
  'cycles',
  'ramp',
  'fixed_power',
] as const

export type ScheduleViolation = Static<typeof ScheduleViolation>
export const ScheduleViolation = Closed('ScheduleViolation', {
  constraint: OneOf(constraints, 'The violated constraint.'),
  hour: CountOrNull('The first such hour.', { maximum: 23, examples: [13] }),
  by_pct: NumOrNull('Violation in percentage points of state of charge.', { examples: [4.5] }),
  by_kw: NumOrNull('Violation in power, kW.', { examples: [20] }),
  by_kwh: NumOrNull('Violation in energy drawn from the cells, kWh.', { examples: [12] }),
  message: Type.String({ examples: ['missed by 4.5 %, held back by charge_limit'] }),
})

export type SchedulePlan = Static<typeof SchedulePlan>
/** The value of `battery_schedules.plan`. */
export const SchedulePlan = Type.Object(
  {
    optimizer: ScheduleOptimizer,
    inputs: ScheduleInputs,
    totals: ScheduleTotals,
    constraint_violations: Type.Array(ScheduleViolation, {
      description: 'Violated constraints of the plan; the edge enforces all limits in any case.',
    }),
  },
  closed,
)
