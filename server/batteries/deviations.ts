/** Deviations of a unit from its approved schedule by hour, with their reasons. */
import { hour_ms } from '@heliograph/domain/durations'
import { rounded, significant } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { causeIn, causes } from './causes.ts'
import { worthOf } from './earnings.ts'
import { plannedCharge, plannedPower, type UnitDay } from './unit-day.ts'
import {
  type Heard,
  netEnergy,
  quartersOf,
  type Span,
  sumOrNull,
  type UnitQuarter,
} from './unit-energy.ts'

/** The tolerance is the larger of these shares of rated and of planned power. */
const tolerated = { of_rated: 0.02, of_planned: 0.05 } as const

const deviationReasons = ['none', ...causes, 'unplanned', 'unknown'] as const
type DeviationReason = (typeof deviationReasons)[number]

export type Deviation = Static<typeof Deviation>
export const Deviation = Named('BatteryDeviation', {
  hour: field.Count('UTC hour of the day.', { maximum: 23, examples: [9] }),
  start_at: At('Start of the hour, inclusive.', '2026-06-21T09:00:00.000Z'),
  end_at: At('End of the hour, exclusive.', '2026-06-21T10:00:00.000Z'),
  planned_power_kw: field.Num(
    'Mean power requested by approved schedules while in force, kW; 0 without one, as nothing is ' +
      'dispatched then.',
    180,
  ),
  actual_avg_power_kw: field.NumOrNull('Measured mean power of the hour, kW; null where unknown.'),
  deviation_kw: field.NumOrNull('Actual minus planned power, kW.', -30),
  planned_energy_kwh: field.Num('Planned energy, kWh; positive is discharging.', 180),
  actual_energy_kwh: field.NumOrNull(
    'Discharged minus charged energy, kWh, by the counters of the unit, else by its power; null ' +
      'with too few readings.',
    150,
  ),
  deviation_kwh: field.NumOrNull('Actual minus planned energy, kWh.', -30),
  deviation_pct: field.NumOrNull(
    'Deviation as a percentage of the planned energy; null where none was planned.',
    -16.67,
  ),
  planned_soc_end_pct: field.NumOrNull(
    'Planned for the end of the hour by the schedule in force then, %.',
  ),
  actual_soc_end_pct: field.NumOrNull('Measured around the end of the hour, %.'),
  within_tolerance: field.Flag(
    'Whether the deviation is within the tolerance; false also where unknown.',
  ),
  tolerance_kw: field.FromZero(
    `${100 * tolerated.of_rated} % of the rated power, or ` +
      `${100 * tolerated.of_planned} % of the planned power if that is more, kW.`,
    9,
  ),
  reason: field.OneOfOrNull(
    deviationReasons,
    '`none` within the tolerance. Otherwise the limit that lowered the setpoint the longest ' +
      'in the hour by the dispatch and control logs, else an alarm or lost communication at ' +
      'the time, else `unknown`. `unplanned`: no schedule was approved for the hour. Null ' +
      'where neither plan nor power is known.',
    'power_limit',
  ),
  cost_amount: field.NumOrNull(
    'Value of the planned minus the actual energy at day-ahead prices by quarter hour; below ' +
      '0 where the deviation increased revenue. Null where unknown.',
    2.55,
  ),
  currency: field.TextOrNull('ISO 4217; null without an amount.', 'EUR'),
  completeness_pct: field.Percent(
    'Share of three-minute intervals with a stored reading of the unit, %. Falls once old ' +
      'readings are thinned out.',
    100,
  ),
})

/** Past hours of a day, ascending, without hours in which nothing was planned or measured. */
export function deviationsOf(day: UnitDay): Deviation[] {
  const found: Deviation[] = []
  for (let hour = 0; hour < 24; hour += 1) {
    const start_ms = day.start_ms + hour * hour_ms
    const span = { start_ms, end_ms: start_ms + hour_ms }
    if (span.end_ms > day.now_ms) break
    const deviation = deviationIn(day, span, hour)
    if (deviation) found.push(deviation)
  }
  return found
}

