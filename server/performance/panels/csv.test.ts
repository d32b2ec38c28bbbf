import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import fc from 'fast-check'
import { PanelListError, readPanelList } from './csv.ts'
import { type Cells, cellsOf, csvOf, header, units } from './fixtures/panel-csv.ts'
import { nameKey, paramsId } from './names.ts'
import { ownModels } from './own-library.ts'

const read = (text: string) => readPanelList(Buffer.from(text))
const namesIn = (text: string) => read(text).models.map(({ name }) => name)
const three = [cellsOf(0), cellsOf(1), cellsOf(2)]
const plain = read(csvOf(three))

test('a row becomes a model', () => {
  const [model] = plain.models
  const { params_id: _, ...own } = ownModels[0]!
  assert.deepEqual(model, {
    ...own,
    name: `Maker ${own.model}`,
    manufacturer: 'Maker',
    technology: 'mono_c_si',
    source_version: 'SAM 2020.11.29 r1',
    source_date: '2020-11-29',
  })
  assert.equal(plain.models.length, 3)
  assert.deepEqual([plain.refused, plain.duplicates], [[], []])
})

test('the list reads the same in every form that it is found in', () => {
  const list = csvOf(three)
  const reordered = three.map((cells) => Object.fromEntries(Object.entries(cells).reverse()))
  const quoted = list.replace(/^(Maker [^,]*),Maker,/gm, '"$1","Maker",')
  const forms: [string, string | Buffer][] = [
    ['with the rows of units and variables', csvOf(three, { below: units })],
    ['with line ends of DOS', csvOf(three, { eol: '\r\n', below: units })],
    ['with line ends of old Macs', csvOf(three, { eol: '\r' })],
    ['with a byte order mark', `\ufeff${list}`],
    ['without a last line end, with blank lines', `${list.trimEnd().replaceAll('\n', '\n\n')}`],
    ['with empty cells behind', list.replaceAll('\n', ',,\n')],
    ['with columns in another order', csvOf(reordered)],
    ['with names in small letters and blanks', list.replace(header, header.toLowerCase())],
    ['with quotes', quoted],
    ['in UTF-16', Buffer.from(`\ufeff${list}`, 'utf16le')],
    ['in UTF-16, the other way round', Buffer.from(`\ufeff${list}`, 'utf16le').swap16()],
  ]
  assert.notEqual(quoted, list)
  for (const [what, form] of forms) assert.deepEqual(readPanelList(Buffer.from(form)), plain, what)
})

test('names keep their accents in UTF-8 and in Windows-1252', () => {
  const list = csvOf([cellsOf(0, { Name: 'TECNOLOGÍA “x” 5' })])
  assert.deepEqual(namesIn(list), ['TECNOLOGÍA “x” 5'])
  const bytes = Buffer.from(list.replace('“', '\x93').replace('”', '\x94'), 'latin1')
  assert.equal(readPanelList(bytes).models[0]?.name, 'TECNOLOGÍA “x” 5')
})

test('a quoted name may hold commas and quotes; a stray quote costs nothing', () => {
  const named = (Name: string) => csvOf([cellsOf(0, { Name }), cellsOf(1)])
  const second = cellsOf(1)['Name']
  assert.deepEqual(namesIn(named('"Sun, Ltd. ""X"" 5"')), ['Sun, Ltd. "X" 5', second])
  assert.deepEqual(namesIn(named('Six 6" cells')), ['Six 6" cells', second])
  assert.deepEqual(namesIn(named('"Unclosed 5')), ['"Unclosed 5', second])
})

test('what the list may leave out is null or computed', () => {
  const needless = ['Bifacial', 'STC', 'PTC', 'A_c', 'Length', 'Width', 'BIPV', 'Version', 'Date']
  const cells = Object.entries(cellsOf(0)).filter(([name]) => !needless.includes(name))
  const [model] = read(csvOf([Object.fromEntries(cells)])).models
  const { i_mp_a, v_mp_v } = ownModels[0]!
  assert.equal(model?.power_stc_w, i_mp_a * v_mp_v)
  const empty = [model?.bifacial, model?.power_ptc_w, model?.area_m2, model?.length_m]
  assert.deepEqual([...empty, model?.source_version, model?.source_date], Array(6).fill(null))
})

