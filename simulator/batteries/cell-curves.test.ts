import assert from 'node:assert/strict'
import test from 'node:test'
import { coldRatio, curvesOf, openCircuitVoltage, storedEnergy } from './cell-curves.ts'

const chemistries = ['lfp', 'nmc'] as const

for (const chemistry of chemistries) {
  const curve = curvesOf({ bess_id: 1, chemistry })

  test(`${chemistry}: the voltage rises with the charge, and stored is what it encloses`, () => {
    let last_v = 0
    for (let soc = 0; soc <= 1.0001; soc += 0.0025) {
      const now_v = openCircuitVoltage(curve, soc)
      assert.ok(now_v > last_v, `${soc}: ${now_v} V`)
      last_v = now_v
    }
    for (const soc of [-0.01, 0, 0.1234, 0.5, 0.98, 1.002]) {
      const slope_v = (storedEnergy(curve, soc + 1e-5) - storedEnergy(curve, soc - 1e-5)) / 2e-5
      assert.ok(Math.abs(slope_v - openCircuitVoltage(curve, soc)) < 1e-2, `${soc}`)
    }
    assert.equal(storedEnergy(curve, 0), 0)
    assert.ok(openCircuitVoltage(curve, 1) < curve.operating_v.max)
    assert.ok(openCircuitVoltage(curve, 0) > curve.operating_v.min)
  })

  test(`${chemistry}: the colder, the more it resists`, () => {
    assert.equal(coldRatio(curve, 25), 1)
    assert.ok(coldRatio(curve, 10) > 1.3 && coldRatio(curve, 40) < 0.8)
    assert.ok(coldRatio(curve, -10) > coldRatio(curve, 0))
  })
}

test('LFP is flat in the middle and steep at its ends', () => {
  const lfp = curvesOf({ bess_id: 1, chemistry: 'lfp' })
  const rise = (from: number, to: number) =>
    openCircuitVoltage(lfp, to) - openCircuitVoltage(lfp, from)
  assert.ok(rise(0.4, 0.6) < 0.02)
  assert.ok(rise(0, 0.05) > 0.5 && rise(0.98, 1) > 0.1)
})

test('a chemistry without curves is refused by name', () => {
  assert.throws(() => curvesOf({ bess_id: 7, chemistry: 'flow' }), /battery 7.*not flow/)
})
