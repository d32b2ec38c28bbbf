import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listed_inverter } from './fixtures/listed-inverter.ts'
import { assertWithin, type OracleRow, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { type SandiaInverter, sandiaAcPower, sandiaAcPowerOfInputs } from './inverter-sandia.ts'

const inverterOf = (row: OracleRow): SandiaInverter => ({
  rated_ac_w: row.number('Paco'),
  rated_dc_w: row.number('Pdco'),
  reference_voltage_v: row.number('Vdco'),
  start_dc_w: row.number('Pso'),
  c0_per_w: row.number('C0'),
  c1_per_v: row.number('C1'),
  c2_per_v: row.number('C2'),
  c3_per_v: row.number('C3'),
  night_w: row.number('Pnt'),
})

testAgainstOracle('inverter_sandia', 'the power of a listed inverter', (row) => {
  const expected = row.number('p_ac')
  const limit = 1e-9 * Math.abs(expected)
  const inverter = inverterOf(row)
  const dc_w = row.number('p_dc')
  const voltage_v = row.number('v_dc')
  assertWithin(sandiaAcPower(dc_w, voltage_v, inverter), expected, limit, 'one input')
  const halves = [0.5, 0.5].map((share) => ({ dc_w: share * dc_w, voltage_v }))
  assertWithin(sandiaAcPowerOfInputs(halves, inverter), expected, limit, 'two inputs alike')
})

const inverter: SandiaInverter = listed_inverter

test('output is within the rating and own consumption, and below the input', () => {
  const dc = fc.oneof(uniform(-1e4, 1e9), fc.constantFrom(0, 1e-17))
  const voltage = uniform(300, 600)
  fc.assert(
    fc.property(dc, voltage, uniform(0, 1e4), (dc_w, v, more_w) => {
      const ac_w = sandiaAcPower(dc_w, v, inverter)
      assert.ok(ac_w >= -67.5 && ac_w <= 225_000 && ac_w <= Math.max(0, dc_w))
      assert.ok(sandiaAcPower(dc_w + more_w, v, inverter) >= ac_w)
    }),
  )
  assert.equal(sandiaAcPower(0, 430, inverter), -67.5)
  assert.equal(sandiaAcPower(1e12, 430, inverter), 225_000)
  assertWithin(sandiaAcPower(237_216.625, 430, inverter), 225_000, 1e-6, 'at the rating')
})

test('any voltage and power gives a number within the limits', () => {
  const any = uniform(-1e7, 1e7)
  fc.assert(
    fc.property(any, any, any, (dc_w, voltage_v, other_v) => {
      const inputs = [
        { dc_w, voltage_v },
        { dc_w: 5000, voltage_v: other_v },
      ]
      for (const ac_w of [
        sandiaAcPower(dc_w, voltage_v, inverter),
        sandiaAcPowerOfInputs(inputs, inverter),
      ]) {
        assert.ok(ac_w >= -67.5 && ac_w <= 225_000)
      }
    }),
  )
  assert.equal(sandiaAcPowerOfInputs([], inverter), -67.5)
  // At 150 V above the reference, the rated input of this one would be below 0.
  assert.equal(sandiaAcPower(5000, 580, { ...inverter, c1_per_v: -0.01 }), 0)
})

test('inputs at different voltages give a power in between', () => {
  const low = sandiaAcPower(100_000, 380, inverter)
  const high = sandiaAcPower(100_000, 480, inverter)
  const mixed = sandiaAcPowerOfInputs(
    [
      { dc_w: 25_000, voltage_v: 380 },
      { dc_w: 75_000, voltage_v: 480 },
      { dc_w: -10, voltage_v: 480 },
    ],
    inverter,
  )
  assertWithin(mixed, 0.25 * low + 0.75 * high, 1e-6, 'mean')
})
