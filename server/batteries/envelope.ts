/**
 * The envelope of a unit: its present charging and discharging limits, the lowest of those of BMS,
 * PCS and operating window; 0 while its data is stale. The envelope shows that the limit of the
 * connection applies, but not its value, which the server does not know.
 */
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { Named, Nullable } from '../http/params.ts'
import {
  frame,
  frameOf,
  isStale,
  stale_polls,
  stale_s_min,
  staleAfterSeconds,
} from '../plant/frame.ts'
import { quantity } from '../plant/quantities.ts'
import type { Polled } from '../plant/situation.ts'
import { served } from '../storage/records.ts'
import { isoTime } from '../storage/values.ts'
import type { LiveUnit, PcsRow, UnitRow } from './unit-store.ts'
import { capacityOf, isInForce } from './units.ts'

const limitSources = [
  'none',
  'communication',
  'alarm',
  'soc',
  'pcs',
  'temperature',
  'bms',
  'site',
] as const
type LimitSource = (typeof limitSources)[number]

const limitedBy = (of: string) =>
  field.OneOf(
    limitSources,
    `What limits ${of} below rated power. \`communication\`: the newest reading is stale. ` +
      '`alarm`: the unit is in fault, off, starting or disconnected. `soc`: the operating window, ' +
      'or an unknown state of charge. `pcs`, `bms`: limits reported by them. `temperature`: the ' +
      'limit of the BMS while a cell is beyond the threshold of its pre-alarm. `site`: the limit ' +
      'of the connection, whose value is not included.',
    'bms',
  )

const CurvePoint = Named('BatteryCurvePoint', {
  soc_pct: field.Num('State of charge, %.', 50),
  max_charge_power_kw: field.FromZero('Maximum charging power at this state of charge, kW.', 200),
  max_discharge_power_kw: field.FromZero(
    'Maximum discharging power at this state of charge, kW.',
    200,
  ),
})

export type Envelope = Static<typeof Envelope>
export const Envelope = Named('BatteryEnvelope', {
  ...frame,
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  soc_min_pct: field.Num('Lower end of the operating window, %.', 5),
  soc_max_pct: field.Num('Upper end of the operating window, %.', 95),
  soc_reserve_pct: field.NumOrNull('Reserve that plans do not use, %; null without one.', 10),
  available_discharge_energy_kwh: field.FromZeroOrNull(
    'Energy in the cells above the lower end of the window or the reserve, kWh, at most what the ' +
      'device reports; by the last reading of any age. Equals `available_energy_kwh`; excludes ' +
      'discharging losses.',
    196,
  ),
  available_charge_energy_kwh: field.FromZeroOrNull(
    'Energy up to the upper end of the window, kWh; likewise, excludes charging losses.',
    137.2,
  ),
  max_charge_power_kw: field.FromZeroOrNull(
    'Present charging limit, kW; 0 while the data is stale.',
    180,
  ),
  max_discharge_power_kw: field.FromZeroOrNull(
    'Present discharging limit, kW; 0 while the data is stale, null while the limit of the ' +
      'connection applies.',
    190,
  ),
  bms_charge_limit_kw: field.FromZeroOrNull(
    'Charging limit of the BMS, kW: its power limit, else its current limit at the present ' +
      'voltage.',
    180,
  ),
  bms_discharge_limit_kw: field.FromZeroOrNull('Discharging limit of the BMS, kW; likewise.', 190),
  pcs_charge_limit_kw: field.FromZeroOrNull(
    'Sum of the charging limits of the PCS, kW, each at most its rated power; 0 for PCS that are ' +
      'stale, off or in fault.',
    200,
  ),
  pcs_discharge_limit_kw: field.FromZeroOrNull(
    'Sum of the discharging limits of the PCS, kW; likewise.',
    200,
  ),
  site_limit_active: field.Flag(
    'Whether the limit of the connection lowers the discharging setpoint.',
  ),
  limited_by_charge: limitedBy('charging'),
  limited_by_discharge: limitedBy('discharging'),
  max_charge_duration_min: field.FromZeroOrNull(
    'How long the unit can charge at that limit, min, with the losses of the datasheet if given; ' +
      'null where energy or power is unknown or power is 0.',
    48.75,
  ),
  max_discharge_duration_min: field.FromZeroOrNull(
    'How long the unit can discharge at that limit, min; likewise.',
    58.06,
  ),
  ramp_rate_kw_s: field.NumOrNull('Ramp rate of the setpoint, kW/s.'),
  temperature_derating_pct: field.FromZeroOrNull(
    'Reduction of power by the BMS while a cell is beyond the threshold of its pre-alarm, % of ' +
      'rated power, the larger of both directions; else null.',
  ),
  curve: Nullable(
    Type.Array(CurvePoint, {
      description:
        'Power limits by state of charge from the datasheet in the inventory, linear between the ' +
        'points; used by plans. Null without a curve.',
    }),
  ),
  valid_until_at: field.AtOrNull(
    `When this reading becomes stale: after ${stale_polls} polls and at least ` +
      `${stale_s_min} s; null if it is stale.`,
  ),
})

