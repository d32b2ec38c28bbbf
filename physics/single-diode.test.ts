import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  assertWithin,
  assertWithinRatio,
  type OracleRow,
  testAgainstOracle,
  thinnedRows,
} from './fixtures/oracle.ts'
import { moduleOfReference } from './fixtures/panel-list.ts'
import { uniform } from './fixtures/uniform.ts'
import {
  cecSingleDiode,
  currentAtVoltage,
  deSotoSingleDiode,
  maximumPowerPoint,
  openCircuitVoltage,
  type SingleDiode,
  seriesParallel,
  shortCircuitCurrent,
} from './single-diode.ts'

const limit_ratio = 1e-12

const modules = thinnedRows('cec_modules_used').map(moduleOfReference)

function circuitOf(row: OracleRow): SingleDiode {
  const module = modules[row.number('module')]!
  const diode = cecSingleDiode(module, row.number('G'), row.number('Tc'))
  assertWithinRatio(diode.i_l_a, row.number('IL'), limit_ratio, 'photocurrent')
  assertWithinRatio(diode.i_o_a, row.number('I0'), limit_ratio, 'saturation current')
  assertWithinRatio(diode.r_s_ohm, row.number('Rs'), limit_ratio, 'series resistance')
  assertWithinRatio(diode.a_v, row.number('nNsVth'), limit_ratio, 'ideality')
  const r_sh = row.numberOrNull('Rsh') ?? Number.POSITIVE_INFINITY
  assertWithinRatio(diode.g_sh_s, 1 / r_sh, limit_ratio, 'shunt conductance')
  return diode
}

testAgainstOracle('single_diode', 'the circuit of a module', (row) => {
  const diode = circuitOf(row)
  const point = maximumPowerPoint(diode)
  assertWithinRatio(shortCircuitCurrent(diode), row.number('i_sc'), limit_ratio, 'Isc')
  assertWithinRatio(openCircuitVoltage(diode), row.number('v_oc'), limit_ratio, 'Voc')
  assertWithinRatio(point.current_a, row.number('i_mp'), limit_ratio, 'Imp')
  assertWithinRatio(point.voltage_v, row.number('v_mp'), limit_ratio, 'Vmp')
  assertWithinRatio(point.power_w, row.number('p_mp'), limit_ratio, 'Pmp')
})

testAgainstOracle('single_diode', 'the circuit by De Soto', (row) => {
  const module = modules[row.number('module')]!
  const conditions = [row.number('G'), row.number('Tc')] as const
  const silicon = { ...module, gap_ref_ev: 1.121, gap_slope_per_k: -0.0002677 }
  const diode = deSotoSingleDiode(silicon, ...conditions)
  assertWithinRatio(diode.i_l_a, row.number('IL_desoto'), limit_ratio, 'photocurrent')
  const { i_l_a, ...others } = cecSingleDiode(module, ...conditions)
  assert.deepEqual(diode, { ...others, i_l_a: diode.i_l_a })
})

testAgainstOracle('iv_curves', 'the whole curve of a module', (row) => {
  const diode = circuitOf(row)
  const currents = row.list('i')
  row.list('v').forEach((voltage_v, i) => {
    const current_a = currentAtVoltage(diode, voltage_v)
    assertWithin(current_a, currents[i]!, limit_ratio * currents[0]!, `current at ${voltage_v} V`)
  })
})

test('modules meet their listed power and temperature coefficient', () => {
  thinnedRows('cec_modules_used').forEach((row, i) => {
    const power_w = (cell_c: number) =>
      maximumPowerPoint(cecSingleDiode(modules[i]!, 1000, cell_c)).power_w
    assertWithinRatio(power_w(25), row.number('STC'), 1e-3, row.text('Name'))
    const gamma_pct = (power_w(30) - power_w(20)) / 10 / power_w(25) / 0.01
    assertWithin(gamma_pct, row.number('gamma_r'), 0.05, row.text('Name'))
  })
})

const irradiance = fc.oneof(
  uniform(0, 1500),
  uniform(0, 1e-3),
  fc.constantFrom(0, 5e-324, 1e-300, 1e-17, 1e-9, 1e4, Number.MAX_VALUE),
)
const cell_temperature = fc.oneof(uniform(-40, 95), fc.constantFrom(-273.15, -100, 200, 1e6))
const module_index = fc.nat(modules.length - 1)

test('at any irradiance and temperature results are numbers in order', () => {
  fc.assert(
    fc.property(module_index, irradiance, cell_temperature, (index, g_w_m2, cell_c) => {
      const diode = cecSingleDiode(modules[index]!, g_w_m2, cell_c)
      const i_sc = shortCircuitCurrent(diode)
      const v_oc = openCircuitVoltage(diode)
      const { voltage_v, current_a, power_w } = maximumPowerPoint(diode)
      const slack = 1 + 1e-12
      assert.ok(i_sc >= 0 && i_sc <= diode.i_l_a * slack)
      assert.ok(voltage_v >= 0 && voltage_v <= v_oc * slack && v_oc < 1000)
      assert.ok(current_a >= 0 && current_a <= i_sc * slack)
      assert.ok(power_w >= 0 && power_w <= i_sc * v_oc * slack)
      for (const volts of [-10, 0, 1e-17, voltage_v, v_oc, 2 * v_oc, 1500, 1e6]) {
        assert.ok(Number.isFinite(currentAtVoltage(diode, volts)), `current at ${volts}`)
      }
    }),
    { numRuns: 2000 },
  )
})

