import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { advance, initialCounters } from './counters.ts'
import { parseFault } from './faults.ts'
import { dayWith } from './fixtures/days.ts'
import { smallSite } from './fixtures/site.ts'
import { createSimulation } from './site.ts'

const seed = 11
const simulation = createSimulation(smallSite, seed)
const midnight = dayWith(seed, 'clear')
const minutesOfTheDay = Array.from({ length: 1440 }, (_, minute) => midnight + minute * minute_ms)
const day = minutesOfTheDay.map((time_ms) => simulation.at(time_ms))

test('an instant depends on site, seed and time only', () => {
  const again = createSimulation(smallSite, seed).at(minutesOfTheDay[700]!)
  assert.deepEqual(again, day[700])
  const backwards = createSimulation(smallSite, seed)
  const [late, early] = [backwards.at(midnight + 40 * 1440 * minute_ms), backwards.at(midnight)]
  assert.deepEqual(early, day[0])
  assert.deepEqual(late, simulation.at(midnight + 40 * 1440 * minute_ms))
  const other = createSimulation(smallSite, seed + 1).at(minutesOfTheDay[700]!)
  assert.notDeepEqual(other.inverters, day[700]!.inverters)
})

test('at night inverters sleep and consume, by day they never exceed their rating', () => {
  const { inverters, export_power_kw } = day[0]!
  assert.deepEqual(
    inverters.map(({ state }) => state),
    ['sleeping', 'sleeping'],
  )
  assert.ok(inverters.every(({ ac_power_kw }) => ac_power_kw < 0))
  assert.ok(export_power_kw < 0)
  const highest = Math.max(...day.flatMap((at) => at.inverters.map((one) => one.ac_power_kw)))
  assert.ok(highest > 25 && highest <= 33, `${highest} kW`)
})

test('a clipping inverter leaves its best voltage, and is throttled', () => {
  const small = createSimulation(strong, seed)
  const clear = minutesOfTheDay
    .map((time_ms) => small.at(time_ms).inverters[0]!)
    .filter(({ state }) => state === 'throttled')
  assert.ok(clear.length > 30, `${clear.length} minutes`)
  for (const one of clear) {
    assert.ok(one.ac_power_kw <= 20 && one.ac_power_kw > 19.98, `${one.ac_power_kw} kW`)
    assert.ok(one.available_power_kw === 20)
  }
})

const strong = structuredClone(smallSite)
strong.loggers[0]!.inverters[0]!.rated_ac_power_kw = 20

test('DC power is the sum over the MPPTs, AC is below DC, string currents add up', () => {
  for (const { inverters } of day) {
    for (const one of inverters) {
      const dc_kw =
        one.mppt_current_a.reduce((sum, a, mppt) => sum + a * one.mppt_voltage_v[mppt]!, 0) / 1000
      assert.ok(Math.abs(dc_kw - one.dc_power_kw) < 1e-9)
      assert.ok(one.ac_power_kw <= one.dc_power_kw)
      assert.equal(one.dc_power_kw > 0, one.ac_power_kw > 0)
      const strings_a = one.string_current_a.reduce((sum, a) => sum + a, 0)
      const mppts_a = one.mppt_current_a.reduce((sum, a) => sum + a, 0)
      assert.ok(Math.abs(strings_a - mppts_a) < 1e-9)
    }
  }
})

test('faults have their effect, and no other', () => {
  const noon = minutesOfTheDay[470]!
  const sound = simulation.at(noon)
  const faulty = simulation.at(noon, [
    { kind: 'dead_inverter', inverter_id: 1 },
    { kind: 'open_string', inverter_id: 2, string_index: 3 },
    { kind: 'stuck_sensor', station_id: 1, sensor_id: 'poa', value: 321 },
  ])
  assert.equal(faulty.inverters[0]!.state, 'fault')
  assert.equal(faulty.inverters[0]!.ac_power_kw, 0)
  assert.equal(faulty.inverters[1]!.string_current_a[3], 0)
  assert.ok(faulty.inverters[1]!.string_current_a[2]! > 0)
  assert.ok(faulty.inverters[1]!.ac_power_kw < sound.inverters[1]!.ac_power_kw * 0.8)
  assert.equal(faulty.stations[0]!.instrument_values[0], 321)
  assert.equal(faulty.stations[0]!.instrument_values[1], sound.stations[0]!.instrument_values[1])
})

