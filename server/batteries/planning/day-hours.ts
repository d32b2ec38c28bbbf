/** The hours of a schedule from the powers of its periods, and their totals. Pure. */
import { day_ms, hour_ms, quarter_ms } from '@heliograph/domain/durations'
import { rounded } from '@heliograph/domain/significant'
import { wattsTowardsZero } from '@heliograph/domain/watts'
import { flowsOf, roomOf } from '@heliograph/optimize/connection'
import { bandOf, type Course, followCourse } from '@heliograph/optimize/course'
import { hoursOf, type Period, type Unit } from '@heliograph/optimize/dispatch-problem'
import { isoTime } from '../../storage/values.ts'
import type { ScheduleTotals, StoredHour } from '../schedule-plan.ts'
import type { StoredProblem, StoredSchedule } from '../schedules.ts'

const micro = 1_000_000

/** Stands for all other units of the connection; no unit has this id. */
const others_id = 0

export function powersOf(
  hours: readonly StoredHour[],
  { periods }: Pick<StoredProblem, 'periods'>,
): number[] {
  return periods.map(({ start_ms, end_ms }) => {
    const { power_kw, quarter_power_kw } = hours[utcHour(start_ms)]!
    if (end_ms - start_ms === hour_ms) return power_kw
    return quarter_power_kw?.[(start_ms % hour_ms) / quarter_ms] ?? power_kw
  })
}

/** Sum of the power of schedules in each period, kW. */
export function sumOver(periods: readonly Period[], planned: readonly HourPlan[]): number[] {
  const all = planned.map(({ hours }) => powersOf(hours, { periods }))
  return periods.map((_, nth) => all.reduce((sum, powers) => sum + powers[nth]!, 0))
}

export type HourPlan = Pick<StoredSchedule, 'hours'>

/** UTC hour of the day, without a Date, which would take most of the planning time. */
const utcHour = (ms: number) => Math.floor((ms % day_ms) / hour_ms)

/** The periods of an hour; null for an hour that was not open at planning. */
export function spanOf(
  { periods }: Pick<StoredProblem, 'periods'>,
  hour: number,
): { first: number; last: number } | null {
  const first = periods.findIndex(({ start_ms }) => utcHour(start_ms) === hour)
  if (first < 0) return null
  const last = periods.findIndex(({ start_ms }, nth) => nth > first && utcHour(start_ms) !== hour)
  return { first, last: last < 0 ? periods.length : last }
}

/** The unit with the headroom that other units leave at the connection. */
export function unitInRoom(problem: StoredProblem): Unit {
  const { unit, others_kw } = problem
  const whole = { ...problem, units: [unit] }
  const room_kw = roomOf(whole, [{ bess_id: others_id, power_kw: others_kw }], unit.bess_id)
  return { ...unit, room_kw }
}

/** Hours with new powers: state of charge, power bands and amounts are recomputed. */
export function withPowers(
  hours: readonly StoredHour[],
  problem: StoredProblem,
  power_kw: readonly number[],
): { hours: StoredHour[]; course: Course } {
  const { periods } = problem
  const unit = unitInRoom(problem)
  const course = followCourse(unit, periods, power_kw)
  const socAt = (nth: number) => rounded(percent(course.soc_pct[nth]!), 3)
  const changed = hours.map((hour): StoredHour => {
    const span = spanOf(problem, hour.hour)
    if (span === null) return hour
    const own = power_kw.slice(span.first, span.last)
    const mean_kw = inWholeWatts(own.reduce((sum, power) => sum + power, 0) / own.length)
    const none = { min_kw: mean_kw, max_kw: mean_kw }
    const band = bandOf(unit, periods, power_kw, span, course) ?? none
    return {
      ...hour,
      power_kw: mean_kw,
      quarter_power_kw: own.length === 4 ? [own[0]!, own[1]!, own[2]!, own[3]!] : null,
      soc_start_pct:
        span.first === 0 ? rounded(percent(unit.soc_start_pct), 3) : socAt(span.first - 1),
      soc_end_pct: socAt(span.last - 1),
      expected_amount: amountOf(periods.slice(span.first, span.last), own),
      min_power_kw: Math.min(band.min_kw, mean_kw),
      max_power_kw: Math.max(band.max_kw, mean_kw),
    }
  })
  return { hours: changed, course }
}

/** Revisions are in whole watts, and so is the planned value, which can then be restored. */
const inWholeWatts = (power_kw: number) => wattsTowardsZero(rounded(power_kw, 6)) / 1000

/** Removes rounding errors of solver and sums. */
const percent = (soc_pct: number) => Math.min(100, Math.max(0, soc_pct))

/** Amount to the millionth; null where a period with power, or every period, has no price. */
function amountOf(periods: readonly Period[], power_kw: readonly number[]): number | null {
  const flows = periods.map((period, nth) => flowOf(period, power_kw[nth]!))
  if (flows.every(({ amount_micro }) => amount_micro === null)) return null
  const with_power = flows.filter(({ energy_kwh }) => energy_kwh !== 0)
  if (with_power.some(({ amount_micro }) => amount_micro === null)) return null
  return with_power.reduce((sum, { amount_micro }) => sum + amount_micro!, 0) / micro
}

