import { type Admin, AdminError } from '../../access/admin.ts'
import { PanelListError, readPanelList } from './csv.ts'
import { type ImportReport, importList } from './import.ts'
import { query_characters_max } from './search.ts'
import { readSource } from './source.ts'
import { bundledPanels, findPanels, type PanelModel } from './store.ts'

export type { ImportReport, PanelModel }

interface PanelImport {
  at: Date
  /** File name or URL. */
  source: string
  added: number
  changed: number
}

export interface PanelLibrary {
  bundled: PanelModel[]
  imported_count: number
  imports: PanelImport[]
}

/**
 * Imports a published list of CEC modules from a file or an http(s) URL. Invalid rows are skipped
 * and reported. Importing the same list again changes nothing. Rejects (`invalid`) a file that is
 * not such a list or has no valid row.
 */
export async function importPanels({ db, clock }: Admin, source: string): Promise<ImportReport> {
  try {
    const { bytes, name } = await readSource(source)
    const list = readPanelList(bytes)
    if (list.models.length === 0) {
      const [first] = list.refused
      const why = first ? `; line ${first.line}: ${first.reason}` : ''
      throw new PanelListError(`it has no valid row${why}`)
    }
    return await importList(db, list, { source: name, at: clock.now() })
  } catch (error) {
    if (!(error instanceof PanelListError)) throw error
    throw new AdminError('invalid', error.message, { cause: error.cause })
  }
}

export async function listPanels({ db }: Pick<Admin, 'db'>): Promise<PanelLibrary> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from panel_library')
  const imports = await db.query<PanelImport>(
    'select at, source, added, changed from panel_imports order by import_id desc',
  )
  return { bundled: bundledPanels(), imported_count: row!.count, imports }
}

/** Best matches among all models, and the number of all matches. */
export function searchPanels(
  { db }: Pick<Admin, 'db'>,
  { query, limit }: { query: string; limit: number },
): Promise<{ rows: PanelModel[]; count: number }> {
  if (query.length > query_characters_max) {
    throw new AdminError('invalid', `a search has at most ${query_characters_max} characters`)
  }
  return findPanels(db, query, { limit })
}
