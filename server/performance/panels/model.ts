/** A panel model of a list, and its validation. */
import { cecSingleDiode, maximumPowerPoint } from '@heliograph/physics/single-diode'

const technologies = [
  'mono_c_si',
  'multi_c_si',
  'thin_film',
  'cdte',
  'cigs',
  'hjt',
  'topcon',
  'other',
] as const
export type Technology = (typeof technologies)[number]

/**
 * A panel model at 1000 W/m2 and 25 Celsius. `i_sc_a`, `v_oc_v`, `i_mp_a` and `v_mp_v` are values
 * of the list or datasheet. Values of the circuit (`a_ref_v` to `adjust_pct`) differ, the short
 * circuit current by up to 5 percent; the expectation of a string uses the circuit.
 */
export interface ListedModel {
  /** Manufacturer and model, as in the list. */
  name: string
  manufacturer: string
  /** Name without the manufacturer. */
  model: string
  technology: Technology
  /** Null when the list does not state it. */
  bifacial: boolean | null
  power_stc_w: number
  /** At PVUSA test conditions: 1000 W/m2, air at 20 Celsius, wind of 1 m/s. */
  power_ptc_w: number | null
  area_m2: number | null
  length_m: number | null
  width_m: number | null
  /** For half-cut cells those of one half. */
  cells_in_series: number
  i_sc_a: number
  v_oc_v: number
  i_mp_a: number
  v_mp_v: number
  alpha_sc_a_per_c: number
  beta_oc_v_per_c: number
  gamma_pmp_pct_per_c: number
  noct_c: number
  a_ref_v: number
  i_l_ref_a: number
  i_o_ref_a: number
  r_s_ohm: number
  r_sh_ref_ohm: number
  adjust_pct: number
  /** Edition of the list, or the datasheet; null when unknown. */
  source_version: string | null
  /** Date of that edition, YYYY-MM-DD. */
  source_date: string | null
}

type Numeric = {
  [Name in keyof ListedModel]: number extends ListedModel[Name] ? Name : never
}[keyof ListedModel]

/**
 * Wide bounds: from the smallest listed panels to twice the largest. A wrong unit (mA, %/C, cm) is
 * outside of most ranges.
 */
const ranges: Record<Numeric, readonly [min: number, max: number]> = {
  power_stc_w: [1, 2000],
  power_ptc_w: [1, 2000],
  area_m2: [0.01, 12],
  length_m: [0.1, 12],
  width_m: [0.05, 4],
  cells_in_series: [1, 1000],
  i_sc_a: [0.05, 50],
  v_oc_v: [0.5, 600],
  i_mp_a: [0.05, 50],
  v_mp_v: [0.4, 600],
  alpha_sc_a_per_c: [-0.05, 0.05],
  beta_oc_v_per_c: [-3, 0],
  gamma_pmp_pct_per_c: [-2, 0.5],
  noct_c: [20, 90],
  a_ref_v: [0.01, 50],
  i_l_ref_a: [0.05, 50],
  i_o_ref_a: [1e-30, 1e-3],
  r_s_ohm: [0, 100],
  r_sh_ref_ohm: [0.1, 1e9],
  adjust_pct: [-100, 100],
}

const power_deviation_max_pct = 1

/** Reason why the model is invalid; null when it is valid. */
export function faultOf(model: ListedModel): string | null {
  for (const [name, [min, max]] of Object.entries(ranges) as [Numeric, [number, number]][]) {
    const value = model[name]
    if (value !== null && !(value >= min && value <= max)) {
      return `${name} is ${value}, outside of ${min} to ${max}`
    }
  }
  if (!Number.isInteger(model.cells_in_series)) {
    return `cells_in_series is ${model.cells_in_series}, not a whole number`
  }
  if (model.i_mp_a > model.i_sc_a) return `i_mp_a is ${model.i_mp_a}, above i_sc_a ${model.i_sc_a}`
  if (model.v_mp_v >= model.v_oc_v)
    return `v_mp_v is ${model.v_mp_v}, not below v_oc_v ${model.v_oc_v}`
  const { power_w } = maximumPowerPoint(cecSingleDiode(model, 1000, 25))
  const deviation_pct = (power_w / model.power_stc_w - 1) * 100
  if (!(Math.abs(deviation_pct) <= power_deviation_max_pct)) {
    return (
      `its circuit gives ${power_w.toFixed(1)} W at standard test conditions, ` +
      `${deviation_pct.toFixed(1)} % off the listed ${model.power_stc_w} W`
    )
  }
  return null
}
