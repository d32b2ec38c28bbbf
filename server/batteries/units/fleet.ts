import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Named } from '../../http/params.ts'
import { sumKnown } from '../../plant/energy-today.ts'
import { iso, isStale } from '../../plant/frame.ts'
import type { Situation } from '../../plant/situation.ts'
import { energiesToday, oldestOf } from '../current.ts'
import { EarningsReason } from '../earnings.ts'
import { type Envelope, envelopeOf } from '../envelope.ts'
import type { LiveUnit, UnitRow } from '../unit-store.ts'
import { BessId, unitStatus, usableEnergy } from '../units.ts'

const AlarmCounts = Named('FleetAlarmCounts', {
  info: field.Count('Set alarms of severity `info`.'),
  warning: field.Count('Set alarms of severity `warning`.', 1),
  major: field.Count('Set alarms of severity `major`.'),
  critical: field.Count('Set alarms of severity `critical`.'),
})

const ScheduleCounts = Named('FleetScheduleCounts', {
  proposed: field.Count('Units whose schedule awaits a decision.', 1),
  approved: field.Count('Units with an approved schedule, including running and completed ones.'),
  rejected: field.Count('Units whose only schedules were rejected.'),
})

export type FleetSummary = Static<typeof FleetSummary>
export const FleetSummary = Named('BatteryFleetSummary', {
  measured_at: field.AtOrNull('Time of the oldest reading in the present sums; null without any.'),
  unit_count: field.Count('Units in service.', 2),
  online_count: field.Count('Units whose newest reading is not stale.', 2),
  fault_count: field.Count('Units with status `fault`.'),
  stale_unit_ids: Type.Array(BessId, {
    description: 'Units whose newest reading is stale or missing; not in the present sums.',
  }),
  rated_energy_kwh: field.Num('Sum over the units in service, kWh.', 500),
  usable_energy_kwh: field.Num('Sum over the units in service, kWh.', 440),
  available_energy_kwh: field.NumOrNull(
    'Energy in the cells that can be discharged now, kWh, as in /envelope.',
    226,
  ),
  soc_pct: field.NumOrNull('State of charge, weighted by usable energy, %.', 56.4),
  soh_pct: field.NumOrNull('State of health, weighted by rated energy, %.'),
  power_kw: field.NumOrNull('Sum of power, kW; positive is discharging.', 100),
  max_charge_power_kw: field.NumOrNull('Sum of the charging limits of the envelopes, kW.', 230),
  max_discharge_power_kw: field.NumOrNull(
    'Sum of the discharging limits of the envelopes, kW; null while the limit of a connection ' +
      'applies.',
    240,
  ),
  charged_today_kwh: field.NumOrNull(
    'Energy charged since local midnight, kWh, of units that report it.',
    370.4,
  ),
  discharged_today_kwh: field.NumOrNull('Energy discharged since local midnight, kWh; likewise.'),
  cycles_today: field.NumOrNull(
    'Energy discharged today divided by the usable energy of these units.',
    0.75,
  ),
  roundtrip_efficiency_30d_pct: field.NumOrNull(
    'Round-trip efficiency of the last 30 days by the counters of the units, %. Losses are split ' +
      'evenly between charging and discharging, and the change of stored energy is included. ' +
      'Null until the charged energy exceeds the usable energy.',
    89.3,
  ),
  active_alarm_counts: AlarmCounts,
  schedules: ScheduleCounts,
  earnings_today_amount: field.NumOrNull(
    'Value of discharged less charged energy today at day-ahead prices, of the units for which ' +
      'it is known. Null without `earnings:read`.',
    31.42,
  ),
  earnings_today_reason: EarningsReason,
  currency: field.TextOrNull('ISO 4217, of the amount; null without one.', 'EUR'),
})

export interface FleetFacts {
  schedules: FleetSummary['schedules']
  roundtrip_efficiency_30d_pct: number | null
  earnings: { amount: number; currency: string } | null
}

/** `forbidden_scope`: the caller lacks `earnings:read`. */
type Earnings = FleetFacts['earnings'] | 'forbidden_scope'

