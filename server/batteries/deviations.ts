/** Plan against power, hour by hour: how far a unit was from its approved schedule, and why. */
import { rounded, significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { At } from '../plant/frame.ts'
import { causeIn, causes } from './causes.ts'
import { worthOf } from './earnings.ts'
import { plannedCharge, plannedPower, type UnitDay } from './unit-day.ts'
import { type Heard, netEnergy, quartersOf, type Span, type UnitQuarter } from './unit-energy.ts'

const hour_ms = 3_600_000

/** The larger of the two, kW: of the rated power, and of what was planned. */
const tolerated = { of_rated: 0.02, of_planned: 0.05 } as const

const deviationReasons = ['none', ...causes, 'unplanned', 'unknown'] as const
type DeviationReason = (typeof deviationReasons)[number]

const Kw = (description: string) => Type.Number({ description })
const SomeKw = (description: string) => Nullable(Type.Number({ description }))
const Pct = (description: string) => SomeKw(description)

export type Deviation = Static<typeof Deviation>
export const Deviation = Type.Object(
  {
    hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Of the day, in UTC.' }),
    start_at: At('When the hour began.'),
    end_at: At('When it was over.'),
    planned_power_kw: Kw(
      'Mean of what approved schedules asked for while they were in force; 0 without one, when ' +
        'nothing is dispatched.',
    ),
    actual_avg_power_kw: SomeKw('Energy of the hour by its length; null where not known.'),
    deviation_kw: SomeKw('Actual less planned.'),
    planned_energy_kwh: Kw('Positive is discharge.'),
    actual_energy_kwh: SomeKw(
      'Discharged less charged by the counters of the unit, or by its power where these do not ' +
        'tell; null where it was not read enough.',
    ),
    deviation_kwh: SomeKw('Actual less planned.'),
    deviation_pct: Pct('Of the planned energy, without its sign; null where none was planned.'),
    planned_soc_end_pct: Pct('That the schedule in force at the end of the hour expects then.'),
    actual_soc_end_pct: Pct('As measured about the end of the hour.'),
    within_tolerance: Type.Boolean({ description: 'False also where it is not known.' }),
    tolerance_kw: Type.Number({
      minimum: 0,
      description:
        `${100 * tolerated.of_rated} % of the rated power, or ` +
        `${100 * tolerated.of_planned} % of the planned where that is more.`,
    }),
    reason: Nullable(
      Type.Enum([...deviationReasons], {
        description:
          '`none` within the tolerance. Else what held the setpoint down the longest in the hour, ' +
          'as the dispatch log and the control log tell; else what alarms and lost communication ' +
          'there were at the time; `unknown` without any of these. `unplanned`: no schedule was ' +
          'approved for the hour. Null where neither plan nor power is known.',
      }),
    ),
    cost_amount: Nullable(
      Type.Number({
        description:
          'What the planned energy is worth less what the actual one is, at day-ahead prices of ' +
          'each quarter hour; below 0 where the deviation earned. Null where not known.',
      }),
    ),
    currency: Nullable(Type.String({ description: 'ISO 4217; null without an amount.' })),
    completeness_pct: Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Share of the spans of three minutes of which a reading of the unit is kept: all are for ' +
        'as long as history is whole, one an hour once it is thinned to that.',
    }),
  },
  { additionalProperties: false, $id: 'BatteryDeviation' },
)

/**
 * The hours of a day that are over, ascending; without those in which nothing was planned and
 * nothing measured.
 */
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
    // Of an hour the mean power in kW is the energy in kWh.
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
    // Of what nobody heard for a whole hour nothing else can be said.
    if (hour.completeness_pct === 0) return 'comm_loss'
    return hour.is_planned ? (causeIn(causes, span) ?? 'unknown') : null
  }
  return hour.is_planned ? (causeIn(causes, span) ?? 'unknown') : 'unplanned'
}

/** Micro of the currency; null where energy or the price of any that differs is not known. */
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

const sumOrNull = (values: readonly (number | null)[]) =>
  values.reduce<number | null>(
    (sum, value) => (sum === null || value === null ? null : sum + value),
    0,
  )

function completenessOf(quarters: readonly Heard[]): number {
  const spans = quarters.reduce((sum, quarter) => sum + quarter.spans, 0)
  const heard = quarters.reduce((sum, quarter) => sum + quarter.heard_spans, 0)
  return spans === 0 ? 0 : rounded((100 * heard) / spans, 1)
}
