import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import type { Instrument } from '@heliograph/domain/site'
import fc from 'fast-check'
import { clearLight, skiesOf } from './instrument-limits.ts'
import { believed, bucket_ms, type StationSeries, witnessesOf } from './station-screening.ts'

const skies = skiesOf({ latitude: 48.62, longitude: 12.17, elevation_m: 400 })
const june_ms = Date.UTC(2026, 5, 21, 10)
const winter_ms = Date.UTC(2026, 10, 21, 12)

const instrument = (
  quantity: Instrument['quantity'],
  sensor_id: string = quantity,
): Instrument => ({
  sensor_id,
  name: sensor_id,
  type: 'all_in_one',
  quantity,
  point: '302[0].POAI',
  azimuth_deg: 180,
  tilt_deg: 25,
})

type Shown = readonly [Instrument, (time_ms: number, nth: number) => number]

function station(
  station_id: number,
  shown: readonly Shown[],
  { from_ms = june_ms, hours = 2, step_s = 30 } = {},
): StationSeries {
  const times_ms = Array.from(
    { length: (hours * 3600) / step_s },
    (_, nth) => from_ms + nth * step_s * 1000,
  )
  return {
    station_id,
    instruments: shown.map(([each]) => each),
    times_ms,
    values: shown.map(([, of]) => Float64Array.from(times_ms, of)),
  }
}

/** Where the samples of each instrument went. */
function fates(own: readonly StationSeries[], others: readonly StationSeries[] = []) {
  return believed(own, others, skies).flatMap(({ taken }) =>
    taken.map((marks) => {
      const reasons = Object.entries(marks).filter(([, each]) => each.includes(1))
      return reasons.map(([reason, each]) => `${each.every(Boolean) ? 'all' : 'some'} ${reason}`)
    }),
  )
}

const poa = (name: string) => instrument('poa_irradiance_w_m2', name)
const ghi = instrument('ghi_w_m2')
const moving = (level: number) => (_: number, nth: number) => level + (nth % 9)
const standing = (level: number) => () => level

test('air, humidity and pressure may stand still for hours', () => {
  const still = [
    [instrument('ambient_temperature_c'), standing(8.9)],
    [instrument('relative_humidity_pct'), standing(81)],
    [instrument('pressure_hpa'), standing(975.2)],
    [ghi, moving(180)],
  ] as const
  const stations = [1, 2, 3].map((id) => station(id, still, { from_ms: winter_ms }))
  assert.deepEqual(fates(stations), Array(12).fill([]))
  const odd = [[instrument('ambient_temperature_c'), standing(24.1)]] as const
  const beside = [...stations.slice(1), station(4, odd, { from_ms: winter_ms })]
  assert.deepEqual(fates(beside).at(-1), ['all disagrees'])
})

test('light does not stand still by day, nor a module under moving light', () => {
  const morning = { from_ms: june_ms - 3 * hour_ms }
  const of = (shown: readonly Shown[], when: { from_ms: number; step_s?: number } = morning) =>
    fates([station(1, shown, when)])
  assert.deepEqual(of([[ghi, standing(430)]]), [['all stuck']])
  assert.deepEqual(of([[ghi, standing(0)]]), [['all stuck']], 'none of it neither')
  assert.deepEqual(of([[ghi, standing(21)]]), [[]], 'a steady overcast')
  assert.deepEqual(of([[ghi, standing(430)]], { ...morning, step_s: 300 }), [['all stuck']])
  assert.deepEqual(of([[ghi, standing(0)]], { from_ms: june_ms - 12 * hour_ms }), [[]], 'night')
  const module = instrument('module_temperature_c')
  const clouds: Shown = [
    ghi,
    (time_ms, nth) => (time_ms % 1_200_000 < 600_000 ? 500 : 200) + (nth % 3),
  ]
  assert.deepEqual(of([[module, standing(31.5)], clouds]), [['all stuck'], []])
  assert.deepEqual(
    of([
      [module, standing(31.5)],
      [ghi, moving(200)],
    ]),
    [[], []],
  )
  const wind = instrument('wind_speed_m_s')
  assert.deepEqual(of([[wind, standing(4)]]), [['all stuck']])
  assert.deepEqual(of([[wind, standing(0)]]), [[]], 'a calm')
})

