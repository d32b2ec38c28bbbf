import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { type Measured, sumInverter } from './inverter-span.ts'
import type { PlantInverter, RawInverter, RawStrings } from './raw.ts'

const span = { start_ms: 0, end_ms: 60 * minute_ms }
const spike_at = 30

const inverter: PlantInverter = {
  inverter_id: 1,
  logger_id: 1,
  rated_ac_power_kw: 100,
  nominal_efficiency_pct: 98,
  dc_capacity_kwp: 80,
  exchanged_ms: [],
  strings: Array.from({ length: 8 }, (_, string_index) => ({
    inverter_id: 1,
    string_index,
    mppt_index: string_index >> 1,
    connected: true,
    module_count: 24,
    params_id: 1,
    dc_capacity_kwp: 10,
    azimuth_deg: 180,
    tilt_deg: 25,
    orientation_assumed: false,
    panel: null,
  })),
}

interface Changed {
  inverter?: Partial<RawInverter>
  /** Of string 3. */
  string?: { current_a?: number | null; voltage_v?: number | null }
}

/** An hour and a minute on either side at 60 kW, with the instant in its middle as given. */
function hourWith(changed: Changed = {}, isDay: Measured['isDay'] = null) {
  const minutes = Array.from({ length: 63 }, (_, nth) => nth - 1)
  const readings = minutes.map(
    (minute): RawInverter => ({
      time_ms: minute * minute_ms,
      state: 'mppt',
      ac_power_kw: 60 + (minute % 3) / 10,
      dc_power_kw: 62 + (minute % 3) / 10,
      energy_total_kwh: null,
      power_limit_pct: null,
      ...(minute === spike_at && changed.inverter),
    }),
  )
  const ranges = minutes.map((minute): RawStrings => {
    const current_a = inverter.strings.map((_, nth) => 9 + ((minute + nth) % 5) / 100)
    const voltage_v: (number | null)[] = inverter.strings.map(() => 860)
    const { string = {} } = changed
    return {
      time_ms: minute * minute_ms,
      first_string_index: 0,
      current_a:
        string.current_a !== undefined && minute === spike_at
          ? current_a.map((value, nth) => (nth === 3 ? string.current_a! : value))
          : current_a,
      voltage_v:
        string.voltage_v !== undefined && minute === spike_at
          ? voltage_v.with(3, string.voltage_v)
          : voltage_v,
    }
  })
  return sumInverter(inverter, { readings, ranges, sun: null, isDay, isAwake: isDay }, span)
}

test('a spike of ten times the rating in one sample does not change the hour', () => {
  const usual = hourWith().inverter!
  const spiked = hourWith({ inverter: { ac_power_kw: 1000, dc_power_kw: 1020 } }).inverter!
  const silent = hourWith({ inverter: { ac_power_kw: null, dc_power_kw: null } }).inverter!
  assert.deepEqual(spiked, silent)
  assert.equal(spiked.covered_s, usual.covered_s - 60)
  assert.equal(spiked.peak_power_kw, usual.peak_power_kw)
  const mean = ({ ac_energy_kwh, covered_s }: typeof usual) => (3600 * ac_energy_kwh) / covered_s
  assert.ok(Math.abs(mean(spiked) - mean(usual)) < 0.01)
})

test('nor does consumption that no inverter has, while that of a night counts', () => {
  const silent = hourWith({ inverter: { ac_power_kw: null } }).inverter
  assert.deepEqual(hourWith({ inverter: { ac_power_kw: -50 } }).inverter, silent)
  assert.notDeepEqual(hourWith({ inverter: { ac_power_kw: -0.5 } }).inverter, silent)
})

test('nor does a spike of one string, in its current or its voltage', () => {
  const usual = hourWith().strings!
  const silent = hourWith({ string: { current_a: null, voltage_v: null } }).strings!
  assert.deepEqual(hourWith({ string: { current_a: 90 } }).strings, silent)
  assert.deepEqual(hourWith({ string: { voltage_v: 8600 } }).strings, silent)
  assert.equal(silent.current_a_max[3], usual.current_a_max[3])
  const ratio = ({ compared_kwh, peer_kwh }: typeof usual) => compared_kwh[3]! / peer_kwh[3]!
  assert.ok(Math.abs(ratio(silent) / ratio(usual) - 1) < 1e-3)
  // What flows backwards through a faulty string is measured.
  assert.equal(hourWith({ string: { current_a: -9 } }).strings!.covered_s[3], 3600)
})

test('with the met station silent the day is known by the sun', () => {
  const is_day = (time_ms: number) => time_ms < 30 * minute_ms
  const { inverter: hour, strings } = hourWith({}, is_day)
  assert.equal(hour!.covered_s, 3600)
  assert.ok(Math.abs(hour!.daylight_covered_s - 1800) <= 60)
  assert.equal(hour!.sun_covered_s, 0)
  assert.equal(hour!.reference_kwh_m2, 0)
  assert.ok(hour!.ac_energy_kwh > 0)
  // What strings show by night is no part of their day.
  assert.ok(Math.abs(strings!.covered_s[0]! - 1800) <= 60)
})