interface Direction {
  rated_kw: number
  bms_kw: number | null
  pcs_kw: number
  energy_kwh: number | null
  is_hot_or_cold: boolean
  is_site_limited: boolean
}

interface Limited {
  power_kw: number | null
  limited_by: LimitSource
}

export function envelopeOf(
  { row, pcs }: Pick<LiveUnit, 'row' | 'pcs'>,
  { now, poll }: Polled,
): Envelope {
  const is_stale = isStale(row.measured_at, poll.battery_s, now)
  const charge = directionOf('charge', { row, pcs }, { now, poll })
  const discharge = directionOf('discharge', { row, pcs }, { now, poll })
  const of_charge = is_stale ? no_communication : limit(charge, row)
  const of_discharge = is_stale ? no_communication : limit(discharge, row)
  const one_way = Math.sqrt((row.roundtrip_efficiency_pct ?? 100) / 100)
  const valid_ms = 1000 * staleAfterSeconds(poll.battery_s)
  const valid_until_at =
    row.measured_at && !is_stale ? isoTime(row.measured_at.getTime() + valid_ms) : null
  return served(Envelope, {
    ...row,
    ...frameOf(row, poll.battery_s, now),
    available_discharge_energy_kwh: discharge.energy_kwh,
    available_charge_energy_kwh: charge.energy_kwh,
    max_charge_power_kw: of_charge.power_kw,
    max_discharge_power_kw: of_discharge.power_kw,
    bms_charge_limit_kw: charge.bms_kw,
    bms_discharge_limit_kw: discharge.bms_kw,
    pcs_charge_limit_kw: charge.pcs_kw,
    pcs_discharge_limit_kw: discharge.pcs_kw,
    site_limit_active: discharge.is_site_limited,
    limited_by_charge: of_charge.limited_by,
    limited_by_discharge: of_discharge.limited_by,
    max_charge_duration_min: durationOf(charge.energy_kwh, of_charge.power_kw, 1 / one_way),
    max_discharge_duration_min: durationOf(discharge.energy_kwh, of_discharge.power_kw, one_way),
    temperature_derating_pct: deratingOf([charge, discharge]),
    curve: row.power_curve,
    valid_until_at,
  })
}

const no_communication: Limited = { power_kw: 0, limited_by: 'communication' }

function directionOf(
  towards: 'charge' | 'discharge',
  { row, pcs }: Pick<LiveUnit, 'row' | 'pcs'>,
  { now, poll }: Polled,
): Direction {
  const is_charge = towards === 'charge'
  return {
    rated_kw: row[`rated_${towards}_power_kw`],
    bms_kw: bmsLimit(row, towards),
    pcs_kw: significant(pcs.reduce((sum, one) => sum + pcsLimit(one, towards, { now, poll }), 0)),
    energy_kwh: energyLeft(row, towards),
    is_hot_or_cold: isHotOrCold(row, is_charge),
    is_site_limited:
      !is_charge && row.clamp_reason === 'permit' && isInForce(row.clamped_from_at, now),
  }
}

