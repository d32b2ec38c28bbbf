/**
 * The current and voltage of a photovoltaic module by its equivalent circuit: a current source, a
 * diode, a shunt and a series resistance,
 *
 *     I = IL - I0 (exp(Vd / a) - 1) - Vd Gsh        V = Vd - I Rs
 *
 * Everything is solved for the voltage of the diode, Vd, on which both equations are explicit
 * (J. W. Bishop, "Computer simulation of the effects of electrical mismatches in photovoltaic cell
 * interconnection circuits", Solar Cells 25(1), 1988). Agrees with 40-digit solutions to 1e-12.
 * The circuits of the CEC list meet the rated power of their modules within 0.11 percent; their
 * short circuit current may differ from the listed one by 5, so what to expect is the model's own.
 * Arguments that are not a number give NaN.
 */

/** A module at 1000 W/m2 and 25 Celsius. */
interface ReferenceCircuit {
  /** Modified ideality factor, above 0. */
  a_ref_v: number
  /** Photocurrent, above 0. */
  i_l_ref_a: number
  /** Saturation current of the diode, above 0. */
  i_o_ref_a: number
  /** Series resistance, 0 and more. */
  r_s_ohm: number
  /** Shunt resistance, above 0, Infinity where there is no shunt. */
  r_sh_ref_ohm: number
  /** Temperature coefficient of the short circuit current. */
  alpha_sc_a_per_c: number
}

/** What a CEC list knows of a module. */
export interface CecModule extends ReferenceCircuit {
  /** Correction of the temperature coefficient, percent. */
  adjust_pct: number
}

/** What De Soto's model knows of a module. */
interface DeSotoModule extends ReferenceCircuit {
  /** Band gap, above 0: 1.121 of silicon, 1.475 of cadmium telluride. */
  gap_ref_ev: number
  /** Relative change of the band gap with temperature: -0.0002677 of silicon. */
  gap_slope_per_k: number
}

/** The circuit at one irradiance and temperature. */
export interface SingleDiode {
  /** Photocurrent, 0 and more. */
  i_l_a: number
  /** Saturation current, above 0. */
  i_o_a: number
  /** Series resistance, 0 and more. */
  r_s_ohm: number
  /** Shunt conductance, 0 and more (0 in the dark, where the resistance is without bound). */
  g_sh_s: number
  /** Modified ideality factor: ideality times cells in series times thermal voltage, above 0. */
  a_v: number
}

export interface OperatingPoint {
  voltage_v: number
  current_a: number
  power_w: number
}

const boltzmann_ev_k = 8.617333262e-5
const reference_k = 298.15
const silicon_gap_ref_ev = 1.121
const silicon_gap_slope_per_k = -0.0002677
const irradiance_max_w_m2 = 10_000
const cell_temperature_min_c = -100
const cell_temperature_max_c = 200
/** A Newton step below this share of the voltage leaves an error below the rounding. */
const step_ratio_min = 1e-9
const steps_max = 100

/**
 * The circuit of a module. W. De Soto, S. A. Klein and W. A. Beckman, "Improvement and validation
 * of a model for photovoltaic array performance", Solar Energy 80(1), 2006. `irradiance_w_m2` is
 * what reaches the cells, held to 0 to 10 000; `cell_temperature_c` is held to -100 to 200.
 */
export function deSotoSingleDiode(
  module: DeSotoModule,
  irradiance_w_m2: number,
  cell_temperature_c: number,
): SingleDiode {
  const suns = Math.min(irradiance_max_w_m2, Math.max(0, irradiance_w_m2)) / 1000
  const held_c = Math.min(
    cell_temperature_max_c,
    Math.max(cell_temperature_min_c, cell_temperature_c),
  )
  const kelvin = held_c + 273.15
  const warmer = kelvin - reference_k
  const ratio = kelvin / reference_k
  const gap_ev = module.gap_ref_ev * (1 + module.gap_slope_per_k * warmer)
  const activation = (module.gap_ref_ev / reference_k - gap_ev / kelvin) / boltzmann_ev_k
  return {
    i_l_a: Math.max(0, suns * (module.i_l_ref_a + module.alpha_sc_a_per_c * warmer)),
    i_o_a: module.i_o_ref_a * ratio * ratio * ratio * Math.exp(activation),
    r_s_ohm: module.r_s_ohm,
    g_sh_s: suns / module.r_sh_ref_ohm,
    a_v: module.a_ref_v * ratio,
  }
}

/**
 * The same with an adjusted temperature coefficient and the band gap of silicon, whatever the cells
 * are of. A. P. Dobos, "An improved coefficient calculator for the California Energy Commission 6
 * parameter photovoltaic module model", Journal of Solar Energy Engineering 134(2), 2012.
 */
export function cecSingleDiode(
  module: CecModule,
  irradiance_w_m2: number,
  cell_temperature_c: number,
): SingleDiode {
  const de_soto: DeSotoModule = {
    a_ref_v: module.a_ref_v,
    i_l_ref_a: module.i_l_ref_a,
    i_o_ref_a: module.i_o_ref_a,
    r_s_ohm: module.r_s_ohm,
    r_sh_ref_ohm: module.r_sh_ref_ohm,
    alpha_sc_a_per_c: module.alpha_sc_a_per_c * (1 - module.adjust_pct / 100),
    gap_ref_ev: silicon_gap_ref_ev,
    gap_slope_per_k: silicon_gap_slope_per_k,
  }
  return deSotoSingleDiode(de_soto, irradiance_w_m2, cell_temperature_c)
}

