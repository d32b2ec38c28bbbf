import assert from 'node:assert/strict'
import test from 'node:test'
import { decodeAlarms } from '@heliograph/domain/alarms/decode'
import { defaultPollIntervals } from '@heliograph/domain/site'
import { alarmTableOf, alarmTablesOf } from './alarm-tables.ts'
import { type DayCounter, energyTodayOf, energyTodaySum, sumKnown } from './energy-today.ts'
import { orientationOf } from './orientation.ts'
import { stringStatus, stringsNow } from './pv-string.ts'
import type { Situation } from './situation.ts'

const now = new Date('2026-06-21T10:00:00Z')
const day_start_at = new Date('2026-06-20T22:00:00Z')
const poll = { ...defaultPollIntervals, inverter_s: 20 }
const offline_before_at = new Date('2026-06-21T09:45:00Z')
const day: Situation = {
  now,
  day_start_at,
  sun_elevation_deg: 60,
  poll,
  is_edge_offline: false,
  offline_before_at,
}

test('panels face a quarter of the compass, or the sky', () => {
  assert.equal(orientationOf(0, 20), 'north')
  assert.equal(orientationOf(359, 20), 'north')
  assert.equal(orientationOf(44.9, 20), 'north')
  assert.equal(orientationOf(45, 20), 'east')
  assert.equal(orientationOf(180, 20), 'south')
  assert.equal(orientationOf(225, 20), 'west')
  assert.equal(orientationOf(315, 20), 'north')
  assert.equal(orientationOf(180, 2), 'flat')
})

test('a string is judged by its current, its peers and the sun', () => {
  assert.equal(stringStatus(8, 8, false), 'ok')
  assert.equal(stringStatus(0.05, 8, false), 'zero_current')
  assert.equal(stringStatus(0.05, 0.5, false), 'ok')
  assert.equal(stringStatus(0, 0, true), 'asleep')
  assert.equal(stringStatus(-0.6, 8, false), 'reverse_current')
  assert.equal(stringStatus(-0.4, 8, false), 'zero_current')
  assert.equal(stringStatus(null, null, false), 'no_data')
  assert.equal(stringStatus(null, null, true), 'asleep')
})

test('strings take their values from the range that holds them', () => {
  const range = {
    inverter_id: 1,
    measured_at: now,
    received_at: now,
    quality: 'good' as const,
    voltage_v: [700, null],
  }
  const strings = stringsNow(
    { inverter_id: 1, string_indexes: [0, 1, 2, 3, 4], unconnected_indexes: [3] },
    [
      { ...range, first_string_index: 0, current_a: [8, 9] },
      { ...range, first_string_index: 2, current_a: [0, 0], measured_at: new Date(0) },
    ],
    day,
  )
  assert.deepEqual(
    strings.map(({ current_a, power_kw, quality, status }) => [
      current_a,
      power_kw,
      quality,
      status,
    ]),
    [
      [8, 5.6, 'good', 'ok'],
      [9, null, 'good', 'ok'],
      [0, 0, 'stale', 'no_data'],
      [0, null, 'stale', 'disconnected'],
      [null, null, 'missing', 'no_data'],
    ],
  )
})

test('energy of today is the rise of the counter since midnight', () => {
  const counter = {
    rated_ac_power_kw: 100,
    measured_at: now,
    energy_total_kwh: 5400,
    day_first_at: new Date('2026-06-20T20:00:00Z'),
    day_first_energy_kwh: 5000,
    day_hours_energy_kwh: null,
  }
  const energyOf = (changed: Partial<DayCounter>) =>
    energyTodayOf({ ...counter, ...changed }, day_start_at).energy_today_kwh
  assert.equal(energyOf({}), 400)
  assert.equal(energyOf({ energy_total_kwh: 10 }), null)
  assert.equal(energyOf({ energy_total_kwh: null }), null)
  assert.equal(energyOf({ day_first_at: null, day_first_energy_kwh: null }), null)
  assert.equal(energyOf({ measured_at: new Date('2026-06-20T21:00:00Z') }), null)
})