test('a file that is no such list is refused as a whole', () => {
  const without = (...names: string[]) => {
    const cells = Object.entries(cellsOf(0)).filter(([name]) => !names.includes(name))
    return csvOf([Object.fromEntries(cells)])
  }
  const refusals: [string, RegExp][] = [
    [without('R_s'), /lacks the column R_s$/],
    [without('Name', 'T_NOCT'), /lacks the columns Name, T_NOCT$/],
    ['', /not a list of CEC modules/],
    ['<!doctype html>\n<html>', /not a list of CEC modules/],
    [csvOf(three).replace('BIPV', 'r_s'), /duplicate column r_s/],
  ]
  for (const [text, message] of refusals) {
    assert.throws(() => read(text), { constructor: PanelListError, message }, String(message))
  }
})

test('a broken row is refused with its line and reason, the others are taken', () => {
  const broken: [Cells, RegExp][] = [
    [{ R_s: '' }, /^R_s is empty$/],
    [{ R_s: 'n/a' }, /^R_s is not a finite number: "n\/a"$/],
    [{ V_oc_ref: 'NaN' }, /^V_oc_ref is not a finite number/],
    [{ I_sc_ref: '1e999' }, /^I_sc_ref is not a finite number/],
    [{ I_sc_ref: '0x10' }, /^I_sc_ref is not a finite number/],
    [{ PTC: '-5' }, /^power_ptc_w is -5, outside of 1 to 2000$/],
    [{ beta_oc: '0.13' }, /^beta_oc_v_per_c is 0.13, outside/],
    [{ N_s: '72.5' }, /^cells_in_series is 72.5, not a whole number$/],
    [{ I_mp_ref: '19' }, /^i_mp_a is 19, above i_sc_a/],
    [{ V_mp_ref: '60' }, /^v_mp_v is 60, not below v_oc_v/],
    [{ R_s: '0.5' }, /^its circuit gives \d+\.\d W at standard test conditions, -\d/],
    [{ STC: '500' }, /% off the listed 500 W$/],
    [{ Bifacial: 'maybe' }, /^Bifacial is neither 0 nor 1: "maybe"$/],
    [{ Technology: '' }, /^Technology is empty$/],
    [{ Name: ' - ' }, /^Name is empty$/],
    [{ Name: 'x'.repeat(201) }, /^Name has control characters or more than 200$/],
    [{ Name: 'Sun \u202e5' }, /^Name has control characters or more than 200$/],
    [{ Name: 'Sun, Ltd. 5' }, /^has 28 fields instead of 27$/],
  ]
  const rows = broken.map(([changes], nth) => cellsOf(0, { Name: `Bad ${nth}`, ...changes }))
  const { models, refused } = read(csvOf([...rows, cellsOf(1)], { below: units }))
  assert.deepEqual(
    models.map(({ name }) => name),
    [cellsOf(1)['Name']],
  )
  assert.equal(refused.length, broken.length)
  for (const [nth, { line, reason }] of refused.entries()) {
    assert.equal(line, nth + 4)
    assert.match(reason, broken[nth]![1])
  }
  const cut = `${csvOf(three)}Maker cut,Maker,Mono-c-Si`
  assert.deepEqual(read(cut).refused, [
    { line: 5, name: 'Maker cut', reason: 'has 3 fields instead of 27' },
  ])
})

test('what is told of a broken file is short and harmless to a terminal', () => {
  const steering = '\u001b[2J\u009b\u202e'
  const rows = [
    cellsOf(0, { Name: `${steering}${'x'.repeat(5000)}` }),
    cellsOf(0, { Name: 'Long', Bifacial: `${steering}${'y'.repeat(5000)}` }),
    cellsOf(0, { Name: 'Odd', R_s: `${steering}1` }),
  ]
  const { refused } = read(csvOf(rows))
  assert.equal(refused.length, rows.length)
  const told = refused.flatMap(({ name, reason }) => [name, reason])
  const columns = `${steering}${'z'.repeat(5000)}`
  const repeated = csvOf(rows).replace(header, `${header},${columns},${columns}`)
  assert.throws(
    () => read(repeated),
    (error: Error) => told.push(error.message) > 0,
  )
  for (const text of told) {
    assert.ok(text.length < 150, `${text.length} characters`)
    assert.doesNotMatch(text, /[\p{Cc}\p{Bidi_Control}]/u)
  }
})

