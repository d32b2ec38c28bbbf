import assert from 'node:assert/strict'
import test from 'node:test'
import type { Instrument } from '@heliograph/domain/site'
import fc from 'fast-check'
import { intervals } from '../energy.ts'
import { rainBetween, type WeatherBucket, weatherBuckets } from './buckets.ts'
import { skiesOf } from './instrument-limits.ts'
import { bucket_ms, type WeatherSeries } from './station-screening.ts'

const noon_ms = Date.UTC(2026, 5, 21, 11)
const nowhere = skiesOf(null)
const park = skiesOf({ latitude: 48.62, longitude: 12.17, elevation_m: 400 })

const instrument = (
  quantity: Instrument['quantity'],
  sensor_id: string = quantity,
): Instrument => ({
  sensor_id,
  name: sensor_id,
  type: 'all_in_one',
  quantity,
  point: '307[0].Rain',
  azimuth_deg: 180,
  tilt_deg: 25,
})

function station(
  times_ms: readonly number[],
  values: readonly (readonly [Instrument, readonly (number | null)[]])[],
): WeatherSeries {
  return {
    station_id: 1,
    instruments: values.map(([each]) => each),
    times_ms,
    is_suspect: times_ms.map(() => 0),
    values: values.map(([, own]) => Float64Array.from(own, (value) => value ?? Number.NaN)),
    created_ms: 0,
    retired_ms: null,
  }
}

const every = (count: number, step_ms: number, from_ms = noon_ms) =>
  Array.from({ length: count }, (_, nth) => from_ms + nth * step_ms)
const hour = { start_ms: noon_ms, end_ms: noon_ms + 12 * bucket_ms }
const near = (actual: number | null, wanted: number, text = 'not near') =>
  assert.ok(actual !== null && Math.abs(actual - wanted) < 1e-9 * Math.max(1, wanted), text)

const samples = fc.array(
  fc.record({
    step_s: fc.integer({ min: 1, max: 120 }),
    poa: fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 20 }),
    rise_mm: fc.nat(3),
    is_reset: fc.integer({ min: 0, max: 30 }).map((one) => one === 0),
  }),
  { minLength: 2, maxLength: 200 },
)

test('what buckets sum up to is what the samples hold, wherever the page begins', () => {
  fc.assert(
    fc.property(samples, fc.integer({ min: 0, max: 299 }), (drawn, offset_s) => {
      let [time_ms, counter_mm, fallen_mm] = [noon_ms + offset_s * 1000, 7, 0]
      const [times_ms, rain]: [number[], number[]] = [[], []]
      for (const [nth, { step_s, rise_mm, is_reset }] of drawn.entries()) {
        if (nth > 0) {
          time_ms += step_s * 1000
          counter_mm = is_reset ? rise_mm : counter_mm + rise_mm
          // A reset to what it stood at or above cannot be told from a rise.
          const before = rain.at(-1)!
          fallen_mm += rainBetween(before, counter_mm, step_s * 1000) ?? 0
        }
        times_ms.push(time_ms)
        rain.push(counter_mm)
      }
      const poa = drawn.map((one) => one.poa)
      const series = station(times_ms, [
        [instrument('poa_irradiance_w_m2'), poa],
        [instrument('rain_mm'), rain],
      ])
      const end_ms = Math.floor(time_ms / bucket_ms + 1) * bucket_ms
      const span = { start_ms: noon_ms, end_ms }
      const buckets = weatherBuckets([series], span, nowhere)
      const total = (of: (one: WeatherBucket) => number | null) =>
        buckets.reduce((sum, one) => sum + (of(one) ?? 0), 0)
      for (const { start_ms, poa_insolation_kwh_m2 } of buckets) {
        const own = { start_ms, end_ms: start_ms + bucket_ms }
        const kwh_m2 = intervals(times_ms, own).map(({ from, to, ...part }) => {
          const [before, after] = [poa[from] ?? null, poa[to] ?? null]
          if (before === null || after === null) return 0
          const slope = (after - before) / (times_ms[to]! - times_ms[from]!)
          const middle = before + slope * ((part.start_ms + part.end_ms) / 2 - times_ms[from]!)
          return (middle * (part.end_ms - part.start_ms)) / 3.6e9
        })
        const sum = kwh_m2.reduce((all, each) => all + each, 0)
        near(poa_insolation_kwh_m2 ?? 0, sum, 'insolation')
      }
      near(
        total((one) => one.rain_mm),
        fallen_mm,
        'rain',
      )
      assert.equal(
        total((one) => one.sample_count),
        drawn.length,
      )
      const starts = buckets.map(({ start_ms }) => start_ms)
      const present = new Set(times_ms.map((at) => Math.floor(at / bucket_ms) * bucket_ms))
      assert.deepEqual(starts, [...present])
      const middle_ms = starts[starts.length >> 1]!
      const halves = [
        { start_ms: noon_ms, end_ms: middle_ms },
        { start_ms: middle_ms, end_ms },
      ].flatMap((half) => weatherBuckets([series], half, nowhere))
      assert.deepEqual(halves, buckets)
    }),
    { seed: 5, numRuns: 60 },
  )
})

