import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import {
  ashraeModifier,
  diffuseModifier,
  interpolatedModifier,
  martinRuizDiffuseModifier,
  martinRuizModifier,
  physicalModifier,
  schlickModifier,
} from './incidence-modifier.ts'

/** Plain glass as PVsyst has it, which the reference answers interpolate. */
const glass_points = [
  [0, 1],
  [30, 0.999],
  [50, 0.987],
  [60, 0.962],
  [70, 0.892],
  [75, 0.816],
  [80, 0.681],
  [85, 0.44],
  [90, 0],
].map(([incidence_deg, modifier_ratio]) => ({
  incidence_deg: incidence_deg!,
  modifier_ratio: modifier_ratio!,
}))
const tableModifier = (incidence_deg: number) => interpolatedModifier(incidence_deg, glass_points)

testAgainstOracle('iam', 'the incidence angle modifier', (row) => {
  const incidence_deg = row.number('aoi')
  assertWithin(ashraeModifier(incidence_deg), row.number('ashrae'), 1e-9, 'ashrae')
  assertWithin(physicalModifier(incidence_deg), row.number('physical'), 1e-9, 'physical')
  assertWithin(martinRuizModifier(incidence_deg), row.number('martin_ruiz'), 1e-9, 'martin-ruiz')
  assertWithin(schlickModifier(incidence_deg), row.number('schlick'), 1e-9, 'schlick')
  assertWithin(tableModifier(incidence_deg), row.number('interp'), 1e-9, 'interpolated')
})

testAgainstOracle('iam_diffuse', 'the modifier of diffuse light', (row) => {
  const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(row.number('tilt'))
  // The reference moves a tilt of 0 by a millionth of a degree, which shows as 5e-8.
  const limit = row.number('tilt') === 0 ? 1e-7 : 1e-9
  assertWithin(sky_ratio, row.number('mr_sky'), limit, 'sky')
  assertWithin(ground_ratio, row.number('mr_ground'), limit, 'ground')
  for (const [column, modifier] of [
    ['phys', physicalModifier],
    ['ashrae', ashraeModifier],
  ] as const) {
    const diffuse = diffuseModifier(row.number('tilt'), (angle) => modifier(angle))
    for (const part of ['sky', 'horizon', 'ground'] as const) {
      const expected = row.number(`${column}_${part}`)
      assertWithin(diffuse[`${part}_ratio`], expected, 1e-9, `${column} ${part}`)
    }
  }
})

test('the modifier falls from 1 at normal incidence to 0 at grazing and behind', () => {
  for (const modifier of [
    ashraeModifier,
    physicalModifier,
    martinRuizModifier,
    schlickModifier,
    tableModifier,
  ]) {
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
    fc.property(uniform(-10, 190), (tilt_deg) => {
      const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(tilt_deg)
      assert.ok(sky_ratio >= 0 && sky_ratio <= 1 && ground_ratio >= 0 && ground_ratio <= 1)
    }),
  )
})

test('a table gives its own points, holds its ends, and is 0 from 90 degrees on', () => {
  for (const { incidence_deg, modifier_ratio } of glass_points) {
    assertWithin(tableModifier(incidence_deg), modifier_ratio, 1e-12, String(incidence_deg))
  }
  const short = [
    { incidence_deg: 10, modifier_ratio: 0.99 },
    { incidence_deg: 70, modifier_ratio: 0.9 },
  ]
  assert.equal(interpolatedModifier(0, short), 0.99)
  assert.equal(interpolatedModifier(85, short), 0.9)
  assert.equal(interpolatedModifier(90, short), 0)
  assert.equal(interpolatedModifier(40, short.slice(1)), 0.9)
  assert.throws(() => interpolatedModifier(40, []), /points/)
})

test('the mean of a constant is that constant, and an unseen part is 0', () => {
  const half = (tilt_deg: number) => diffuseModifier(tilt_deg, () => 0.5)
  const tilted = half(35)
  for (const ratio of Object.values(tilted)) assertWithin(ratio, 0.5, 1e-12, 'constant')
  assert.equal(half(0).ground_ratio, 0)
  assert.equal(half(180).sky_ratio, 0)
})
