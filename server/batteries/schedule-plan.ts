/** The plan of a schedule and its hours, as stored and as returned by the API. */
import { rounded } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Closed, Named, Nullable } from '../http/params.ts'
import { priceSources } from '../markets/schemas.ts'
import { At } from '../plant/frame.ts'
import { served } from '../storage/records.ts'

const ScheduleOptimizer = Named('ScheduleOptimizer', {
  name: Type.String({ examples: ['highs'] }),
  version: Type.String({ examples: ['1.15'] }),
  solver_status: field.OneOf(
    ['optimal', 'feasible', 'infeasible', 'timeout'],
    '`feasible`: not proved optimal, within the time limit or after a revision. `timeout`: no ' +
      'plan was found within the time limit, and the schedule is idle.',
  ),
  solve_ms: field.FromZero('Solver time for all units planned together, ms.', 6.4),
  gap_pct: field.FromZeroOrNull(
    'Upper bound of the distance to the optimum, %; null where not applicable and after a ' +
      'revision.',
  ),
})

export type ScheduleInputs = Static<typeof ScheduleInputs>
export const ScheduleInputs = Named('ScheduleInputs', {
  planned_from_at: At('Start of the first open hour at planning.', '2026-06-21T19:00:00.000Z'),
  forecast_run_at: field.AtOrNull('When the production forecast was issued; null without one.'),
  consumption_kwh: field.FromZeroOrNull(
    'Expected consumption behind the connection from `planned_from_at` on, kWh: for each quarter ' +
      'hour the mean of the same time on working days, or on weekends, of the four weeks ' +
      'before. Null without a forecast, and then planned as 0; see `consumption_days`.',
  ),
  consumption_days: field.IntOrNull(
    'Minimum number of measured days behind these means. Null without a forecast of ' +
      'consumption: no meter at the connection, fewer than four such days, no production ' +
      'forecast, or a battery that is not AC coupled.',
    { minimum: 1, examples: [20] },
  ),
  market_code: field.Text('Market of the prices.', 'DE-LU'),
  price_source: field.OneOf(
    [...priceSources, 'price_forecast'],
    'Source of the published prices; `price_forecast` without any.',
    'entsoe',
  ),
  price_status: field.OneOf(
    ['published', 'published_and_forecast', 'forecast', 'incomplete'],
    'Whether the open hours have published prices, published and then forecast prices, or ' +
      'forecast prices only. `incomplete`: some have neither and are idle.',
  ),
  price_step_min: field.Int('Step of the plan: 15 or 60 minutes.', 60),
  soc_start_pct: field.Percent('State of charge at `planned_from_at`.', 83.7),
  soc_start_source: field.OneOf(
    ['measured', 'approved_schedule'],
    '`measured`: the newest reading plus the planned change in the running hour. ' +
      '`approved_schedule`: the end of the schedule of the day before.',
  ),
  soc_end_target_pct: field.PercentOrNull(
    'Minimum state of charge at the end of the day, %: as requested, else that of the approved ' +
      'schedule of the day. Otherwise a plan for revenue (`arbitrage`, `combined`) uses the ' +
      'most profitable value by prices of the next day, and any other plan aims for the value ' +
      'at the start of the day.',
    30,
  ),
  soc_min_pct: field.Percent(
    'Lower limit of the plan: operating window and reserve of the unit, %.',
    10,
  ),
  soc_max_pct: field.Percent('Upper limit of the plan, %.', 95),
  capacity_kwh: field.FromZero(
    'Energy between 0 and 100 % at the last measured state of health, kWh.',
    392,
  ),
  efficiency_pct: field.Percent('Round-trip efficiency from grid to grid, %.', 88.36),
  efficiency_is_assumed: field.Flag(
    'Whether the efficiency is a typical value of the chemistry, as the inventory has none.',
  ),
  degradation_cost_per_mwh: field.FromZeroOrNull(
    'Ageing cost per discharged MWh, in `totals.currency`.',
    8,
  ),
  export_plan_limit_kw: field.FromZeroOrNull('Export limit of the site for plans, kW.'),
})

