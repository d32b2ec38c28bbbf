import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertWithin, type OracleRow, testAgainstOracle } from './fixtures/oracle.ts'
import { hayDavies, incidenceAngle, isotropic, type PlaneIrradiance } from './transposition.ts'

function assertPlane(actual: PlaneIrradiance, row: OracleRow, model: string) {
  for (const part of ['global', 'direct', 'sky', 'ground'] as const) {
    const column = `${model}_${part}`
    assertWithin(actual[`${part}_w_m2`], row.number(column), 1e-6, column)
  }
}

testAgainstOracle('poa', 'irradiance in the plane of an array', (row) => {
  const surface = { tilt_deg: row.number('tilt'), azimuth_deg: row.number('surface_azimuth') }
  const sun = { zenith_deg: row.number('apparent_zenith'), azimuth_deg: row.number('azimuth') }
  const horizontal = {
    ghi_w_m2: row.number('ghi'),
    dni_w_m2: row.number('dni'),
    dhi_w_m2: row.number('dhi'),
    dni_extra_w_m2: row.number('dni_extra'),
    albedo_ratio: row.number('albedo'),
  }
  assertWithin(incidenceAngle(surface, sun), row.number('aoi'), 1e-6, 'angle of incidence')
  assertPlane(isotropic(surface, sun, horizontal), row, 'iso')
  assertPlane(hayDavies(surface, sun, horizontal), row, 'hd')
})

const angle = (max: number) => fc.double({ min: 0, max, noNaN: true })
const power = fc.oneof(fc.double({ min: -5, max: 1400, noNaN: true }), fc.constantFrom(0, 1e-17))
const scene = fc.record({
  surface: fc.record({ tilt_deg: angle(90), azimuth_deg: angle(360) }),
  sun: fc.record({ zenith_deg: angle(180), azimuth_deg: angle(360) }),
  horizontal: fc.record({
    ghi_w_m2: power,
    dni_w_m2: power,
    dhi_w_m2: power,
    dni_extra_w_m2: fc.constantFrom(0, 1320, 1410),
    albedo_ratio: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
})

test('no part of the plane irradiance is ever negative, and they add up', () => {
  fc.assert(
    fc.property(scene, ({ surface, sun, horizontal }) => {
      for (const model of [isotropic, hayDavies]) {
        const part = model(surface, sun, horizontal)
        assert.ok(part.direct_w_m2 >= 0 && part.sky_w_m2 >= 0 && part.ground_w_m2 >= 0)
        const sum = part.direct_w_m2 + part.sky_w_m2 + part.ground_w_m2
        assertWithin(part.global_w_m2, sum, 1e-9, 'sum')
      }
    }),
  )
})

test('a plane that lies flat has the global horizontal irradiance', () => {
  const sun = { zenith_deg: 60, azimuth_deg: 140 }
  const horizontal = {
    ghi_w_m2: 450,
    dni_w_m2: 700,
    dhi_w_m2: 100,
    dni_extra_w_m2: 1366.1,
    albedo_ratio: 0.6,
  }
  for (const model of [isotropic, hayDavies]) {
    const flat = model({ tilt_deg: 0, azimuth_deg: 77 }, sun, horizontal)
    assertWithin(flat.global_w_m2, 450, 1e-9, 'flat')
  }
})

test('the angle of incidence is zero facing the sun and 180 with the back to it', () => {
  const sun = { zenith_deg: 40, azimuth_deg: 200 }
  assertWithin(incidenceAngle({ tilt_deg: 40, azimuth_deg: 200 }, sun), 0, 1e-5, 'facing')
  assertWithin(incidenceAngle({ tilt_deg: 140, azimuth_deg: 20 }, sun), 180, 1e-5, 'back')
})

test('the light around a sun on the horizon is followed no further than 89 degrees', () => {
  const horizontal = {
    ghi_w_m2: 60,
    dni_w_m2: 300,
    dhi_w_m2: 50,
    dni_extra_w_m2: 1350,
    albedo_ratio: 0,
  }
  const facing = { tilt_deg: 90, azimuth_deg: 250 }
  const { sky_w_m2 } = hayDavies(facing, { zenith_deg: 90, azimuth_deg: 250 }, horizontal)
  const share = 300 / 1350
  assertWithin(sky_w_m2, 50 * (share / 0.01745 + (1 - share) / 2), 1e-9, 'sky')
})
