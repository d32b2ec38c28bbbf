/** How a schedule was planned: by what, on what, and what it is expected to come to. */
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { priceSources } from '../markets/schemas.ts'
import { At } from '../plant/frame.ts'

const closed = { additionalProperties: false } as const
const Percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, description })
const Amount = (description: string) => Nullable(Type.Number({ description }))
const Energy = (description: string) => Type.Number({ minimum: 0, description })

const ScheduleOptimizer = Type.Object(
  {
    name: Type.String({ examples: ['highs'] }),
    version: Type.String(),
    solver_status: Type.Enum(['optimal', 'feasible', 'infeasible', 'timeout'], {
      description:
        '`feasible`: not proved to be the best, in the time given or since a person revised it. ' +
        '`timeout`: none was found in the time given, and the plan is idle.',
    }),
    solve_ms: Type.Number({ minimum: 0, description: 'Of all units that were planned together.' }),
    gap_pct: Nullable(
      Type.Number({
        minimum: 0,
        description:
          'How far from the best it may be at most; null where that is no question, and once a ' +
          'person has revised it.',
      }),
    ),
  },
  { ...closed, $id: 'ScheduleOptimizer' },
)

export type ScheduleInputs = Static<typeof ScheduleInputs>
export const ScheduleInputs = Type.Object(
  {
    planned_from_at: At('The first hour that was open when it was planned.'),
    forecast_run_at: Nullable(
      At('When the production forecast was issued; null where there is none.'),
    ),
    consumption_kwh: Nullable(
      Energy(
        'What is expected to be consumed behind the connection from `planned_from_at` on: in each ' +
          'quarter hour the mean of the same time of working days, or of weekends, of the four ' +
          'weeks before the plan. Null: not forecast, and planned as none; see ' +
          '`consumption_days`.',
      ),
    ),
    consumption_days: Nullable(
      Type.Integer({
        minimum: 1,
        description:
          'Each of these means is of so many measured days or more. Null where there is no ' +
          'forecast of consumption: no meter at the connection, fewer than four such days, no ' +
          'forecast of production beside it, or a battery that is not AC coupled.',
        examples: [20],
      }),
    ),
    market_code: Type.String({ description: 'Whose prices it goes by.' }),
    price_source: Type.Enum([...priceSources, 'price_forecast'], {
      description: 'Where the published prices came from; `price_forecast` where none are.',
    }),
    price_status: Type.Enum(['published', 'published_and_forecast', 'forecast', 'incomplete'], {
      description:
        'Whether the open hours have published prices, forecasts beyond these, or forecasts ' +
        'alone. `incomplete`: some have neither and are idle.',
    }),
    price_step_min: Type.Integer({ description: 'The steps of the plan: 15 or 60 minutes.' }),
    soc_start_pct: Percent('State of charge at `planned_from_at`.'),
    soc_start_source: Type.Enum(['measured', 'approved_schedule'], {
      description:
        '`measured`: the newest reading, with what the running hour adds to it. ' +
        '`approved_schedule`: where the schedule of the day before ends.',
    }),
    soc_end_target_pct: Nullable(
      Percent(
        'At least so much is left at the end of the day: as asked, which is held; else as the ' +
          'approved schedule of the day has it. Else a plan for money (`arbitrage`, `combined`) ' +
          'leaves what earns the most with the prices known and forecast up to a day later, and ' +
          'any other as much as the day began with, as far as can be.',
      ),
    ),
    soc_min_pct: Percent('Not discharged below: the window of the unit and its reserve.'),
    soc_max_pct: Percent('Not charged above.'),
    capacity_kwh: Energy('What 100 % holds, at the state of health that was measured last.'),
    efficiency_pct: Percent('From the grid to the grid.'),
    efficiency_is_assumed: Type.Boolean({
      description: 'The inventory does not tell it: it is a usual value of the chemistry.',
    }),
    degradation_cost_per_mwh: Nullable(
      Type.Number({ minimum: 0, description: 'Of a MWh discharged, in `totals.currency`.' }),
    ),
    export_plan_limit_kw: Nullable(
      Type.Number({ minimum: 0, description: 'What plans let the site feed in.' }),
    ),
  },
  { ...closed, $id: 'ScheduleInputs' },
)

export type ScheduleTotals = Static<typeof ScheduleTotals>
export const ScheduleTotals = Type.Object(
  {
    charge_kwh: Energy('Taken at the connection.'),
    discharge_kwh: Energy('Given at the connection.'),
    cycles: Type.Number({ minimum: 0, description: 'Full cycles of the usable energy.' }),
    expected_revenue_amount: Amount('Of what is discharged.'),
    expected_cost_amount: Amount('Of what is charged, and of ageing.'),
    expected_degradation_amount: Amount('Of ageing alone; part of `expected_cost_amount`.'),
    expected_net_amount: Amount('Revenue less cost; null where an hour with power has no price.'),
    expected_without_battery_amount: Amount(
      'What the plants behind the connection would earn at these prices in the open hours with ' +
        'no battery at all, as far as `export_plan_limit_kw` lets them, less what is consumed ' +
        'there. Null without a forecast of them, or where any of it is in an hour without a price.',
    ),
    expected_connection_amount: Amount(
      'The same with every battery of the connection, ageing aside; null likewise.',
    ),
    currency: Type.String({ examples: ['EUR'], description: 'ISO 4217, of the market.' }),
    soc_min_pct: Percent('The lowest that is expected.'),
    soc_max_pct: Percent('The highest.'),
  },
  { ...closed, $id: 'ScheduleTotals' },
)

/** What may not be held: by a plan, or of a plan by the unit as it is found at its approval. */
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
export const ScheduleViolation = Type.Object(
  {
    constraint: Type.Enum([...constraints], { description: 'What the plan does not hold.' }),
    hour: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 23,
        description: 'The first such hour.',
        examples: [13],
      }),
    ),
    by_pct: Nullable(
      Type.Number({ description: 'By how much of the state of charge.', examples: [4.5] }),
    ),
    by_kw: Nullable(Type.Number({ description: 'By how much power.', examples: [20] })),
    by_kwh: Nullable(
      Type.Number({ description: 'By how much energy drawn from the cells.', examples: [12] }),
    ),
    message: Type.String({ examples: ['missed by 4.5 %, held back by charge_limit'] }),
  },
  { ...closed, $id: 'ScheduleViolation' },
)

export type SchedulePlan = Static<typeof SchedulePlan>
/** As `battery_schedules.plan` has it. */
export const SchedulePlan = Type.Object(
  {
    optimizer: ScheduleOptimizer,
    inputs: ScheduleInputs,
    totals: ScheduleTotals,
    constraint_violations: Type.Array(ScheduleViolation, {
      description: 'Empty where the plan holds everything; the edge holds the limits in any case.',
    }),
  },
  closed,
)