test('around noon a cloudless sky stands still within a resolution of 2 W/m2', () => {
  const offsets = Array.from({ length: 20 }, (_, nth) => nth / 10)
  for (const each of [poa('plane'), ghi]) {
    for (const step_s of [60, 300]) {
      for (const day of [Date.UTC(2026, 5, 21), Date.UTC(2026, 11, 21), Date.UTC(2026, 2, 20)]) {
        const when = { from_ms: day + 9 * hour_ms, hours: 5, step_s }
        const clear = (offset: number): Shown => [
          each,
          (time_ms) => 2 * Math.round((clearLight(each, skies(time_ms)!) + offset) / 2),
        ]
        const plants = offsets.map((offset) => station(1, [clear(offset)], when))
        for (const one of plants) assert.deepEqual(fates([one]), [[]], `${each.quantity} ${step_s}`)
      }
    }
  }
})

test('an instrument without light is contradicted by one that sees it, of any plane', () => {
  const dead = (_: number, nth: number) => (nth % 5) / 10
  assert.deepEqual(
    fates([
      station(1, [
        [ghi, dead],
        [poa('a'), moving(802)],
      ]),
    ]),
    [['all disagrees'], []],
  )
  const most = [...'abc'].map((name): Shown => [poa(name), dead])
  assert.deepEqual(fates([station(1, [...most, [ghi, moving(777)]])]), [
    ...Array(3).fill(['all disagrees']),
    [],
  ])
  const dark = station(1, [
    [ghi, dead],
    [poa('a'), dead],
  ])
  assert.deepEqual(fates([dark]), [[], []], 'nobody sees any: it may be so')
})

test('the only eye of a plant is held beside those of the others', () => {
  const own = station(1, [[ghi, (_, nth) => (nth % 5) / 10]])
  const other = station(2, [[poa('there'), moving(800)]])
  assert.deepEqual(witnessesOf([own], [own, other]), [other])
  assert.deepEqual(fates([own], [other]), [['all disagrees']])
  const two = station(3, [
    [ghi, standing(0)],
    [poa('a'), standing(0)],
  ])
  assert.deepEqual(witnessesOf([two], [two, own, other]), [])
})

test('what is said of an hour is the same whatever was read beyond the reach of its mark', () => {
  const level = fc.constantFrom(0, 400, 400, 400, 640, 641, 655, Number.NaN)
  const runs = fc.array(fc.tuple(level, fc.integer({ min: 1, max: 50 })), { minLength: 60 })
  const drawn = fc.record({
    step_s: fc.constantFrom(20, 60, 300),
    offset_s: fc.nat(299),
    shown: fc.array(runs, { minLength: 3, maxLength: 3 }),
  })
  const start_ms = june_ms - 3 * hour_ms
  const [first_ms, last_ms] = [start_ms - bucket_ms, start_ms + hour_ms + bucket_ms]
  let taken_count = 0
  fc.assert(
    fc.property(drawn, ({ step_s, offset_s, shown }) => {
      const names = [poa('a'), ghi, instrument('module_temperature_c')]
      const flat = shown.map((each) => each.flatMap(([value, count]) => Array(count).fill(value)))
      const series = station(
        1,
        names.map((each, at) => [each, (_, nth) => flat[at]![nth % flat[at]!.length]!]),
        { from_ms: start_ms - 3 * hour_ms + offset_s * 1000, hours: 7, step_s },
      )
      const isNear = (_: unknown, at: number) =>
        series.times_ms[at]! >= start_ms - reach_ms &&
        series.times_ms[at]! <= start_ms + hour_ms + reach_ms
      const near = {
        ...series,
        times_ms: series.times_ms.filter(isNear),
        values: series.values.map((values) => values.filter(isNear)),
      }
      const ofHour = (one: StationSeries) => {
        const [screened] = believed([one], [], skies)
        const isIn = (_: unknown, at: number) =>
          one.times_ms[at]! >= first_ms && one.times_ms[at]! < last_ms
        return screened!.values.map((values) => [...values].filter(isIn))
      }
      const whole = ofHour(series)
      taken_count += whole.flat().filter(Number.isNaN).length
      assert.deepEqual(ofHour(near), whole)
    }),
    { seed: 7, numRuns: 100 },
  )
  assert.ok(taken_count > 0)
})