const microWorth = (energy_kwh: number, price: number) =>
  Math.round(((energy_kwh * price) / 1000) * micro) + 0

/** Totals: locked hours by their mean power, open hours by their periods. */
export function totalsOf(
  hours: readonly StoredHour[],
  problem: StoredProblem,
  { currency }: Pick<ScheduleTotals, 'currency'>,
): ScheduleTotals {
  const { unit, usable_kwh } = problem
  const power_kw = powersOf(hours, problem)
  const locked = hours.filter(({ hour }) => spanOf(problem, hour) === null)
  const flows: Flow[] = [
    ...locked.map(({ power_kw: energy_kwh, expected_amount: amount }) => ({
      energy_kwh,
      amount_micro: amount === null ? null : Math.round(amount * micro),
    })),
    ...problem.periods.map((period, nth) => flowOf(period, power_kw[nth]!)),
  ]
  const sum = (of: (flow: Flow) => number) => flows.reduce((total, flow) => total + of(flow), 0)
  const charge_kwh = sum(({ energy_kwh }) => Math.max(0, -energy_kwh))
  const discharge_kwh = sum(({ energy_kwh }) => Math.max(0, energy_kwh))
  const is_priced = flows.every((flow) => flow.energy_kwh === 0 || flow.amount_micro !== null)
  const revenue = sum((flow) => (flow.energy_kwh > 0 ? (flow.amount_micro ?? 0) : 0))
  const charging = 0 - sum((flow) => (flow.energy_kwh < 0 ? (flow.amount_micro ?? 0) : 0))
  const ageing = microWorth(discharge_kwh, unit.degradation_cost_per_mwh)
  const money = (amount_micro: number) => (is_priced ? amount_micro / micro : null)
  const socs = hours
    .flatMap(({ soc_start_pct, soc_end_pct }) => [soc_start_pct, soc_end_pct])
    .filter((soc_pct) => soc_pct !== null)
  return {
    charge_kwh: rounded(charge_kwh, 6),
    discharge_kwh: rounded(discharge_kwh, 6),
    cycles: rounded(discharge_kwh / unit.discharge_efficiency / usable_kwh, 4),
    expected_revenue_amount: money(revenue),
    expected_cost_amount: money(charging + ageing),
    expected_degradation_amount: ageing / micro,
    expected_net_amount: money(revenue - charging - ageing),
    ...connectionAmounts(hours, problem, power_kw),
    currency,
    soc_min_pct: Math.min(...socs),
    soc_max_pct: Math.max(...socs),
  }
}

interface Flow {
  energy_kwh: number
  /** Millionths; null without a price. */
  amount_micro: number | null
}

function flowOf(period: Period, power_kw: number): Flow {
  const energy_kwh = power_kw * hoursOf(period)
  const { price } = period
  return { energy_kwh, amount_micro: price === null ? null : microWorth(energy_kwh, price) }
}

/** Power below this is a rounding error. */
const no_flow_kw = 1e-6

/** Null where energy flows in a period without a price. */
function connectionAmounts(
  hours: readonly StoredHour[],
  problem: StoredProblem,
  power_kw: readonly number[],
): Pick<ScheduleTotals, 'expected_without_battery_amount' | 'expected_connection_amount'> {
  const isForecast = ({ hour }: StoredHour) =>
    spanOf(problem, hour) === null || hours[hour]!.pv_forecast_kw !== null
  if (!hours.every(isForecast)) {
    return { expected_without_battery_amount: null, expected_connection_amount: null }
  }
  const whole = { ...problem, units: [problem.unit] }
  const amountWith = (powers: Parameters<typeof flowsOf>[1]) => {
    const flows = flowsOf(whole, powers).filter(({ net_kw }) => Math.abs(net_kw) >= no_flow_kw)
    if (flows.some(({ amount }) => amount === null)) return null
    return flows.reduce((sum, { amount }) => sum + Math.round(amount! * micro), 0) / micro
  }
  return {
    expected_without_battery_amount: amountWith([]),
    expected_connection_amount: amountWith([
      { bess_id: problem.unit.bess_id, power_kw },
      { bess_id: others_id, power_kw: problem.others_kw },
    ]),
  }
}

/** A past or running hour: as approved, else idle. */
export function lockedHour(hour: number, start_ms: number, approved: HourPlan | null): StoredHour {
  const was = approved?.hours[hour]
  const power_kw = was?.power_kw ?? 0
  return {
    hour,
    start_at: isoTime(start_ms),
    end_at: isoTime(start_ms + hour_ms),
    power_kw,
    soc_start_pct: was?.soc_start_pct ?? null,
    soc_end_pct: was?.soc_end_pct ?? null,
    price_per_mwh: was?.price_per_mwh ?? null,
    pv_forecast_kw: was?.pv_forecast_kw ?? null,
    expected_amount: was?.expected_amount ?? null,
    min_power_kw: power_kw,
    max_power_kw: power_kw,
    original_power_kw: null,
    edited_by: null,
    edited_at: null,
    edit_note: null,
    quarter_power_kw: was?.quarter_power_kw ?? null,
    quarter_price_per_mwh: was?.quarter_price_per_mwh ?? null,
    price_status: was?.price_status ?? null,
  }
}
