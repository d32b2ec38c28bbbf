import assert from 'node:assert/strict'
import test from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import { foundSite, site_id } from '../link/fixtures/plant.ts'
import {
  modelInUse,
  modelsInUse,
  type NewModel,
  productionModels,
  storeModel,
} from './model-store.ts'

test('a model is in use until one follows that is no worse', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await foundSite(db)
  const models = productionModels(site_id, 'logger:1')
  const store = (bytes: string, is_worse: boolean) => {
    const model = {
      trained_at: new Date(),
      model: Buffer.from(bytes),
      is_worse,
      facts: { step_minutes: 60 },
      scores: {},
    }
    return db.transaction((tx) => storeModel(tx, models, model as unknown as NewModel))
  }
  const used = async () => {
    const model = await modelInUse(db, models)
    return model && [model.version, model.model.toString()]
  }
  assert.equal(await used(), null)
  assert.equal(await store('first', false), 1)
  assert.deepEqual(await used(), [1, 'first'])
  assert.equal(await store('worse', true), 2)
  assert.deepEqual(await used(), [1, 'first'])
  assert.equal(await store('better', false), 3)
  assert.deepEqual(await used(), [3, 'better'])
  // Of the others only the figures are kept.
  assert.deepEqual(
    await db.query('select version, state, model is null as gone from forecast_models order by 1'),
    [
      { version: 1, state: 'followed', gone: true },
      { version: 2, state: 'worse', gone: true },
      { version: 3, state: 'in_use', gone: false },
    ],
  )
  assert.deepEqual(
    (await modelsInUse(db, site_id)).map(({ version }) => version),
    [3],
  )
})
