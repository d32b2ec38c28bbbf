import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PlaneLight } from '../../telemetry/weather/plane-light.ts'
import {
  expectedCurrentAtVoltage,
  expectedPowerKw,
  expectedString,
  ratedPowerKw,
} from './expected-string.ts'
import { string } from './fixtures/measured-string.ts'
import { ivPoint, type StringMeasurement } from './iv-points.ts'

const bright: PlaneLight = {
  poa_irradiance_w_m2: 1000,
  effective_irradiance_w_m2: 1000,
  cell_temperature_c: 25,
  source: 'reference_cell',
  reason: null,
  is_night: false,
}
const night: PlaneLight = {
  ...bright,
  poa_irradiance_w_m2: 0,
  effective_irradiance_w_m2: 0,
  source: null,
  is_night: true,
}
const conditions = { effective_irradiance_w_m2: 1000, cell_temperature_c: 25 }
const expected = expectedString(string, conditions)

function point(light: Partial<PlaneLight>, measurement: Partial<StringMeasurement> = {}) {
  return ivPoint(
    string,
    { ...bright, ...light },
    {
      measured_at: '2026-06-21T10:20:00Z',
      current_a: expected.expected_i_mp_a,
      voltage_v: expected.expected_v_mp_v,
      is_curtailed: false,
      is_clipped: false,
      is_stale: false,
      ...measurement,
    },
  )
}

const near = (actual: number | null, wanted: number, limit = 1e-6) =>
  assert.ok(actual !== null && Math.abs(actual - wanted) <= limit, `${actual}, not ${wanted}`)

test('at 1000 W/m2 and 25 Celsius a string is expected to give its rated power', () => {
  near(ratedPowerKw(string), 18 * 0.39528)
  near(expected.expected_p_mp_kw / ratedPowerKw(string), 1, 0.002)
  near(expectedPowerKw(string, conditions), expected.expected_p_mp_kw, 1e-12)
  near((expected.expected_i_mp_a * expected.expected_v_mp_v) / 1000, expected.expected_p_mp_kw)
  // The data sheet's values of 18 modules.
  near(expected.expected_v_oc_v / (18 * 48.7), 1, 0.003)
  near(expected.expected_i_sc_a / 10.31, 1, 0.01)
})

test('current at a voltage falls along the curve and is given up halfway to open circuit', () => {
  const { expected_v_mp_v: v_mp, expected_v_oc_v: v_oc } = expected
  near(expectedCurrentAtVoltage(string, conditions, 0), expected.expected_i_sc_a)
  near(expectedCurrentAtVoltage(string, conditions, v_mp), expected.expected_i_mp_a, 1e-5)
  const halfway = v_mp + 0.5 * (v_oc - v_mp)
  assert.ok(expectedCurrentAtVoltage(string, conditions, halfway - 0.1)! > 0)
  assert.equal(expectedCurrentAtVoltage(string, conditions, halfway + 0.1), null)
  assert.equal(expectedCurrentAtVoltage(string, conditions, Number.NaN), null)
  const dark = { effective_irradiance_w_m2: 0, cell_temperature_c: 10 }
  assert.equal(expectedCurrentAtVoltage(string, dark, 600), null)
})

test('no expectation exceeds short circuit, open circuit or the best power', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1400, noNaN: true }),
      fc.double({ min: -40, max: 95, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (effective_irradiance_w_m2, cell_temperature_c, share) => {
        const now = { effective_irradiance_w_m2, cell_temperature_c }
        const best = expectedString(string, now)
        const voltage_v = share * best.expected_v_oc_v
        const current_a = expectedCurrentAtVoltage(string, now, voltage_v) ?? 0
        const power_kw = (voltage_v * current_a) / 1000
        return (
          best.expected_i_mp_a <= best.expected_i_sc_a &&
          best.expected_v_mp_v <= best.expected_v_oc_v &&
          power_kw <= best.expected_p_mp_kw * (1 + 1e-9) &&
          current_a <= best.expected_i_sc_a * (1 + 1e-9)
        )
      },
    ),
  )
})

