import { type Static, Type } from 'typebox'
import { Closed, Id, Name, Positive } from './schema.ts'

/**
 * A panel: its rating, and its single-diode circuit at 1000 W/m² and 25 °C as in the CEC list.
 * Without a circuit, the server uses the one of `params_id` in its library.
 */
export type PanelModel = Static<typeof PanelModel>
export const PanelModel = Closed({
  params_id: Id,
  name: Name,
  manufacturer: Name,
  technology: Type.String(),
  power_stc_w: Positive,
  cells_in_series: Type.Optional(Type.Integer({ minimum: 1 })),
  alpha_sc_a_per_c: Type.Optional(Type.Number()),
  a_ref_v: Type.Optional(Positive),
  i_l_ref_a: Type.Optional(Positive),
  i_o_ref_a: Type.Optional(Positive),
  r_s_ohm: Type.Optional(Type.Number({ minimum: 0 })),
  r_sh_ref_ohm: Type.Optional(Positive),
  adjust_pct: Type.Optional(Type.Number()),
})

const circuitNames = [
  'alpha_sc_a_per_c',
  'a_ref_v',
  'i_l_ref_a',
  'i_o_ref_a',
  'r_s_ohm',
  'r_sh_ref_ohm',
  'adjust_pct',
] as const

export type PanelCircuit = Record<(typeof circuitNames)[number], number>

/** The circuit of a model; null if site.yaml gives none or only part of one. */
export function circuitOf(model: PanelModel): PanelCircuit | null {
  const named = circuitNames.map((name) => [name, model[name]] as const)
  if (named.some(([, value]) => value === undefined)) return null
  return Object.fromEntries(named) as PanelCircuit
}

/** The missing parameters of a circuit that is given in part. */
export function missingOfCircuit(model: PanelModel): string[] {
  const missing = circuitNames.filter((name) => model[name] === undefined)
  return missing.length < circuitNames.length ? missing : []
}
