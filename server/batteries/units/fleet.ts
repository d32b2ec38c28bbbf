/** All battery units of a site together. */
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import {
  AtOrNull,
  Closed,
  Count,
  Num,
  NumOrNull,
  OneOfOrNull,
  TextOrNull,
} from '../../http/fields.ts'
import { sumKnown } from '../../plant/energy-today.ts'
import { iso, isStale } from '../../plant/frame.ts'
import type { Situation } from '../../plant/situation.ts'
import { energiesToday, oldestOf } from '../current.ts'
import { envelopeOf } from '../envelope.ts'
import type { LiveUnit } from '../unit-store.ts'
import { BessId, unitStatus, usableEnergy } from '../units.ts'

const AlarmCounts = Closed('FleetAlarmCounts', {
  info: Count('Set alarms of severity `info`.'),
  warning: Count('Set alarms of severity `warning`.'),
  major: Count('Set alarms of severity `major`.'),
  critical: Count('Set alarms of severity `critical`.'),
})

const ScheduleCounts = Closed('FleetScheduleCounts', {
  proposed: Count('Units whose schedule awaits a decision.'),
  approved: Count('Units with an approved schedule, including running and completed ones.'),
  rejected: Count('Units whose only schedules were rejected.'),
})

export type FleetSummary = Static<typeof FleetSummary>
export const FleetSummary = Closed('BatteryFleetSummary', {
  measured_at: AtOrNull('Time of the oldest reading in the present sums; null without any.'),
  unit_count: Count('Units in service.'),
  online_count: Count('Units whose newest reading is not stale.'),
  fault_count: Count('Units with status `fault`.'),
  stale_unit_ids: Type.Array(BessId, {
    description: 'Units whose newest reading is stale or missing; not in the present sums.',
  }),
  rated_energy_kwh: Num('Sum over the units in service, kWh.'),
  usable_energy_kwh: Num('Sum over the units in service, kWh.'),
  available_energy_kwh: NumOrNull(
    'Energy in the cells that can be discharged now, kWh, as in /envelope.',
  ),
  soc_pct: NumOrNull('State of charge, weighted by usable energy, %.'),
  soh_pct: NumOrNull('State of health, weighted by rated energy, %.'),
  power_kw: NumOrNull('Sum of power, kW; positive is discharging.'),
  max_charge_power_kw: NumOrNull('Sum of the charging limits of the envelopes, kW.'),
  max_discharge_power_kw: NumOrNull(
    'Sum of the discharging limits of the envelopes, kW; null while the limit of a connection ' +
      'applies.',
  ),
  charged_today_kwh: NumOrNull(
    'Energy charged since local midnight, kWh, of units that report it.',
  ),
  discharged_today_kwh: NumOrNull('Energy discharged since local midnight, kWh; likewise.'),
  cycles_today: NumOrNull('Energy discharged today divided by the usable energy of these units.'),
  roundtrip_efficiency_30d_pct: NumOrNull(
    'Round-trip efficiency of the last 30 days by the counters of the units, %. Losses are split ' +
      'evenly between charging and discharging, and the change of stored energy is included. ' +
      'Null until the charged energy exceeds the usable energy.',
  ),
  active_alarm_counts: AlarmCounts,
  schedules: ScheduleCounts,
  earnings_today_amount: NumOrNull(
    'Value of discharged less charged energy today at day-ahead prices, of the units for which ' +
      'it is known. Null without `earnings:read`.',
  ),
  earnings_today_reason: OneOfOrNull(
    ['forbidden_scope'],
    '`forbidden_scope`: the amount is null, as the key lacks `earnings:read` or the plan ' +
      'lacks the module `earnings`. An extension.',
  ),
  currency: TextOrNull('ISO 4217, of the amount; null without one.'),
})

/** Further values of the fleet. */
export interface FleetFacts {
  schedules: FleetSummary['schedules']
  roundtrip_efficiency_30d_pct: number | null
  earnings: { amount: number; currency: string } | null
}

/** `forbidden_scope`: the caller lacks `earnings:read`. */
type Earnings = FleetFacts['earnings'] | 'forbidden_scope'

/** `units`: the units in service. */
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
    rated_energy_kwh: sumOf(units, ({ row }) => row.rated_energy_kwh) ?? 0,
    usable_energy_kwh: sumOf(units, ({ row }) => usableEnergy(row)) ?? 0,
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

type Of = (unit: LiveUnit) => number | null

const sumOf = (units: readonly LiveUnit[], value: Of) => sumKnown(units.map(value))

function nowOf(fresh: readonly LiveUnit[], situation: Situation) {
  const envelopes = fresh.map((unit) => envelopeOf(unit, situation))
  const is_site_limited = envelopes.some(
    ({ limited_by_discharge }) => limited_by_discharge === 'site',
  )
  return {
    available_energy_kwh: sumKnown(
      envelopes.map(({ available_discharge_energy_kwh }) => available_discharge_energy_kwh),
    ),
    soc_pct: weighted(
      fresh,
      ({ row }) => row.soc_pct,
      ({ row }) => usableEnergy(row),
    ),
    soh_pct: weighted(
      fresh,
      ({ row }) => row.soh_pct,
      ({ row }) => row.rated_energy_kwh,
    ),
    power_kw: sumOf(fresh, ({ row }) => row.power_kw),
    max_charge_power_kw: sumKnown(envelopes.map(({ max_charge_power_kw }) => max_charge_power_kw)),
    max_discharge_power_kw: is_site_limited
      ? null
      : sumKnown(envelopes.map(({ max_discharge_power_kw }) => max_discharge_power_kw)),
  }
}

/** Weighted mean of the known values. */
function weighted(
  units: readonly LiveUnit[],
  value: Of,
  weight: (unit: LiveUnit) => number,
): number | null {
  let [sum, weights] = [0, 0]
  for (const unit of units) {
    const known = value(unit)
    if (known === null) continue
    sum += known * weight(unit)
    weights += weight(unit)
  }
  return weights === 0 ? null : significant(sum / weights)
}

function todayOf(units: readonly LiveUnit[], situation: Situation) {
  const energies = units.map((unit) => ({ unit, ...energiesToday(unit.row, situation) }))
  const discharging = energies.filter(({ discharged_today_kwh }) => discharged_today_kwh !== null)
  const discharged_kwh = sumKnown(energies.map(({ discharged_today_kwh }) => discharged_today_kwh))
  const usable_kwh = sumKnown(discharging.map(({ unit }) => usableEnergy(unit.row)))
  return {
    charged_today_kwh: sumKnown(energies.map(({ charged_today_kwh }) => charged_today_kwh)),
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
