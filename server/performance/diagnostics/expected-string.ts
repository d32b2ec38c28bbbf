/** Expected output of a healthy, uniformly irradiated string, by the single-diode model. */
import {
  type CecModule,
  cecSingleDiode,
  currentAtVoltage,
  maximumPowerPoint,
  openCircuitVoltage,
  type SingleDiode,
  seriesParallel,
  shortCircuitCurrent,
} from '@heliograph/physics/single-diode'

export interface StringModel {
  module: CecModule & {
    power_stc_w: number
  }
  /** Modules in series, above 0. */
  module_count: number
}

/** Irradiance behind the glass and cell temperature. */
export interface CellConditions {
  effective_irradiance_w_m2: number
  cell_temperature_c: number
}

export type ExpectedString = ReturnType<typeof expectedString>

export const ratedPowerKw = ({ module, module_count }: StringModel): number =>
  (module.power_stc_w * module_count) / 1000

export function stringCircuit(
  { module, module_count }: StringModel,
  { effective_irradiance_w_m2, cell_temperature_c }: CellConditions,
): SingleDiode {
  const diode = cecSingleDiode(module, effective_irradiance_w_m2, cell_temperature_c)
  return seriesParallel(diode, module_count, 1)
}

/** All 0 in the dark. */
export function expectedString(string: StringModel, conditions: CellConditions) {
  const circuit = stringCircuit(string, conditions)
  const { current_a, voltage_v, power_w } = maximumPowerPoint(circuit)
  return {
    expected_i_mp_a: current_a,
    expected_v_mp_v: voltage_v,
    expected_p_mp_kw: power_w / 1000,
    // Value of the model, not of the datasheet (see single-diode.ts).
    expected_i_sc_a: shortCircuitCurrent(circuit),
    expected_v_oc_v: openCircuitVoltage(circuit),
  }
}

/** Power at the maximum power point alone, kW. */
export const expectedPowerKw = (string: StringModel, conditions: CellConditions): number =>
  maximumPowerPoint(stringCircuit(string, conditions)).power_w / 1000

/**
 * Current of a healthy string at a given voltage, A. Valid off the maximum power point too, where a
 * limited inverter operates its strings. Null in the dark and above Vmp + 0.5 (Voc - Vmp), where
 * the curve is so steep that an error of 1 K dominates the result.
 */
export function expectedCurrentAtVoltage(
  string: StringModel,
  conditions: CellConditions,
  voltage_v: number,
): number | null {
  const circuit = stringCircuit(string, conditions)
  const v_mp_v = maximumPowerPoint(circuit).voltage_v
  const voltage_max_v = v_mp_v + 0.5 * (openCircuitVoltage(circuit) - v_mp_v)
  if (!(voltage_v <= voltage_max_v) || voltage_max_v <= 0) return null
  return currentAtVoltage(circuit, Math.max(0, voltage_v))
}
