/** The power conversion systems (PCS) of a unit: newest readings and their sums. */
import { controlPlaces, gridModes, pcsStates } from '@heliograph/domain/battery'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/params.ts'
import { sumAll } from '../../plant/energy-today.ts'
import { At, ageInSeconds, frame, frameOf, isStale, liveQualities } from '../../plant/frame.ts'
import { quantity } from '../../plant/quantities.ts'
import type { Situation } from '../../plant/situation.ts'
import { served } from '../../storage/records.ts'
import { flag } from '../current.ts'
import type { PcsRow } from '../unit-store.ts'

const closed = { additionalProperties: false } as const
const Metric = (description: string) => Nullable(Type.Number({ description }))
const Flag = (description: string) => Nullable(Type.Boolean({ description }))

export const PcsIdx = Type.Integer({
  minimum: 0,
  description: 'The power conversion system within the unit, counted from 0.',
})

/** Fields of both the newest and historical readings. */
export const pcsMeasured = {
  state: Nullable(
    Type.Enum([...pcsStates], {
      description: 'Operating state reported by the device, in the terms of SunSpec.',
    }),
  ),
  state_vendor_code: Nullable(
    Type.Integer({ description: "The manufacturer's own code of the state." }),
  ),
  grid_mode: Nullable(
    Type.Enum([...gridModes], { description: 'Operating mode towards the grid.' }),
  ),
  ac_power_kw: quantity('ac_power_kw'),
  reactive_power_kvar: quantity('reactive_power_kvar'),
  apparent_power_kva: quantity('apparent_power_kva'),
  power_factor: quantity('power_factor'),
  frequency_hz: quantity('frequency_hz'),
  voltage_l1_l2_v: quantity('voltage_l1_l2_v'),
  voltage_l2_l3_v: quantity('voltage_l2_l3_v'),
  voltage_l3_l1_v: quantity('voltage_l3_l1_v'),
  current_l1_a: quantity('current_l1_a'),
  current_l2_a: quantity('current_l2_a'),
  current_l3_a: quantity('current_l3_a'),
  dc_voltage_v: quantity('dc_voltage_v'),
  dc_current_a: Metric('DC current, A; positive is discharging.'),
  dc_power_kw: Metric('DC power, kW; positive is discharging.'),
  efficiency_pct: Metric(
    'Output power as a percentage of input power; null below 2 % of rated power.',
  ),
  setpoint_kw: quantity('setpoint_kw'),
  setpoint_kvar: quantity('setpoint_kvar'),
  max_charge_power_kw: quantity('max_charge_power_kw'),
  max_discharge_power_kw: quantity('max_discharge_power_kw'),
  energy_injected_total_kwh: quantity('energy_injected_total_kwh'),
  energy_absorbed_total_kwh: quantity('energy_absorbed_total_kwh'),
  heatsink_temperature_c: quantity('heatsink_temperature_c'),
  igbt_temperature_c: quantity('igbt_temperature_c'),
  cabinet_temperature_c: quantity('cabinet_temperature_c'),
  ambient_temperature_c: quantity('ambient_temperature_c'),
  transformer_temperature_c: quantity('transformer_temperature_c'),
  ac_breaker_closed: Flag('Whether the breaker to the grid is closed.'),
  dc_contactor_closed: Flag('Whether the contactor to the battery is closed.'),
  insulation_resistance_kohm: quantity('insulation_resistance_kohm'),
  throttle_pct: quantity('throttle_pct'),
  throttle_source: Nullable(
    Type.Integer({ description: 'Why power is throttled: the bits of SunSpec 701, as read.' }),
  ),
  local_remote: Nullable(
    Type.Enum([...controlPlaces], {
      description:
        'Where the device takes commands from: `local` (on site) or `remote` (the edge).',
    }),
  ),
}

export type PcsNow = Static<typeof PcsNow>
export const PcsNow = Type.Object(
  {
    pcs_idx: PcsIdx,
    rated_power_kw: Type.Number({ description: 'Rated power, kW; from 0.' }),
    ...frame,
    ...pcsMeasured,
  },
  { ...closed, $id: 'PcsNow' },
)

