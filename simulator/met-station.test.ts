import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { dayWith } from './fixtures/days.ts'
import { smallSite } from './fixtures/site.ts'
import type { Instrument } from './met-station.ts'
import { createSimulation } from './site.ts'

const seed = 11

const plane = { azimuth_deg: 180, tilt_deg: 25 }
const irradiance = (
  sensor_id: string,
  quantity: Instrument['quantity'],
  type: Instrument['type'],
  point: string,
): Instrument => ({ sensor_id, name: sensor_id, type, quantity, point, ...plane })

const site = structuredClone(smallSite)
site.loggers[0]!.stations![0]!.instruments = [
  irradiance('pyranometer', 'poa_irradiance_w_m2', 'pyranometer', '302[0].POAI'),
  irradiance('cell', 'poa_irradiance_w_m2', 'reference_cell', '302[1].POAI'),
  irradiance('ghi', 'ghi_w_m2', 'pyranometer', '302[0].GHI'),
  irradiance('dhi', 'dhi_w_m2', 'pyranometer', '302[0].DFI'),
  irradiance('back', 'module_temperature_c', 'module_thermometer', '303[0].TmpBOM'),
  irradiance('air', 'ambient_temperature_c', 'thermometer', '307[0].TmpAmb'),
  irradiance('humidity', 'relative_humidity_pct', 'hygrometer', '307[0].RH'),
  irradiance('rain', 'rain_mm', 'rain_gauge', '307[0].Rain'),
]
const simulation = createSimulation(site, seed)

function valuesAt(time_ms: number) {
  const values = simulation.at(time_ms).stations[0]!.instrument_values
  const [pyranometer, cell, ghi, dhi, back, air, humidity, rain] = values as [
    number,
    ...[number, number, number, number, number, number, number],
  ]
  return { pyranometer, cell, ghi, dhi, back, air, humidity, rain }
}

test('on a clear noon the plane gets more than the ground, and the cell less than the plane', () => {
  const noon = valuesAt(dayWith(seed, 'clear') + 670 * minute_ms)
  assert.ok(noon.pyranometer > 900 && noon.pyranometer > noon.ghi)
  const seen = noon.cell / noon.pyranometer
  assert.ok(seen > 0.94 && seen < 1.005, `cell ${seen} of the pyranometer`)
  assert.ok(noon.dhi < 0.3 * noon.ghi)
  assert.ok(noon.back > noon.air + 10)
})

test('with a low sun the glass of the cell reflects', () => {
  const day_at = dayWith(seed, 'clear')
  const [noon, evening] = [valuesAt(day_at + 670 * minute_ms), valuesAt(day_at + 1020 * minute_ms)]
  assert.ok(evening.pyranometer > 60, `${evening.pyranometer} W/m²`)
  const seen = evening.cell / evening.pyranometer
  assert.ok(seen < 0.97 * (noon.cell / noon.pyranometer), `${seen}`)
})

test('under an overcast sky nearly all light is diffuse, and modules are hardly warmer than the air', () => {
  const noon = valuesAt(dayWith(seed, 'overcast') + 670 * minute_ms)
  assert.ok(noon.dhi > 0.85 * noon.ghi)
  assert.ok(noon.back < noon.air + 15)
})

test('the gauge counts whole millimetres of the rain, in humid air', () => {
  let tipped_mm = 0
  let before = 0
  let humid_pct = 0
  let tips = 0
  const from = Date.UTC(2026, 4, 1)
  for (let minute = 0; minute < 20 * 1440; minute += 1) {
    const { rain, humidity } = valuesAt(from + minute * minute_ms)
    assert.ok(Number.isInteger(rain) && rain >= 0 && humidity > 5 && humidity <= 100)
    const tipped = rain >= before ? rain - before : rain
    before = rain
    tipped_mm += tipped
    if (tipped === 0) continue
    humid_pct += humidity
    tips += 1
  }
  assert.ok(tipped_mm > 3 && tipped_mm < 200, `${tipped_mm} mm in twenty days`)
  assert.ok(humid_pct / tips > 60, `${humid_pct / tips} %`)
})