/** The circuit of `series` times `parallel` equal modules (both above 0), which is again one. */
export function seriesParallel(diode: SingleDiode, series: number, parallel: number): SingleDiode {
  return {
    i_l_a: diode.i_l_a * parallel,
    i_o_a: diode.i_o_a * parallel,
    r_s_ohm: (diode.r_s_ohm * series) / parallel,
    g_sh_s: (diode.g_sh_s * parallel) / series,
    a_v: diode.a_v * series,
  }
}

/** Current of the circuit at a voltage of its diode. */
function currentAtDiode(diode: SingleDiode, vd: number): number {
  return diode.i_l_a - diode.i_o_a * Math.expm1(vd / diode.a_v) - vd * diode.g_sh_s
}

/** Open circuit voltage of the circuit without its shunt: no diode voltage is above it. */
function diodeVoltageMax({ a_v, i_l_a, i_o_a }: SingleDiode): number {
  return a_v * Math.log1p(i_l_a / i_o_a)
}

/** Open circuit voltage, V; 0 in the dark. */
export function openCircuitVoltage(diode: SingleDiode): number {
  return voltageAtCurrent(diode, 0)
}

/**
 * Voltage, V, at the terminals at a current, the inverse of `currentAtVoltage`: -Infinity where no
 * voltage drives that current, which is more than the photocurrent through a diode without shunt.
 * `current_a` of up to 1e200 either way.
 */
export function voltageAtCurrent(diode: SingleDiode, current_a: number): number {
  return diodeVoltageAtCurrent(diode, current_a) - current_a * diode.r_s_ohm
}

/** Voltage of the diode, V, at a current of the circuit; ranges as `voltageAtCurrent`. */
export function diodeVoltageAtCurrent(diode: SingleDiode, current_a: number): number {
  const { i_o_a, g_sh_s, a_v } = diode
  const spare_a = diode.i_l_a - current_a
  // No diode voltage is above that without shunt, and none that takes current is above 0.
  let vd = spare_a > 0 ? a_v * Math.log1p(spare_a / i_o_a) : 0
  // The current falls ever faster with the voltage, so that steps from above stay above.
  for (let i = 0; i < steps_max && Math.abs(vd) < Number.POSITIVE_INFINITY; i++) {
    const grown = Math.expm1(vd / a_v)
    const slope = (i_o_a / a_v) * (grown + 1) + g_sh_s
    if (slope === 0) return Number.NEGATIVE_INFINITY
    const step = (spare_a - i_o_a * grown - vd * g_sh_s) / slope
    vd += step
    if (!(Math.abs(step) > step_ratio_min * Math.abs(vd))) break
  }
  return vd
}

/**
 * Current, A, at a voltage at the terminals: negative above the open circuit voltage (fed from
 * outside, as nothing in this circuit blocks), and a little above the short circuit current below
 * 0 V, where bypass diodes and breakdown are not part of the model. `voltage_v` of up to 1e200
 * either way; far above the open circuit without a series resistance, -Infinity.
 */
export function currentAtVoltage(diode: SingleDiode, voltage_v: number): number {
  const { i_l_a, i_o_a, r_s_ohm, g_sh_s, a_v } = diode
  if (r_s_ohm <= 0) return currentAtDiode(diode, voltage_v)
  // Two bounds from above: no more current than the photocurrent, and no more through the diode
  // than the light and the outside can send.
  const unloaded = voltage_v + i_l_a * r_s_ohm
  const fed = i_l_a + Math.max(0, voltage_v) / r_s_ohm
  let vd = Math.min(unloaded, a_v * Math.log1p(fed / i_o_a))
  for (let i = 0; i < steps_max; i++) {
    const slope = 1 + r_s_ohm * ((i_o_a / a_v) * Math.exp(vd / a_v) + g_sh_s)
    const step = (vd - r_s_ohm * currentAtDiode(diode, vd) - voltage_v) / slope
    vd -= step
    if (!(Math.abs(step) > step_ratio_min * Math.abs(vd))) break
  }
  return currentAtDiode(diode, vd)
}

/** Short circuit current, A; 0 in the dark. */
export function shortCircuitCurrent(diode: SingleDiode): number {
  return currentAtVoltage(diode, 0)
}

/**
 * The point of maximum power (Vmp, Imp, Pmp): the root of dP/dVd by Newton's method, kept inside
 * the interval that holds it. All zero in the dark.
 */
export function maximumPowerPoint(diode: SingleDiode): OperatingPoint {
  const { i_l_a, i_o_a, r_s_ohm, g_sh_s, a_v } = diode
  let high = diodeVoltageMax(diode)
  let low = 0
  // Near the answer of the circuit without resistances: Voc - a log(1 + Voc / a).
  let vd = high - a_v * Math.log1p(high / a_v)
  for (let i = 0; i < steps_max && high > 0; i++) {
    const diode_a = i_o_a * Math.expm1(vd / a_v)
    const current_a = i_l_a - diode_a - vd * g_sh_s
    // Negative first and second derivative of the current by Vd.
    const curvature = (diode_a + i_o_a) / (a_v * a_v)
    const slope = curvature * a_v + g_sh_s
    const lever_v = vd - 2 * current_a * r_s_ohm
    const power_slope = current_a - slope * lever_v
    if (power_slope > 0) low = vd
    else high = vd
    const bend = 2 * slope * (1 + slope * r_s_ohm) + curvature * lever_v
    const next = vd + power_slope / bend
    const inside = next >= low && next <= high
    const step = (inside ? next : (low + high) / 2) - vd
    vd += step
    if (!(Math.abs(step) > step_ratio_min * vd)) break
  }
  const current_a = currentAtDiode(diode, vd)
  const voltage_v = vd - current_a * r_s_ohm
  return { voltage_v, current_a, power_w: voltage_v * current_a }
}
