import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Instrument } from '@heliograph/domain/site'
import { martinRuizDiffuseModifier } from '@heliograph/physics/incidence-modifier'
import { type PlaneLight, planeLightOf, type StationSample } from './plane-light.ts'

const place = { latitude: 42.15, longitude: 24.75, elevation_m: 160 }
const south = { azimuth_deg: 180, tilt_deg: 25 }
/** Near solar noon of a summer day, and three hours after it. */
const noon_ms = Date.UTC(2026, 5, 21, 10, 20)
const afternoon_ms = noon_ms + 3 * 3_600_000

function instrument(type: Instrument['type'], mounting: Partial<typeof south> = {}): Instrument {
  const quantity = type === 'module_thermometer' ? 'module_temperature_c' : 'poa_irradiance_w_m2'
  return { sensor_id: 's', name: 's', type, quantity, point: '302[0].POAI', ...mounting }
}

const nothing: StationSample = {
  time_ms: noon_ms,
  instrument_values: [],
  ghi_w_m2: null,
  dhi_w_m2: null,
  module_temperature_c: 50,
  ambient_temperature_c: null,
  wind_speed_m_s: null,
}

/** What the instruments `[type, mounting, value]` say of `south`, beside `rest`. */
function lit(
  values: readonly [Instrument['type'], Partial<typeof south>, number | null][],
  rest: Partial<StationSample> = {},
  surface = south,
): PlaneLight {
  const instruments = values.map(([type, mounting]) => instrument(type, mounting))
  const instrument_values = values.map(([, , value]) => value)
  return planeLightOf(place, { instruments }, surface)({ ...nothing, instrument_values, ...rest })
}

test('a reference cell already is the light behind the glass', () => {
  const light = lit([['reference_cell', south, 870]], { time_ms: afternoon_ms - 2 * 3_600_000 })
  assert.equal(light.effective_irradiance_w_m2, 870)
  assert.equal(light.poa_irradiance_w_m2, 870)
  assert.equal(light.source, 'reference_cell')
  assert.equal(light.reason, null)
})

test('the light on the glass is the mean of all, that behind it of the reference cells', () => {
  const light = lit([
    ['reference_cell', south, 860],
    ['pyranometer', south, 900],
  ])
  assert.deepEqual(
    [light.poa_irradiance_w_m2, light.effective_irradiance_w_m2, light.source],
    [880, 860, 'reference_cell'],
  )
})

test('the glass takes more from a pyranometer the flatter the sun stands on it', () => {
  const ratio = (time_ms: number, value: number, ghi_w_m2: number) => {
    const light = lit([['pyranometer', south, value]], { time_ms, ghi_w_m2 })
    assert.equal(light.source, 'pyranometer')
    return light.effective_irradiance_w_m2! / value
  }
  const noon = ratio(noon_ms, 980, 930)
  const evening = ratio(noon_ms + 5.8 * 3_600_000, 170, 260)
  assert.ok(noon > 0.98 && noon < 1, `${noon}`)
  assert.ok(evening > 0.7 && evening < 0.9, `${evening}`)
})

test('under an overcast sky all of it is diffuse', () => {
  const light = lit([['pyranometer', south, 100]], { ghi_w_m2: 100, dhi_w_m2: 100 })
  const { sky_ratio, ground_ratio } = martinRuizDiffuseModifier(25)
  const ratio = light.effective_irradiance_w_m2! / 100
  assert.ok(ratio < sky_ratio && ratio > 0.98 * sky_ratio + 0.02 * ground_ratio - 0.01, `${ratio}`)
})

test('a pyranometer alone is corrected as by a sky as clear as the plane is bright', () => {
  const alone = lit([['pyranometer', south, 980]])
  const known = lit([['pyranometer', south, 980]], { ghi_w_m2: 930 })
  const difference = alone.effective_irradiance_w_m2! - known.effective_irradiance_w_m2!
  assert.ok(Math.abs(difference) < 3, `${difference}`)
})

test('measured diffuse irradiance says how much of it meets the glass at an angle', () => {
  const time_ms = noon_ms + 5 * 3_600_000
  const ratio = (dhi_w_m2: number) =>
    lit([['pyranometer', south, 300]], { time_ms, ghi_w_m2: 420, dhi_w_m2 })
      .effective_irradiance_w_m2! / 300
  assert.ok(ratio(420) > ratio(60) + 0.02, `${ratio(420)} ${ratio(60)}`)
})

test('only instruments within 5 degrees of the surface are used, across north too', () => {
  const nearly = { azimuth_deg: 184, tilt_deg: 21 }
  assert.equal(lit([['reference_cell', nearly, 900]]).poa_irradiance_w_m2, 900)
  for (const other of [
    { azimuth_deg: 90, tilt_deg: 25 },
    { azimuth_deg: 180, tilt_deg: 12 },
    { azimuth_deg: 180 },
    { tilt_deg: 25 },
    {},
  ]) {
    assert.equal(lit([['reference_cell', other, 900]]).source, null)
  }
  const north = { azimuth_deg: 358, tilt_deg: 10 }
  const light = lit([['reference_cell', { azimuth_deg: 2, tilt_deg: 10 }, 700]], {}, north)
  assert.equal(light.poa_irradiance_w_m2, 700)
  const flat = { azimuth_deg: 180, tilt_deg: 0 }
  assert.equal(lit([['pyranometer', { tilt_deg: 0 }, 700]], {}, flat).poa_irradiance_w_m2, 700)
})

