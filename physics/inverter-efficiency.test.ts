import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, assertWithinRatio, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { pvwattsAcPower } from './inverter-efficiency.ts'

testAgainstOracle('inverter_pvwatts', 'the power of an inverter', (row) => {
  const dc_w = row.number('pdc')
  const rated_dc_w = row.number('pdc0')
  const ac = (nominal_efficiency_ratio: number) =>
    pvwattsAcPower(dc_w, { rated_dc_w, nominal_efficiency_ratio })
  assertWithinRatio(ac(row.number('eta_nom')), row.number('pac'), 1e-9, 'given efficiency')
  assertWithinRatio(ac(0.96), row.number('pac_default'), 1e-9, 'usual efficiency')
})

test('output is at most input and rating, and rises with the input', () => {
  const inverter = { rated_dc_w: 100_000, nominal_efficiency_ratio: 0.98 }
  const dc = fc.oneof(uniform(-1e4, 1e7), fc.constantFrom(0, 1e-17))
  fc.assert(
    fc.property(dc, uniform(0, 1e4), (dc_w, more_w) => {
      const ac_w = pvwattsAcPower(dc_w, inverter)
      assert.ok(ac_w >= 0 && ac_w <= 98_000 && ac_w <= Math.max(0, dc_w))
      assert.ok(pvwattsAcPower(dc_w + more_w, inverter) >= ac_w)
    }),
  )
  for (const rated_dc_w of [0, -1]) {
    assert.equal(pvwattsAcPower(100, { rated_dc_w, nominal_efficiency_ratio: 0.96 }), 0)
  }
  assert.equal(pvwattsAcPower(1e7, inverter), 98_000)
  assertWithin(pvwattsAcPower(100_000, inverter), 98_000, 1e-6, 'at the rating')
})