test('energy of today is that of the hours where these have more than the counter', () => {
  const counter = {
    rated_ac_power_kw: 100,
    measured_at: now,
    energy_total_kwh: 5400,
    day_first_at: new Date('2026-06-20T20:00:00Z'),
    day_first_energy_kwh: 5000,
    day_hours_energy_kwh: 409,
  }
  const of = (changed: Partial<DayCounter>) =>
    energyTodayOf({ ...counter, ...changed }, day_start_at)
  assert.deepEqual(of({}), { energy_today_kwh: 400, energy_source: 'inverter_counter' })
  const by_hours = { energy_today_kwh: 410, energy_source: 'hourly_sums' }
  assert.deepEqual(of({ day_hours_energy_kwh: 410 }), by_hours)
  const still = { energy_total_kwh: 5000, day_hours_energy_kwh: 314 }
  assert.deepEqual(of(still), { energy_today_kwh: 314, energy_source: 'hourly_sums' })
})

test('energy of today is that of the hours after a reset, and a sum names both', () => {
  const counter = {
    rated_ac_power_kw: 100,
    measured_at: now,
    energy_total_kwh: 5400,
    day_first_at: new Date('2026-06-20T20:00:00Z'),
    day_first_energy_kwh: 5000,
    day_hours_energy_kwh: 333,
  }
  const whole = energyTodayOf(counter, day_start_at)
  const reset = energyTodayOf({ ...counter, energy_total_kwh: 10 }, day_start_at)
  assert.deepEqual(whole, { energy_today_kwh: 400, energy_source: 'inverter_counter' })
  assert.deepEqual(reset, { energy_today_kwh: 333, energy_source: 'hourly_sums' })
  const unknown = { energy_today_kwh: null, energy_source: null }
  assert.deepEqual(energyTodaySum([whole, unknown]), whole)
  assert.deepEqual(energyTodaySum([whole, reset]), {
    energy_today_kwh: 733,
    energy_source: 'mixed',
  })
  assert.deepEqual(energyTodaySum([unknown]), unknown)
})

test('a sum is of what is known', () => {
  assert.equal(sumKnown([1, null, 2]), 3)
  assert.equal(sumKnown([0]), 0)
  assert.equal(sumKnown([null]), null)
  assert.equal(sumKnown([]), null)
})

test('alarm tables are those of the drivers and of the manufacturers', () => {
  const ids = (driver: string, manufacturer: string | null) =>
    alarmTablesOf([{ driver, manufacturer }]).map(({ table_id }) => table_id)
  assert.deepEqual(ids('sunspec', null), ['sunspec-inverter', 'sunspec-701'])
  assert.deepEqual(ids('sunspec', 'HUAWEI TECHNOLOGIES'), [
    'sunspec-inverter',
    'sunspec-701',
    'huawei-sun2000',
  ])
  assert.deepEqual(ids('unheard-of', 'Unheard Of'), [])
  assert.equal(alarmTableOf({ driver: 'unheard-of' }), null)
  assert.equal(alarmTableOf({ driver: 'huawei_sun2000' })?.table_id, 'huawei-sun2000')
})

test('a SunSpec word is explained by the older models first, then by model 701', () => {
  const table = alarmTableOf({ driver: 'sunspec' })!
  const { alarms, unknown_bits, highest_severity } = decodeAlarms(table, [0x3_0080, 1])
  assert.deepEqual(
    alarms.map(({ table_id, code, severity }) => [table_id, code, severity]),
    [
      ['sunspec-inverter', 'OVER_TEMP', 'major'],
      ['sunspec-701', 'MANUFACTURER_ALRM', 'major'],
    ],
  )
  assert.deepEqual(unknown_bits, [
    { word: 1, bit: 17, mask: 0x2_0000 },
    { word: 2, bit: 0, mask: 1 },
  ])
  assert.equal(highest_severity, 'major')
  assert.equal(decodeAlarms(table, [0x1_0000]).highest_severity, 'major')
  assert.equal(table.rows.length, 17)
})
