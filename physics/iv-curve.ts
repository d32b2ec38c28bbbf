/** The current-voltage curve of a circuit: its characteristic points, and as a whole. */
import { requireRoom, roomFor } from './series.ts'
import {
  type CecModule,
  cecSingleDiode,
  currentAtVoltage,
  maximumPowerPoint,
  openCircuitVoltage,
  type SingleDiode,
  shortCircuitCurrent,
} from './single-diode.ts'

/** The seven points by which IEC 60904-1 and the Sandia array model describe a curve. */
export interface CharacteristicPoints {
  i_sc_a: number
  v_oc_v: number
  i_mp_a: number
  v_mp_v: number
  p_mp_w: number
  /** Current at half the open circuit voltage. */
  i_x_a: number
  /** Current halfway between the voltage of maximum power and that of the open circuit. */
  i_xx_a: number
}

/** The same of many circuits, one element for each. */
type CharacteristicSeries = { [point in keyof CharacteristicPoints]: Float64Array }

/** Points of a curve in ascending voltage. */
interface IvCurve {
  voltage_v: Float64Array
  current_a: Float64Array
}

/** The seven points of a circuit, V, A and W; all zero in the dark. */
export function characteristicPoints(diode: SingleDiode): CharacteristicPoints {
  const v_oc_v = openCircuitVoltage(diode)
  const { voltage_v, current_a, power_w } = maximumPowerPoint(diode)
  return {
    i_sc_a: shortCircuitCurrent(diode),
    v_oc_v,
    i_mp_a: current_a,
    v_mp_v: voltage_v,
    p_mp_w: power_w,
    i_x_a: currentAtVoltage(diode, v_oc_v / 2),
    i_xx_a: currentAtVoltage(diode, (v_oc_v + voltage_v) / 2),
  }
}

/**
 * `count` points from short to open circuit, at equal steps of the voltage. Throws a RangeError for
 * a `count` that is not whole or below 2.
 */
export function ivCurve(diode: SingleDiode, count: number): IvCurve {
  if (!(Number.isInteger(count) && count >= 2)) throw new RangeError(`count: ${count} is below 2`)
  const highest_v = openCircuitVoltage(diode)
  const voltage_v = Float64Array.from({ length: count }, (_, i) => (highest_v * i) / (count - 1))
  return { voltage_v, current_a: voltage_v.map((voltage) => currentAtVoltage(diode, voltage)) }
}

/** Room for the points of `count` circuits. */
export function characteristicSeries(count: number): CharacteristicSeries {
  const names = ['i_sc_a', 'v_oc_v', 'i_mp_a', 'v_mp_v', 'p_mp_w', 'i_x_a', 'i_xx_a'] as const
  return roomFor(names, count)
}

/**
 * The points of one module over a series of irradiances on its cells, W/m2, and temperatures of
 * them, Celsius, held to the ranges of `cecSingleDiode`. `out` is filled from its start and given
 * back; without it a new one is. Throws a RangeError where the lengths do not fit.
 */
export function singleDiodePoints(
  module: CecModule,
  conditions: { irradiance_w_m2: Float64Array; cell_temperature_c: Float64Array },
  out = characteristicSeries(conditions.irradiance_w_m2.length),
): CharacteristicSeries {
  const { irradiance_w_m2, cell_temperature_c } = conditions
  const count = irradiance_w_m2.length
  if (cell_temperature_c.length !== count) {
    throw new RangeError(`${count} irradiances, ${cell_temperature_c.length} cell temperatures`)
  }
  requireRoom(out, count)
  for (let i = 0; i < count; i++) {
    const points = characteristicPoints(
      cecSingleDiode(module, irradiance_w_m2[i]!, cell_temperature_c[i]!),
    )
    out.i_sc_a[i] = points.i_sc_a
    out.v_oc_v[i] = points.v_oc_v
    out.i_mp_a[i] = points.i_mp_a
    out.v_mp_v[i] = points.v_mp_v
    out.p_mp_w[i] = points.p_mp_w
    out.i_x_a[i] = points.i_x_a
    out.i_xx_a[i] = points.i_xx_a
  }
  return out
}
