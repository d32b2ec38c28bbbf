/** An inverter as the CEC list and SAM describe it, in their order. */
export interface SandiaInverter {
  /** Rating, at which the inverter clips, above 0 (Paco). */
  rated_ac_w: number
  /** Input at which the rating is reached at `reference_voltage_v`, above `start_dc_w` (Pdco). */
  rated_dc_w: number
  /** Voltage of the input to which the figures refer (Vdco). */
  reference_voltage_v: number
  /** Input at which conversion starts, 0 and more (Pso). */
  start_dc_w: number
  /** Curvature of output by input, mostly negative (C0). */
  c0_per_w: number
  /** How the rated input changes with the voltage (C1). */
  c1_per_v: number
  /** How the start changes with the voltage (C2). */
  c2_per_v: number
  /** How the curvature changes with the voltage (C3). */
  c3_per_v: number
  /** Own consumption while it does not convert; the sign does not count (Pnt). */
  night_w: number
}

/**
 * Alternating current power of an inverter, W, by the Sandia model: D. L. King, S. Gonzalez,
 * G. M. Galbraith and W. E. Boyson, "Performance Model for Grid-Connected Photovoltaic Inverters",
 * SAND2007-5036, equations 1 to 4.
 *
 * Minus `night_w` below the start, and no less above it; `rated_ac_w` from the rated input at this
 * voltage on, where an inverter clips. The dependence on the voltage is a straight line about the
 * reference, good over the window of the tracker; so far off that the start is above the rated
 * input, it is 0. Voltage and current limits of the input are not part of the model.
 */
export function sandiaAcPower(
  dc_w: number,
  dc_voltage_v: number,
  inverter: SandiaInverter,
): number {
  return limited(dc_w, converted(dc_w, dc_voltage_v, inverter), inverter)
}

/**
 * The same for an inverter with several trackers: the mean of the whole input converted at each
 * voltage, weighted by the power of each. C. W. Hansen, J. Johnson, R. Darbali-Zamora and
 * N. S. Gurule, "Modeling efficiency of inverters with multiple inputs", 49th IEEE Photovoltaic
 * Specialists Conference, 2022. Negative inputs count as 0.
 */
export function sandiaAcPowerOfInputs(
  inputs: readonly { dc_w: number; voltage_v: number }[],
  inverter: SandiaInverter,
): number {
  const total_w = inputs.reduce((sum_w, { dc_w }) => sum_w + Math.max(0, dc_w), 0)
  let ac_w = 0
  for (const { dc_w, voltage_v } of inputs) {
    if (!(dc_w <= 0)) ac_w += (dc_w / total_w) * converted(total_w, voltage_v, inverter)
  }
  return limited(total_w, ac_w, inverter)
}

/** Output without limits; past the rated input no lower than the rating, though the curve bends. */
function converted(dc_w: number, dc_voltage_v: number, inverter: SandiaInverter): number {
  const off_v = dc_voltage_v - inverter.reference_voltage_v
  const rated_dc_w = inverter.rated_dc_w * (1 + inverter.c1_per_v * off_v)
  const start_dc_w = inverter.start_dc_w * (1 + inverter.c2_per_v * off_v)
  const curvature = inverter.c0_per_w * (1 + inverter.c3_per_v * off_v)
  const span_w = rated_dc_w - start_dc_w
  if (span_w <= 0) return 0
  const over_w = dc_w - start_dc_w
  const ac_w = (inverter.rated_ac_w / span_w + curvature * (over_w - span_w)) * over_w
  // Finite, so that two of these have a sum.
  const held_w = Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, ac_w))
  return dc_w >= rated_dc_w ? Math.max(inverter.rated_ac_w, held_w) : held_w
}

function limited(dc_w: number, ac_w: number, inverter: SandiaInverter): number {
  const idle_w = -Math.abs(inverter.night_w)
  if (dc_w <= 0 || dc_w < inverter.start_dc_w) return idle_w
  return Math.min(inverter.rated_ac_w, Math.max(idle_w, ac_w))
}
