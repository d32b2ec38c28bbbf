/**
 * The six parameters of a module from its data sheet, as A. P. Dobos, "An improved coefficient
 * calculator for the California Energy Commission 6 parameter photovoltaic module model", Journal
 * of Solar Energy Engineering 134(2), 2012, asks for them: the circuit passes through short
 * circuit, open circuit and the point of maximum power, has its maximum there, and the adjustment
 * makes both the open circuit voltage and the power follow the temperature as listed.
 *
 * The paper solves six equations at once from starting values by technology. Here they are taken
 * apart into one unknown at a time, each between two bounds, which needs no starting values: for an
 * ideality and a series resistance, photocurrent, saturation current and shunt are the solution of
 * linear equations; the maximum gives the series resistance; the open circuit voltage at another
 * temperature the adjustment; the coefficient of power the ideality.
 */
import {
  type CecModule,
  cecSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
  shortCircuitCurrent,
} from './single-diode.ts'

/** At 1000 W/m2 and 25 Celsius. */
export interface Datasheet {
  i_sc_a: number
  v_oc_v: number
  i_mp_a: number
  v_mp_v: number
  alpha_sc_a_per_c: number
  /** Below 0. */
  beta_oc_v_per_c: number
  /** Of the maximum power, below 0: its mean change from -10 to 50 Celsius. */
  gamma_pmp_pct_per_c: number
}

export interface CecFit {
  module: CecModule
  /**
   * Short circuit current of the circuit over the listed one. It is 1 but for sheets that no
   * circuit with a shunt of its own meets, which are fitted without their short circuit current.
   */
  i_sc_ratio: number
}

/** What a fit keeps: the short circuit current of the sheet, or the least shunt there may be. */
type Kept = 'short_circuit' | 'least_shunt'

/** The circuit of the sheet for one ideality. */
interface Circuit {
  r_s_ohm: number
  g_sh_s: number
  /** Current of the diode at open circuit: the saturation current, without its many zeros. */
  diode_a: number
}

/** Share of Imp / Vmp that the shunt takes at least; all modules of the CEC list take more. */
const shunt_ratio_min = 4e-5
/** Beyond these a fit has left the shape of modules; those of the CEC list need 1.05 and 65. */
const i_sc_ratio_max = 1.1
const adjust_max_pct = 75
/** Ideality over open circuit voltage; modules of the CEC list are between 0.028 and 0.054. */
const ideality_ratio_min = 0.01
const ideality_ratio_max = 0.15
const cold_c = -10
const reference_c = 25
/** Where the open circuit voltage is held against the sheet. */
const warm_c = 30
const hot_c = 50
const adjustment_rounds = 40
const adjustment_step_max_pct = 1e-9
const halvings = 60
const gamma_off_max_pct_per_c = 1e-6

/**
 * Throws a RangeError that names the field, where a value is impossible or no circuit with
 * resistances of 0 and more meets the sheet.
 */
export function fitCecModule(sheet: Datasheet): CecFit {
  refuseImpossible(sheet)
  const fit = fitKeeping('short_circuit', sheet) ?? fitKeeping('least_shunt', sheet)
  const is_sound =
    fit !== undefined &&
    fit.i_sc_ratio < i_sc_ratio_max &&
    fit.i_sc_ratio > 1 / i_sc_ratio_max &&
    Math.abs(fit.module.adjust_pct) < adjust_max_pct
  if (is_sound) return fit
  throw new RangeError(
    `gamma_pmp_pct_per_c: no circuit of this curve and beta has ${sheet.gamma_pmp_pct_per_c}`,
  )
}

function refuseImpossible(sheet: Datasheet): void {
  const refuse = (field: keyof Datasheet, why: string) => {
    throw new RangeError(`${field}: ${sheet[field]} ${why}`)
  }
  const fields = Object.keys(sheet) as (keyof Datasheet)[]
  for (const field of fields) if (!Number.isFinite(sheet[field])) refuse(field, 'is not a number')
  for (const field of ['i_sc_a', 'v_oc_v', 'i_mp_a', 'v_mp_v'] as const) {
    if (sheet[field] <= 0) refuse(field, 'is not above 0')
  }
  for (const field of ['beta_oc_v_per_c', 'gamma_pmp_pct_per_c'] as const) {
    if (sheet[field] >= 0) refuse(field, 'is not below 0')
  }
  if (sheet.i_mp_a >= sheet.i_sc_a) refuse('i_mp_a', `is not below i_sc_a, ${sheet.i_sc_a}`)
  if (sheet.v_mp_v >= sheet.v_oc_v) refuse('v_mp_v', `is not below v_oc_v, ${sheet.v_oc_v}`)
  // A curve whose current falls ever faster lies below its tangent at the maximum.
  if (sheet.i_mp_a <= sheet.i_sc_a / 2) refuse('i_mp_a', 'is not above half of i_sc_a')
  if (sheet.v_mp_v <= sheet.v_oc_v / 2) refuse('v_mp_v', 'is not above half of v_oc_v')
}

/** The fit whose ideality gives the coefficient of power, which falls with it. */
function fitKeeping(kept: Kept, sheet: Datasheet): CecFit | undefined {
  const at = (ratio: number) => moduleOf(kept, sheet, ratio * sheet.v_oc_v)
  const off = ({ module }: CecFit) => powerCoefficient(module, sheet) - sheet.gamma_pmp_pct_per_c
  const ratio = bisect(ideality_ratio_min, ideality_ratio_max, (middle) => {
    const fit = at(middle)
    return fit !== undefined && off(fit) > 0
  })
  const fit = at(ratio)
  return fit && Math.abs(off(fit)) < gamma_off_max_pct_per_c ? fit : undefined
}

