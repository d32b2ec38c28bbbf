import assert from 'node:assert/strict'
import test from 'node:test'
import { median } from '@heliograph/domain/median'
import { rounded } from '@heliograph/domain/significant'
import { coverageOf, periodOf } from '../period.ts'
import { lossesOf } from './losses.ts'
import { ranked } from './ranking.ts'
import { combined, emptySums, type Sums, yieldsOf } from './yields.ts'

const rated = { dc_capacity_kwp: 120, rated_ac_power_kw: 100 }
const period = {
  start_at: new Date('2026-06-20T00:00:00Z'),
  end_at: new Date('2026-06-21T00:00:00Z'),
  is_running: false,
  daylight_s: 57_600,
}
const sums = (given: Partial<Sums>): Sums => ({
  ...emptySums(),
  covered_s: 86_400,
  daylight_covered_s: 57_600,
  sun_covered_s: 57_600,
  ...given,
})

const day = sums({
  ac_energy_kwh: 600,
  dc_energy_kwh: 615,
  insolation_kwh_m2: 6,
  expected_energy_kwh: 640,
  reference_kwh_m2: 6,
  reference_ac_kwh: 600,
  reference_expected_kwh: 640,
  warm_reference_kwh_m2: 5.5,
  warm_reference_ac_kwh: 600,
  demanded_s: 36_000,
  down_s: 3600,
  downtime_loss_kwh: 40,
})

test('yields and ratios of a day', () => {
  const yields = yieldsOf(day, rated, period, 1)
  assert.equal(yields.specific_yield_kwh_kwp, 5)
  assert.equal(yields.reference_yield_kwh_kwp, 6)
  assert.equal(yields.array_yield_kwh_kwp, 5.125)
  assert.equal(yields.capture_loss_kwh_kwp, 0.875)
  assert.equal(yields.system_loss_kwh_kwp, 0.125)
  assert.equal(yields.performance_ratio_pct, rounded(100 * (600 / 720), 3))
  assert.equal(yields.performance_ratio_temp_corrected_pct, rounded(100 * (600 / 660), 3))
  assert.equal(yields.capacity_factor_pct, 25)
  assert.equal(yields.availability_time_pct, 90)
  assert.equal(yields.availability_energy_pct, 93.75)
  assert.equal(yields.energy_performance_index_pct, 93.75)
  assert.deepEqual([yields.completeness_pct, yields.excluded_reason], [100, null])
})

test('the temperature correction differs from the ratio itself', () => {
  const { performance_ratio_pct, performance_ratio_temp_corrected_pct } = yieldsOf(
    day,
    rated,
    period,
    1,
  )
  assert.ok(performance_ratio_temp_corrected_pct! > performance_ratio_pct! + 1)
})

test('below half of the daylight nothing is said, and nothing is 0', () => {
  const yields = yieldsOf(sums({ ...day, daylight_covered_s: 28_000 }), rated, period, 1)
  assert.equal(yields.excluded_reason, 'insufficient_data')
  assert.equal(yields.completeness_pct, 48.61)
  for (const name of ['energy_kwh', 'specific_yield_kwh_kwp', 'performance_ratio_pct'] as const) {
    assert.equal(yields[name], null, name)
  }
  assert.equal(yields.availability_time_pct, null)
  const night = yieldsOf(day, rated, { ...period, daylight_s: 0 }, 1)
  assert.deepEqual([night.excluded_reason, night.energy_kwh], ['no_daylight', null])
})

test('without irradiance there is energy and no ratio', () => {
  const blind = sums({ ac_energy_kwh: 600, dc_energy_kwh: 615 })
  const yields = yieldsOf({ ...blind, sun_covered_s: 0 }, rated, period, 1)
  assert.equal(yields.specific_yield_kwh_kwp, 5)
  assert.equal(yields.performance_ratio_pct, null)
  assert.equal(yields.reference_yield_kwh_kwp, null)
  assert.equal(yields.expected_energy_kwh, null)
})