test('a string as expected deviates by nothing', () => {
  const { flags, curtailed, ...values } = point({})
  assert.deepEqual([flags, curtailed], [[], false])
  near(values.current_deviation_pct, 0)
  near(values.voltage_deviation_pct, 0)
  near(values.power_deviation_pct, 0)
  near(values.current_deviation_at_voltage_pct, 0, 1e-3)
  near(values.measured_power_kw, expected.expected_p_mp_kw)
})

test('deviations are percent of what was expected', () => {
  const { current_deviation_pct, voltage_deviation_pct, power_deviation_pct } = point(
    {},
    { current_a: 0.9 * expected.expected_i_mp_a, voltage_v: 0.95 * expected.expected_v_mp_v },
  )
  near(current_deviation_pct, -10)
  near(voltage_deviation_pct, -5)
  near(power_deviation_pct, -14.5)
})

test('a limited string is compared at its voltage and nowhere else', () => {
  const voltage_v = expected.expected_v_mp_v * 1.05
  const current_a = expectedCurrentAtVoltage(string, conditions, voltage_v)! * 0.93
  for (const limit of [{ is_curtailed: true }, { is_clipped: true }]) {
    const limited = point({}, { current_a, voltage_v, ...limit })
    assert.equal(limited.curtailed, true)
    assert.deepEqual(limited.flags, ['is_curtailed' in limit ? 'curtailed' : 'clipped'])
    assert.equal(limited.power_deviation_pct, null)
    assert.equal(limited.current_deviation_pct, null)
    assert.equal(limited.voltage_deviation_pct, null)
    near(limited.current_deviation_at_voltage_pct, -7)
  }
})

test('at night nothing is expected, the measurement stands, and nothing is compared', () => {
  const dark = point(night, { current_a: 0, voltage_v: 41 })
  assert.deepEqual(dark.flags, ['night'])
  assert.equal(dark.expected_p_mp_kw, 0)
  assert.equal(dark.expected_v_oc_v, 0)
  assert.equal(dark.measured_voltage_v, 41)
  assert.equal(dark.measured_power_kw, 0)
  assert.equal(dark.power_deviation_pct, null)
  assert.equal(dark.current_deviation_at_voltage_pct, null)
  const cold = point({ ...night, cell_temperature_c: null })
  assert.deepEqual([cold.expected_p_mp_kw, cold.flags], [0, ['night']])
})

test('below a twentieth of the rated power nothing is compared', () => {
  const dim = point({ poa_irradiance_w_m2: 40, effective_irradiance_w_m2: 40 })
  assert.deepEqual(dim.flags, ['low_irradiance'])
  assert.ok(dim.expected_p_mp_kw! > 0)
  assert.equal(dim.power_deviation_pct, null)
  assert.equal(dim.current_deviation_at_voltage_pct, null)
  assert.notEqual(
    point({ poa_irradiance_w_m2: 150, effective_irradiance_w_m2: 150 }).power_deviation_pct,
    null,
  )
})

test('without light or temperature nothing is expected, and that is no 0', () => {
  for (const lacking of [
    { poa_irradiance_w_m2: null, effective_irradiance_w_m2: null, cell_temperature_c: null },
    { cell_temperature_c: null },
  ]) {
    const blind = point(lacking)
    assert.deepEqual(blind.flags, ['no_irradiance'])
    assert.equal(blind.expected_p_mp_kw, null)
    assert.equal(blind.power_deviation_pct, null)
    assert.equal(blind.measured_current_a, expected.expected_i_mp_a)
  }
})

test('what was not measured is null, and what stands still is not compared', () => {
  const absent = point({}, { current_a: null })
  assert.deepEqual(absent.flags, ['missing'])
  assert.equal(absent.measured_power_kw, null)
  assert.equal(absent.power_deviation_pct, null)
  assert.notEqual(absent.voltage_deviation_pct, null)
  const stuck = point({}, { is_stale: true })
  assert.deepEqual(stuck.flags, ['stale'])
  assert.equal(stuck.power_deviation_pct, null)
  assert.equal(stuck.measured_current_a, expected.expected_i_mp_a)
})