/** Mean change of the power from cold to hot, percent of the listed power for each degree. */
function powerCoefficient(module: CecModule, { i_mp_a, v_mp_v }: Datasheet): number {
  const power = (cell_c: number) => maximumPowerPoint(cecSingleDiode(module, 1000, cell_c)).power_w
  return ((power(hot_c) - power(cold_c)) / (hot_c - cold_c) / (i_mp_a * v_mp_v)) * 100
}

/** The module of one ideality; undefined where it is too high for one. */
function moduleOf(kept: Kept, sheet: Datasheet, a_v: number): CecFit | undefined {
  const circuit = circuitOf(kept, sheet, a_v)
  if (!circuit) return undefined
  const { r_s_ohm, g_sh_s, diode_a } = circuit
  const module: CecModule = {
    a_ref_v: a_v,
    i_l_ref_a: -diode_a * Math.expm1(-sheet.v_oc_v / a_v) + sheet.v_oc_v * g_sh_s,
    i_o_ref_a: diode_a * Math.exp(-sheet.v_oc_v / a_v),
    r_s_ohm,
    r_sh_ref_ohm: 1 / g_sh_s,
    alpha_sc_a_per_c: sheet.alpha_sc_a_per_c,
    adjust_pct: 0,
  }
  const adjust_pct = adjustmentOf(module, sheet)
  if (adjust_pct === undefined) return undefined
  const i_sc_a = shortCircuitCurrent(cecSingleDiode(module, 1000, reference_c))
  return { module: { ...module, adjust_pct }, i_sc_ratio: i_sc_a / sheet.i_sc_a }
}

/**
 * The adjustment takes from the coefficient of current, in percent, what it adds to that of
 * voltage. The voltage hardly depends on the current, so that repeating it settles at once;
 * undefined where it does not, as with a coefficient of voltage near 0.
 */
function adjustmentOf(
  module: CecModule,
  { v_oc_v, beta_oc_v_per_c }: Datasheet,
): number | undefined {
  let adjust_pct = 0
  for (let i = 0; i < adjustment_rounds; i++) {
    const warm = cecSingleDiode({ ...module, adjust_pct }, 1000, warm_c)
    const slope = (openCircuitVoltage(warm) - v_oc_v) / (warm_c - reference_c)
    const step = (slope / beta_oc_v_per_c - 1) * 100 - adjust_pct
    adjust_pct += step
    if (Math.abs(step) < adjustment_step_max_pct) return adjust_pct
  }
  return undefined
}

/**
 * The series resistance that puts the maximum of the power where the sheet has it; undefined where
 * a resistance would be below 0.
 */
function circuitOf(kept: Kept, sheet: Datasheet, a_v: number): Circuit | undefined {
  const { v_oc_v, v_mp_v, i_mp_a } = sheet
  const isBeforeMaximum = (r_s_ohm: number) => {
    const { g_sh_s, diode_a } = circuitThrough(kept, sheet, { a_v, r_s_ohm })
    const vd = v_mp_v + i_mp_a * r_s_ohm
    const slope = (diode_a / a_v) * Math.exp((vd - v_oc_v) / a_v) + g_sh_s
    return i_mp_a > slope * (v_mp_v - i_mp_a * r_s_ohm)
  }
  if (!isBeforeMaximum(0)) return undefined
  const r_s_ohm = bisect(0, (v_oc_v - v_mp_v) / i_mp_a, isBeforeMaximum)
  const circuit = circuitThrough(kept, sheet, { a_v, r_s_ohm })
  const is_possible = circuit.diode_a > 0 && circuit.g_sh_s >= leastShunt(sheet)
  return is_possible ? circuit : undefined
}

/** The circuit through the points of the sheet: linear equations in diode current and shunt. */
function circuitThrough(
  kept: Kept,
  { i_sc_a, v_oc_v, i_mp_a, v_mp_v }: Datasheet,
  { a_v, r_s_ohm }: { a_v: number; r_s_ohm: number },
): Circuit {
  const grown = (vd: number) => Math.exp((vd - v_oc_v) / a_v)
  const short_v = i_sc_a * r_s_ohm
  const knee_v = v_mp_v + i_mp_a * r_s_ohm
  // From the maximum, and from short circuit, to open circuit.
  const grown_knee = 1 - grown(knee_v)
  const grown_short = 1 - grown(short_v)
  if (kept === 'least_shunt') {
    const g_sh_s = leastShunt({ i_mp_a, v_mp_v })
    return { r_s_ohm, g_sh_s, diode_a: (i_mp_a - g_sh_s * (v_oc_v - knee_v)) / grown_knee }
  }
  const determinant = grown_short * (v_oc_v - knee_v) - grown_knee * (v_oc_v - short_v)
  return {
    r_s_ohm,
    diode_a: (i_sc_a * (v_oc_v - knee_v) - i_mp_a * (v_oc_v - short_v)) / determinant,
    g_sh_s: (grown_short * i_mp_a - grown_knee * i_sc_a) / determinant,
  }
}

function leastShunt({ i_mp_a, v_mp_v }: Pick<Datasheet, 'i_mp_a' | 'v_mp_v'>): number {
  return (shunt_ratio_min * i_mp_a) / v_mp_v
}

/** Where between `low` and `high` `isLow` turns from true to false. */
function bisect(low: number, high: number, isLow: (middle: number) => boolean): number {
  for (let i = 0; i < halvings; i++) {
    const middle = (low + high) / 2
    if (isLow(middle)) low = middle
    else high = middle
  }
  return low
}
