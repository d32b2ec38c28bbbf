import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { bandOf, followCourse, reviseHour } from './course.ts'
import { limitAt, type Period, type Unit } from './dispatch-problem.ts'
import { instanceOf, randomOf } from './fixtures/instances.ts'

const hours = (count: number): Period[] =>
  Array.from({ length: count }, (_, nth) => ({
    start_ms: nth * hour_ms,
    end_ms: (nth + 1) * hour_ms,
    price: 50,
    pv_kw: 0,
    load_kw: 0,
  }))

/** 100 kWh, 10 to 90 %; charging loses a tenth, discharging a fifth. */
const unit: Unit = {
  bess_id: 1,
  capacity_kwh: 100,
  soc_start_pct: 50,
  soc_min_pct: 10,
  soc_max_pct: 90,
  soc_end_pct: null,
  charge_efficiency: 0.9,
  discharge_efficiency: 0.8,
  charge_limits: [
    { soc_pct: 50, power_kw: 40 },
    { soc_pct: 100, power_kw: 20 },
  ],
  discharge_limits: [{ soc_pct: 0, power_kw: 40 }],
  degradation_cost_per_mwh: 0,
  cycles_max: null,
}

test('charging and discharging lose energy by their efficiencies', () => {
  const { soc_pct, hindered } = followCourse(unit, hours(3), [-20, 0, 40])
  assert.deepEqual(soc_pct, [68, 68, 18])
  assert.equal(hindered, null)
})

test('a limit is level at most beyond its points, and never below 0', () => {
  const limits = [
    { soc_pct: 20, power_kw: 10 },
    { soc_pct: 40, power_kw: 50 },
    { soc_pct: 80, power_kw: 50 },
    { soc_pct: 90, power_kw: 10 },
  ]
  const expected = [
    [10, 0],
    [20, 10],
    [30, 30],
    [60, 50],
    [85, 30],
    [95, 0],
  ] as const
  for (const [soc_pct, power_kw] of expected) assert.equal(limitAt(limits, soc_pct), power_kw)
})

test('the first infeasible period is named with its constraint', () => {
  const hindrance = (change: Partial<Unit>, power_kw: number[]) =>
    followCourse({ ...unit, ...change }, hours(power_kw.length), power_kw).hindered
  assert.deepEqual(hindrance({}, [0, 35]), { period: 1, by: 'soc_min' })
  assert.deepEqual(hindrance({}, [-29, -18]), { period: 1, by: 'soc_max' })
  // From 50 to 77 %, where 29.2 kW is the most.
  assert.deepEqual(hindrance({}, [-30]), { period: 0, by: 'charge_limit' })
  assert.deepEqual(hindrance({}, [41]), { period: 0, by: 'soc_min' })
  assert.deepEqual(hindrance({ capacity_kwh: 1000 }, [41]), { period: 0, by: 'discharge_limit' })
  assert.deepEqual(hindrance({ fixed_kw: [null, 5] }, [0, 6]), { period: 1, by: 'fixed_power' })
  assert.deepEqual(hindrance({ room_kw: [{ min_kw: 0, max_kw: 9 }] }, [10]), {
    period: 0,
    by: 'room',
  })
  assert.deepEqual(hindrance({ ramp_kw_min: 0.1 }, [0, 5, 12]), { period: 2, by: 'ramp' })
  assert.deepEqual(hindrance({ cycles_max: 0.2 }, [0, 10, 10]), { period: 2, by: 'cycles' })
  assert.deepEqual(hindrance({ soc_end_pct: 51 }, [0, 0]), { period: 1, by: 'soc_end' })
})

test('a unit outside its window may only move towards it', () => {
  const low = { ...unit, soc_start_pct: 5 }
  assert.equal(followCourse(low, hours(2), [0, -1]).hindered, null)
  assert.deepEqual(followCourse(low, hours(1), [1]).hindered, { period: 0, by: 'soc_min' })
  assert.deepEqual(bandOf(low, hours(1), [0], { first: 0, last: 1 })?.max_kw, 0)
})

test('a band leaves later hours unchanged', () => {
  // 40 kW in the last hour need 50 kWh, and leave 10 % if none is charged or discharged before.
  const power_kw = [0, 0, 32]
  const band = bandOf(unit, hours(3), power_kw, { first: 0, last: 1 })
  // Charging: c = 40 − 0.4 (50 + 0.9 c − 50) at the end of the hour: 40 / 1.36.
  assert.deepEqual(band, { min_kw: -29.411, max_kw: 0 })
  assert.deepEqual(bandOf(unit, hours(3), power_kw, { first: 2, last: 3 }), {
    min_kw: -29.411,
    max_kw: 32,
  })
})

test('no band if the other periods are infeasible', () => {
  assert.equal(bandOf(unit, hours(2), [0, 99], { first: 0, last: 1 }), null)
})

/** A unit, and powers that it can follow, of whole watts. */
const followable = fc.integer({ min: 0, max: 1e6 }).map((seed) => {
  const grid = (['hours', 'quarters', 'mixed'] as const)[seed % 3]!
  const problem = instanceOf(seed, { objective: 'arbitrage', units: 1, grid, isNegative: false })
  const random = randomOf(seed + 1)
  const of = { ...problem.units[0]!, soc_end_pct: null }
  const powers = problem.periods.map((_, nth) => of.fixed_kw?.[nth] ?? 0)
  problem.periods.forEach((_, nth) => {
    const band = bandOf(of, problem.periods, powers, { first: nth, last: nth + 1 })
    if (band === null || random() < 0.3) return
    powers[nth] = Math.round((band.min_kw + random() * (band.max_kw - band.min_kw)) * 1000) / 1000
  })
  return { of, periods: problem.periods, powers, random }
})

test('every value of a band is feasible, and none beyond it', () => {
  fc.assert(
    fc.property(followable, fc.nat(), fc.nat(3), ({ of, periods, powers, random }, at, more) => {
      const { hindered } = followCourse(of, periods, powers)
      if (hindered !== null) return false
      const first = at % periods.length
      const span = { first, last: Math.min(periods.length, first + 1 + more) }
      const band = bandOf(of, periods, powers, span)
      const isFollowed = (power: number) =>
        reviseHour(of, periods, powers, span, power).course.hindered === null
      if (band === null) {
        return ![-200, -50, -5, 0, 5, 50, 200].some(isFollowed)
      }
      const { min_kw, max_kw } = band
      const middle = min_kw + random() * (max_kw - min_kw)
      // What is rounding to the course: 0.02 kWh, where a limit is steep some tenths of a kW.
      const beyond = 0.5
      return (
        [min_kw, middle, max_kw].every(isFollowed) &&
        ![min_kw - beyond, max_kw + beyond].some(isFollowed)
      )
    }),
    { numRuns: 150 },
  )
})

test('a revision changes the hour and returns the course', () => {
  const { power_kw, course } = reviseHour(unit, hours(3), [0, 0, 30], { first: 1, last: 2 }, 20)
  assert.deepEqual(power_kw, [0, 20, 30])
  assert.deepEqual(course.hindered, { period: 2, by: 'soc_min' })
  assert.throws(
    () => reviseHour(unit, hours(1), [0], { first: 0, last: 1 }, Number.NaN),
    RangeError,
  )
})