export function fleetSummary(
  units: readonly LiveUnit[],
  facts: Omit<FleetFacts, 'earnings'> & { earnings: Earnings },
  situation: Situation,
): FleetSummary {
  const { now, poll } = situation
  const isFresh = ({ row }: LiveUnit) => !isStale(row.measured_at, poll.battery_s, now)
  const fresh = units.filter(isFresh)
  return {
    measured_at: iso(oldestOf(fresh.map(({ row }) => row))),
    unit_count: units.length,
    online_count: fresh.length,
    fault_count: units.filter((unit) => unitStatus(unit, situation) === 'fault').length,
    stale_unit_ids: units.filter((unit) => !isFresh(unit)).map(({ row }) => row.bess_id),
    rated_energy_kwh: sumOf(units, (row) => row.rated_energy_kwh) ?? 0,
    usable_energy_kwh: sumOf(units, usableEnergy) ?? 0,
    ...nowOf(fresh, situation),
    ...todayOf(units, situation),
    roundtrip_efficiency_30d_pct: facts.roundtrip_efficiency_30d_pct,
    active_alarm_counts: alarmCounts(units),
    schedules: facts.schedules,
    ...earningsOf(facts.earnings),
  }
}

function earningsOf(earnings: Earnings) {
  const is_hidden = earnings === 'forbidden_scope'
  const { amount = null, currency = null } = is_hidden ? {} : (earnings ?? {})
  return {
    earnings_today_amount: amount,
    earnings_today_reason: is_hidden ? earnings : null,
    currency,
  }
}

const sumOf = (units: readonly Pick<LiveUnit, 'row'>[], value: (row: UnitRow) => number | null) =>
  sumKnown(units.map(({ row }) => value(row)))

function nowOf(fresh: readonly LiveUnit[], situation: Situation) {
  const envelopes = fresh.map((unit) => envelopeOf(unit, situation))
  const sum = (value: (envelope: Envelope) => number | null) => sumKnown(envelopes.map(value))
  const is_site_limited = envelopes.some((one) => one.limited_by_discharge === 'site')
  return {
    available_energy_kwh: sum((one) => one.available_discharge_energy_kwh),
    soc_pct: weighted(fresh, 'soc_pct', usableEnergy),
    soh_pct: weighted(fresh, 'soh_pct', (row) => row.rated_energy_kwh),
    power_kw: sumOf(fresh, (row) => row.power_kw),
    max_charge_power_kw: sum((one) => one.max_charge_power_kw),
    max_discharge_power_kw: is_site_limited ? null : sum((one) => one.max_discharge_power_kw),
  }
}

function weighted(
  units: readonly LiveUnit[],
  name: 'soc_pct' | 'soh_pct',
  weightOf: (row: UnitRow) => number,
): number | null {
  let [sum, weights] = [0, 0]
  for (const { row } of units) {
    if (row[name] === null) continue
    sum += row[name] * weightOf(row)
    weights += weightOf(row)
  }
  return weights === 0 ? null : significant(sum / weights)
}

function todayOf(units: readonly LiveUnit[], situation: Situation) {
  const energies = units.map(({ row }) => ({ row, ...energiesToday(row, situation) }))
  const discharging = energies.filter((one) => one.discharged_today_kwh !== null)
  const discharged_kwh = sumKnown(energies.map((one) => one.discharged_today_kwh))
  const usable_kwh = sumOf(discharging, usableEnergy)
  return {
    charged_today_kwh: sumKnown(energies.map((one) => one.charged_today_kwh)),
    discharged_today_kwh: discharged_kwh,
    cycles_today:
      discharged_kwh === null || !usable_kwh ? null : significant(discharged_kwh / usable_kwh),
  }
}

function alarmCounts(units: readonly LiveUnit[]): FleetSummary['active_alarm_counts'] {
  const found = { info: 0, warning: 0, major: 0, critical: 0 }
  for (const { alarms } of units) for (const { severity } of alarms) found[severity] += 1
  return found
}
