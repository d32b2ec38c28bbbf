/** The newest readings of a unit and quantities derived from them. */
import {
  batteryStates,
  contactorStates,
  controlPlaces,
  fireStates,
} from '@heliograph/domain/battery'
import { counterIncrease } from '@heliograph/domain/counter'
import type { BessReading } from '@heliograph/domain/readings'
import { significant } from '@heliograph/domain/significant'
import type { Static } from 'typebox'
import * as field from '../http/fields.ts'
import { Named } from '../http/params.ts'
import { frame, frameOf, isStale, type Measurement } from '../plant/frame.ts'
import { quantity, readingFrame } from '../plant/quantities.ts'
import type { Polled, Situation } from '../plant/situation.ts'
import { served } from '../storage/records.ts'
import { energyLeft } from './envelope.ts'
import type { LiveUnit, PcsRow, UnitRow } from './unit-store.ts'
import { BatteryUnit, operatingMode, unitStatus } from './units.ts'

const Place = (which: string) =>
  field.TextOrNull(
    `Position of the ${which}: cluster.module, both from 0, as far as the unit reports it.`,
    '1.2',
  )

const cellRange = {
  cell_voltage_min_mv: quantity('cell_voltage_min_mv'),
  cell_voltage_max_mv: quantity('cell_voltage_max_mv'),
  cell_voltage_avg_mv: quantity('cell_voltage_avg_mv'),
  cell_voltage_spread_mv: field.NumOrNull('Highest minus lowest cell voltage, mV.', 14),
  cell_voltage_min_id: Place('cell with the lowest voltage'),
  cell_voltage_max_id: Place('cell with the highest voltage'),
  cell_temperature_min_c: quantity('cell_temperature_min_c'),
  cell_temperature_max_c: quantity('cell_temperature_max_c'),
  cell_temperature_avg_c: quantity('cell_temperature_avg_c'),
  cell_temperature_spread_c: field.NumOrNull('Highest minus lowest cell temperature, K.'),
  cell_temperature_min_id: Place('coldest cell'),
  cell_temperature_max_id: Place('warmest cell'),
}

const measuredFields = {
  state: field.OneOfOrNull(
    batteryStates,
    'Operating state reported by the unit, in the terms of SunSpec.',
    'discharging',
  ),
  state_vendor_code: field.IntOrNull("The manufacturer's own code of the state."),
  power_kw: quantity('power_kw'),
  setpoint_kw: quantity('setpoint_kw'),
  soc_pct: quantity('soc_pct'),
  soh_pct: quantity('soh_pct'),
  dod_pct: field.NumOrNull('Depth of discharge, %: 100 minus `soc_pct`.', 40),
  available_energy_kwh: field.FromZeroOrNull(
    'Energy in the cells above the lower end of the operating window or the reserve, kWh, at most ' +
      'what the device reports; equals `available_discharge_energy_kwh` of the envelope. For ' +
      'historical readings the present window is used. Excludes discharging losses.',
    196,
  ),
  energy_to_full_kwh: field.FromZeroOrNull(
    'Energy up to the upper end of the operating window, kWh; equals ' +
      '`available_charge_energy_kwh` of the envelope. Excludes charging losses.',
    137.2,
  ),
  dc_voltage_v: quantity('dc_voltage_v'),
  dc_current_a: field.NumOrNull('DC current, A; positive is discharging.', 141.7),
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
  contactor_state: field.OneOfOrNull(
    contactorStates,
    'State of the main contactors of the battery.',
    'closed',
  ),
  fire_system_state: field.OneOfOrNull(fireStates, 'State reported by the fire alarm system.'),
  heartbeat_ok: field.FlagOrNull(
    'Whether the heartbeat between unit and edge works; null without a heartbeat and, in the ' +
      'newest reading, once it is stale.',
    true,
  ),
  local_remote: field.OneOfOrNull(
    controlPlaces,
    'Where the unit takes commands from: `local` (on site) or `remote` (the edge).',
    'remote',
  ),
}

export const BatteryReading = Named('BatteryReading', {
  ...readingFrame,
  ...measuredFields,
})

export type BatteryNow = Static<typeof BatteryNow>
export const BatteryNow = Named('BatteryNow', {
  bess_id: field.Int('The unit.', 1),
  ...frame,
  ...measuredFields,
  grid_connected: field.FlagOrNull(
    'Whether any PCS is connected to the grid; null where none reports it.',
    true,
  ),
  charged_today_kwh: field.FromZeroOrNull(
    'Energy charged since local midnight, kWh: the difference to the last counter value within ' +
      '15 minutes before midnight, else to the first value of today. Null without a counter and ' +
      'after a reset.',
    310.4,
  ),
  discharged_today_kwh: field.FromZeroOrNull(
    'Energy discharged since local midnight, kWh; likewise.',
    280.2,
  ),
  alarm_count: field.Count('Number of set alarms of the unit and its PCS.'),
})

/** A reading, newest or historical, with the operating window of its unit. */
export type MeasuredRow = Omit<BessReading, 'measured_at' | 'quality' | 'bess_id'> &
  Parameters<typeof energyLeft>[0]