test('an endless line costs itself alone', () => {
  const endless = `"${'a'.repeat(20_000_000)}`
  const { models, refused } = read(csvOf([cellsOf(0, { Name: endless }), cellsOf(1)]))
  assert.equal(models.length, 1)
  assert.deepEqual(
    refused.map(({ line, reason }) => [line, reason]),
    [[2, 'is longer than 20000 characters']],
  )
  assert.throws(() => read(endless), PanelListError)
})

test('of one name the newer edition is taken, of one edition the later row', () => {
  const dated = (Version: string, PTC: string) =>
    cellsOf(0, { Name: `Maker${PTC === '300' ? '-' : ' '}X`, Version, Date: '', PTC })
  const taken = (...rows: Cells[]) => {
    const { models, duplicates } = read(csvOf(rows))
    assert.equal(models.length, 1)
    return [models[0]?.power_ptc_w, duplicates.map(({ line, taken_line }) => [line, taken_line])]
  }
  const [older, newer] = [dated('SAM 2019.3.5', '300'), dated('SAM 2020.11.29', '310')]
  assert.deepEqual(taken(older, newer), [310, [[2, 3]]])
  assert.deepEqual(taken(newer, older), [310, [[3, 2]]])
  assert.deepEqual(taken(newer, dated('SAM 2020.11.29', '320')), [320, [[2, 3]]])
  assert.deepEqual(taken(newer, dated('', '320')), [320, [[2, 3]]])
  const usDate = { ...dated('', '330'), Date: '12/1/2020' }
  assert.deepEqual(taken(usDate, newer), [330, [[3, 2]]])
  assert.deepEqual(taken({ ...usDate, Date: '13/31/2020' }, newer), [310, [[2, 3]]])
})

test('no bytes make it fail in another way', () => {
  const text = Buffer.from(csvOf(three, { below: units }))
  const change = fc.tuple(fc.nat(text.length - 1), fc.nat(255))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const bytes = Buffer.from(text)
      for (const [at, byte] of changes) bytes[at] = byte
      try {
        for (const model of readPanelList(bytes).models) {
          for (const value of Object.values(model)) assert.ok(!Number.isNaN(value))
        }
      } catch (error) {
        assert.ok(error instanceof PanelListError)
      }
    }),
  )
})

test('a list of thousands of rows is read whole, each name with a number of its own', () => {
  const rows = Array.from({ length: 4000 }, (_, nth) =>
    cellsOf(nth % ownModels.length, { Name: `Maker Model ${nth}` }),
  )
  const { models, refused, duplicates } = readPanelList(Buffer.from(csvOf(rows)))
  assert.deepEqual([models.length, refused, duplicates], [4000, [], []])
  assert.equal(models[3999]?.power_stc_w, ownModels[3999 % ownModels.length]?.power_stc_w)
  assert.equal(new Set(models.map(({ name }) => paramsId(nameKey(name)))).size, 4000)
})

test('the published list is read whole, each name with a number of its own', (t) => {
  const file = new URL('../../../../shared/data/panels/cec-modules-merged.csv', import.meta.url)
  if (!existsSync(file)) return t.skip('LEFT OUT: ../shared/data/panels is not there')
  const { models, refused, duplicates } = readPanelList(readFileSync(file))
  assert.deepEqual([models.length, refused, duplicates], [18_871, [], []])
  const keys = new Set([...models, ...ownModels].map(({ name }) => nameKey(name)))
  const numbers = new Set([...keys].map((key) => paramsId(key)))
  assert.equal(numbers.size, keys.size)
})
