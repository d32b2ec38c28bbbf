/**
 * What holds for every public function alike: no finite light or weather makes a NaN or a throw,
 * and a missing measurement is not taken for a value.
 */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { cellCurves } from './cell-curves.ts'
import {
  faiman,
  noctCellTemperature,
  pvsystCellTemperature,
  sapm_mountings,
  sapmModuleTemperature,
} from './cell-temperature.ts'
import { haurwitz } from './clear-sky.ts'
import { disc, erbs } from './decomposition.ts'
import { listed_inverter } from './fixtures/listed-inverter.ts'
import { thinnedRows } from './fixtures/oracle.ts'
import { moduleOfReference } from './fixtures/panel-list.ts'
import { uniform } from './fixtures/uniform.ts'
import { pvwattsAcPower } from './inverter-efficiency.ts'
import { sandiaAcPower, sandiaAcPowerOfInputs } from './inverter-sandia.ts'
import { characteristicPoints } from './iv-curve.ts'
import { shadedString, substringCircuit } from './shaded-string.ts'
import { cecSingleDiode } from './single-diode.ts'
import { hayDavies, isotropic } from './transposition.ts'
import { perez, perezDriesse } from './transposition-perez.ts'

type Arguments = fc.Arbitrary<unknown[]>

const sides = (...values: number[]) => values.flatMap((value) => [value, -value])
const irradiance = fc.oneof(
  uniform(0, 1400),
  fc.constantFrom(-3, 5e-324, 1e-300, 1e-17, 1, 1e4, 1e150, 1e300, Number.MAX_VALUE, ...sides(0)),
)
const angle = fc.oneof(
  uniform(-360, 720),
  fc.constantFrom(89.999999, 90.000001, 93.885, 96.08, ...sides(0, 1e-300, 87, 90, 180, 1e300)),
)
const temperature = fc.oneof(
  uniform(-100, 200),
  fc.constantFrom(-243.12, -273.15, ...sides(0, 1e-300, 1e300)),
)
const anything = fc.oneof(uniform(-1000, 1000), fc.constantFrom(...sides(0, 1e-300, 1, 1e6, 1e300)))
const electric = fc.oneof(uniform(-2000, 2000), fc.constantFrom(...sides(0, 1e-300, 1e6, 1e200)))
const ratio = uniform(0, 1)
const flag = fc.boolean()
const time = fc.oneof(uniform(-2e12, 4e12), fc.constantFrom(...sides(0, 8.64e15)))
const latitude = fc.oneof(uniform(-90, 90), fc.constantFrom(...sides(0, 90)))
const longitude = fc.oneof(uniform(-180, 180), fc.constantFrom(...sides(0, 180, 360)))

const surface = fc.record({ tilt_deg: angle, azimuth_deg: angle })
const sun = fc.record({ zenith_deg: angle, azimuth_deg: angle })
const light = { ghi_w_m2: irradiance, dni_w_m2: irradiance, dhi_w_m2: irradiance }
const horizontal = fc.record({ ...light, dni_extra_w_m2: irradiance, albedo_ratio: ratio })
const weather = fc.record({
  poa_w_m2: irradiance,
  air_temperature_c: temperature,
  wind_speed_m_s: anything,
})
const listed = fc.constantFrom(...thinnedRows('cec_modules_used').map(moduleOfReference))
const module = fc.tuple(listed, flag, flag).map(([given, unshunted, unresisting]) => ({
  ...given,
  ...(unshunted ? { r_sh_ref_ohm: Number.POSITIVE_INFINITY } : {}),
  ...(unresisting ? { r_s_ohm: 0 } : {}),
}))
const silicon = { gap_ref_ev: 1.121, gap_slope_per_k: -0.0002677 }
const diode = fc.tuple(module, irradiance, temperature).map((given) => cecSingleDiode(...given))
const string = fc.tuple(diode, diode, fc.constantFrom(0, 1)).map(([a, b, series_resistance_ohm]) =>
  shadedString(
    [
      { circuit: substringCircuit(a, 3), count: 3 },
      { circuit: substringCircuit(b, 3), count: 5 },
    ],
    { series_resistance_ohm },
  ),
)
const column = (values: fc.Arbitrary<number>) =>
  fc.array(values, { minLength: 4, maxLength: 4 }).map((of) => Float64Array.from(of))
