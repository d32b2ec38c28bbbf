import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { relativeAirmass } from './airmass.ts'
import { assertWithin, type OracleRow, testAgainstOracle } from './fixtures/oracle.ts'
import { uniform } from './fixtures/uniform.ts'
import {
  cosIncidence,
  hayDavies,
  incidenceAngle,
  isotropic,
  type PlaneIrradiance,
} from './transposition.ts'
import { perez, perezDriesse } from './transposition-perez.ts'

const models = [isotropic, hayDavies, perez, perezDriesse]

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
  const airmass = relativeAirmass(sun.zenith_deg)
  const expected = row.numberOrNull('airmass_rel')
  if (expected === null) assert.equal(airmass, null)
  else assertWithin(airmass!, expected, 1e-9, 'air mass')
  assertPlane(isotropic(surface, sun, horizontal), row, 'iso')
  assertPlane(hayDavies(surface, sun, horizontal), row, 'hd')
  assertPlane(perez(surface, sun, horizontal), row, 'perez')
  assertPlane(perezDriesse(surface, sun, horizontal), row, 'pd')
})

const angle = (max: number) => uniform(0, max)
const power = fc.oneof(uniform(-5, 1400), fc.constantFrom(0, 1e-17))
const scene = fc.record({
  surface: fc.record({ tilt_deg: angle(90), azimuth_deg: angle(360) }),
  sun: fc.record({ zenith_deg: angle(180), azimuth_deg: angle(360) }),
  horizontal: fc.record({
    ghi_w_m2: power,
    dni_w_m2: power,
    dhi_w_m2: power,
    dni_extra_w_m2: fc.constantFrom(0, 1320, 1410),
    albedo_ratio: uniform(0, 1),
  }),
})

test('no part of the plane irradiance is ever negative, and they add up', () => {
  fc.assert(
    fc.property(scene, ({ surface, sun, horizontal }) => {
      for (const model of models) {
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
  for (const model of models) {
    const flat = model({ tilt_deg: 0, azimuth_deg: 77 }, sun, horizontal)
    assertWithin(flat.global_w_m2, 450, 1e-9, 'flat')
  }
})

test('the angle of incidence is zero facing the sun and 180 with the back to it', () => {
  const sun = { zenith_deg: 40, azimuth_deg: 200 }
  assertWithin(incidenceAngle({ tilt_deg: 40, azimuth_deg: 200 }, sun), 0, 1e-5, 'facing')
  assertWithin(incidenceAngle({ tilt_deg: 140, azimuth_deg: 20 }, sun), 180, 1e-5, 'back')
})

test('circumsolar light is followed up to 89 degrees', () => {
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

test('Perez: no diffuse light gives no sky; beyond the horizon results are finite', () => {
  const fair = {
    ghi_w_m2: 500,
    dni_w_m2: 700,
    dhi_w_m2: 0,
    dni_extra_w_m2: 1366.1,
    albedo_ratio: 0.2,
  }
  const surface = { tilt_deg: 35, azimuth_deg: 180 }
  for (const model of [perez, perezDriesse]) {
    for (const zenith_deg of [0, 45, 89.9, 90, 90.1, 120, 180]) {
      const sun = { zenith_deg, azimuth_deg: 180 }
      assert.equal(model(surface, sun, fair).sky_w_m2, 0)
      assert.equal(model(surface, sun, { ...fair, dni_w_m2: 0 }).sky_w_m2, 0)
      const twilight = { ...fair, ghi_w_m2: 2, dni_w_m2: 0, dhi_w_m2: 2 }
      const { sky_w_m2 } = model(surface, sun, twilight)
      assert.ok(sky_w_m2 > 0 && sky_w_m2 < 5)
    }
  }
})

test('circumsolar light of the smooth sky is at most nine tenths of the diffuse', () => {
  const sun = { zenith_deg: 10, azimuth_deg: 180 }
  const horizontal = {
    ghi_w_m2: 235,
    dni_w_m2: 188,
    dhi_w_m2: 50,
    dni_extra_w_m2: 1366.1,
    albedo_ratio: 0.2,
  }
  const circumsolar = (model: typeof perez) => {
    const towards = { tilt_deg: 45, azimuth_deg: 180 }
    const away = { tilt_deg: 45, azimuth_deg: 0 }
    const difference =
      model(towards, sun, horizontal).sky_w_m2 - model(away, sun, horizontal).sky_w_m2
    const beam = cosIncidence(towards, sun) - cosIncidence(away, sun)
    return (difference * Math.cos((10 * Math.PI) / 180)) / (beam * 50)
  }
  assertWithin(circumsolar(perezDriesse), 0.9, 1e-9, 'smooth')
  assert.ok(circumsolar(perez) > 0.9)
})

test('the splines follow the bins without steps', () => {
  const surface = { tilt_deg: 35, azimuth_deg: 180 }
  const sun = { zenith_deg: 50, azimuth_deg: 170 }
  let before: number | null = null
  for (let dni_w_m2 = 0; dni_w_m2 <= 900; dni_w_m2 += 1) {
    const horizontal = {
      ghi_w_m2: 100 + dni_w_m2 * Math.cos((50 * Math.PI) / 180),
      dni_w_m2,
      dhi_w_m2: 100,
      dni_extra_w_m2: 1366.1,
      albedo_ratio: 0.2,
    }
    const { sky_w_m2 } = perezDriesse(surface, sun, horizontal)
    assertWithin(sky_w_m2, perez(surface, sun, horizontal).sky_w_m2, 10, 'near')
    if (before !== null) assertWithin(sky_w_m2, before, 0.6, 'step')
    before = sky_w_m2
  }
})

test('no irradiance, however large, gives NaN', () => {
  const anything = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })
  const huge = fc.record({ ghi_w_m2: anything, dni_w_m2: anything, dhi_w_m2: anything })
  fc.assert(
    fc.property(scene, huge, ({ surface, sun, horizontal }, given) => {
      for (const model of models) {
        const parts = Object.values(model(surface, sun, { ...horizontal, ...given }))
        for (const part of parts) assert.ok(part >= 0, `${model.name} ${part}`)
      }
    }),
  )
})

test('with the sun in the zenith its azimuth has no effect', () => {
  const horizontal = {
    ghi_w_m2: 1000,
    dni_w_m2: 900,
    dhi_w_m2: 100,
    dni_extra_w_m2: 1366.1,
    albedo_ratio: 0.2,
  }
  const surface = { tilt_deg: 25, azimuth_deg: 190 }
  for (const model of models) {
    const at = (azimuth_deg: number) =>
      model(surface, { zenith_deg: 0, azimuth_deg }, horizontal).global_w_m2
    for (const azimuth_deg of [10, 190, 300]) assertWithin(at(azimuth_deg), at(0), 1e-9, model.name)
  }
})

test('a sun behind the plane gives no direct light; a wall sees half of sky and ground', () => {
  const sun = { zenith_deg: 60, azimuth_deg: 0 }
  const horizontal = {
    ghi_w_m2: 450,
    dni_w_m2: 700,
    dhi_w_m2: 100,
    dni_extra_w_m2: 1366.1,
    albedo_ratio: 0.2,
  }
  const wall = { tilt_deg: 90, azimuth_deg: 180 }
  for (const model of models) {
    const { direct_w_m2, ground_w_m2 } = model(wall, sun, horizontal)
    assert.equal(direct_w_m2, 0)
    assertWithin(ground_w_m2, 45, 1e-9, model.name)
  }
  assertWithin(isotropic(wall, sun, horizontal).sky_w_m2, 50, 1e-9, 'sky')
})
