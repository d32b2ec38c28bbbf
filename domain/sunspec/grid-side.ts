/**
 * Columns of inverter and PCS readings, and the points of the inverter models that hold them. A
 * value is its point divided by the factor (1 if none is given). Drivers read by these tables, and
 * the simulator fills its registers by them.
 */
import type { InverterReading } from '../readings.ts'
import type { Decoded } from './codec.ts'
import type { models } from './models.ts'

export type PointsOf<Id extends keyof typeof models> = Decoded<(typeof models)[Id]>['values']

type Table<Points> = Readonly<
  Partial<Record<keyof InverterReading, readonly [point: keyof Points & string, factor?: number]>>
>

/** Models 101 to 103 and 111 to 113. */
export const classicGridSide = {
  ac_power_kw: ['W', 1000],
  reactive_power_kvar: ['VAr', 1000],
  apparent_power_kva: ['VA', 1000],
  power_factor: ['PF', 100],
  frequency_hz: ['Hz'],
  voltage_l1_l2_v: ['PPVphAB'],
  voltage_l2_l3_v: ['PPVphBC'],
  voltage_l3_l1_v: ['PPVphCA'],
  current_l1_a: ['AphA'],
  current_l2_a: ['AphB'],
  current_l3_a: ['AphC'],
  cabinet_temperature_c: ['TmpCab'],
  heatsink_temperature_c: ['TmpSnk'],
  transformer_temperature_c: ['TmpTrns'],
  alarm_1: ['Evt1'],
  alarm_2: ['EvtVnd1'],
  alarm_3: ['EvtVnd2'],
  alarm_4: ['EvtVnd3'],
  alarm_5: ['EvtVnd4'],
} as const satisfies Table<PointsOf<103 | 113>>

/** Points of the same models that only inverters report. */
export const classicInverter = {
  ...classicGridSide,
  voltage_l1_n_v: ['PhVphA'],
  voltage_l2_n_v: ['PhVphB'],
  voltage_l3_n_v: ['PhVphC'],
  dc_power_kw: ['DCW', 1000],
  dc_voltage_v: ['DCV'],
  dc_current_a: ['DCA'],
  energy_total_kwh: ['WH', 1000],
} as const satisfies Table<PointsOf<103 | 113>>

/** Model 701 without its phases, which some devices do not measure one by one. */
export const derGridSide = {
  ac_power_kw: ['W', 1000],
  reactive_power_kvar: ['Var', 1000],
  apparent_power_kva: ['VA', 1000],
  power_factor: ['PF'],
  frequency_hz: ['Hz'],
  cabinet_temperature_c: ['TmpCab'],
  heatsink_temperature_c: ['TmpSnk'],
  transformer_temperature_c: ['TmpTrns'],
  alarm_1: ['Alrm'],
} as const satisfies Table<PointsOf<701>>

type Values = Readonly<Record<string, unknown>>
type Rows = Readonly<Record<string, readonly [point: string, factor?: number]>>

export function columnsFrom<Of extends Rows>(table: Of, points: Values) {
  const columns = Object.entries(table).map(([column, [point, factor = 1]]) => {
    const value = points[point]
    return [column, typeof value === 'number' ? value / factor : null]
  })
  return Object.fromEntries(columns) as { [Column in keyof Of]: number | null }
}

/** The points of the columns that `values` has. */
export function pointsFrom<Of extends Rows>(table: Of, values: Values) {
  const points = Object.entries(table).flatMap(([column, [point, factor = 1]]) => {
    const value = values[column]
    if (value === undefined) return []
    return [[point, typeof value === 'number' ? value * factor : null]]
  })
  return Object.fromEntries(points) as { [Column in keyof Of as Of[Column][0]]?: number | null }
}
