/** Fits the circuits of the bundled panel models at build time (`npm run generate`). */
import { significant } from '@heliograph/domain/significant'
import { fitCecModule } from '@heliograph/physics/cec-fit'
import { datasheets } from './datasheets.ts'

/** Contents of `own-circuits.json`: fitted parameters by model name. */
export function ownCircuitsText(): string {
  const circuits = datasheets.map((sheet) => {
    const { i_sc_a, v_oc_v, i_mp_a, v_mp_v } = sheet
    const { alpha_sc_a_per_c, beta_oc_v_per_c, gamma_pmp_pct_per_c } = sheet
    const coefficients = { alpha_sc_a_per_c, beta_oc_v_per_c, gamma_pmp_pct_per_c }
    const fit = fitCecModule({ i_sc_a, v_oc_v, i_mp_a, v_mp_v, ...coefficients })
    const { alpha_sc_a_per_c: _, ...fitted } = fit.module
    const rounded = Object.entries(fitted).map(([name, value]) => [name, significant(value)])
    return [sheet.name, Object.fromEntries(rounded)] as const
  })
  return `${JSON.stringify(Object.fromEntries(circuits), null, 2)}\n`
}
