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
  const circuit = circuits[sheet.name]
  if (!circuit) throw new Error(`no circuit of ${sheet.name}: run node scripts/generate.ts`)
  return {
    params_id: paramsId(nameKey(sheet.name)),
    ...sheet,
    ...circuit,
    area_m2: significant(sheet.length_m * sheet.width_m),
    power_ptc_w: null,
    source_date: null,
  }
}
