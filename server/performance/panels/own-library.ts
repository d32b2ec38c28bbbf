/** The panel models bundled with the program. */
import { significant } from '@heliograph/domain/significant'
import type { CecModule } from '@heliograph/physics/single-diode'
import { type DatasheetModel, datasheets } from './datasheets.ts'
import type { ListedModel } from './model.ts'
import { nameKey, paramsId } from './names.ts'
import fitted from './own-circuits.json' with { type: 'json' }

export type OwnModel = ListedModel & { params_id: number }

/** Fitted to the datasheets by `npm run generate`, because fitting takes half a second. */
const circuits: Record<string, Omit<CecModule, 'alpha_sc_a_per_c'>> = fitted

/** By name. */
export const ownModels: readonly OwnModel[] = datasheets
  .map(fromDatasheet)
  .sort((a, b) => (nameKey(a.name) < nameKey(b.name) ? -1 : 1))

function fromDatasheet(sheet: DatasheetModel): OwnModel {
  const { manufacturer, model, source, alpha_pct_per_c, beta_pct_per_c, ...listed } = sheet
  const name = `${manufacturer} ${model}`
  const circuit = circuits[name]
  if (!circuit) throw new Error(`no circuit of ${name}: run node scripts/generate.ts`)
  return {
    params_id: paramsId(nameKey(name)),
    name,
    manufacturer,
    model,
    ...listed,
    alpha_sc_a_per_c: significant((alpha_pct_per_c / 100) * sheet.i_sc_a),
    beta_oc_v_per_c: significant((beta_pct_per_c / 100) * sheet.v_oc_v),
    ...circuit,
    area_m2: significant(sheet.length_m * sheet.width_m),
    power_ptc_w: null,
    source_version: source,
    source_date: null,
  }
}
