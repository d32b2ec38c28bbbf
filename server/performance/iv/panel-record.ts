/** Panel models of the API: fields of the site take precedence over those of the library. */
import { significant } from '@heliograph/domain/significant'
import {
  type CecModule,
  cecSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
  shortCircuitCurrent,
} from '@heliograph/physics/single-diode'
import { type PanelFields, panelFields } from '../panels/model.ts'
import type { PanelModel as LibraryModel } from '../panels/store.ts'
import type { SiteModelRow } from './store.ts'

const stc = { irradiance_w_m2: 1000, temperature_c: 25 } as const
/** Temperature coefficients are means from 25 °C to this working temperature. */
const warm_c = 50

/** A model of the library. */
export function libraryRecord({ is_bundled: _, ...model }: LibraryModel): PanelFields {
  return model
}

/**
 * A model that the site announced. `library` is the matching model of the library or null: matched
 * by id, or by name when the site announced the circuit.
 */
export function siteRecord(row: SiteModelRow, library: LibraryModel | null): PanelFields {
  const { params_id, name, manufacturer, technology, power_stc_w } = row
  const cells_in_series = row.cells_in_series ?? library?.cells_in_series ?? null
  const own = { params_id, name, manufacturer, technology, power_stc_w, cells_in_series }
  const model = name.startsWith(`${manufacturer} `) ? name.slice(manufacturer.length + 1) : null
  const listed =
    library === null ? { ...unlisted, ...own, model } : { ...libraryRecord(library), ...own }
  const circuit = circuitOf(row)
  if (circuit === null) return listed
  const from = { source: 'site', source_version: null, source_date: null } as const
  return { ...listed, ...circuit, ...curveOf(circuit), ...from }
}

const nulls = Object.fromEntries(Object.keys(panelFields).map((name) => [name, null]))
const unlisted = { ...(nulls as unknown as PanelFields), source: 'site' as const }

function circuitOf(row: SiteModelRow): CecModule | null {
  const { alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm } = row
  const circuit = { alpha_sc_a_per_c, a_ref_v, i_l_ref_a, i_o_ref_a, r_s_ohm, r_sh_ref_ohm }
  const whole = { ...circuit, adjust_pct: row.adjust_pct }
  return Object.values(whole).includes(null) ? null : (whole as CecModule)
}

/** Datasheet values computed from the circuit. */
function curveOf(circuit: CecModule) {
  const at = (temperature_c: number) => {
    const diode = cecSingleDiode(circuit, stc.irradiance_w_m2, temperature_c)
    return { ...maximumPowerPoint(diode), v_oc_v: openCircuitVoltage(diode), diode }
  }
  const rated = at(stc.temperature_c)
  const warm = at(warm_c)
  const kelvin = warm_c - stc.temperature_c
  return {
    i_sc_a: significant(shortCircuitCurrent(rated.diode)),
    v_oc_v: significant(rated.v_oc_v),
    i_mp_a: significant(rated.current_a),
    v_mp_v: significant(rated.voltage_v),
    beta_oc_v_per_c: significant((warm.v_oc_v - rated.v_oc_v) / kelvin),
    gamma_pmp_pct_per_c: significant((100 * (warm.power_w / rated.power_w - 1)) / kelvin),
  }
}
