import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  assertWithin,
  assertWithinRatio,
  testAgainstOracle,
  thinnedRows,
} from './fixtures/oracle.ts'
import { moduleOfReference } from './fixtures/panel-list.ts'
import { uniform } from './fixtures/uniform.ts'
import {
  type CharacteristicPoints,
  characteristicPoints,
  characteristicSeries,
  ivCurve,
  singleDiodePoints,
} from './iv-curve.ts'
import { cecSingleDiode, currentAtVoltage, voltageAtCurrent } from './single-diode.ts'

const limit_ratio = 1e-12
const modules = thinnedRows('cec_modules_used').map(moduleOfReference)

const reference_columns: Record<keyof CharacteristicPoints, string> = {
  i_sc_a: 'i_sc',
  v_oc_v: 'v_oc',
  i_mp_a: 'i_mp',
  v_mp_v: 'v_mp',
  p_mp_w: 'p_mp',
  i_x_a: 'i_x',
  i_xx_a: 'i_xx',
}
const point_names = Object.keys(reference_columns) as (keyof CharacteristicPoints)[]

testAgainstOracle('single_diode', 'every characteristic point', (row) => {
  const module = modules[row.number('module')]!
  const points = characteristicPoints(cecSingleDiode(module, row.number('G'), row.number('Tc')))
  for (const name of point_names) {
    assertWithinRatio(points[name], row.number(reference_columns[name]), limit_ratio, name)
  }
})

testAgainstOracle('iv_curves', 'the curve from short to open circuit', (row) => {
  const module = modules[row.number('module')]!
  const expected_v = row.list('v')
  const expected_a = row.list('i')
  const diode = cecSingleDiode(module, row.number('G'), row.number('Tc'))
  const { voltage_v, current_a } = ivCurve(diode, expected_v.length)
  expected_v.forEach((volts, i) => {
    assertWithinRatio(voltage_v[i]!, volts, limit_ratio, `voltage ${i}`)
    assertWithin(current_a[i]!, expected_a[i]!, limit_ratio * expected_a[0]!, `current ${i}`)
  })
})

const module = fc.constantFrom(...modules)
const irradiance = fc.oneof(
  uniform(0, 1500),
  fc.constantFrom(0, 5e-324, 1e-300, 1e-17, 1e-9, 1, 1e4, Number.MAX_VALUE),
)
const cell = uniform(-40, 95)

test('the points at any light and temperature are numbers in their order', () => {
  const shunt = fc.constantFrom('listed', 'without bound')
  fc.assert(
    fc.property(module, irradiance, cell, shunt, (given, g_w_m2, cell_c, kind) => {
      const r_sh_ref_ohm = kind === 'listed' ? given.r_sh_ref_ohm : Number.POSITIVE_INFINITY
      const points = characteristicPoints(
        cecSingleDiode({ ...given, r_sh_ref_ohm }, g_w_m2, cell_c),
      )
      for (const name of point_names) {
        assert.ok(Number.isFinite(points[name]) && points[name] >= 0, `${name} ${points[name]}`)
      }
      const slack = 1 + 1e-12
      const { i_sc_a, i_x_a, i_mp_a, i_xx_a, v_mp_v, v_oc_v } = points
      assert.ok(i_x_a <= i_sc_a * slack && i_mp_a <= i_sc_a * slack && i_xx_a <= i_mp_a * slack)
      assert.ok(v_mp_v <= v_oc_v * slack)
    }),
    { numRuns: 2000 },
  )
})

test('current falls along a curve, and no point exceeds the maximum power', () => {
  const lit = uniform(1, 1500)
  fc.assert(
    fc.property(module, lit, cell, (given, g_w_m2, cell_c) => {
      const diode = cecSingleDiode(given, g_w_m2, cell_c)
      const { p_mp_w } = characteristicPoints(diode)
      const { voltage_v, current_a } = ivCurve(diode, 200)
      const power_w = voltage_v.map((volts, i) => volts * current_a[i]!)
      current_a.slice(1).forEach((current, i) => {
        assert.ok(current < current_a[i]!)
      })
      const best_w = Math.max(...power_w)
      assert.ok(best_w <= p_mp_w * (1 + 1e-13) && best_w > p_mp_w * 0.999)
    }),
    { numRuns: 200 },
  )
})

test('the voltage at a current is the inverse of the current at a voltage', () => {
  const lit = uniform(1e-6, 1500)
  const share = uniform(-0.5, 1.2)
  fc.assert(
    fc.property(module, lit, cell, share, (given, g_w_m2, cell_c, part) => {
      const diode = cecSingleDiode(given, g_w_m2, cell_c)
      const current_a = part * diode.i_l_a
      const back_a = currentAtVoltage(diode, voltageAtCurrent(diode, current_a))
      assertWithin(back_a, current_a, 1e-12 * diode.i_l_a, 'current')
    }),
    { numRuns: 1000 },
  )
})

test('a current that no voltage drives has an infinite voltage', () => {
  const lit = cecSingleDiode(modules[0]!, 500, 25)
  const unshunted = { ...lit, g_sh_s: 0 }
  assert.equal(voltageAtCurrent(unshunted, 2 * lit.i_l_a), Number.NEGATIVE_INFINITY)
  assert.ok(voltageAtCurrent(lit, 2 * lit.i_l_a) < -1000)
  assert.ok(Number.isFinite(voltageAtCurrent(unshunted, lit.i_l_a)))
  // What the diode lets through in reverse is reached at no voltage, or at rounding's.
  const dark = cecSingleDiode(modules[0]!, 0, 25)
  for (const times of [0.5, 1, 1.001, 2]) {
    assert.ok(voltageAtCurrent(dark, times * dark.i_o_a) < 0, `${times}`)
    const barely = { ...dark, g_sh_s: 1e-300 }
    assert.ok(voltageAtCurrent(barely, times * dark.i_o_a) < 0, `${times}`)
  }
  assert.equal(voltageAtCurrent(cecSingleDiode(modules[0]!, 0, 25), 1), Number.NEGATIVE_INFINITY)
})

test('a series equals its single conditions', () => {
  const irradiance_w_m2 = Float64Array.of(0, 1e-17, 1, 230, 1000, 1400)
  const cell_temperature_c = Float64Array.of(-40, 95, 25, -3, 61, 20)
  const conditions = { irradiance_w_m2, cell_temperature_c }
  const series = singleDiodePoints(modules[2]!, conditions)
  irradiance_w_m2.forEach((g_w_m2, i) => {
    const points = characteristicPoints(cecSingleDiode(modules[2]!, g_w_m2, cell_temperature_c[i]!))
    for (const name of point_names) assert.equal(series[name][i], points[name])
  })
  const out = characteristicSeries(8)
  assert.equal(singleDiodePoints(modules[2]!, conditions, out), out)
  assert.deepEqual(out.p_mp_w.subarray(0, 6), series.p_mp_w)
  assert.equal(out.p_mp_w[6], 0)
})

test('wrong lengths are refused', () => {
  const three = new Float64Array(3)
  const fill = (cell_temperature_c: Float64Array, room: number) =>
    singleDiodePoints(
      modules[0]!,
      { irradiance_w_m2: three, cell_temperature_c },
      characteristicSeries(room),
    )
  assert.throws(() => fill(new Float64Array(2), 3), /3 irradiances, 2 cell temperatures/)
  assert.throws(() => fill(three, 2), /out holds 2 of 3/)
  assert.throws(() => ivCurve(cecSingleDiode(modules[0]!, 1, 1), 1), /count: 1 is below 2/)
})
