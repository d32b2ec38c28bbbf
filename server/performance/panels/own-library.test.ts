import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import test from 'node:test'
import {
  cecSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
  shortCircuitCurrent,
} from '@heliograph/physics/single-diode'
import { readPanelList } from './csv.ts'
import { datasheets } from './datasheets.ts'
import { type Cells, cellsOf, csvOf } from './fixtures/panel-csv.ts'
import { faultOf, type ListedModel } from './model.ts'
import { nameKey } from './names.ts'
import { ownCircuitsText } from './own-circuits.ts'
import { ownModels } from './own-library.ts'

test('the circuits are those that the datasheets give today', () => {
  const committed = readFileSync(new URL('own-circuits.json', import.meta.url), 'utf8')
  const [now, then] = [JSON.parse(ownCircuitsText()), JSON.parse(committed)]
  assert.deepEqual(Object.keys(now), Object.keys(then))
  for (const [name, circuit] of Object.entries<Record<string, number>>(now)) {
    for (const [parameter, value] of Object.entries(circuit)) {
      const ratio = value / then[name][parameter]
      assert.ok(Math.abs(ratio - 1) < 1e-6, `${name} ${parameter}: ${value}`)
    }
  }
})

for (const model of ownModels) {
  test(`the circuit of ${model.name} has the curve of its datasheet`, () => {
    assert.equal(faultOf(model), null)
    const diode = cecSingleDiode(model, 1000, 25)
    const point = maximumPowerPoint(diode)
    const off = (is: number, listed: number) => Math.abs(is / listed - 1)
    assert.ok(off(point.power_w, model.i_mp_a * model.v_mp_v) < 1e-6)
    assert.ok(off(point.power_w, model.power_stc_w) < 0.002)
    assert.ok(off(point.voltage_v, model.v_mp_v) < 1e-5)
    assert.ok(off(openCircuitVoltage(diode), model.v_oc_v) < 1e-6)
    assert.ok(off(shortCircuitCurrent(diode), model.i_sc_a) < 0.02)
    const power = (cell_c: number) => maximumPowerPoint(cecSingleDiode(model, 1000, cell_c)).power_w
    const gamma = ((power(50) - power(-10)) / 60 / point.power_w) * 100
    assert.ok(Math.abs(gamma - model.gamma_pmp_pct_per_c) < 0.001, `${gamma}`)
  })
}

test('the figures of the datasheets hold together', () => {
  assert.equal(new Set(ownModels.map(({ params_id }) => params_id)).size, datasheets.length)
  assert.equal(new Set(ownModels.map(({ name }) => nameKey(name))).size, datasheets.length)
  for (const model of ownModels) {
    // Silicon cells give 0.6 to 0.76 V, cadmium telluride ones 0.8 to 0.9 V.
    const cell_v = model.v_oc_v / model.cells_in_series
    const [min, max] = model.technology === 'cdte' ? [0.8, 0.9] : [0.6, 0.76]
    assert.ok(cell_v > min && cell_v < max, `${model.name}: ${cell_v} V a cell`)
    const efficiency = model.power_stc_w / (model.area_m2! * 1000)
    assert.ok(efficiency > 0.16 && efficiency < 0.24, `${model.name}: ${efficiency}`)
    const rated = /\d{3}/g
    const named = model.model.match(rated)?.map(Number) ?? []
    const is_named = named.includes(model.power_stc_w) || model.manufacturer === 'First Solar'
    assert.ok(is_named, `${model.name}: ${model.power_stc_w} W`)
  }
})

const ratings = ['i_sc_a', 'v_oc_v', 'i_mp_a', 'v_mp_v', 'cells_in_series'] as const

/** The models that the list has, and those of them whose ratings are in none of its rows. */
function compare(models: readonly ListedModel[], list: readonly ListedModel[]) {
  const listed = Map.groupBy(list, (row) => nameKey(row.model))
  const compared = models.filter((model) => listed.has(nameKey(model.model)))
  const differing = compared.filter((model) => {
    // The list counts two thirds of the cells of this one, and rounds voltages to 0.1 V.
    const kept = ratings.filter((name) => model.model !== 'TSM-670DE21' || !/cells/.test(name))
    return !listed
      .get(nameKey(model.model))!
      .some((row) => kept.every((name) => Math.abs(model[name] / row[name] - 1) < 0.005))
  })
  return { compared: compared.length, differing: differing.map(({ model }) => model) }
}

test('a rating that is not that of a published list is found', () => {
  const [first, second] = [cellsOf(0), cellsOf(1)]
  const list = (changes: Cells) =>
    readPanelList(Buffer.from(csvOf([{ ...first, ...changes }, second]))).models
  const current_a = Number(first['I_sc_ref'])
  const [model] = ownModels.map(({ model }) => model)
  const same = compare(ownModels, list({ I_sc_ref: String(current_a * 1.004) }))
  assert.deepEqual(same, { compared: 2, differing: [] })
  const other = compare(ownModels, list({ I_sc_ref: String(current_a * 1.006) }))
  assert.deepEqual(other, { compared: 2, differing: [model] })
})

test('the ratings are those of the published list, where it has the model', (t) => {
  const file = new URL('../../../../shared/data/panels/cec-modules-merged.csv', import.meta.url)
  if (!existsSync(file)) return t.skip('LEFT OUT: ../shared/data/panels is not there')
  const { compared, differing } = compare(ownModels, readPanelList(readFileSync(file)).models)
  assert.deepEqual(differing, [])
  assert.ok(compared >= 22, `only ${compared} are in the list`)
})