const axis = fc.record({
  azimuth_deg: angle,
  tilt_deg: angle,
  rotation_deg_max: uniform(0, 180),
  backtracks: flag,
  ground_coverage_ratio: fc.oneof(ratio, anything),
  cross_axis_tilt_deg: angle,
})
const cell = fc.record({
  chemistry: fc.constantFrom('lfp', 'nmc'),
  capacity_ah: uniform(1, 500),
  resistance_ohm: fc.constantFrom(0, 1e-3, 0.1),
  coulombic_efficiency_ratio: uniform(0.9, 1),
  entropy_v_per_k: uniform(-5e-4, 5e-4),
})
const state = fc.record({ soc_ratio: anything, temperature_c: uniform(-100, 200) })
const pvwatts = fc.record({ rated_dc_w: anything, nominal_efficiency_ratio: ratio })
const sandia = fc.constant(listed_inverter)
const input = fc.record({ dc_w: irradiance, voltage_v: anything })
const mounting = fc.constant(sapm_mountings.open_rack_glass_glass)
const cooling = fc.record({ constant_w_m2_k: uniform(0, 40), wind_w_s_m3_k: uniform(0, 9) })
const pvsyst = fc.record({ efficiency_ratio: ratio, absorption_ratio: ratio, cooling })
const noct = fc.record({
  noct_c: uniform(20, 80),
  efficiency_ratio: ratio,
})
const sheet = fc.constant([{ incidence_deg: 10, modifier_ratio: 1 }])
const place = fc.record({
  latitude_deg: latitude,
  longitude_deg: longitude,
  altitude_m: anything,
  surface,
  linke_turbidity: anything,
  albedo_ratio: ratio,
  module,
})
const day = time.map((from_ms) => ({ from_ms, to_ms: from_ms + 86_400_000 }))
const ineichen = fc.record({
  apparent_zenith_deg: angle,
  absolute_airmass: fc.oneof(fc.constant(null), anything),
  linke_turbidity: anything,
  altitude_m: anything,
  dni_extra_w_m2: irradiance,
})
const clear = fc.record({
  apparent_zenith_deg: angle,
  pressure_pa: uniform(0, 110_000),
  linke_turbidity: anything,
  altitude_m: anything,
  dni_extra_w_m2: irradiance,
})
const solis = fc.record({
  apparent_zenith_deg: angle,
  aerosol_depth_700nm: anything,
  precipitable_water_cm: anything,
  pressure_pa: anything,
  dni_extra_w_m2: irradiance,
})
const observer = fc.record({
  elevation_m: anything,
  pressure_pa: anything,
  temperature_c: temperature,
})

const of = (...given: fc.Arbitrary<unknown>[]): Arguments => fc.tuple(...given)
const plane = of(surface, sun, horizontal)
const cell_now = of(cell, state, electric)
const curve = fc.constantFrom(...Object.values(cellCurves))