test('a bucket is complete between neighbours, and not where they are missing', () => {
  const poa = instrument('poa_irradiance_w_m2')
  const times = every(91, 10_000).filter((time_ms) => {
    const second = (time_ms - noon_ms) / 1000
    return second < 400 || second >= 550
  })
  const buckets = weatherBuckets([station(times, [[poa, times.map(() => 600)]])], hour, nowhere)
  assert.deepEqual(
    buckets.map(({ sample_count, completeness_pct }) => [sample_count, completeness_pct]),
    [
      [30, 100],
      [15, (100 * 140) / 300],
      [30, 100],
      [1, 0],
    ],
  )
  assert.deepEqual(
    buckets.map((one) => one.poa_insolation_kwh_m2),
    [0.05, (0.05 * 140) / 300, 0.05, null],
  )
})

test('averages are weighted by time; extremes are of samples; wind goes round', () => {
  const times = [0, 60, 120, 230, 300].map((second) => noon_ms + second * 1000)
  const [bucket] = weatherBuckets(
    [
      station(times, [
        [instrument('poa_irradiance_w_m2', 'a'), [100, 300, 300, 300, 300]],
        [instrument('poa_irradiance_w_m2', 'b'), [140, null, 300, 300, 300]],
        [instrument('wind_direction_deg'), [350, 10, 350, 10, 10]],
      ]),
    ],
    hour,
    nowhere,
  )
  // 120 to 300 within the first minute, then 300.
  near(bucket!.poa_irradiance_w_m2, (210 * 60 + 300 * 240) / 300)
  assert.equal(bucket!.poa_irradiance_min_w_m2, 120)
  assert.equal(bucket!.poa_irradiance_max_w_m2, 300)
  near(bucket!.poa_irradiance_stddev_w_m2, Math.sqrt((135 ** 2 + 3 * 45 ** 2) / 4))
  const direction = bucket!.wind_direction_deg!
  assert.ok(Math.min(direction, 360 - direction) < 3, `${direction}`)
})

test('instruments that cannot be believed are not in the buckets, and are counted', () => {
  const morning = { start_ms: noon_ms - 3 * 3_600_000, end_ms: noon_ms - 2 * 3_600_000 }
  const times = every(360, 10_000, morning.start_ms)
  const sun = times.map((_, nth) => 850 + (nth % 7))
  const cases: [string, number[]][] = [
    ['out_of_range', times.map(() => 1600)],
    ['stuck', times.map(() => 700)],
    ['too dark', times.map(() => 0)],
  ]
  for (const [reason, bad] of cases) {
    const values = [
      [instrument('poa_irradiance_w_m2', 'good'), sun],
      [instrument('poa_irradiance_w_m2', 'bad'), bad],
    ] as const
    for (const bucket of weatherBuckets([station(times, values)], morning, park)) {
      assert.ok(Math.abs(bucket.poa_irradiance_w_m2! - 853) < 1, reason)
      assert.equal(bucket.sensors_rejected, 1, reason)
      assert.equal(bucket.is_suspect, true)
    }
  }
})

test('what is rejected in one bucket bears on the next, whether that is on the page or not', () => {
  const times = every(360, 10_000, noon_ms + 5000)
  const offBy = (off: number) => times.map((_, nth) => 800 + (nth % 7) + off)
  const odd = times.map((_, nth) => (Math.floor(nth / 30) % 2 === 0 ? 800 + (nth % 5) : 400))
  const series = station(times, [
    [instrument('poa_irradiance_w_m2', 'a'), offBy(0)],
    [instrument('poa_irradiance_w_m2', 'b'), offBy(5)],
    [instrument('poa_irradiance_w_m2', 'c'), odd],
  ])
  const buckets = weatherBuckets([series], hour, park)
  assert.deepEqual(
    buckets.map((one) => one.sensors_rejected),
    buckets.map((_, nth) => nth % 2),
  )
  for (const bucket of buckets) {
    const { start_ms } = bucket
    const page = weatherBuckets([series], { start_ms, end_ms: start_ms + bucket_ms }, park)
    assert.deepEqual(page, [bucket])
  }
})

test('a rain gauge counts, begins again, and may show nonsense', () => {
  assert.equal(rainBetween(3, 5, 10_000), 2)
  assert.equal(rainBetween(3, 3, 10_000), 0)
  assert.equal(rainBetween(30, 1, 10_000), 1)
  assert.equal(rainBetween(0, 57, 10_000), null)
  assert.equal(rainBetween(0, 57, 3_600_000), 57)
})