test('the mean of the plausible instruments counts', () => {
  const light = lit([
    ['pyranometer', south, 900],
    ['pyranometer', south, 920],
    ['pyranometer', south, 4000],
    ['pyranometer', south, null],
    ['pyranometer', south, Number.NaN],
  ])
  assert.equal(light.poa_irradiance_w_m2, 910)
})

test('global irradiance is transposed where no instrument lies in the plane', () => {
  const light = lit([], { ghi_w_m2: 930 })
  assert.equal(light.source, 'transposed')
  assert.ok(light.poa_irradiance_w_m2! > 940 && light.poa_irradiance_w_m2! < 1010)
  assert.ok(light.effective_irradiance_w_m2! < light.poa_irradiance_w_m2!)
})

test('an implausible plane gives way to global irradiance', () => {
  const light = lit([['pyranometer', south, 3000]], { ghi_w_m2: 930 })
  assert.equal(light.source, 'transposed')
})

test('a sensor that says what cannot be does not darken the plane', () => {
  const broken = lit([['pyranometer', south, -400]])
  assert.equal(broken.poa_irradiance_w_m2, null)
  assert.equal(broken.reason, 'implausible_irradiance')
  assert.equal(lit([['pyranometer', south, -3]]).poa_irradiance_w_m2, 0)
  assert.deepEqual(lit([], { ghi_w_m2: 930, dhi_w_m2: -400 }), lit([], { ghi_w_m2: 930 }))
})

test('measured diffuse irradiance splits the light: less direct, less on a steep plane', () => {
  const steep = { azimuth_deg: 180, tilt_deg: 60 }
  const january = { time_ms: Date.UTC(2026, 0, 15, 10, 20), ghi_w_m2: 380 }
  const clear = lit([], { ...january, dhi_w_m2: 60 }, steep).poa_irradiance_w_m2!
  const hazy = lit([], { ...january, dhi_w_m2: 300 }, steep).poa_irradiance_w_m2!
  assert.ok(clear > 1.5 * hazy, `${clear} ${hazy}`)
})

test('says why there is no light', () => {
  assert.equal(lit([]).reason, 'no_irradiance')
  assert.equal(lit([['pyranometer', south, null]]).reason, 'no_irradiance')
  for (const value of [3000, Number.NaN]) {
    const light = lit([['pyranometer', south, value]])
    assert.deepEqual(light, {
      poa_irradiance_w_m2: null,
      effective_irradiance_w_m2: null,
      cell_temperature_c: null,
      source: null,
      reason: 'implausible_irradiance',
      is_night: false,
    })
  }
  assert.equal(lit([], { ghi_w_m2: 3000 }).reason, 'implausible_irradiance')
})

test('the offset of a thermopile is no light', () => {
  const light = lit([['pyranometer', south, -3]], { ghi_w_m2: -2 })
  assert.equal(light.poa_irradiance_w_m2, 0)
  assert.equal(light.effective_irradiance_w_m2, 0)
})

test('at night there is no light whatever the instruments say', () => {
  const midnight = Date.UTC(2026, 5, 21, 22)
  const light = lit([['pyranometer', south, 900]], { time_ms: midnight, module_temperature_c: 15 })
  assert.deepEqual(light, {
    poa_irradiance_w_m2: 0,
    effective_irradiance_w_m2: 0,
    cell_temperature_c: 15,
    source: null,
    reason: null,
    is_night: true,
  })
})

test('cells are 3 K per 1000 W/m2 warmer than the back of their module', () => {
  assert.equal(lit([['reference_cell', south, 900]]).cell_temperature_c, 50 + 2.7)
})

test('the thermometer of the surface goes before the average', () => {
  const east = { azimuth_deg: 90, tilt_deg: 25 }
  const light = lit([
    ['reference_cell', south, 1000],
    ['module_thermometer', east, 30],
    ['module_thermometer', south, 60],
    ['module_thermometer', south, 300],
  ])
  assert.equal(light.cell_temperature_c, 63)
})

test('without a thermometer on the module, air and wind tell the temperature', () => {
  const rest = { module_temperature_c: null, ambient_temperature_c: 20 }
  const cell = (values: Partial<StationSample>) =>
    lit([['reference_cell', south, 900]], { ...rest, ...values }).cell_temperature_c!
  assert.ok(Math.abs(cell({ wind_speed_m_s: 3 }) - (20 + 900 / (25 + 6.84 * 3))) < 1e-9)
  assert.ok(Math.abs(cell({}) - (20 + 900 / (25 + 6.84))) < 1e-9)
  const cold = lit([['reference_cell', south, 900]], { module_temperature_c: null })
  assert.deepEqual(
    [cold.cell_temperature_c, cold.reason, cold.effective_irradiance_w_m2],
    [null, 'no_temperature', 900],
  )
})

test('a month of minutes on two surfaces takes seconds', (t) => {
  const instruments = [instrument('pyranometer', south)]
  const started_ms = performance.now()
  const month = 30 * 1440
  for (const surface of [south, { azimuth_deg: 90, tilt_deg: 12 }]) {
    const lightAt = planeLightOf(place, { instruments }, surface)
    for (let minute = 0; minute < month; minute += 1) {
      const sample = { ...nothing, instrument_values: [500], ghi_w_m2: 450 }
      lightAt({ ...sample, time_ms: noon_ms + minute * 60_000 })
    }
  }
  const took_ms = performance.now() - started_ms
  t.diagnostic(`${Math.round((1000 * took_ms) / (2 * month))} µs a sample`)
  assert.ok(took_ms < 10_000, `${took_ms} ms`)
})