/** Arguments of every function, by its file. */
const table: Record<string, Record<string, Arguments>> = {
  airmass: {
    relativeAirmass: of(angle),
    relativeAirmass1966: of(angle),
    absoluteAirmass: of(uniform(0, 40), anything),
  },
  atmosphere: { pressureAtAltitude: of(anything) },
  'battery-cell': {
    openCircuitVoltage: of(cell, state),
    cellResistance: of(cell, state),
    deliverablePower: of(cell, state),
    terminalVoltage: cell_now,
    currentAtPower: cell_now,
    storedPower: cell_now,
    heatPower: cell_now,
    socAfter: of(cell, state, electric, anything),
  },
  'cell-curves': {
    between: of(fc.constant([0, 0.5, 1].map((at) => [at, 1 - at])), anything),
    restVoltage: of(curve, anything),
    restResistance: of(curve, ratio),
    storedEnergy: of(curve, anything),
    coldRatio: of(curve, temperature),
  },
  'cell-temperature': {
    faiman: of(weather),
    sapmModuleTemperature: of(weather, mounting),
    sapmCellTemperature: of(temperature, irradiance, ratio),
    pvsystCellTemperature: of(weather, pvsyst),
    noctCellTemperature: of(weather, noct),
    rossCellTemperature: of(weather, ratio),
  },
  chain: {
    clearSkyPower: of(
      place,
      fc.record({
        times_ms: column(time),
        air_temperature_c: column(temperature),
        wind_speed_m_s: column(anything),
      }),
    ),
  },
  'clear-sky': {
    ineichenPerez: of(ineichen),
    clearSkyIrradiance: of(clear),
    simplifiedSolis: of(solis),
    haurwitz: of(angle),
  },
  'cloud-cover': {
    coverTransmission: of(anything),
    coverAtTransmission: of(anything),
  },
  decomposition: {
    erbs: of(irradiance, angle, irradiance),
    erbsDriesse: of(irradiance, angle, irradiance),
    disc: of(irradiance, angle, irradiance, anything),
  },
  'incidence-modifier': {
    ashraeModifier: of(angle, ratio),
    physicalModifier: of(angle),
    schlickModifier: of(angle),
    martinRuizModifier: of(angle, anything),
    martinRuizDiffuseModifier: of(angle, anything),
    interpolatedModifier: of(angle, sheet),
  },
  'inverter-efficiency': {
    pvwattsAcPower: of(irradiance, pvwatts),
  },
  'inverter-sandia': {
    sandiaAcPower: of(irradiance, anything, sandia),
    sandiaAcPowerOfInputs: of(fc.array(input, { maxLength: 3 }), sandia),
  },
  'iv-curve': {
    characteristicPoints: of(diode),
    ivCurve: of(diode, fc.constant(5)),
    characteristicSeries: of(fc.nat(3)),
    singleDiodePoints: of(
      module,
      fc.record({ irradiance_w_m2: column(irradiance), cell_temperature_c: column(temperature) }),
    ),
  },
  'shaded-string': {
    substringCircuit: of(diode, fc.constant(3)),
    stringVoltage: of(string, electric),
    stringOpenCircuitVoltage: of(string),
    stringCurrent: of(string, electric),
    stringPeaks: of(string),
  },
  'single-diode': {
    deSotoSingleDiode: of(
      listed.map((given) => ({ ...given, ...silicon })),
      irradiance,
      temperature,
    ),
    cecSingleDiode: of(module, irradiance, temperature),
    seriesParallel: of(diode, uniform(1, 40), uniform(1, 40)),
    openCircuitVoltage: of(diode),
    voltageAtCurrent: of(diode, electric),
    diodeVoltageAtCurrent: of(diode, electric),
    currentAtVoltage: of(diode, electric),
    shortCircuitCurrent: of(diode),
    maximumPowerPoint: of(diode),
  },
  'solar-ephemeris': {
    sunVector: of(uniform(-1e8, 1e8)),
    interpolatedSunVector: of(uniform(-1e8, 1e8)),
  },
  'solar-position': {
    solarPosition: of(time, latitude, longitude, observer),
    solarPositions: of(column(time), latitude, longitude, observer),
    siderealTime: of(uniform(-1e6, 1e6), fc.constant({ equation_of_equinoxes_deg: 0 })),
    sunEarthDistance: of(time),
    extraterrestrialDni: of(uniform(0.98, 1.02)),
  },
  'sun-events': {
    sunEvents: of(day, latitude, longitude),
    equationOfTime: of(time),
  },
  tracker: { trackSun: of(axis, sun), trackerSurface: of(axis, angle) },
  'plane-of-array': { planeOfArrayIrradiance: plane },
  transposition: {
    sunDirection: of(fc.record({ apparent_zenith_deg: angle, azimuth_deg: angle })),
    cosIncidence: of(surface, sun),
    incidenceAngle: of(surface, sun),
    isotropic: plane,
    hayDavies: plane,
    planeIrradiance: of(surface, horizontal, fc.constant({ direct_w_m2: 1, sky_w_m2: 1 })),
  },
  'transposition-perez': { perez: plane, perezDriesse: plane },
  turbidity: {
    linkeTurbidity: of(anything, anything, anything),
    precipitableWater: of(temperature, anything),
    dewPoint: of(temperature, anything),
    monthlyTurbidity: of(fc.constant([...'234567765432'].map(Number)), uniform(-2e12, 4e12)),
  },
}

/** Those that take functions or refuse arguments by design; their own tests say when. */
const elsewhere = [
  'fitCecModule',
  'shadedString',
  'diffuseModifier',
  'series',
  'roomFor',
  'requireRoom',
]

function holdsNaN(value: unknown): boolean {
  if (typeof value === 'number') return Number.isNaN(value)
  return value !== null && typeof value === 'object' && Object.values(value).some(holdsNaN)
}

const files = globSync('*.ts', { cwd: import.meta.dirname })
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -3))

