/** What a unit measures now, and what follows from it. */
import {
  batteryStates,
  contactorStates,
  controlPlaces,
  fireStates,
} from '@heliograph/domain/battery'
import { counterIncrease } from '@heliograph/domain/counter'
import { significant } from '@heliograph/domain/significant'
import { type Static, Type } from 'typebox'
import { Nullable } from '../http/params.ts'
import { frame, frameOf, isStale } from '../plant/frame.ts'
import { quantity } from '../plant/quantities.ts'
import type { Situation } from '../plant/situation.ts'
import { energyLeft } from './envelope.ts'
import type { LiveUnit, PcsRow, UnitRow } from './unit-store.ts'

const Energy = (description: string) => Nullable(Type.Number({ minimum: 0, description }))
const Figure = (description: string) => Nullable(Type.Number({ description }))
const Flag = (description: string) => Nullable(Type.Boolean({ description }))
const Place = (which: string) =>
  Nullable(
    Type.String({
      description: `Where the ${which} is: cluster.module, both from 0, as far as the unit says.`,
      examples: ['1.2'],
    }),
  )

const cellRange = {
  cell_voltage_min_mv: quantity('cell_voltage_min_mv'),
  cell_voltage_max_mv: quantity('cell_voltage_max_mv'),
  cell_voltage_avg_mv: quantity('cell_voltage_avg_mv'),
  cell_voltage_spread_mv: Figure('Highest less lowest voltage of a cell, mV.'),
  cell_voltage_min_id: Place('cell with the lowest voltage'),
  cell_voltage_max_id: Place('cell with the highest voltage'),
  cell_temperature_min_c: quantity('cell_temperature_min_c'),
  cell_temperature_max_c: quantity('cell_temperature_max_c'),
  cell_temperature_avg_c: quantity('cell_temperature_avg_c'),
  cell_temperature_spread_c: Figure('Highest less lowest temperature of a cell, K.'),
  cell_temperature_min_id: Place('coldest cell'),
  cell_temperature_max_id: Place('warmest cell'),
}

/** What a reading holds, now and in the past. */
export const batteryMeasured = {
  state: Nullable(
    Type.Enum([...batteryStates], {
      description: 'Operating state as the unit reports it, in the terms of SunSpec.',
    }),
  ),
  state_vendor_code: Nullable(
    Type.Integer({ description: "The manufacturer's own code of the state." }),
  ),
  power_kw: quantity('power_kw'),
  setpoint_kw: quantity('setpoint_kw'),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  dod_pct: Figure('Depth of discharge, %: 100 less `soc_pct`.'),
  available_energy_kwh: Energy(
    'Energy of the cells down to the lower end of the operating window or the reserve, kWh, and no ' +
      'more than the device says it has: as `available_discharge_energy_kwh` of the envelope. Of ' +
      'past readings by the window as it is now. Its losses leave less at the connection.',
  ),
  energy_to_full_kwh: Energy(
    'Likewise up to the upper end of the window, kWh, as `available_charge_energy_kwh` of the ' +
      'envelope: charging takes more from the connection.',
  ),
  dc_voltage_v: quantity('dc_voltage_v'),
  dc_current_a: Figure('DC current, A; positive when it discharges.'),
  max_charge_power_kw: quantity('max_charge_power_kw'),
  max_discharge_power_kw: quantity('max_discharge_power_kw'),
  max_charge_current_a: quantity('max_charge_current_a'),
  max_discharge_current_a: quantity('max_discharge_current_a'),
  charged_total_kwh: quantity('charged_total_kwh'),
  discharged_total_kwh: quantity('discharged_total_kwh'),
  cycle_count: quantity('cycle_count'),
  ...cellRange,
  insulation_resistance_kohm: quantity('insulation_resistance_kohm'),
  ambient_temperature_c: quantity('ambient_temperature_c'),
  coolant_temperature_c: quantity('coolant_temperature_c'),
  contactor_state: Nullable(
    Type.Enum([...contactorStates], { description: 'The main contactors of the battery.' }),
  ),
  fire_system_state: Nullable(
    Type.Enum([...fireStates], { description: 'What the fire alarm system says.' }),
  ),
  heartbeat_ok: Flag(
    'Whether the unit and the edge hear each other; null where it has no heartbeat, and, in what ' +
      'is measured now, once the reading is stale.',
  ),
  local_remote: Nullable(
    Type.Enum([...controlPlaces], {
      description: 'Who may command it: someone in front of it, or the edge.',
    }),
  ),
}

export type BatteryNow = Static<typeof BatteryNow>
export const BatteryNow = Type.Object(
  {
    bess_id: Type.Integer({ description: 'The unit.' }),
    ...frame,
    ...batteryMeasured,
    grid_connected: Flag('Whether one of its PCS is on the grid; null where none says so.'),
    charged_today_kwh: Energy(
      'Charged since midnight at the site, kWh: the rise of the counter since its last value ' +
        'within 15 minutes before, else since its first of today. Null without a counter, and ' +
        'where it was reset.',
    ),
    discharged_today_kwh: Energy('Likewise discharged, kWh.'),
    alarm_count: Type.Integer({
      minimum: 0,
      description: 'Alarms of it and its PCS that are set.',
    }),
  },
  { additionalProperties: false, $id: 'BatteryNow' },
)

