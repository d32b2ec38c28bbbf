import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import {
  ashraeModifier,
  martinRuizDiffuseModifier,
  martinRuizModifier,
  physicalModifier,
} from './incidence-modifier.ts'

testAgainstOracle('iam', 'the incidence angle modifier', (row) => {
  const incidence_deg = row.number('aoi')
  assertWithin(ashraeModifier(incidence_deg), row.number('ashrae'), 1e-9, 'ashrae')
  assertWithin(physicalModifier(incidence_deg), row.number('physical'), 1e-9, 'physical')
  assertWithin(martinRuizModifier(incidence_deg), row.number('martin_ruiz'), 1e-9, 'martin-ruiz')
})

testAgainstOracle('iam_diffuse', 'the modifier of diffuse light', (row) => {
  const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(row.number('tilt'))
  // The reference moves a tilt of 0 by a millionth of a degree, which shows as 5e-8.
  const limit = row.number('tilt') === 0 ? 1e-7 : 1e-9
  assertWithin(sky_ratio, row.number('mr_sky'), limit, 'sky')
  assertWithin(ground_ratio, row.number('mr_ground'), limit, 'ground')
})

test('the modifier falls from 1 at normal incidence to 0 at grazing and behind', () => {
  for (const modifier of [ashraeModifier, physicalModifier, martinRuizModifier]) {
    assertWithin(modifier(0), 1, 1e-12, modifier.name)
    let before = 1 + 1e-12
    for (let incidence_deg = 0; incidence_deg <= 90; incidence_deg += 1) {
      const share = modifier(incidence_deg)
      assert.ok(share <= before && share >= 0, `${modifier.name} at ${incidence_deg}`)
      assert.equal(modifier(-incidence_deg), share)
      before = share
    }
    assert.equal(modifier(90), 0)
    assert.equal(modifier(135), 0)
    assert.ok(Number.isNaN(modifier(Number.NaN)))
  }
})

test('the diffuse modifiers are shares at every tilt', () => {
  fc.assert(
    fc.property(fc.double({ min: -10, max: 190, noNaN: true }), (tilt_deg) => {
      const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(tilt_deg)
      assert.ok(sky_ratio >= 0 && sky_ratio <= 1 && ground_ratio >= 0 && ground_ratio <= 1)
    }),
  )
})
