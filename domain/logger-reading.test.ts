import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type PlantReadings, loggerReading as readingOf } from './logger-reading.ts'
import { emptyReading, type InverterReading, type WeatherReading } from './readings.ts'
import { significant } from './significant.ts'

const now = 1_800_000_000_000

function inverter(inverter_id: number, values: Partial<InverterReading> = {}): InverterReading {
  return {
    ...emptyReading('inverter'),
    inverter_id,
    measured_at: now - 2000,
    quality: 'good',
    ac_power_kw: 50,
    reactive_power_kvar: 0,
    energy_total_kwh: 1000,
    ...values,
  }
}

function plant(inverters: InverterReading[], more: Partial<PlantReadings> = {}): PlantReadings {
  return {
    logger_id: 1,
    measured_at: now,
    inverters_total: 2,
    inverters,
    stations: [],
    inverter_age_ms_max: 15_000,
    station_age_ms_max: 30_000,
    ...more,
  }
}

function loggerReading(of: PlantReadings) {
  const reading = readingOf(of)
  assert.ok(reading)
  return reading
}

test('a plant without fresh readings has no reading; a sleeping one has', () => {
  const old = inverter(1, { measured_at: now - 15_001 })
  const station = { ...emptyReading('weather'), station_id: 1, quality: 'good' } as const
  assert.equal(readingOf(plant([])), null)
  assert.equal(readingOf(plant([old])), null)
  const stale = { ...station, measured_at: now - 30_001 }
  assert.equal(readingOf(plant([old], { stations: [stale] })), null)
  const asleep = inverter(1, { state: 'sleeping', ac_power_kw: null })
  assert.equal(readingOf(plant([asleep]))?.inverters_online, 1)
  const fresh = { ...station, measured_at: now, ambient_temperature_c: 8 }
  assert.equal(readingOf(plant([old], { stations: [fresh] }))?.ambient_temperature_c, 8)
})

test('a plant with readings of all inverters', () => {
  const reading = loggerReading(
    plant([inverter(1), inverter(2, { ac_power_kw: 30, reactive_power_kvar: 60 })]),
  )
  assert.equal(reading.ac_power_kw, 80)
  assert.equal(reading.apparent_power_kva, 100)
  assert.equal(reading.power_factor, 0.8)
  assert.equal(reading.energy_total_kwh, 2000)
  assert.equal(reading.quality, 'good')
  assert.deepEqual([reading.inverters_online, reading.inverters_total], [2, 2])
})

test('a plant with missing inverters is suspect, and its counter unknown', () => {
  const old = inverter(2, { measured_at: now - 15_001 })
  const reading = loggerReading(plant([inverter(1, { available_power_kw: 60 }), old]))
  assert.equal(reading.ac_power_kw, 50)
  assert.equal(reading.quality, 'suspect')
  assert.equal(reading.energy_total_kwh, null)
  assert.equal(reading.available_power_kw, null)
  assert.equal(reading.inverters_online, 1)
})

test('unknown values are null, not 0', () => {
  const none = loggerReading(plant([inverter(1, { ac_power_kw: null })]))
  assert.equal(none.ac_power_kw, null)
  assert.equal(none.quality, 'suspect')
  const night = loggerReading(
    plant([inverter(1, { ac_power_kw: 0 }), inverter(2, { ac_power_kw: 0 })]),
  )
  assert.equal(night.ac_power_kw, 0)
  assert.equal(night.power_factor, null)
})

test('a power that one inverter does not report is not summed', () => {
  const reading = loggerReading(plant([inverter(1, { dc_power_kw: 51 }), inverter(2)]))
  assert.equal(reading.dc_power_kw, null)
  assert.equal(reading.ac_power_kw, 100)
})

test('weather is the mean over the stations with fresh readings', () => {
  const station = (station_id: number, poa: number | null, age_ms: number): WeatherReading => ({
    ...emptyReading('weather'),
    station_id,
    measured_at: now - age_ms,
    quality: 'good',
    poa_irradiance_w_m2: poa,
  })
  const stations = [
    station(1, 800, 0),
    station(2, 900, 100),
    station(3, null, 0),
    station(4, 0, 60_000),
  ]
  const reading = loggerReading(plant([inverter(1)], { stations }))
  assert.equal(reading.poa_irradiance_w_m2, 850)
  assert.equal(reading.ambient_temperature_c, null)
})

test('a good reading is the sum of all inverters', () => {
  const power = fc.option(fc.double({ min: -5, max: 400, noNaN: true }))
  fc.assert(
    fc.property(fc.array(fc.tuple(power, fc.integer({ min: 0, max: 30_000 }))), (list) => {
      const inverters = list.map(([ac_power_kw, age_ms], index) =>
        inverter(index, { ac_power_kw, measured_at: now - age_ms }),
      )
      const reading = readingOf(plant(inverters, { inverters_total: list.length }))
      if (list.every(([, age_ms]) => age_ms > 15_000)) return assert.equal(reading, null)
      assert.ok(reading)
      const all = list.length > 0 && list.every(([kw, age_ms]) => kw !== null && age_ms <= 15_000)
      assert.equal(reading.quality, all ? 'good' : 'suspect')
      if (all)
        assert.equal(
          reading.ac_power_kw,
          significant(list.reduce((sum, [kw]) => sum + (kw ?? 0), 0)),
        )
    }),
  )
})