export type ScheduleTotals = Static<typeof ScheduleTotals>
export const ScheduleTotals = Named('ScheduleTotals', {
  charge_kwh: field.FromZero('Energy charged at the connection, kWh.'),
  discharge_kwh: field.FromZero('Energy discharged at the connection, kWh.', 180),
  cycles: field.FromZero('Full cycles of the usable energy.', 0.51),
  expected_revenue_amount: field.NumOrNull('Revenue of discharging.', 23.76),
  expected_cost_amount: field.NumOrNull('Cost of charging and ageing.', 1.44),
  expected_degradation_amount: field.NumOrNull('Cost of ageing; part of `expected_cost_amount`.'),
  expected_net_amount: field.NumOrNull(
    'Revenue minus cost; null where an hour with power has no price.',
    22.32,
  ),
  expected_without_battery_amount: field.NumOrNull(
    'Revenue of the plants behind the connection in the open hours without any battery, within ' +
      '`export_plan_limit_kw`, minus the cost of consumption there. Null without a production ' +
      'forecast, and where energy flows in an hour without a price.',
  ),
  expected_connection_amount: field.NumOrNull(
    'Likewise with all batteries of the connection, without ageing.',
  ),
  currency: field.Text('ISO 4217, of the market.', 'EUR'),
  soc_min_pct: field.Percent('Lowest expected state of charge, %.', 34.86),
  soc_max_pct: field.Percent('Highest expected state of charge, %.'),
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
export const ScheduleViolation = Named('ScheduleViolation', {
  constraint: field.OneOf(constraints, 'The violated constraint.'),
  hour: field.CountOrNull('The first such hour.', { maximum: 23, examples: [13] }),
  by_pct: field.NumOrNull('Violation in percentage points of state of charge.', 4.5),
  by_kw: field.NumOrNull('Violation in power, kW.', 20),
  by_kwh: field.NumOrNull('Violation in energy drawn from the cells, kWh.', 12),
  message: Type.String({ examples: ['missed by 4.5 %, held back by charge_limit'] }),
})

export type SchedulePlan = Static<typeof SchedulePlan>
/** The value of `battery_schedules.plan`. */
export const SchedulePlan = Closed({
  optimizer: ScheduleOptimizer,
  inputs: ScheduleInputs,
  totals: ScheduleTotals,
  constraint_violations: Type.Array(ScheduleViolation, {
    description: 'Violated constraints of the plan; the edge enforces all limits in any case.',
  }),
})

export type ScheduleHour = Static<typeof ScheduleHour>
export const ScheduleHour = Named('ScheduleHour', {
  hour: field.Count('UTC hour of `target_date`.', { maximum: 23, examples: [19] }),
  start_at: At('Start, inclusive.', '2026-06-21T19:00:00.000Z'),
  end_at: At('End, exclusive.', '2026-06-21T20:00:00.000Z'),
  power_kw: field.Num(
    'Planned power at the connection in whole watts, kW; positive discharges. The mean of ' +
      '`quarter_power_kw` where given, rounded towards zero.',
    180,
  ),
  energy_kwh: field.Num('Energy at the connection, kWh; positive is discharged.', 180),
  action: Type.Enum(['charge', 'discharge', 'idle'], { examples: ['discharge'] }),
  soc_start_pct: field.PercentOrNull(
    'Expected state of charge at the start, %. Null for an hour that had passed at planning ' +
      'and that no approved schedule covered.',
    83.7,
  ),
  soc_end_pct: field.PercentOrNull('Expected state of charge at the end, %; null likewise.', 34.86),
  price_per_mwh: field.NumOrNull(
    'Mean published or forecast price of the hour; null where unknown, and then the plan is idle.',
    132,
  ),
  pv_forecast_kw: field.FromZeroOrNull(
    'Forecast P50 of the plants behind the connection, kW; null without a forecast.',
  ),
  expected_amount: field.NumOrNull(
    'Expected revenue of the energy at the price, negative for cost; excludes ageing. Null ' +
      'without a price.',
    23.76,
  ),
  min_power_kw: field.Num(
    'Lowest power that the hour can be revised to, given all other hours and the newest plans of ' +
      'the other units of the connection. Equals `max_power_kw` for an hour that was locked at ' +
      'planning.',
    0,
  ),
  max_power_kw: field.Num('Highest power that the hour can be revised to.', 180),
  locked: field.Flag('Whether the hour is past or running and can no longer be revised.'),
  edited: field.Flag('Whether the hour was revised by a person.'),
  original_power_kw: field.NumOrNull(
    'Planned power before the first revision; null if never revised.',
  ),
  edited_by: Nullable(Type.String()),
  edited_at: field.AtOrNull('When the hour was last revised.'),
  edit_note: field.TextOrNull('Note of the last revision.'),
  quarter_power_kw: Nullable(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'Power by quarter hour, for markets with quarter-hourly prices; else null.',
    }),
  ),
  quarter_price_per_mwh: Nullable(
    Type.Array(Nullable(Type.Number()), {
      minItems: 4,
      maxItems: 4,
      description:
        'Price of each quarter hour. `expected_amount` is the sum of energy times price over the ' +
        'quarters. An element is null where unknown; null for markets with hourly prices.',
      examples: [[12.5, 10.4, 8.1, 6]],
    }),
  ),
  price_status: field.OneOfOrNull(
    ['published', 'published_and_forecast', 'forecast', 'incomplete'],
    'Whether the prices of the hour are published or forecast. `incomplete`: some quarters ' +
      'have neither. Null: all quarters have neither.',
  ),
  actual_power_kw: field.NumOrNull(
    'Measured mean power in a past hour of an approved schedule, as in deviations.',
  ),
})

/** An element of `battery_schedules.hours`; instants are RFC 3339. */
export interface StoredHour
  extends Omit<
    ScheduleHour,
    | 'energy_kwh'
    | 'action'
    | 'locked'
    | 'edited'
    | 'actual_power_kw'
    | 'quarter_power_kw'
    | 'quarter_price_per_mwh'
    | 'price_status'
  > {
  quarter_power_kw: [number, number, number, number] | null
  /** Both are missing in plans of earlier versions. */
  quarter_price_per_mwh?: ScheduleHour['quarter_price_per_mwh']
  price_status?: ScheduleHour['price_status']
}

/** Energy of an hour, from its quarters if given: the mean power is rounded to whole watts. */
const energyOf = ({ power_kw, quarter_power_kw }: StoredHour): number =>
  quarter_power_kw === null ? power_kw : rounded(sumOf(quarter_power_kw) / 4, 6)

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** Power below this is no action. */
const idle_kw = 1e-3

export function hourRecord(
  hour: StoredHour,
  { now, actual_power_kw }: { now: Date; actual_power_kw: number | null },
): ScheduleHour {
  const { power_kw } = hour
  const is_idle = Math.abs(power_kw) < idle_kw
  return served(ScheduleHour, {
    ...hour,
    energy_kwh: energyOf(hour),
    action: is_idle ? 'idle' : power_kw > 0 ? 'discharge' : 'charge',
    locked: Date.parse(hour.start_at) <= now.getTime(),
    edited: hour.edited_at !== null,
    quarter_price_per_mwh: hour.quarter_price_per_mwh ?? null,
    price_status: hour.price_status ?? null,
    actual_power_kw,
  })
}
