/** Dashboard of a unit: newest readings, the day against its plan, alarms, limits. */
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { dayStart } from '@heliograph/domain/local-day'
import { rounded, significant } from '@heliograph/domain/significant'
import { utcDate, utcDayStart } from '@heliograph/domain/utc-day'
import { type Static, Type } from 'typebox'
import { mayRead } from '../../http/authorize.ts'
import type { Context } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import * as field from '../../http/fields.ts'
import { Named, Nullable } from '../../http/params.ts'
import { sumAll } from '../../plant/energy-today.ts'
import { At } from '../../plant/frame.ts'
import { siteFacts } from '../../plant/site-facts.ts'
import { situationOf } from '../../plant/situation.ts'
import { isoTime } from '../../storage/values.ts'
import { BatteryNow, batteryNow, type EnergiesToday } from '../current.ts'
import { Deviation, deviationsOf } from '../deviations.ts'
import { EarningsReason, earnedOf, requireUnit } from '../earnings.ts'
import { Envelope, envelopeOf } from '../envelope.ts'
import { Schedule, scheduleOf, schedulesIn } from '../schedules.ts'
import { plannedCharge, plannedPower, readUnitDay, type UnitDay } from '../unit-day.ts'
import { hourlyPowers, netEnergy, quartersOf, type Span } from '../unit-energy.ts'
import { BatteryUnit, BessId, unitRecord } from '../units.ts'
import { AlarmCounts } from './schemas.ts'
import { alarmCounts, raisedSince, readUnitNow } from './store.ts'

const Today = Named('BatteryToday', {
  charged_kwh: field.FromZeroOrNull(
    'Energy charged since local midnight, kWh: as in `current`, else of the known quarter ' +
      'hours; null where none is known.',
    310.4,
  ),
  discharged_kwh: field.FromZeroOrNull('Energy discharged since local midnight, kWh; likewise.'),
  planned_charged_kwh: field.FromZero(
    'Planned charging of the whole local day by the schedules in force, kWh.',
    300,
  ),
  planned_discharged_kwh: field.FromZero(
    'Planned discharging of the whole local day, kWh; likewise.',
    560,
  ),
  earnings_amount: field.NumOrNull(
    'Value of discharged less charged energy since local midnight at day-ahead prices, for the ' +
      'known energy; null without a market, a price or energy, and without `earnings:read`.',
    12.4,
  ),
  earnings_reason: EarningsReason,
  currency: field.TextOrNull('ISO 4217; null without an amount.'),
})

const SocPoint = Named('BatterySocPoint', {
  start_at: At('Start of a quarter hour of the UTC day.'),
  end_at: At('End of the quarter hour.'),
  soc_pct: field.NumOrNull('Measured at the start, %; null where not measured and in the future.'),
  planned_soc_pct: field.NumOrNull('Planned by the schedule in force, %; null without one.'),
})

const PowerPoint = Named('BatteryPowerPoint', {
  start_at: At('Start of a quarter hour of the UTC day.'),
  end_at: At('End of the quarter hour.'),
  power_kw: field.NumOrNull(
    'Mean power, kW, so far for the running quarter hour; null where not measured.',
    100,
  ),
  planned_power_kw: field.NumOrNull(
    'Mean planned by the schedules in force, kW; null without one.',
    120,
  ),
})

type Dashboard = Static<typeof Dashboard>
const Dashboard = Named('BatteryDashboard', {
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
})

/**
 * Metrics of a local day. `days` are the UTC days that overlap it; energies of `counted` take
 * precedence where known.
 */
function todayOf(
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

function seriesOf({
  quarters,
  plans,
  start_ms,
}: UnitDay): Pick<Dashboard, 'soc_series' | 'power_series'> {
  const spans = quartersOf({ start_ms, end_ms: start_ms + day_ms })
  const at = (span: Span) => ({ start_at: isoTime(span.start_ms), end_at: isoTime(span.end_ms) })
  return {
    soc_series: spans.map((span, nth) => ({
      ...at(span),
      soc_pct: rounded(quarters[nth]?.soc_start_pct ?? null, 2),
      planned_soc_pct: rounded(plannedCharge(plans, span.start_ms), 2),
    })),
    power_series: spans.map((span, nth) => {
      const quarter = quarters[nth]
      const net_kwh = quarter ? netEnergy(quarter) : null
      const planned_kw = plannedPower(plans, span)
      return {
        ...at(span),
        power_kw:
          net_kwh && significant((net_kwh * hour_ms) / (quarter!.end_ms - quarter!.start_ms)),
        planned_power_kw: planned_kw && significant(planned_kw),
      }
    }),
  }
}

export const getDashboard = endpoint({
  method: 'GET',
  tag: 'Batteries',
  scope: 'bess:read',
  module: 'bess',
  path: '/bess/{bess_id}/dashboard',
  operation_id: 'bess_dashboard_get',
  summary: 'Dashboard of a battery',
  description:
    'Returns the newest readings, the day against its plan, alarms and limits. `today` and the ' +
    'energies of `current` cover the local day of the site. `schedule`, `deviations` and the ' +
    'series cover the UTC day, as schedules do. `schedule` is the approved schedule of the day, ' +
    'else the proposed one, else null.',
  params: { bess_id: BessId },
  returns: Dashboard,
  async handle({ site: { site_id }, params, caller }, { db, clock }: Context) {
    const now = clock.now()
    const id = { site_id, ...params }
    const [facts, unit] = await Promise.all([siteFacts(db, site_id), requireUnit(db, id)])
    const situation = situationOf(facts, now)
    // A day has at most 25 hours, and the next day more than two.
    const next = new Date(situation.day_start_at.getTime() + 25 * hour_ms)
    const span = {
      start_ms: situation.day_start_at.getTime(),
      end_ms: dayStart(next, facts.timezone).getTime(),
    }
    const dates = [...new Set([utcDate(span.start_ms), utcDate(span.end_ms - 1)])]
    const of_today = { ...id, date: utcDate(now) }
    const [{ live, alarms }, days, raised, [approved], [proposed]] = await Promise.all([
      readUnitNow(db, id, situation),
      Promise.all(dates.map((date) => readUnitDay(db, unit, { date, now }))),
      raisedSince(db, id, new Date(now.getTime() - day_ms)),
      schedulesIn(db, { ...of_today, state: 'approved' }),
      schedulesIn(db, { ...of_today, state: 'proposed' }),
    ])
    const day = days.find(({ start_ms }) => start_ms === utcDayStart(now.getTime()))!
    const schedule = approved ?? proposed
    const current = batteryNow(live, situation)
    const today = todayOf(days, span, current)
    return {
      unit: unitRecord(live, situation),
      current,
      schedule: schedule ? scheduleOf(schedule, now, hourlyPowers(day.quarters)) : null,
      deviations: deviationsOf(day),
      today: mayRead(caller, 'earnings:read') ? today : { ...today, ...hidden_earnings },
      ...seriesOf(day),
      alarms_summary: alarmCounts(alarms, raised),
      envelope: envelopeOf(live, situation),
    }
  },
})

const hidden_earnings = {
  earnings_amount: null,
  earnings_reason: 'forbidden_scope',
  currency: null,
} as const