function deviationIn(day: UnitDay, span: Span, hour: number): Deviation | null {
  const { unit, plans } = day
  const quarters = day.quarters.slice(4 * hour, 4 * hour + 4)
  const planned = quartersOf(span).map((quarter) => plannedPower(plans, quarter))
  const is_planned = planned.some((power_kw) => power_kw !== null)
  const completeness_pct = completenessOf(quarters)
  if (!is_planned && completeness_pct === 0) return null
  const planned_kw = planned.reduce<number>((sum, power_kw) => sum + (power_kw ?? 0) / 4, 0)
  const actual_kw = sumOrNull(quarters.map(netEnergy))
  const deviation_kw = actual_kw === null ? null : actual_kw - planned_kw
  const rated_kw = Math.max(unit.rated_charge_power_kw, unit.rated_discharge_power_kw)
  const tolerance_kw = Math.max(
    tolerated.of_rated * rated_kw,
    tolerated.of_planned * Math.abs(planned_kw),
  )
  const within_tolerance = deviation_kw !== null && Math.abs(deviation_kw) <= tolerance_kw
  const cost_micro = costOf(day, quarters, planned)
  return {
    hour,
    start_at: new Date(span.start_ms).toISOString(),
    end_at: new Date(span.end_ms).toISOString(),
    // The mean power of an hour in kW equals its energy in kWh.
    planned_power_kw: significant(planned_kw),
    actual_avg_power_kw: someDigits(actual_kw),
    deviation_kw: someDigits(deviation_kw),
    planned_energy_kwh: significant(planned_kw),
    actual_energy_kwh: someDigits(actual_kw),
    deviation_kwh: someDigits(deviation_kw),
    deviation_pct:
      deviation_kw === null || planned_kw === 0
        ? null
        : rounded((100 * deviation_kw) / Math.abs(planned_kw), 2),
    planned_soc_end_pct: rounded(plannedCharge(plans, span.end_ms), 2),
    actual_soc_end_pct: rounded(quarters.at(-1)?.soc_end_pct ?? null, 2),
    within_tolerance,
    tolerance_kw: significant(tolerance_kw),
    reason: within_tolerance
      ? 'none'
      : reasonOf(day, span, { is_planned, is_known: actual_kw !== null, completeness_pct }),
    cost_amount: cost_micro === null ? null : cost_micro / 1e6,
    currency: cost_micro === null ? null : day.prices!.currency,
    completeness_pct,
  }
}

function reasonOf(
  { causes }: UnitDay,
  span: Span,
  hour: { is_planned: boolean; is_known: boolean; completeness_pct: number },
): DeviationReason | null {
  if (!hour.is_known) {
    if (hour.completeness_pct === 0) return 'comm_loss'
    return hour.is_planned ? (causeIn(causes, span) ?? 'unknown') : null
  }
  return hour.is_planned ? (causeIn(causes, span) ?? 'unknown') : 'unplanned'
}

/** Millionths of the currency; null where energy, or the price of differing energy, is unknown. */
function costOf(
  { prices }: UnitDay,
  quarters: readonly UnitQuarter[],
  planned: readonly (number | null)[],
): number | null {
  if (!prices) return null
  return sumOrNull(
    quarters.map((quarter, nth) => {
      const actual_kwh = netEnergy(quarter)
      if (actual_kwh === null) return null
      return worthOf((planned[nth] ?? 0) / 4 - actual_kwh, quarter, prices.periods)
    }),
  )
}

const someDigits = (value: number | null) => (value === null ? null : significant(value) + 0)

function completenessOf(quarters: readonly Heard[]): number {
  const spans = quarters.reduce((sum, quarter) => sum + quarter.spans, 0)
  const heard = quarters.reduce((sum, quarter) => sum + quarter.heard_spans, 0)
  return spans === 0 ? 0 : rounded((100 * heard) / spans, 1)
}