test('counters add up delivered energy, and never fall', () => {
  const counters = initialCounters(smallSite, midnight)
  const before_kwh = counters.inverters[1]!.ac_kwh
  let delivered_kwh = 0
  day.forEach((snapshot, minute) => {
    const was_kwh = counters.inverters[1]!.ac_kwh
    advance(counters, snapshot, midnight + (minute + 1) * minute_ms)
    delivered_kwh += Math.max(0, snapshot.inverters[0]!.ac_power_kw) / 60
    assert.ok(counters.inverters[1]!.ac_kwh >= was_kwh)
  })
  assert.ok(Math.abs(counters.inverters[1]!.ac_kwh - before_kwh - delivered_kwh) < 1e-6)
  assert.ok(delivered_kwh > 50, `${delivered_kwh} kWh`)
  assert.ok(counters.import_kwh > 0 && counters.import_kwh < 2)
})

test('energy is conserved from the light to the grid', () => {
  const module_m2 = 2.21
  const modules = 2 * 4 * 24
  for (const { inverters, stations, export_power_kw } of day) {
    const light_kw = (stations[0]!.instrument_values[0]! * module_m2 * modules) / 1000
    const dc_kw = inverters.reduce((sum, one) => sum + one.dc_power_kw, 0)
    const ac_kw = inverters.reduce((sum, one) => sum + one.ac_power_kw, 0)
    assert.ok(dc_kw <= 0.22 * light_kw + 0.05, `${dc_kw} kW of ${light_kw} kW of light`)
    assert.ok(ac_kw <= dc_kw)
    assert.ok(export_power_kw < ac_kw)
    if (ac_kw > 10) assert.ok(ac_kw > 0.94 * dc_kw && export_power_kw > 0.98 * ac_kw)
  }
})

test('an inverter follows a limit, reports it, and its available power', () => {
  const limited = minutesOfTheDay.map(
    (time_ms) => simulation.at(time_ms, [parseFault('limit:1=40')]).inverters[0]!,
  )
  const limit_kw = 0.4 * 33
  limited.forEach((one, minute) => {
    const free = day[minute]!.inverters[0]!
    assert.equal(one.power_limit_pct, 40)
    assert.equal(free.power_limit_pct, null)
    assert.ok(one.ac_power_kw <= limit_kw)
    assert.equal(one.available_power_kw, free.available_power_kw)
    if (free.ac_power_kw <= limit_kw) assert.deepEqual({ ...one, power_limit_pct: null }, free)
    else {
      assert.equal(one.state, 'throttled')
      assert.ok(one.ac_power_kw > 0.999 * limit_kw)
      assert.ok(one.mppt_voltage_v[0]! > free.mppt_voltage_v[0]! - 1e-9)
    }
  })
  assert.ok(limited.filter(({ state }) => state === 'throttled').length > 300)
  const noon = minutesOfTheDay[700]!
  const [stopped] = simulation.at(noon, [parseFault('limit:1=0')]).inverters
  assert.equal(stopped!.ac_power_kw, 0)
  assert.ok(stopped!.available_power_kw > 20)
})

test('a fault begins at its date', () => {
  const begin = new Date(midnight + 10 * 1440 * minute_ms).toISOString().slice(0, 10)
  const faults = [
    parseFault(`dead_inverter:1@${begin}`),
    parseFault(`stuck_sensor:1/poa=3@${begin}`),
  ]
  const ageing = createSimulation(smallSite, seed, { faults })
  const at = Date.parse(`${begin}T00:00:00Z`)
  const before = ageing.at(at - 1)
  assert.deepEqual(before, simulation.at(at - 1))
  assert.equal(ageing.at(at).inverters[0]!.state, 'fault')
  assert.equal(ageing.at(at).stations[0]!.instrument_values[0], 3)
})

test('plants lose half a percent a year since their commissioning', () => {
  const aged = (commissioned_date: string) => {
    const site = structuredClone(smallSite)
    for (const one of site.loggers[0]!.inverters) one.rated_ac_power_kw = 60
    const { inverters } = createSimulation({ ...site, commissioned_date }, seed).at(
      midnight + 700 * minute_ms,
    )
    return inverters[0]!.dc_power_kw
  }
  const ratio = aged('2016-05-10') / aged('2026-05-10')
  assert.ok(ratio > 0.94 && ratio < 0.96, `${ratio} after ten years`)
})

test('clouds reach the plants one after the other', () => {
  const wide = structuredClone(smallSite)
  wide.loggers.push({ ...structuredClone(wide.loggers[0]!), logger_id: 2, name: 'East of it' })
  const both = createSimulation(wide, seed)
  const from = dayWith(seed, 'broken') + 480 * minute_ms
  const passing = Array.from({ length: 480 }, (_, minute) => {
    const { stations } = both.at(from + minute * minute_ms)
    return stations.map(({ instrument_values }) => instrument_values[0]!)
  })
  const differ = passing.filter(([west = 0, east = 0]) => Math.abs(west - east) > 50)
  assert.ok(differ.length > 10, `${differ.length} minutes`)
})
