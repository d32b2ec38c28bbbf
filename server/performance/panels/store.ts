/** The panel models of the server: those bundled with the program and those of imported lists. */
import type { Queries } from '../../storage/database.ts'
import { type ListedModel, modelColumns } from './model.ts'
import { nameKey } from './names.ts'
import { type OwnModel, ownModels } from './own-library.ts'
import { indexNames, type NamedModel, type NameIndex, searchNames } from './search.ts'

export interface PanelModel extends ListedModel {
  /** Stable across editions of a list and across servers. */
  params_id: number
  /** `cec`: from an imported list; `fitted`: circuit fitted to the datasheet. */
  source: 'cec' | 'fitted'
  is_bundled: boolean
}

const libraryVersion = {
  name: 'panel_library_version',
  text: 'select coalesce(max(import_id), 0) as version from panel_imports',
}

const columns = ['params_id', ...modelColumns]

const own = new Map(ownModels.map((model) => [model.params_id, fromOwn(model)]))
const ownByKey = new Map([...own.values()].map((model) => [nameKey(model.name), model]))

export const bundledPanels = (): PanelModel[] => [...own.values()]

export async function readPanelsById(db: Queries, params_ids: readonly number[]) {
  const wanted = [...new Set(params_ids)]
  const bundled = wanted.flatMap((id) => own.get(id) ?? [])
  const others = wanted.filter((id) => !own.has(id))
  const imported =
    others.length === 0
      ? []
      : await db.query<ListedModel & { params_id: number }>(
          `select ${columns} from panel_library where params_id = any($1)`,
          [others],
        )
  return new Map([...bundled, ...imported.map(fromList)].map((model) => [model.params_id, model]))
}

export async function readPanel(db: Queries, params_id: number): Promise<PanelModel | null> {
  return (await readPanelsById(db, [params_id])).get(params_id) ?? null
}

/** The model with this name in any spelling (`nameKey`), or null. */
export async function readPanelByName(db: Queries, name: string): Promise<PanelModel | null> {
  const key = nameKey(name)
  const bundled = ownByKey.get(key)
  if (bundled) return bundled
  const [row] = await db.query<ListedModel & { params_id: number }>(
    `select ${columns} from panel_library where name_key = $1`,
    [key],
  )
  return row ? fromList(row) : null
}

/**
 * Models whose names match the words of `query`, best match first (see `searchNames`). `query` has
 * at most `query_characters_max` characters, `limit` is at least 1. `count` counts all matches.
 */
export async function findPanels(
  db: Queries,
  query: string,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<{ rows: PanelModel[]; count: number }> {
  const found = searchNames(await nameIndex(db), query, offset + limit)
  const params_ids = found.params_ids.slice(offset)
  const models = await readPanelsById(db, params_ids)
  return { rows: params_ids.flatMap((id) => models.get(id) ?? []), count: found.count }
}

const indexes = new WeakMap<Queries, { version: number; index: Promise<NameIndex> }>()

/** Names of all models, cached by database until the next import. */
async function nameIndex(db: Queries): Promise<NameIndex> {
  const [row] = await db.query<{ version: number }>(libraryVersion)
  const { version } = row!
  const cached = indexes.get(db)
  if (cached?.version === version) return cached.index
  const reading = { version, index: readNames(db) }
  indexes.set(db, reading)
  try {
    return await reading.index
  } catch (error) {
    if (indexes.get(db) === reading) indexes.delete(db)
    throw error
  }
}

/** Bundled models take precedence over rows of a list with the same id. */
async function readNames(db: Queries): Promise<NameIndex> {
  const rows = await db.query<NamedModel>(
    'select params_id, name, manufacturer, model from panel_library',
  )
  return indexNames([...own.values(), ...rows.filter(({ params_id }) => !own.has(params_id))])
}

function fromOwn(model: OwnModel): PanelModel {
  return { ...model, source: 'fitted', is_bundled: true }
}

function fromList(model: ListedModel & { params_id: number }): PanelModel {
  return { ...model, source: 'cec', is_bundled: false }
}
