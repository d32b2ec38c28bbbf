import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scored, testOnMeasured } from '../../performance/diagnostics/fixtures/reference-answers.ts'
import {
  isImpossibleDhi,
  isImpossibleIrradiance,
  isImpossibleModulePower,
  isImpossiblePower,
} from './outliers.ts'

// The one that is missed fell to a value that a cloud could have left.
testOnMeasured(
  'pvanalytics_MIT/ac_power_inv_7539_outliers.csv',
  'impossible powers of a measured inverter are found, and nothing else',
  (rows, t) => {
    const found = rows.map(([, power]) => isImpossiblePower(power === '' ? null : Number(power), 1))
    const labels = rows.map(([, , label]) => label === 'TRUE')
    const { precision, recall } = scored(found, labels, t)
    assert.equal(precision, 1)
    assert.ok(recall >= 5 / 6)
  },
)

test('power beyond the rating or below any consumption can not be', () => {
  const impossible = [105.1, -3.1, Number.NaN, Number.POSITIVE_INFINITY]
  for (const power_kw of impossible) assert.ok(isImpossiblePower(power_kw, 100), `${power_kw}`)
  for (const power_kw of [105, 0, -3, null]) assert.ok(!isImpossiblePower(power_kw, 100))
  assert.ok(isImpossiblePower(5.3, 5))
})

test('modules give no more than in the brightest light, forwards or backwards', () => {
  for (const power_kw of [0, 18.9, -0.4, -18.9, null]) {
    assert.ok(!isImpossibleModulePower(power_kw, 10), `${power_kw}`)
  }
  for (const power_kw of [19, -19, 100, Number.NaN]) {
    assert.ok(isImpossibleModulePower(power_kw, 10), `${power_kw}`)
  }
})

test('irradiance on a plane is held to 1.2 times a clear sky and 50 W/m2', () => {
  assert.ok(!isImpossibleIrradiance(1250, 1000))
  assert.ok(isImpossibleIrradiance(1251, 1000))
  assert.ok(isImpossibleIrradiance(51, 0))
  assert.ok(!isImpossibleIrradiance(-3, 0))
  assert.ok(isImpossibleIrradiance(-11, 0))
  assert.ok(isImpossibleIrradiance(Number.NaN, 1000))
  assert.ok(!isImpossibleIrradiance(null, 0))
})

test('the limits of QCRad for diffuse irradiance: at zenith, at 60 degrees and at night', () => {
  const at = (zenith_deg: number) => ({ dni_extra_w_m2: 1361, zenith_deg })
  // 0.95 * 1361 + 50; 0.95 * 1361 * 0.5 ^ 1.2 + 50; 50
  for (const [zenith_deg, limit] of [
    [0, 1342.95],
    [60, 612.79],
    [95, 50],
  ] as const) {
    assert.ok(!isImpossibleDhi(limit - 0.1, at(zenith_deg)), `${zenith_deg}`)
    assert.ok(isImpossibleDhi(limit + 0.1, at(zenith_deg)), `${zenith_deg}`)
  }
  assert.ok(!isImpossibleDhi(-4, at(95)) && isImpossibleDhi(-5, at(95)))
  assert.ok(isImpossibleDhi(Number.NaN, at(0)) && !isImpossibleDhi(null, at(95)))
})
