import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import { type TrackerAxis, trackerSurface, trackSun } from './tracker.ts'
import { cosIncidence } from './transposition.ts'

testAgainstOracle('tracker', 'a tracker on one axis', (row) => {
  const axis = {
    azimuth_deg: row.number('axis_azimuth'),
    tilt_deg: row.number('axis_tilt'),
    rotation_deg_max: row.number('max_angle'),
    backtracks: row.flag('backtrack'),
    ground_coverage_ratio: row.number('gcr'),
  }
  const sun = { zenith_deg: row.number('apparent_zenith'), azimuth_deg: row.number('azimuth') }
  const position = trackSun(axis, sun)
  const rotation = row.numberOrNull('theta')
  if (rotation === null) return assert.equal(position, null)
  assertWithin(position!.rotation_deg, rotation, 1e-6, 'rotation')
  assertWithin(position!.incidence_deg, row.number('aoi'), 1e-6, 'incidence')
  assertWithin(position!.surface.tilt_deg, row.number('surface_tilt'), 1e-6, 'tilt')
  assertWithin(position!.surface.azimuth_deg, row.number('surface_azimuth'), 1e-6, 'azimuth')
})

const anyAxis = fc.record({
  azimuth_deg: uniform(0, 360),
  tilt_deg: uniform(-30, 30),
  rotation_deg_max: uniform(0, 90),
  backtracks: fc.boolean(),
  ground_coverage_ratio: uniform(0.05, 1),
  cross_axis_tilt_deg: uniform(-20, 20),
})
const anySun = fc.record({ zenith_deg: uniform(0, 90), azimuth_deg: uniform(0, 360) })

test('a tracker stays within its limits, and its angles in their ranges', () => {
  fc.assert(
    fc.property(anyAxis, anySun, (axis, sun) => {
      const { rotation_deg, surface, incidence_deg } = trackSun(axis, sun)!
      assert.ok(Math.abs(rotation_deg) <= axis.rotation_deg_max)
      assert.ok(surface.tilt_deg >= 0 && surface.tilt_deg <= 120)
      assert.ok(surface.azimuth_deg >= 0 && surface.azimuth_deg < 360)
      assert.ok(incidence_deg >= 0 && incidence_deg <= 180)
    }),
  )
})

test('without backtracking no other rotation faces the sun better', () => {
  const axes = anyAxis.map((axis) => ({ ...axis, backtracks: false, rotation_deg_max: 180 }))
  fc.assert(
    fc.property(axes, anySun, uniform(-180, 180), (axis, sun, other_deg) => {
      const best = cosIncidence(trackSun(axis, sun)!.surface, sun)
      const other = cosIncidence(trackerSurface(axis, other_deg), sun)
      assert.ok(best >= other - 1e-9)
    }),
  )
})

test('backtracking rows on level ground touch with their shadows and do not overlap', () => {
  const level: TrackerAxis = {
    azimuth_deg: 180,
    tilt_deg: 0,
    rotation_deg_max: 90,
    backtracks: true,
    ground_coverage_ratio: 0.4,
  }
  for (let elevation_deg = 1; elevation_deg < 90; elevation_deg++) {
    const sun = { zenith_deg: 90 - elevation_deg, azimuth_deg: 270 }
    const { rotation_deg } = trackSun(level, sun)!
    const rotation = (rotation_deg * Math.PI) / 180
    const elevation = (elevation_deg * Math.PI) / 180
    // Length of the shadow of a row on level ground, in distances of the axes.
    const shadow = 0.4 * (Math.cos(rotation) + Math.sin(rotation) / Math.tan(elevation))
    assert.ok(shadow <= 1 + 1e-9, `overlap at ${elevation_deg}`)
    if (rotation_deg < 90 - elevation_deg - 1e-9) assertWithin(shadow, 1, 1e-9, 'shadow')
  }
})

test('on a cross slope the rows lie along it when the sun is in its plane', () => {
  const slope: TrackerAxis = {
    azimuth_deg: 180,
    tilt_deg: 0,
    rotation_deg_max: 90,
    backtracks: true,
    ground_coverage_ratio: 0.5,
    cross_axis_tilt_deg: 8,
  }
  // The ground falls 8 degrees to the west: the sun over the slope of that angle grazes every row.
  const { rotation_deg } = trackSun(slope, { zenith_deg: 82, azimuth_deg: 90 })!
  assertWithin(rotation_deg, 8, 1e-9, 'rotation')
})

test('the sun below the horizon gives no position, the sun in the zenith the level one', () => {
  const axis: TrackerAxis = {
    azimuth_deg: 180,
    tilt_deg: 0,
    rotation_deg_max: 60,
    backtracks: true,
    ground_coverage_ratio: 0.4,
  }
  assert.equal(trackSun(axis, { zenith_deg: 90.001, azimuth_deg: 270 }), null)
  assert.equal(trackSun(axis, { zenith_deg: 90, azimuth_deg: 180 })?.incidence_deg, 90)
  const noon = trackSun(axis, { zenith_deg: 0, azimuth_deg: 123 })!
  assertWithin(noon.rotation_deg, 0, 0, 'rotation')
  assert.deepEqual(noon.surface, { tilt_deg: 0, azimuth_deg: 90 })
  assertWithin(noon.incidence_deg, 0, 1e-5, 'incidence')
})
