/** Panel models, and the validation of those of a list. */

import { cecSingleDiode, maximumPowerPoint } from '@heliograph/physics/single-diode'
import type { Static, TSchema } from 'typebox'
import * as field from '../../http/fields.ts'
import { Metric } from '../../http/params.ts'

export type Technology =
  | 'mono_c_si'
  | 'multi_c_si'
  | 'thin_film'
  | 'cdte'
  | 'cigs'
  | 'hjt'
  | 'topcon'
  | 'other'

const ofCircuit = 'Computed from the circuit when the site announced one.'

export const panelFields = {
  params_id: field.Int(
    'Permanent id. Ids below 1048576 belong to the site; others identify a model of the library ' +
      'and are the same on every server.',
    1123933968,
  ),
  name: field.Text('Manufacturer and model.', 'JA Solar JAM72S20-455/MR'),
  manufacturer: field.Text('Manufacturer as named in the list or the inventory.', 'JA Solar'),
  model: field.TextOrNull('Name without the manufacturer.', 'JAM72S20-455/MR'),
  technology: field.Text(
    'Cell technology. Library models: `mono_c_si`, `multi_c_si`, `thin_film`, `cdte`, `cigs`, ' +
      '`hjt`, `topcon`, `other`; site models: as in the inventory.',
    'mono_c_si',
  ),
  bifacial: field.FlagOrNull('Whether the module is bifacial.', false),
  power_stc_w: field.Num('Power at 1000 W/m² and 25 °C (STC), W.', 455),
  power_ptc_w: Metric(
    'Power at PVUSA test conditions: 1000 W/m², air of 20 °C, wind of 1 m/s, W.',
    427.3,
  ),
  area_m2: Metric('Area, m².', 2.221824),
  length_m: Metric('Length, m.', 2.112),
  width_m: Metric('Width, m.', 1.052),
  cells_in_series: field.IntOrNull('Cells in series; for half-cut cells those of one half.', 72),
  i_sc_a: Metric(`Short circuit current at STC, A, as listed. ${ofCircuit}`, 11.41),
  v_oc_v: Metric(`Open circuit voltage at STC, V, as listed. ${ofCircuit}`, 49.85),
  i_mp_a: Metric(`Current of the maximum power point at STC, A, as listed. ${ofCircuit}`, 10.88),
  v_mp_v: Metric(`Voltage of the maximum power point at STC, V, as listed. ${ofCircuit}`, 41.82),
  alpha_sc_a_per_c: Metric('Temperature coefficient of the short circuit current.', 0.0050204),
  beta_oc_v_per_c: Metric(
    `Temperature coefficient of the open circuit voltage, as listed. ${ofCircuit}`,
    -0.135592,
  ),
  gamma_pmp_pct_per_c: Metric(
    `Temperature coefficient of the maximum power, % of that at STC, as listed. ${ofCircuit}`,
    -0.35,
  ),
  noct_c: Metric('Cell temperature at 800 W/m², air of 20 °C, wind of 1 m/s (NOCT), °C.', 45),
  a_ref_v: Metric(
    'Modified ideality factor of the single-diode circuit, V. This and the next five fields are ' +
      'the parameters of the CEC model at STC.',
    1.85730474,
  ),
  i_l_ref_a: Metric('Photocurrent, A.', 11.4111412),
  i_o_ref_a: Metric('Saturation current of the diode, A.', 2.51168448e-11),
  r_s_ohm: Metric('Series resistance, Ω.', 0.207836915),
  r_sh_ref_ohm: Metric('Shunt resistance, Ω.', 2078.0446),
  adjust_pct: Metric('Correction of the temperature coefficient of the current, %.', 6.45789478),
  source: field.OneOf(
    ['site', 'cec', 'fitted'],
    'Source of the circuit. `site`: announced with the inventory; `cec`: imported list of CEC ' +
      'modules; `fitted`: fitted to the datasheet.',
    'fitted',
  ),
  source_version: field.TextOrNull(
    'Edition of the list, or the datasheet.',
    'datasheet JA Solar JAM72S20 445-470/MR',
  ),
  source_date: field.DayOrNull('Date of that edition.'),
} as const satisfies Record<string, TSchema>

type Fields = { [Name in keyof typeof panelFields]: Static<(typeof panelFields)[Name]> }
export type PanelFields = Fields

/** Fields that a list need not state. */
type Optional = 'bifacial' | 'power_ptc_w' | 'area_m2' | 'length_m' | 'width_m' | `source_${string}`

/**
 * A panel model of a list or datasheet. `i_sc_a`, `v_oc_v`, `i_mp_a` and `v_mp_v` are its values.
 * Values of the circuit (`a_ref_v` to `adjust_pct`) differ, the short circuit current by up to 5
 * percent; the expectation of a string uses the circuit.
 */
export type ListedModel = { technology: Technology } & {
  [Name in Exclude<keyof Fields, 'params_id' | 'source' | 'technology'>]: Name extends Optional
    ? Fields[Name]
    : NonNullable<Fields[Name]>
}

export const modelColumns = Object.keys(panelFields).filter(
  (name) => name !== 'params_id' && name !== 'source',
) as (keyof ListedModel)[]

/**
 * Numbers of a model, their columns in a list, and wide bounds: from the smallest listed panels to
 * twice the largest. A wrong unit (mA, %/C, cm) is outside of most ranges.
 */
export const modelNumbers = [
  ['power_stc_w', 'STC', 1, 2000, 'optional'],
  ['power_ptc_w', 'PTC', 1, 2000, 'optional'],
  ['area_m2', 'A_c', 0.01, 12, 'optional'],
  ['length_m', 'Length', 0.1, 12, 'optional'],
  ['width_m', 'Width', 0.05, 4, 'optional'],
  ['cells_in_series', 'N_s', 1, 1000],
  ['i_sc_a', 'I_sc_ref', 0.05, 50],
  ['v_oc_v', 'V_oc_ref', 0.5, 600],
  ['i_mp_a', 'I_mp_ref', 0.05, 50],
  ['v_mp_v', 'V_mp_ref', 0.4, 600],
  ['alpha_sc_a_per_c', 'alpha_sc', -0.05, 0.05],
  ['beta_oc_v_per_c', 'beta_oc', -3, 0],
  ['gamma_pmp_pct_per_c', 'gamma_r', -2, 0.5],
  ['noct_c', 'T_NOCT', 20, 90],
  ['a_ref_v', 'a_ref', 0.01, 50],
  ['i_l_ref_a', 'I_L_ref', 0.05, 50],
  ['i_o_ref_a', 'I_o_ref', 1e-30, 1e-3],
  ['r_s_ohm', 'R_s', 0, 100],
  ['r_sh_ref_ohm', 'R_sh_ref', 0.1, 1e9],
  ['adjust_pct', 'Adjust', -100, 100],
] as const satisfies readonly (readonly [keyof ListedModel, string, number, number, 'optional'?])[]

const power_deviation_max_pct = 1

/** Reason why the model is invalid; null when it is valid. */
export function faultOf(model: ListedModel): string | null {
  for (const [name, , min, max] of modelNumbers) {
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