test('no voltage gives more than the maximum power', () => {
  const share = uniform(0, 1.05)
  const g = uniform(1e-6, 1500)
  fc.assert(
    fc.property(module_index, g, share, (index, g_w_m2, ratio) => {
      const diode = cecSingleDiode(modules[index]!, g_w_m2, 40)
      const { power_w } = maximumPowerPoint(diode)
      const voltage_v = ratio * openCircuitVoltage(diode)
      assert.ok(voltage_v * currentAtVoltage(diode, voltage_v) <= power_w * (1 + 1e-13))
    }),
    { numRuns: 1000 },
  )
})

test('more sun gives more power, a warmer cell less', () => {
  const g = uniform(20, 1200)
  const cell = uniform(-20, 80)
  fc.assert(
    fc.property(module_index, g, cell, (index, g_w_m2, cell_c) => {
      const power = (irradiance_w_m2: number, temperature_c: number) =>
        maximumPowerPoint(cecSingleDiode(modules[index]!, irradiance_w_m2, temperature_c)).power_w
      assert.ok(power(g_w_m2 + 1, cell_c) > power(g_w_m2, cell_c))
      assert.ok(power(g_w_m2, cell_c + 1) < power(g_w_m2, cell_c))
    }),
  )
})

test('the current falls as the voltage rises', () => {
  const diode = cecSingleDiode(modules[0]!, 700, 35)
  let before = Number.POSITIVE_INFINITY
  for (let voltage_v = -20; voltage_v < 80; voltage_v += 0.5) {
    const current_a = currentAtVoltage(diode, voltage_v)
    assert.ok(current_a < before)
    before = current_a
  }
  assertWithin(currentAtVoltage(diode, openCircuitVoltage(diode)), 0, 1e-12, 'at open circuit')
})

test('a circuit without series resistance or shunt has a maximum power point', () => {
  const base = cecSingleDiode(modules[0]!, 1000, 25)
  const plain = maximumPowerPoint(base).power_w
  for (const better of [{ r_s_ohm: 0 }, { g_sh_s: 0 }, { r_s_ohm: 0, g_sh_s: 0 }]) {
    const diode = { ...base, ...better }
    const { voltage_v, current_a, power_w } = maximumPowerPoint(diode)
    assert.ok(power_w > plain)
    const i_sc = shortCircuitCurrent(diode)
    assert.ok(i_sc > current_a && i_sc <= diode.i_l_a)
    assertWithinRatio(currentAtVoltage(diode, voltage_v), current_a, 1e-11, 'on the curve')
  }
})

test('the band gap sets the temperature dependence of the saturation current', () => {
  const base = { ...modules[0]!, gap_ref_ev: 1.121, gap_slope_per_k: -0.0002677 }
  const saturation = (gap_ref_ev: number, cell_c: number) =>
    deSotoSingleDiode({ ...base, gap_ref_ev }, 1000, cell_c).i_o_a
  assert.equal(saturation(1.475, 25), saturation(1.121, 25))
  // De Soto, Klein and Beckman, equation 10, by hand for a gap of 1.475 eV that does not change.
  const fixed = { ...base, gap_ref_ev: 1.475, gap_slope_per_k: 0 }
  const expected =
    base.i_o_ref_a *
    (348.15 / 298.15) ** 3 *
    Math.exp((1.475 / 8.617333262e-5) * (1 / 298.15 - 1 / 348.15))
  assertWithinRatio(deSotoSingleDiode(fixed, 1000, 75).i_o_a, expected, 1e-12, 'at 75 Celsius')
})

test('a string of equal modules is one circuit with the sum of their voltages', () => {
  const diode = cecSingleDiode(modules[3]!, 830, 51)
  const one = maximumPowerPoint(diode)
  const string = maximumPowerPoint(seriesParallel(diode, 18, 2))
  assertWithinRatio(string.voltage_v, one.voltage_v * 18, limit_ratio, 'voltage')
  assertWithinRatio(string.current_a, one.current_a * 2, limit_ratio, 'current')
  assertWithinRatio(string.power_w, one.power_w * 36, limit_ratio, 'power')
})

test('the negative night offset of a sensor counts as darkness', () => {
  assert.deepEqual(cecSingleDiode(modules[0]!, -3, 5), cecSingleDiode(modules[0]!, 0, 5))
  const { voltage_v, current_a, power_w } = maximumPowerPoint(cecSingleDiode(modules[0]!, -3, 5))
  assert.deepEqual([voltage_v, current_a, power_w], [0, 0, 0])
})
