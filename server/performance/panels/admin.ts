import { type Admin, AdminError } from '../../access/admin.ts'
import { PanelListError, readPanelList } from './csv.ts'
import { type ImportReport, importList } from './import.ts'
import { query_characters_max } from './search.ts'
import { readSource } from './source.ts'
import { createPanelStore, type PanelModel } from './store.ts'

export type { ImportReport, PanelModel }

interface PanelImport {
  at: Date
  /** The name of the file, or the address. */
  source: string
  added: number
  changed: number
}

export interface PanelLibrary {
  /** The models that come with the program, by name. */
  bundled: PanelModel[]
  /** How many models of lists there are. */
  imported_count: number
  /** Those that changed something, the newest first. */
  imports: PanelImport[]
}

/**
 * Takes a published list of CEC modules into the library: a file, or an http or https address.
 * Broken rows are left out and told; again with the same list nothing changes. Refuses (`invalid`)
 * what is no such list, or has no sound row.
 */
export async function importPanels({ db, clock }: Admin, source: string): Promise<ImportReport> {
  try {
    const { bytes, name } = await readSource(source)
    const list = readPanelList(bytes)
    if (list.models.length === 0) {
      const [first] = list.refused
      const why = first ? `; line ${first.line}: ${first.reason}` : ''
      throw new PanelListError(`it has no row that can be taken${why}`)
    }
    return await importList(db, list, { source: name, at: clock.now() })
  } catch (error) {
    if (!(error instanceof PanelListError)) throw error
    throw new AdminError('invalid', error.message, { cause: error.cause })
  }
}

/** What the library holds. */
export async function listPanels({ db }: Pick<Admin, 'db'>): Promise<PanelLibrary> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from panel_library')
  const imports = await db.query<PanelImport>(
    'select at, source, added, changed from panel_imports order by import_id desc',
  )
  return { bundled: createPanelStore(db).library(), imported_count: row!.count, imports }
}

/** The best matches among all models, and how many there are. */
export function searchPanels(
  { db }: Pick<Admin, 'db'>,
  { query, limit }: { query: string; limit: number },
): Promise<{ rows: PanelModel[]; count: number }> {
  if (query.length > query_characters_max) {
    throw new AdminError('invalid', `a search has at most ${query_characters_max} characters`)
  }
  return createPanelStore(db).search(query, limit)
}
