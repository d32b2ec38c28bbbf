/** Imports and what the store finds of them, on a database. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import { readPanelList } from './csv.ts'
import { type Cells, cellsOf, csvOf } from './fixtures/panel-csv.ts'
import { importList, planImport } from './import.ts'
import { nameKey, paramsId } from './names.ts'
import { ownModels } from './own-library.ts'
import { bundledPanels, findPanels, readPanel, readPanelByName, readPanelsById } from './store.ts'

let database: TestDatabase
const at = new Date('2026-06-01T10:00:00Z')
const names = ownModels.slice(0, 8).map(({ model }) => `Maker ${model}`)

before(async () => {
  database = await testDatabase()
})
after(() => database.drop())

const listOf = (...rows: Cells[]) => readPanelList(Buffer.from(csvOf(rows)))
const take = (...rows: Cells[]) => importList(database.db, listOf(...rows), { source: 'a.csv', at })
const counts = async (...rows: Cells[]) => {
  const { added, changed, unchanged, outdated } = await take(...rows)
  return [added, changed, unchanged, outdated]
}

test('a list is taken once, changed rows keep their number, rows that vanish stay', async () => {
  assert.equal((await findPanels(database.db, 'maker', { limit: 50 })).count, 0)
  const [first, second] = [cellsOf(0), cellsOf(1)]
  const broken = cellsOf(2, { R_s: '-1' })
  const report = await take(first, second, broken)
  assert.equal(report.taken, 2)
  assert.deepEqual([report.added, report.changed, report.unchanged, report.outdated], [2, 0, 0, 0])
  assert.match(report.refused[0]!.reason, /^r_s_ohm is -1/)
  assert.deepEqual(await counts(first, second), [0, 0, 2, 0], 'again')
  const before = await readPanelByName(database.db, names[0]!)

  assert.deepEqual(await counts({ ...first, PTC: '301.5' }, cellsOf(3)), [1, 1, 0, 0])
  const after = await readPanel(database.db, before!.params_id)
  assert.deepEqual(after, { ...before, power_ptc_w: 301.5 })
  assert.equal((await findPanels(database.db, 'maker', { limit: 50 })).count, 3)
  assert.equal(
    (await readPanelByName(database.db, names[1]!))?.name,
    names[1],
    'it is not in the second list',
  )

  const imports = await database.db.query('select at, source, added, changed from panel_imports')
  assert.deepEqual(imports, [
    { at, source: 'a.csv', added: 2, changed: 0 },
    { at, source: 'a.csv', added: 1, changed: 1 },
  ])
})

test('what is read is what the list says, to the last digit', async () => {
  const I_o_ref = String(ownModels[4]!.i_o_ref_a * 1.000000123456789)
  const cells = cellsOf(4, { I_o_ref, Technology: 'HIT-Si', Bifacial: '1' })
  const list = listOf(cells)
  await take(cells)
  const params_id = paramsId(nameKey(names[4]!))
  assert.deepEqual(await readPanel(database.db, params_id), {
    ...list.models[0],
    params_id,
    technology: 'hjt',
    bifacial: true,
    source: 'cec',
    is_bundled: false,
  })
})

test('another spelling of a name is the same model; an older edition does not replace it', async () => {
  const number = (await readPanelByName(database.db, names[0]!))?.params_id
  const respelled = cellsOf(0, { Name: names[0]!.toUpperCase().replaceAll('-', ' ') })
  assert.deepEqual(await counts(respelled), [0, 1, 0, 0])
  assert.equal((await readPanelByName(database.db, respelled['Name']!))?.params_id, number)
  const older = cellsOf(0, { Date: '', Version: 'SAM 2018.1.1', PTC: '250' })
  assert.deepEqual(await counts(older), [0, 0, 0, 1])
  const newer = cellsOf(0, { Version: 'SAM 2023.1.1', PTC: '310' })
  assert.deepEqual(await counts(newer), [0, 1, 0, 0])
  assert.equal((await readPanelByName(database.db, names[0]!))?.power_ptc_w, 310)
})

test('a search sees an import of any process at once, best first, and counts all', async () => {
  // The names are cached by database: a copy stands for another process.
  const other = { ...database.db }
  await findPanels(other, 'maker', { limit: 1 })
  await take(cellsOf(5, { Name: 'Maker ZZ-1000' }), cellsOf(6, { Name: 'Maker XZZ-10000' }))
  for (const db of [database.db, other]) {
    const { rows, count } = await findPanels(db, 'zz1000', { limit: 1 })
    assert.deepEqual([rows.map(({ name }) => name), count], [['Maker ZZ-1000'], 2])
  }
})

test('models that come with the program are found, and stand before a list of the same name', async () => {
  const { name, params_id } = ownModels[7]!
  const [maker] = [ownModels[7]!.manufacturer]
  const before = await readPanel(database.db, params_id)
  assert.deepEqual([before?.source, before?.is_bundled], ['fitted', true])
  await take(cellsOf(7, { Name: name, Manufacturer: maker, PTC: '333' }))
  assert.deepEqual(await readPanel(database.db, params_id), before)
  assert.deepEqual(await readPanelByName(database.db, name.toLowerCase()), before)
  const { rows, count } = await findPanels(database.db, name, { limit: 50 })
  assert.deepEqual([rows.map((row) => row.is_bundled), count], [[true], 1])
  assert.equal(bundledPanels().length, ownModels.length)
})

test('models are read by number, those that are not there left out', async () => {
  const [mine, imported] = [ownModels[0]!.params_id, paramsId(nameKey(names[1]!))]
  const found = await readPanelsById(database.db, [imported, mine, 5, imported])
  assert.deepEqual(new Set(found.keys()), new Set([mine, imported]))
  assert.equal(await readPanel(database.db, 5), null)
  assert.equal(await readPanelByName(database.db, 'nobody knows it'), null)
  assert.deepEqual(await readPanelsById(database.db, []), new Map())
})

test('an import that fails leaves nothing behind', async () => {
  const rows = async () => (await database.db.query('select * from panel_library')).length
  const before = await rows()
  const list = listOf(cellsOf(0, { Name: 'Maker half 1' }), cellsOf(1, { Name: 'Maker half 2' }))
  list.models[1]!.v_oc_v = Number.NaN
  await assert.rejects(importList(database.db, list, { source: 'a.csv', at }), /v_oc_v/)
  assert.equal(await rows(), before)
  assert.equal((await findPanels(database.db, 'half', { limit: 5 })).count, 0)
})

test('a new name whose number is taken gets another; the one that is there keeps its own', () => {
  const expected = paramsId('makernew', 1)
  const { models } = listOf(cellsOf(0, { Name: 'Maker new' }))
  const stored = {
    ...models[0]!,
    name: 'Maker old',
    name_key: 'makerold',
    params_id: paramsId('makernew'),
  }
  for (const [rows, own] of [
    [[stored], []],
    [[], [stored]],
  ]) {
    const { added, changed } = planImport(models, rows!, own)
    assert.deepEqual([added.map(({ params_id }) => params_id), changed], [[expected], []])
  }
})

test('imports at the same time wait for each other', async () => {
  const rows = [0, 1, 2, 3].map((nth) => cellsOf(nth, { Name: `Maker together ${nth}` }))
  const reports = await Promise.all([take(...rows), take(...rows.slice(1)), take(...rows)])
  assert.equal(
    reports.reduce((sum, { added }) => sum + added, 0),
    4,
  )
  assert.equal((await findPanels(database.db, 'together', { limit: 50 })).count, 4)
})
