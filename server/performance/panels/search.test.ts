import assert from 'node:assert/strict'
import test from 'node:test'
import { indexNames, searchNames } from './search.ts'

const makers: Record<string, string[]> = {
  'CSI Solar Co., Ltd.': ['CS3W-400P', 'CS3W-400PB-AG', 'CS6K-300MS'],
  'Hanwha Q CELLS (Qidong)': ['Q.PEAK DUO-G8 350', 'Q.PEAK DUO-G8+ 350'],
  'LONGi Green Energy Technology Co., Ltd.': ['LR5-72HPH-550M'],
  'Maxeon Solar Technologies Ltd.': ['SPR-MAX6-450-COM'],
  'Chint Solar (Zhejiang) Co., Ltd.': ['CHSM72M-HC-545'],
  'Trina Solar': ['TSM-550DE19', 'TSM-55DE19', 'TSM-X550'],
  Unknown: ['100%_A', 'SOLAREVER TECNOLOGÍA 300'],
}
const models = Object.entries(makers).flatMap(([manufacturer, names]) =>
  names.map((model) => ({ manufacturer, model, name: `${manufacturer} ${model}` })),
)
const index = indexNames(models.map((model, at) => ({ ...model, params_id: at })))

/** The models found, best first, and the count. */
function find(query: string, limit = 50): [string[], number] {
  const { params_ids, count } = searchNames(index, query, limit)
  return [params_ids.map((at) => models[at]!.model), count]
}

test('all words must be in the name, however they are spelled', () => {
  assert.deepEqual(find('cs3w400'), [['CS3W-400P', 'CS3W-400PB-AG'], 2])
  assert.deepEqual(find('CSI 400pb'), [['CS3W-400PB-AG'], 1])
  assert.deepEqual(find('tecnologia 300'), [['SOLAREVER TECNOLOGÍA 300'], 1])
  assert.deepEqual(find('G8+'), [['Q.PEAK DUO-G8+ 350'], 1])
  assert.deepEqual(find('duo g8'), [['Q.PEAK DUO-G8 350', 'Q.PEAK DUO-G8+ 350'], 2])
})

test('makers are found by their other names, together with the model as one word too', () => {
  assert.deepEqual(find('canadian solar cs6k'), [['CS6K-300MS'], 1])
  assert.deepEqual(find('CanadianSolarCS6K'), [['CS6K-300MS'], 1])
  assert.deepEqual(find('longi solar 550'), [['LR5-72HPH-550M'], 1])
  assert.deepEqual(find('qcells g8+'), [['Q.PEAK DUO-G8+ 350'], 1])
  assert.deepEqual(find('sunpower 450'), [['SPR-MAX6-450-COM'], 1])
  assert.deepEqual(find('astronergy'), [['CHSM72M-HC-545'], 1])
})

test('words that begin a word come first, then short names, then by name', () => {
  assert.deepEqual(find('trina 55')[0], ['TSM-55DE19', 'TSM-550DE19', 'TSM-X550'])
  assert.deepEqual(find('trina 550')[0], ['TSM-550DE19', 'TSM-X550'])
  assert.deepEqual(find('tsm')[0], ['TSM-X550', 'TSM-55DE19', 'TSM-550DE19'])
})

test('where no name has all words, rare and long ones decide, and all that have any count', () => {
  const [found, count] = find('trina solar 545')
  assert.equal(found[0], 'CHSM72M-HC-545')
  assert.deepEqual(found.slice(1, 4), ['TSM-X550', 'TSM-55DE19', 'TSM-550DE19'])
  assert.equal(count, models.length - 3, 'all but the two of Hanwha and the first of Unknown')
  assert.deepEqual(find('cs6k nonsense'), [['CS6K-300MS'], 1])
  assert.deepEqual(find('nonsense gibberish'), [[], 0])
})

test('a power is found with its unit behind it', () => {
  for (const query of ['longi 550w', 'longi 550 W', 'LONGi LR5 550Wp', 'longi 550 watt']) {
    assert.deepEqual(find(query), [['LR5-72HPH-550M'], 1], query)
  }
  assert.deepEqual(find('545W'), [['CHSM72M-HC-545'], 1])
  assert.deepEqual(find('cs3w'), find('cs3w-400'), 'a W within a name is a letter of it')
  assert.deepEqual(find('zzz w'), [[], 0])
  assert.deepEqual(find('nonsense 545w'), [['CHSM72M-HC-545'], 1])
})

test('nothing is a wildcard', () => {
  assert.deepEqual(find('%'), [['100%_A'], 1])
  for (const query of ['_', '', '   ', '-', '.*', '%%', '\u0000', '('.repeat(200)]) {
    assert.deepEqual(find(query), [[], 0], JSON.stringify(query))
  }
})

test('the limit cuts the rows, not the count', () => {
  assert.deepEqual(find('solar', 2), [['TSM-X550', 'TSM-55DE19'], find('solar')[1]])
  assert.equal(find('solar')[0].length, find('solar')[1])
  assert.equal(find('trina nonsense', 1)[1], 3)
  assert.equal(find('trina nonsense', 1)[0].length, 1)
})
