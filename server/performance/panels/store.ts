/**
 * The panel models of the server: those that come with it and those of imported lists. What the
 * API's handlers need is `PanelStore`, built once by `createPanelStore(db)`:
 *
 *     search(q, limit)   the best matches among all models, and how many there are
 *     library()          the models that come with the program, by name
 *     get(params_id)     one model, or null
 *     byIds(params_ids)  those of them that there are, by id
 *     named(name)        the model of this name, however it is spelled, or null
 */
import type { Queries } from '../../storage/database.ts'
import { modelColumns } from './import.ts'
import type { ListedModel } from './model.ts'
import { nameKey } from './names.ts'
import { type OwnModel, ownModels } from './own-library.ts'
import { indexNames, type NamedModel, type NameIndex, searchNames } from './search.ts'

export interface PanelModel extends ListedModel {
  /** The same in every edition of a list and on every server. */
  params_id: number
  /** `cec`: of an imported list; `fitted`: a datasheet's, its circuit fitted by us. */
  source: 'cec' | 'fitted'
  /** True for the models that come with the program. */
  is_bundled: boolean
}

export interface PanelStore {
  /**
   * The models whose names have the words of `q`, best first; see `searchNames`. `q` has at most
   * `query_characters_max` characters, `limit` is from 1. `offset` matches are left out before the
   * first, 0 unless given. `count` is of all matches.
   */
  search(q: string, limit: number, offset?: number): Promise<{ rows: PanelModel[]; count: number }>
  library(): PanelModel[]
  get(params_id: number): Promise<PanelModel | null>
  byIds(params_ids: readonly number[]): Promise<Map<number, PanelModel>>
  named(name: string): Promise<PanelModel | null>
}

const version = {
  name: 'panel_library_version',
  text: 'select coalesce(max(import_id), 0) as version from panel_imports',
}

const columns = ['params_id', ...modelColumns]

const own = new Map(ownModels.map((model) => [model.params_id, fromOwn(model)]))
const ownByKey = new Map([...own.values()].map((model) => [nameKey(model.name), model]))

export function createPanelStore(db: Queries): PanelStore {
  const names = freshNames(db)

  async function byIds(params_ids: readonly number[]): Promise<Map<number, PanelModel>> {
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

  return {
    async search(q, limit, offset = 0) {
      const found = searchNames(await names(), q, offset + limit)
      const params_ids = found.params_ids.slice(offset)
      const models = await byIds(params_ids)
      return { rows: params_ids.flatMap((id) => models.get(id) ?? []), count: found.count }
    },
    library: () => [...own.values()],
    async get(params_id) {
      return (await byIds([params_id])).get(params_id) ?? null
    },
    byIds,
    async named(name) {
      const key = nameKey(name)
      const bundled = ownByKey.get(key)
      if (bundled) return bundled
      const [row] = await db.query<ListedModel & { params_id: number }>(
        `select ${columns} from panel_library where name_key = $1`,
        [key],
      )
      return row ? fromList(row) : null
    },
  }
}

/**
 * The names of all models, held in memory and read again after an import. What comes with the
 * program stands before a row of a list that has the same name.
 */
function freshNames(db: Queries): () => Promise<NameIndex> {
  let held: { version: number; index: Promise<NameIndex> } | undefined
  async function read(): Promise<NameIndex> {
    const rows = await db.query<NamedModel>(
      'select params_id, name, manufacturer, model from panel_library',
    )
    return indexNames([...own.values(), ...rows.filter(({ params_id }) => !own.has(params_id))])
  }
  return async () => {
    const [row] = await db.query<{ version: number }>(version)
    const now = row!.version
    if (held?.version === now) return held.index
    const reading = { version: now, index: read() }
    held = reading
    try {
      return await reading.index
    } catch (error) {
      if (held === reading) held = undefined
      throw error
    }
  }
}

function fromOwn(model: OwnModel): PanelModel {
  return { ...model, source: 'fitted', is_bundled: true }
}

function fromList(model: ListedModel & { params_id: number }): PanelModel {
  return { ...model, source: 'cec', is_bundled: false }
}
