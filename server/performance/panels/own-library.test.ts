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
import { faultOf } from './model.ts'
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

test('the ratings are those of the published list, where it has the model', (t) => {
  const file = new URL('../../../../shared/data/panels/cec-modules-merged.csv', import.meta.url)
  if (!existsSync(file)) return t.skip('LEFT OUT: ../shared/data/panels is not there')
  const listed = Map.groupBy(readPanelList(readFileSync(file)).models, (row) => nameKey(row.model))
  const ratings = ['i_sc_a', 'v_oc_v', 'i_mp_a', 'v_mp_v', 'cells_in_series'] as const
  const compared = ownModels.filter((model) => {
    const rows = listed.get(nameKey(model.model)) ?? []
    // The list counts two thirds of the cells of this one, and rounds voltages to 0.1 V.
    const kept = ratings.filter((name) => model.model !== 'TSM-670DE21' || !/cells/.test(name))
    const agrees = rows.some((row) =>
      kept.every((name) => Math.abs(model[name] / row[name] - 1) < 0.005),
    )
    assert.ok(agrees || rows.length === 0, `${model.name}: ${JSON.stringify(rows)}`)
    return rows.length > 0
  })
  assert.ok(compared.length >= 22, `only ${compared.length} are in the list`)
})
