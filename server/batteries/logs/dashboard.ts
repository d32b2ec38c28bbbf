/** Dashboard of a unit: newest readings, the day against its plan, alarms, limits. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { rounded, significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { At } from '../../plant/frame.ts'
import { BatteryNow, type EnergiesToday } from '../current.ts'
import { Deviation } from '../deviations.ts'
import { earnedOf } from '../earnings.ts'
import { Envelope } from '../envelope.ts'
import { Schedule } from '../schedules.ts'
import { plannedCharge, plannedPower, type UnitDay } from '../unit-day.ts'
import { netEnergy, quartersOf, type Span } from '../unit-energy.ts'
import { BatteryUnit } from '../units.ts'
import { AlarmCounts } from './schemas.ts'

const closed = ($id: string) => ({ additionalProperties: false, $id })
const Kwh = (description: string) => Type.Number({ minimum: 0, description })
const Some = (description: string) => Nullable(Type.Number({ description }))

const Today = Type.Object(
  {
    charged_kwh: Nullable(
      Kwh(
        'Energy charged since local midnight, kWh: as in `current`, else of the known quarter ' +
          'hours; null where none is known.',
      ),
    ),
    discharged_kwh: Nullable(Kwh('Energy discharged since local midnight, kWh; likewise.')),
    planned_charged_kwh: Kwh(
      'Planned charging of the whole local day by the schedules in force, kWh.',
    ),
    planned_discharged_kwh: Kwh('Planned discharging of the whole local day, kWh; likewise.'),
    earnings_amount: Some(
      'Value of discharged less charged energy since local midnight at day-ahead prices, for the ' +
        'known energy; null without a market, a price or energy, and without `earnings:read`.',
    ),
    earnings_reason: Nullable(
      Type.Enum(['forbidden_scope'], {
        description:
          '`forbidden_scope`: the amount is null, as the key lacks `earnings:read` or the plan ' +
          'lacks the module `earnings`. An extension.',
      }),
    ),
    currency: Nullable(Type.String({ description: 'ISO 4217; null without an amount.' })),
  },
  closed('BatteryToday'),
)

const SocPoint = Type.Object(
  {
    start_at: At('Start of a quarter hour of the UTC day.'),
    end_at: At('End of the quarter hour.'),
    soc_pct: Some('Measured at the start, %; null where not measured and in the future.'),
    planned_soc_pct: Some('Planned by the schedule in force, %; null without one.'),
  },
  closed('BatterySocPoint'),
)

const PowerPoint = Type.Object(
  {
    start_at: At('Start of a quarter hour of the UTC day.'),
    end_at: At('End of the quarter hour.'),
    power_kw: Some('Mean power, kW, so far for the running quarter hour; null where not measured.'),
    planned_power_kw: Some('Mean planned by the schedules in force, kW; null without one.'),
  },
  closed('BatteryPowerPoint'),
)

export type Dashboard = Static<typeof Dashboard>
export const Dashboard = Type.Object(
  {
    unit: BatteryUnit,
    current: BatteryNow,
    schedule: Nullable(Schedule),
    deviations: Type.Array(Deviation, {
      description: 'Deviations of today, as in /bess/{bess_id}/deviations.',
    }),
    today: Today,
    soc_series: Type.Array(SocPoint),
    power_series: Type.Array(PowerPoint),
    alarms_summary: AlarmCounts,
    envelope: Envelope,
  },
  closed('BatteryDashboard'),
)

/**
 * Metrics of a local day. `days` are the UTC days that overlap it; energies of `counted` take
 * precedence where known.
 */
export function todayOf(
  days: readonly UnitDay[],
  { start_ms, end_ms }: Span,
  counted: EnergiesToday,
): Dashboard['today'] {
  const isWithin = (span: Span) => span.start_ms >= start_ms && span.end_ms <= end_ms
  const parts = days.map(({ quarters, prices }) => ({
    prices,
    quarters: quarters.filter((quarter) => isWithin(quarter) && netEnergy(quarter) !== null),
  }))
  const known = parts.flatMap(({ quarters }) => quarters)
  const sum = (name: 'charged_kwh' | 'discharged_kwh') =>
    known.length === 0 ? null : significant(known.reduce((kwh, one) => kwh + one[name]!, 0))
  const planned_kwh = days.flatMap(({ plans, start_ms: from_ms }) =>
    quartersOf({ start_ms: from_ms, end_ms: from_ms + day_ms })
      .filter(isWithin)
      .map((quarter) => (plannedPower(plans, quarter) ?? 0) / 4),
  )
  const planned = (sign: 1 | -1) =>
    significant(planned_kwh.reduce((kwh, one) => kwh + Math.max(0, sign * one), 0))
  const earned = parts
    .filter(({ quarters }) => quarters.length > 0)
    .map(({ quarters, prices }) => prices && earnedOf(quarters, prices))
  const [first = null] = earned
  const amount = sumAll(earned.map((part) => part?.amount ?? null))
  return {
    charged_kwh: counted.charged_today_kwh ?? sum('charged_kwh'),
    discharged_kwh: counted.discharged_today_kwh ?? sum('discharged_kwh'),
    planned_charged_kwh: planned(-1),
    planned_discharged_kwh: planned(1),
    earnings_amount: amount,
    earnings_reason: null,
    currency: amount === null ? null : first!.currency,
  }
}

/** Null for an empty list and where any value is null. */
const sumAll = (values: readonly (number | null)[]): number | null =>
  values.length === 0 || values.includes(null)
    ? null
    : significant(values.reduce<number>((sum, value) => sum + value!, 0))

export function seriesOf({
  quarters,
  plans,
  start_ms,
}: UnitDay): Pick<Dashboard, 'soc_series' | 'power_series'> {
  const soc_series: Dashboard['soc_series'] = []
  const power_series: Dashboard['power_series'] = []
  for (const [nth, span] of quartersOf({ start_ms, end_ms: start_ms + day_ms }).entries()) {
    const at = {
      start_at: new Date(span.start_ms).toISOString(),
      end_at: new Date(span.end_ms).toISOString(),
    }
    const quarter = quarters[nth]
    const net_kwh = quarter ? netEnergy(quarter) : null
    const hours = quarter ? (quarter.end_ms - quarter.start_ms) / hour_ms : 0
    const planned_kw = plannedPower(plans, span)
    soc_series.push({
      ...at,
      soc_pct: rounded(quarter?.soc_start_pct ?? null, 2),
      planned_soc_pct: rounded(plannedCharge(plans, span.start_ms), 2),
    })
    power_series.push({
      ...at,
      power_kw: net_kwh === null ? null : significant(net_kwh / hours),
      planned_power_kw: planned_kw === null ? null : significant(planned_kw),
    })
  }
  return { soc_series, power_series }
}
