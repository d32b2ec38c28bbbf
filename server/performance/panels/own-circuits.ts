/** Fits the circuits of the panel models that come with the program, when it is generated. */
import { significant } from '@heliograph/domain/significant'
import { type Datasheet, fitCecModule } from '@heliograph/physics/cec-fit'
import { type DatasheetModel, datasheets } from './datasheets.ts'

/** The curve of a datasheet with its coefficients in A, V and percent. */
function curveOf(sheet: DatasheetModel): Datasheet {
  const { i_sc_a, v_oc_v, i_mp_a, v_mp_v, gamma_pmp_pct_per_c } = sheet
  return {
    i_sc_a,
    v_oc_v,
    i_mp_a,
    v_mp_v,
    gamma_pmp_pct_per_c,
    alpha_sc_a_per_c: significant((sheet.alpha_pct_per_c / 100) * i_sc_a),
    beta_oc_v_per_c: significant((sheet.beta_pct_per_c / 100) * v_oc_v),
  }
}

/** What `own-circuits.json` holds: the fitted parameters by the name of the model. */
export function ownCircuitsText(): string {
  const circuits = datasheets.map((sheet) => {
    const { alpha_sc_a_per_c: _, ...fitted } = fitCecModule(curveOf(sheet)).module
    const rounded = Object.entries(fitted).map(([name, value]) => [name, significant(value)])
    return [`${sheet.manufacturer} ${sheet.model}`, Object.fromEntries(rounded)] as const
  })
  return `${JSON.stringify(Object.fromEntries(circuits), null, 2)}\n`
}