export type UnitPcs = Static<typeof UnitPcs>
export const UnitPcs = Type.Object(
  {
    bess_id: Type.Integer({ description: 'The unit.' }),
    measured_at: Nullable(At('Time of the oldest reading in the sums; null without any.')),
    age_s: Nullable(Type.Number({ minimum: 0, description: 'Seconds since `measured_at`.' })),
    quality: Type.Enum([...liveQualities], {
      description:
        '`good`: all PCS are in the sums, with good readings; `suspect`: some are not; `stale`: ' +
        'none is; `missing`: nothing was ever measured.',
    }),
    pcs_count: Type.Integer({ minimum: 0, description: 'Power conversion systems of the unit.' }),
    ac_power_kw: Metric('Sum over those with a fresh reading, kW; positive towards the grid.'),
    reactive_power_kvar: Metric(
      'Sum over those in `ac_power_kw`, kvar; positive is injected; null unless each reports it.',
    ),
    dc_power_kw: Metric('Likewise, kW; positive is discharging.'),
    max_charge_power_kw: Metric('Sum of the charging limits reported by the PCS, likewise, kW.'),
    max_discharge_power_kw: Metric(
      'Sum of the discharging limits reported by the PCS, likewise, kW.',
    ),
    pcs: Type.Array(PcsNow, { description: 'Each PCS, by index.' }),
  },
  { ...closed, $id: 'UnitPcs' },
)

export function unitPcs(
  bess_id: number,
  rows: readonly PcsRow[],
  { now, poll }: Pick<Situation, 'now' | 'poll'>,
): UnitPcs {
  const fresh = rows.filter(({ measured_at }) => !isStale(measured_at, poll.battery_s, now))
  const oldest_at = fresh.reduce<Date | null>(
    (oldest, { measured_at }) => (oldest && oldest < measured_at! ? oldest : measured_at),
    null,
  )
  const powered = fresh.filter(({ ac_power_kw }) => ac_power_kw !== null)
  const sum = (name: Summed) => sumAll(powered.map((row) => row[name]))
  return {
    bess_id,
    measured_at: oldest_at?.toISOString() ?? null,
    age_s: oldest_at && ageInSeconds(oldest_at, now),
    quality: qualityOf(rows, fresh),
    pcs_count: rows.length,
    ac_power_kw: sum('ac_power_kw'),
    reactive_power_kvar: sum('reactive_power_kvar'),
    dc_power_kw: sum('dc_power_kw'),
    max_charge_power_kw: sum('max_charge_power_kw'),
    max_discharge_power_kw: sum('max_discharge_power_kw'),
    pcs: rows.map((row) => pcsNow(row, { now, poll })),
  }
}

type Summed =
  | 'ac_power_kw'
  | 'reactive_power_kvar'
  | 'dc_power_kw'
  | 'max_charge_power_kw'
  | 'max_discharge_power_kw'

function qualityOf(rows: readonly PcsRow[], fresh: readonly PcsRow[]): UnitPcs['quality'] {
  if (rows.every(({ measured_at }) => measured_at === null)) return 'missing'
  if (fresh.length === 0) return 'stale'
  const is_whole = fresh.length === rows.length && fresh.every(({ quality }) => quality === 'good')
  return is_whole ? 'good' : 'suspect'
}

const fields = Object.keys(PcsNow.properties)

const pcsNow = (row: PcsRow, { now, poll }: Pick<Situation, 'now' | 'poll'>) =>
  served(fields, {
    ...row,
    ...frameOf(row, poll.battery_s, now),
    efficiency_pct: efficiencyOf(row),
    ac_breaker_closed: flag(row.ac_breaker_closed),
    dc_contactor_closed: flag(row.dc_contactor_closed),
    local_remote: row.control_place,
  }) as PcsNow

/** Below this load the quotient is noise. */
const efficiency_load_ratio_min = 0.02

function efficiencyOf({ ac_power_kw, dc_power_kw, rated_power_kw }: PcsRow): number | null {
  if (ac_power_kw === null || dc_power_kw === null) return null
  const [out_kw, in_kw] =
    dc_power_kw > 0 ? [ac_power_kw, dc_power_kw] : [-dc_power_kw, -ac_power_kw]
  if (out_kw < 0 || in_kw < efficiency_load_ratio_min * rated_power_kw) return null
  return significant((100 * out_kw) / in_kw)
}
