import type { Database, Queries } from '../../storage/database.ts'
import { isNewer, type PanelList } from './csv.ts'
import { type ListedModel, modelColumns } from './model.ts'
import { nameKey, numberNames } from './names.ts'
import { ownModels } from './own-library.ts'

export type ImportReport = Awaited<ReturnType<typeof importList>>

type StoredModel = ListedModel & { params_id: number; name_key: string }

const rows_per_statement = 2000

/**
 * Updates the table from a list in one transaction. A stored model keeps its `params_id` and takes
 * the values of the list, unless it has a newer edition; models missing in the list stay. `source`
 * is stored with the import. Importing the same list again changes nothing.
 *
 * Returns counts: `taken` of the valid rows of the list, which is the sum of the next four; and
 * `outdated` of the rows of an older edition than the stored row, which stays.
 */
export async function importList(
  db: Database,
  list: PanelList,
  { source, at }: { source: string; at: Date },
) {
  const { models, refused, duplicates } = list
  return db.transaction(async (transaction) => {
    // One import at a time: the next one must see the ids assigned by this one.
    await transaction.execute('lock table panel_library in share row exclusive mode')
    const stored = await transaction.query<StoredModel>(
      `select params_id, name_key, ${modelColumns} from panel_library`,
    )
    const plan = planImport(models, stored)
    const changes = [...plan.added, ...plan.changed]
    for (let from = 0; from < changes.length; from += rows_per_statement) {
      await writeModels(transaction, changes.slice(from, from + rows_per_statement))
    }
    const [added, changed] = [plan.added.length, plan.changed.length]
    if (changes.length > 0) {
      await transaction.execute(
        'insert into panel_imports (at, source, added, changed) values ($1, $2, $3, $4)',
        [at, source, added, changed],
      )
    }
    const { outdated } = plan
    const unchanged = models.length - added - changed - outdated
    return { taken: models.length, added, changed, unchanged, outdated, refused, duplicates }
  })
}

/** Changes needed to import `models`, given the stored models and the bundled ones (`own`). */
export function planImport(
  models: readonly ListedModel[],
  stored: readonly StoredModel[],
  own: readonly Pick<StoredModel, 'name' | 'params_id'>[] = ownModels,
) {
  const byKey = new Map(stored.map((model) => [model.name_key, model]))
  const known: { before: StoredModel; model: StoredModel }[] = []
  const unknown: Omit<StoredModel, 'params_id'>[] = []
  for (const listed of models) {
    const model = { ...listed, name_key: nameKey(listed.name) }
    const before = byKey.get(model.name_key)
    if (before) known.push({ before, model: { ...model, params_id: before.params_id } })
    else unknown.push(model)
  }
  const numbers = newNumbers(unknown, stored, own)
  const differing = known.filter(({ before, model }) =>
    modelColumns.some((column) => model[column] !== before[column]),
  )
  const changed = differing.filter(({ before, model }) => !isNewer(before, model))
  return {
    added: unknown.map((model) => ({ ...model, params_id: numbers.get(model.name_key)! })),
    changed: changed.map(({ model }) => model),
    outdated: differing.length - changed.length,
  }
}

/** Ids for new models; bundled models keep their id. */
function newNumbers(
  unknown: readonly Pick<StoredModel, 'name_key'>[],
  stored: readonly StoredModel[],
  own: readonly Pick<StoredModel, 'name' | 'params_id'>[],
): Map<string, number> {
  const given = new Map(own.map(({ name, params_id }) => [nameKey(name), params_id]))
  const others = unknown.map(({ name_key }) => name_key).filter((key) => !given.has(key))
  const taken = [...stored.map(({ params_id }) => params_id), ...given.values()]
  return new Map([...given, ...numberNames(others, new Set(taken))])
}

async function writeModels(db: Queries, models: readonly StoredModel[]): Promise<void> {
  const columns = ['params_id', 'name_key', ...modelColumns]
  await db.execute(
    `insert into panel_library (${columns})
     select ${columns} from jsonb_populate_recordset(null::panel_library, $1)
     on conflict (params_id) do update
       set ${modelColumns.map((column) => `${column} = excluded.${column}`)}`,
    [JSON.stringify(models)],
  )
}