test('a ratio that cannot be is the fault of a sensor', () => {
  const yields = yieldsOf(sums({ ...day, reference_kwh_m2: 4 }), rated, period, 1)
  assert.deepEqual([yields.performance_ratio_pct, yields.suspect_sensors], [null, ['irradiance']])
  const losses = lossesOf(sums({ conversion_dc_kwh: 500, conversion_ac_kwh: 511 }), true, period)
  assert.deepEqual([losses.conversion_efficiency_pct, losses.suspect_sensors], [null, ['dc_power']])
})

test('what was curtailed does not lower the ratio without it', () => {
  const curtailed = sums({
    ...day,
    reference_ac_kwh: 480,
    curtailed_reference_kwh_m2: 2,
    curtailed_reference_ac_kwh: 80,
  })
  const yields = yieldsOf(curtailed, rated, period, 1)
  assert.equal(yields.performance_ratio_pct, rounded((100 * 480) / 720, 3))
  assert.equal(yields.performance_ratio_uncurtailed_pct, rounded((100 * 400) / 480, 3))
})

test('a plant is the sum of its inverters, its sun the mean by capacity', () => {
  const small = { dc_capacity_kwp: 40, rated_ac_power_kw: 30 }
  const total = combined([
    { ...day, ...rated },
    { ...sums({ ac_energy_kwh: 100, reference_kwh_m2: 2, insolation_kwh_m2: 2 }), ...small },
    { ...sums({}), sun_covered_s: 0, ...small },
  ])
  assert.equal(total.ac_energy_kwh, 700)
  assert.equal(total.dc_capacity_kwp, 200)
  assert.equal(total.insolation_kwh_m2, (6 * 120 + 2 * 40) / 160)
  assert.equal(total.reference_kwh_m2, (6 * 120 + 2 * 40) / 200)
})

test('expected efficiency needs what the inventory says', () => {
  const converted = sums({
    conversion_dc_kwh: 500,
    conversion_ac_kwh: 480,
    conversion_expected_kwh: 486,
  })
  const known = lossesOf(converted, true, period)
  assert.deepEqual([known.expected_efficiency_pct, known.excess_loss_kwh], [97.2, 6])
  assert.deepEqual([known.conversion_loss_kwh, known.conversion_loss_pct], [20, 4])
  const unknown = lossesOf(converted, false, period)
  assert.deepEqual([unknown.expected_efficiency_pct, unknown.excess_loss_kwh], [null, null])
})

test('ranks are shared by equals and kept from the unknown', () => {
  assert.deepEqual(
    ranked([3, null, 5, 3, 1]).map(({ rank }) => rank),
    [2, null, 1, 2, 4],
  )
  assert.deepEqual(
    ranked([1, 2, 3]).map(({ percentile }) => percentile),
    [0, 50, 100],
  )
  assert.deepEqual(ranked([7]), [{ rank: 1, percentile: null, deviation_pct: 0 }])
  assert.equal(median([]), null)
})

test('the period is whole hours, as far as they have passed', () => {
  const munich = { latitude: 48.1, longitude: 11.6, elevation_m: 500 }
  const now = new Date('2026-06-21T10:20:00Z')
  const of = (start: string, end: string) => periodOf({ start, end }, munich, now)
  const short = of('2026-06-21T09:10:00Z', '2026-06-21T09:10:01Z')
  assert.equal(short.start_at.toISOString(), '2026-06-21T09:00:00.000Z')
  assert.equal(short.end_at.toISOString(), '2026-06-21T10:00:00.000Z')
  assert.equal(short.daylight_s, 3600)
  assert.equal(of('2026-06-21T00:00:00Z', '2026-06-30T00:00:00Z').end_at.getTime(), now.getTime())
  const future = of('2027-01-01T00:00:00Z', '2027-01-02T00:00:00Z')
  assert.deepEqual([future.daylight_s, coverageOf(0, future.daylight_s)], [0, null])
  // The days on which the clocks change have as much sun as those beside them.
  const dst = of('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z').daylight_s! / 3600
  assert.ok(dst > 12.4 && dst < 12.9, `${dst} h`)
  assert.equal(
    periodOf(
      { start: '2026-06-21T00:00:00Z', end: '2026-06-21T05:00:00Z' },
      { ...munich, latitude: null },
      now,
    ).daylight_s,
    null,
  )
})