function bmsLimit(row: UnitRow, towards: 'charge' | 'discharge'): number | null {
  const power_kw = row[`max_${towards}_power_kw`]
  if (power_kw !== null) return Math.max(0, power_kw)
  const current_a = row[`max_${towards}_current_a`]
  if (current_a === null || row.dc_voltage_v === null) return null
  return significant(Math.max(0, (current_a * row.dc_voltage_v) / 1000))
}

const unable = new Set(['off', 'fault', 'shutting_down'])

function pcsLimit(pcs: PcsRow, towards: 'charge' | 'discharge', { now, poll }: Polled): number {
  if (isStale(pcs.measured_at, poll.battery_s, now)) return 0
  if (pcs.state !== null && unable.has(pcs.state)) return 0
  const reported_kw = pcs[`max_${towards}_power_kw`] ?? pcs.rated_power_kw
  return Math.max(0, Math.min(reported_kw, pcs.rated_power_kw))
}

type Charge = Parameters<typeof capacityOf>[0] &
  Pick<UnitRow, 'soc_pct' | 'soc_reserve_pct' | 'energy_to_full_kwh' | 'available_energy_kwh'>

/** Energy to the end of the window, kWh, at most as reported; null without a state of charge. */
export function energyLeft(row: Charge, towards: 'charge' | 'discharge'): number | null {
  if (row.soc_pct === null) return null
  const lowest_pct = Math.max(row.soc_min_pct, row.soc_reserve_pct ?? 0)
  const [span_pct, reported_kwh] =
    towards === 'charge'
      ? [row.soc_max_pct - row.soc_pct, row.energy_to_full_kwh]
      : [row.soc_pct - lowest_pct, row.available_energy_kwh]
  const energy_kwh = (Math.max(0, span_pct) / 100) * capacityOf(row)
  return significant(Math.max(0, Math.min(energy_kwh, reported_kwh ?? energy_kwh)))
}

function isHotOrCold(row: UnitRow, is_charge: boolean): boolean {
  const { cell_temperature_min_c: min_c, cell_temperature_max_c: max_c } = row
  return (row.protection ?? []).some(({ parameter, level, trip_value }) => {
    if (level !== 'pre_alarm') return false
    if (parameter === 'cell_under_temperature') return min_c !== null && min_c <= trip_value
    const is_upper =
      parameter === 'cell_over_temperature' ||
      (is_charge && parameter === 'charge_over_temperature')
    return is_upper && max_c !== null && max_c >= trip_value
  })
}

const halted = new Set<UnitRow['state']>(['fault', 'off', 'disconnected', 'initializing'])

function limit(direction: Direction, row: UnitRow): Limited {
  if (halted.has(row.state)) return { power_kw: 0, limited_by: 'alarm' }
  const bounds: [LimitSource, number][] = [
    ['none', direction.rated_kw],
    ['soc', (direction.energy_kwh ?? 0) > 0 ? Infinity : 0],
    [direction.is_hot_or_cold ? 'temperature' : 'bms', direction.bms_kw ?? Infinity],
    ['pcs', direction.pcs_kw],
  ]
  const [limited_by, power_kw] = bounds.reduce((least, next) => (next[1] < least[1] ? next : least))
  if (direction.is_site_limited && power_kw > 0) return { power_kw: null, limited_by: 'site' }
  return { power_kw: significant(power_kw), limited_by }
}

/** `ac_per_dc`: energy at the connection per energy in the battery. */
function durationOf(
  energy_kwh: number | null,
  power_kw: number | null,
  ac_per_dc: number,
): number | null {
  if (energy_kwh === null || !power_kw) return null
  return significant((60 * energy_kwh * ac_per_dc) / power_kw)
}

function deratingOf(directions: readonly Direction[]): number | null {
  const shares = directions.flatMap(({ is_hot_or_cold, bms_kw, rated_kw }) =>
    is_hot_or_cold && bms_kw !== null ? [100 * Math.max(0, 1 - bms_kw / rated_kw)] : [],
  )
  return shares.length === 0 ? null : significant(Math.max(...shares))
}
