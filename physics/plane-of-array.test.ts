import assert from 'node:assert/strict'
import test from 'node:test'
import { absoluteAirmass, relativeAirmass } from './airmass.ts'
import { clearSkyIrradiance, ineichenPerez } from './clear-sky.ts'
import { martinRuizDiffuseModifier, physicalModifier } from './incidence-modifier.ts'
import { planeOfArrayIrradiance } from './plane-of-array.ts'
import { hayDavies, incidenceAngle, sunDirection } from './transposition.ts'

const surface = { tilt_deg: 30, azimuth_deg: 180 }
const sky = { linke_turbidity: 3, altitude_m: 500, dni_extra_w_m2: 1360 }
const position = { apparent_zenith_deg: 50, azimuth_deg: 140, elevation_deg: 39.98 }

test('the clear sky of an apparent zenith is that of its absolute air mass', () => {
  const airmass = absoluteAirmass(relativeAirmass(50)!, 95_000)
  assert.deepEqual(
    clearSkyIrradiance({ ...sky, apparent_zenith_deg: 50, pressure_pa: 95_000 }),
    ineichenPerez({ ...sky, apparent_zenith_deg: 50, absolute_airmass: airmass }),
  )
  const night = clearSkyIrradiance({ ...sky, apparent_zenith_deg: 91, pressure_pa: 95_000 })
  assert.deepEqual(night, { ghi_w_m2: 0, dni_w_m2: 0, dhi_w_m2: 0 })
})

test('each component has its own modifier at the glass', () => {
  const sun = sunDirection(position)
  assert.deepEqual(sun, { zenith_deg: 50, azimuth_deg: 140 })
  const clear = clearSkyIrradiance({ ...sky, apparent_zenith_deg: 50, pressure_pa: 95_000 })
  const horizontal = { ...clear, dni_extra_w_m2: 1360, albedo_ratio: 0.2 }
  const plane = hayDavies(surface, sun, horizontal)
  const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(30)
  const direct_ratio = physicalModifier(incidenceAngle(surface, sun))
  const { effective_w_m2, ...parts } = planeOfArrayIrradiance(surface, sun, horizontal)
  assert.deepEqual(parts, plane)
  assert.equal(
    effective_w_m2,
    plane.direct_w_m2 * direct_ratio +
      plane.sky_w_m2 * sky_ratio +
      plane.ground_w_m2 * ground_ratio,
  )
  assert.ok(effective_w_m2 > 0.9 * plane.global_w_m2 && effective_w_m2 < plane.global_w_m2)
})