/** The fields that are no columns of a reading or differ from them. */
export const batteryMeasured = (row: MeasuredRow) => ({
  dod_pct: less(100, row.soc_pct),
  available_energy_kwh: energyLeft(row, 'discharge'),
  energy_to_full_kwh: energyLeft(row, 'charge'),
  cell_voltage_spread_mv: less(row.cell_voltage_max_mv, row.cell_voltage_min_mv),
  cell_voltage_min_id: place(row, 'cell_voltage_min'),
  cell_voltage_max_id: place(row, 'cell_voltage_max'),
  cell_temperature_spread_c: less(row.cell_temperature_max_c, row.cell_temperature_min_c),
  cell_temperature_min_id: place(row, 'cell_temperature_min'),
  cell_temperature_max_id: place(row, 'cell_temperature_max'),
  heartbeat_ok: flag(row.heartbeat_ok),
  local_remote: row.control_place,
})

export function batteryNow({ row, pcs, alarms }: LiveUnit, situation: Situation): BatteryNow {
  const { now, poll } = situation
  const measured = batteryMeasured(row)
  return served(BatteryNow, {
    ...row,
    ...frameOf(row, poll.battery_s, now),
    ...measured,
    heartbeat_ok: isStale(row.measured_at, poll.battery_s, now) ? null : measured.heartbeat_ok,
    grid_connected: isGridConnected(pcs, situation),
    ...energiesToday(row, situation),
    alarm_count: alarms.length,
  })
}

/** Boolean of a reading that is 1 or 0. */
export const flag = (value: number | null): boolean | null => (value === null ? null : value === 1)

/** Difference without the noise of binary fractions; null if either value is null. */
export const less = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : significant(a - b)

/** Time of the oldest of some readings; null for none. */
export const oldestOf = (readings: readonly Pick<Measurement, 'measured_at'>[]): Date | null =>
  readings.reduce<Date | null>(
    (oldest, { measured_at }) => (oldest && oldest < measured_at! ? oldest : measured_at),
    null,
  )

function place(row: MeasuredRow, of: `cell_${'voltage' | 'temperature'}_${'min' | 'max'}`) {
  const [cluster_idx, module_idx] = [row[`${of}_cluster_idx`], row[`${of}_module_idx`]]
  if (cluster_idx === null) return null
  return module_idx === null ? `${cluster_idx}` : `${cluster_idx}.${module_idx}`
}

function isGridConnected(pcs: readonly PcsRow[], { now, poll }: Polled): boolean | null {
  const reporting = pcs.filter(
    ({ grid_mode, ac_breaker_closed, measured_at }) =>
      !isStale(measured_at, poll.battery_s, now) &&
      (grid_mode !== null || ac_breaker_closed !== null),
  )
  if (reporting.length === 0) return null
  return reporting.some(
    ({ grid_mode, ac_breaker_closed }) =>
      (grid_mode ?? 'on_grid') === 'on_grid' && ac_breaker_closed !== 0,
  )
}

export interface EnergiesToday {
  charged_today_kwh: number | null
  discharged_today_kwh: number | null
}

/** Counter differences since local midnight; null for a unit that was not read since then. */
export function energiesToday(row: UnitRow, { day_start_at }: Situation): EnergiesToday {
  const { measured_at, day_first_at } = row
  const rise = (way: 'charged' | 'discharged', rated_kw: number) => {
    const [before_kwh, after_kwh] = [row[`day_first_${way}_kwh`], row[`${way}_total_kwh`]]
    if (measured_at === null || day_first_at === null || measured_at < day_start_at) return null
    if (before_kwh === null || after_kwh === null) return null
    const elapsed_s = (measured_at.getTime() - day_first_at.getTime()) / 1000
    const rise_kwh = counterIncrease(before_kwh, after_kwh, { elapsed_s, rated_kw })
    return significant(rise_kwh)
  }
  return {
    charged_today_kwh: rise('charged', row.rated_charge_power_kw),
    discharged_today_kwh: rise('discharged', row.rated_discharge_power_kw),
  }
}

const { bess_id, name, rated_energy_kwh, status, operating_mode } = BatteryUnit.properties
const { state, power_kw, setpoint_kw, soc_pct, alarm_count } = BatteryNow.properties

/** Short form of a unit for the overview of a site. */
export type BatteryGlance = Static<typeof BatteryGlance>
export const BatteryGlance = Named('BatteryGlance', {
  bess_id,
  name,
  rated_energy_kwh,
  status,
  operating_mode,
  ...frame,
  state,
  power_kw,
  setpoint_kw,
  soc_pct,
  alarm_count,
})

/** A unit with the values of /bess/{bess_id} and /bess/{bess_id}/current. */
export const batteryGlance = ({ row, pcs, alarms }: LiveUnit, situation: Situation) =>
  served(BatteryGlance, {
    ...row,
    ...frameOf(row, situation.poll.battery_s, situation.now),
    status: unitStatus({ row, pcs }, situation),
    operating_mode: operatingMode(row, situation.now),
    alarm_count: alarms.length,
  })