for (const file of files.sort()) {
  test(`${file}: no finite light or weather gives NaN or throws`, async () => {
    const found: Record<string, unknown> = await import(`./${file}.ts`)
    const functions = Object.entries(found).filter(([, value]) => typeof value === 'function')
    const given = table[file] ?? {}
    const names = functions.map(([name]) => name).filter((name) => !elsewhere.includes(name))
    assert.deepEqual(Object.keys(given).sort(), names.sort(), 'every function is in the table')
    for (const [name, args] of Object.entries(given)) {
      const model = found[name] as (...args: unknown[]) => unknown
      fc.assert(
        fc.property(args, (these) => {
          assert.ok(!holdsNaN(model(...these)), name)
        }),
        { numRuns: 500 },
      )
    }
  })
}

const measured = {
  poa: 800,
  air: 20,
  wind: 2,
  cell: 45,
  ghi: 600,
  dni: 700,
  dhi: 90,
  zenith: 40,
  extra: 1361,
  dc: 50_000,
  volts: 430,
}
const south = { tilt_deg: 30, azimuth_deg: 180 }
const rack = sapm_mountings.open_rack_glass_glass
const noct_plain = { noct_c: 45, efficiency_ratio: 0.2 }
const pvsyst_plain = {
  efficiency_ratio: 0.2,
  absorption_ratio: 0.9,
  cooling: { constant_w_m2_k: 25, wind_w_s_m3_k: 1.2 },
}
const pvwatts_plain = { rated_dc_w: 100_000, nominal_efficiency_ratio: 0.96 }
const weatherOf = (m: Record<string, number>) => ({
  poa_w_m2: m['poa']!,
  air_temperature_c: m['air']!,
  wind_speed_m_s: m['wind']!,
})
const sunOf = (m: Record<string, number>) => ({ zenith_deg: m['zenith']!, azimuth_deg: 170 })
const lightOf = (m: Record<string, number>) => ({
  ghi_w_m2: m['ghi']!,
  dni_w_m2: m['dni']!,
  dhi_w_m2: m['dhi']!,
  dni_extra_w_m2: m['extra']!,
  albedo_ratio: 0.2,
})
const circuitOf = (m: Record<string, number>) =>
  cecSingleDiode(moduleOfReference(thinnedRows('cec_modules_used')[0]!), m['poa']!, m['cell']!)

/** Models, by the measurements that each of them needs, at plain values. */
const needed: [name: string, model: (given: Record<string, number>) => unknown, needs: string[]][] =
  [
    ['faiman', (m) => faiman(weatherOf(m)), ['poa', 'air', 'wind']],
    ['PVsyst', (m) => pvsystCellTemperature(weatherOf(m), pvsyst_plain), ['poa', 'air', 'wind']],
    ['NOCT', (m) => noctCellTemperature(weatherOf(m), noct_plain), ['poa', 'air', 'wind']],
    ['SAPM', (m) => sapmModuleTemperature(weatherOf(m), rack), ['poa', 'air', 'wind']],
    ['haurwitz', (m) => haurwitz(m['zenith']!), ['zenith']],
    ['erbs', (m) => erbs(m['ghi']!, m['zenith']!, m['extra']!), ['ghi', 'zenith', 'extra']],
    ['disc', (m) => disc(m['ghi']!, m['zenith']!, m['extra']!, 1e5), ['ghi', 'zenith', 'extra']],
    ['isotropic', (m) => isotropic(south, sunOf(m), lightOf(m)), ['ghi', 'dni', 'dhi', 'zenith']],
    ...[hayDavies, perez, perezDriesse].map((model): (typeof needed)[number] => [
      model.name,
      (m) => model(south, sunOf(m), lightOf(m)),
      ['ghi', 'dni', 'dhi', 'zenith', 'extra'],
    ]),
    ['pvwatts', (m) => pvwattsAcPower(m['dc']!, pvwatts_plain), ['dc']],
    ['sandia', (m) => sandiaAcPower(m['dc']!, m['volts']!, listed_inverter), ['dc', 'volts']],
    [
      'sandia, inputs',
      (m) => sandiaAcPowerOfInputs([{ dc_w: m['dc']!, voltage_v: m['volts']! }], listed_inverter),
      ['dc', 'volts'],
    ],
    ['single diode', (m) => characteristicPoints(circuitOf(m)), ['poa', 'cell']],
  ]

test('a measurement that is not a number gives NaN', () => {
  for (const [name, model, needs] of needed) {
    assert.ok(!holdsNaN(model(measured)), name)
    for (const missing of needs) {
      assert.ok(holdsNaN(model({ ...measured, [missing]: Number.NaN })), `${name}: ${missing}`)
    }
  }
})