export function batteryNow({ row, pcs, alarms }: LiveUnit, situation: Situation): BatteryNow {
  const { now, poll } = situation
  return {
    bess_id: row.bess_id,
    ...frameOf(row, poll.battery_s, now),
    ...measuredOf(row),
    heartbeat_ok: isStale(row.measured_at, poll.battery_s, now) ? null : flag(row.heartbeat_ok),
    grid_connected: isGridConnected(pcs, situation),
    ...energiesToday(row, situation),
    alarm_count: alarms.length,
  }
}

function measuredOf(row: UnitRow) {
  return {
    state: row.state,
    state_vendor_code: row.state_vendor_code,
    power_kw: row.power_kw,
    setpoint_kw: row.setpoint_kw,
    soc_pct: row.soc_pct,
    soh_pct: row.soh_pct,
    dod_pct: less(100, row.soc_pct),
    available_energy_kwh: energyLeft(row, 'discharge'),
    energy_to_full_kwh: energyLeft(row, 'charge'),
    dc_voltage_v: row.dc_voltage_v,
    dc_current_a: row.dc_current_a,
    max_charge_power_kw: row.max_charge_power_kw,
    max_discharge_power_kw: row.max_discharge_power_kw,
    max_charge_current_a: row.max_charge_current_a,
    max_discharge_current_a: row.max_discharge_current_a,
    charged_total_kwh: row.charged_total_kwh,
    discharged_total_kwh: row.discharged_total_kwh,
    cycle_count: row.cycle_count,
    ...cellsOf(row),
    insulation_resistance_kohm: row.insulation_resistance_kohm,
    ambient_temperature_c: row.ambient_temperature_c,
    coolant_temperature_c: row.coolant_temperature_c,
    contactor_state: row.contactor_state,
    fire_system_state: row.fire_system_state,
    local_remote: row.control_place,
  }
}

function cellsOf(row: UnitRow) {
  return {
    cell_voltage_min_mv: row.cell_voltage_min_mv,
    cell_voltage_max_mv: row.cell_voltage_max_mv,
    cell_voltage_avg_mv: row.cell_voltage_avg_mv,
    cell_voltage_spread_mv: less(row.cell_voltage_max_mv, row.cell_voltage_min_mv),
    cell_voltage_min_id: place(row.cell_voltage_min_cluster_idx, row.cell_voltage_min_module_idx),
    cell_voltage_max_id: place(row.cell_voltage_max_cluster_idx, row.cell_voltage_max_module_idx),
    cell_temperature_min_c: row.cell_temperature_min_c,
    cell_temperature_max_c: row.cell_temperature_max_c,
    cell_temperature_avg_c: row.cell_temperature_avg_c,
    cell_temperature_spread_c: less(row.cell_temperature_max_c, row.cell_temperature_min_c),
    cell_temperature_min_id: place(
      row.cell_temperature_min_cluster_idx,
      row.cell_temperature_min_module_idx,
    ),
    cell_temperature_max_id: place(
      row.cell_temperature_max_cluster_idx,
      row.cell_temperature_max_module_idx,
    ),
  }
}

/** Of a number that is 1 or 0 in a reading. */
export const flag = (value: number | null): boolean | null => (value === null ? null : value === 1)

/** A difference without the noise of binary fractions; null where either is. */
export const less = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : significant(a - b)

const place = (cluster_idx: number | null, module_idx: number | null) =>
  cluster_idx === null
    ? null
    : [cluster_idx, ...(module_idx === null ? [] : [module_idx])].join('.')

/** Null where no PCS says so. */
function isGridConnected(
  pcs: readonly PcsRow[],
  { now, poll }: Pick<Situation, 'now' | 'poll'>,
): boolean | null {
  const told = pcs.filter(
    ({ grid_mode, ac_breaker_closed, measured_at }) =>
      !isStale(measured_at, poll.battery_s, now) &&
      (grid_mode !== null || ac_breaker_closed !== null),
  )
  if (told.length === 0) return null
  return told.some(
    ({ grid_mode, ac_breaker_closed }) =>
      (grid_mode ?? 'on_grid') === 'on_grid' && ac_breaker_closed !== 0,
  )
}

export interface EnergiesToday {
  charged_today_kwh: number | null
  discharged_today_kwh: number | null
}

/** By the counters, since midnight at the site. A unit unread since then says nothing of today. */
export function energiesToday(row: UnitRow, { day_start_at }: Situation): EnergiesToday {
  const { measured_at, day_first_at } = row
  const rise = (before_kwh: number | null, after_kwh: number | null, rated_kw: number) => {
    if (measured_at === null || day_first_at === null || measured_at < day_start_at) return null
    if (before_kwh === null || after_kwh === null) return null
    const elapsed_s = (measured_at.getTime() - day_first_at.getTime()) / 1000
    const rise_kwh = counterIncrease(before_kwh, after_kwh, { elapsed_s, rated_kw })
    return rise_kwh === null ? null : significant(rise_kwh)
  }
  return {
    charged_today_kwh: rise(
      row.day_first_charged_kwh,
      row.charged_total_kwh,
      row.rated_charge_power_kw,
    ),
    discharged_today_kwh: rise(
      row.day_first_discharged_kwh,
      row.discharged_total_kwh,
      row.rated_discharge_power_kw,
    ),
  }
}
