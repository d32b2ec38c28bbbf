import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { interpolatedSunVector, sunVector } from './solar-ephemeris.ts'

const degree = Math.PI / 180

test('the interpolated sun is within a billionth of a degree of the series', () => {
  fc.assert(
    fc.property(uniform(-36_525, 36_525), (days_tt) => {
      const exact = sunVector(days_tt)
      const near = interpolatedSunVector(days_tt)
      for (const axis of ['x', 'y', 'z'] as const) {
        assertWithin(near[axis], exact[axis], 1e-9 * degree, axis)
      }
      assertWithin(near.distance_au, exact.distance_au, 1e-11, 'distance_au')
      const { equation_of_equinoxes_deg } = near
      assertWithin(equation_of_equinoxes_deg, exact.equation_of_equinoxes_deg, 1e-9, 'equinoxes')
    }),
    { numRuns: 500 },
  )
})

test('the worked example of the report: 2003-10-17 19:30:30 UT with delta T of 67 s', () => {
  const sun = sunVector(2452930.312847 + 67 / 86_400 - 2451545)
  assertWithin(Math.atan2(sun.y, sun.x) / degree + 360, 202.22741, 5e-6, 'right ascension')
  assertWithin(Math.asin(sun.z) / degree, -9.31434, 5e-6, 'declination')
  assertWithin(sun.distance_au, 0.9965422974, 1e-9, 'distance')
})

test('results do not depend on earlier calls', () => {
  const first = interpolatedSunVector(9131.3)
  // 4096 nodes at 8 a day: these times take the places of the first in the table.
  for (let turn = 1; turn < 4; turn++) interpolatedSunVector(9131.3 + turn * 512)
  assert.deepEqual(interpolatedSunVector(9131.3), first)
})
