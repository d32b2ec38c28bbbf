/** Fits the circuits of the bundled panel models at build time (`npm run generate`). */
import { significant } from '@heliograph/domain/significant'
import { type Datasheet, fitCecModule } from '@heliograph/physics/cec-fit'
import { type DatasheetModel, datasheets } from './datasheets.ts'

/** Datasheet values with temperature coefficients in A, V and percent. */
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

/** Contents of `own-circuits.json`: fitted parameters by model name. */
export function ownCircuitsText(): string {
  const circuits = datasheets.map((sheet) => {
    const { alpha_sc_a_per_c: _, ...fitted } = fitCecModule(curveOf(sheet)).module
    const rounded = Object.entries(fitted).map(([name, value]) => [name, significant(value)])
    return [`${sheet.manufacturer} ${sheet.model}`, Object.fromEntries(rounded)] as const
  })
  return `${JSON.stringify(Object.fromEntries(circuits), null, 2)}\n`
}
