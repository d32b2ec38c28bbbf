import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testOnReference } from '../performance/diagnostics/fixtures/reference-answers.ts'
import { intervals, type Span, sampleWeights } from './energy.ts'

interface Answers {
  power: [time: string, power_kw: number][]
  results: Record<string, [end: string, energy_kwh: number | null][]>
}

const bins: [key: string, bin_s: number][] = [
  ['h|None', 3600],
  ['15min|None', 900],
  ['h|0 days 00:10:00', 3600],
]

interface PowerSample {
  time_ms: number
  power_kw: number
}

/** Energy and covered time of a span by the weights of its samples. */
function energyOf(samples: readonly PowerSample[], span: Span) {
  const weights_s = sampleWeights(
    samples.map(({ time_ms }) => time_ms),
    span,
  )
  const covered_s = weights_s.reduce((sum, weight_s) => sum + weight_s, 0)
  const energy_kwh = samples.reduce(
    (sum, { power_kw }, nth) => sum + (power_kw * (weights_s[nth] as number)) / 3600,
    0,
  )
  return { energy_kwh, covered_s }
}

// The reference takes each power as the mean since the sample before, the project as the power of
// its instant; over a bin of equal steps the two differ by half a step of its first and last power.
testOnReference<Answers>(
  'diag_energy_from_power',
  'energy and gaps are those of rdtools',
  ({ power, results }) => {
    const samples = power.map(([time, power_kw]) => ({ time_ms: Date.parse(time), power_kw }))
    const powerAt = (time_ms: number) =>
      samples.find((sample) => sample.time_ms === time_ms)?.power_kw as number
    for (const [key, bin_s] of bins) {
      for (const [end, expected_kwh] of results[key] as Answers['results'][string]) {
        const end_ms = Date.parse(end)
        const start_ms = end_ms - bin_s * 1000
        const { energy_kwh, covered_s } = energyOf(samples, { start_ms, end_ms })
        assert.equal(
          Math.abs(covered_s - bin_s) < 1e-6,
          expected_kwh !== null,
          `${key} ${end}: ${covered_s} s`,
        )
        if (expected_kwh === null) continue
        const half_step_kwh = ((powerAt(end_ms) - powerAt(start_ms)) * 300) / 3600 / 2
        assert.ok(Math.abs(energy_kwh + half_step_kwh - expected_kwh) < 1e-7, `${key} ${end}`)
      }
    }
  },
)

const s = 1000

function samplesOf(step_s: number, powers: readonly number[]): PowerSample[] {
  return powers.map((power_kw, index) => ({ time_ms: index * step_s * s, power_kw }))
}

/** Uneven steps, changes of rate, gaps and negative powers. */
const series = fc
  .array(
    fc.record({
      step_ms: fc.oneof(
        fc.constantFrom(0, 5 * s, 60 * s, 300 * s, 900 * s, 4000 * s),
        fc.integer({ min: 1, max: 700 * s }),
      ),
      power_kw: fc.double({ min: -5, max: 100, noNaN: true }),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let time_ms = 1_750_000_000_000
    return steps.map(({ step_ms, power_kw }) => {
      time_ms += step_ms
      return { time_ms, power_kw }
    })
  })

test('the parts of a span add up to the span, wherever it is cut', () => {
  fc.assert(
    fc.property(series, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (samples, cuts) => {
      const start_ms = (samples[0]?.time_ms ?? 0) + 30 * s
      const length_ms = Math.max(1, (samples.at(-1)?.time_ms ?? 0) - start_ms)
      const bounds = [0, ...cuts, 1]
        .map((cut) => start_ms + Math.floor(cut * length_ms))
        .sort((a, b) => a - b)
      const whole = energyOf(samples, { start_ms, end_ms: start_ms + length_ms })
      let energy_kwh = 0
      let covered_s = 0
      for (const [index, bound_ms] of bounds.slice(1).entries()) {
        const span = { start_ms: bounds[index] as number, end_ms: bound_ms }
        const part = energyOf(samples, span)
        energy_kwh += part.energy_kwh
        covered_s += part.covered_s
      }
      assert.ok(Math.abs(energy_kwh - whole.energy_kwh) < 1e-9)
      assert.ok(Math.abs(covered_s - whole.covered_s) < 1e-6)
    }),
  )
})

test('intervals lie in the span, in order, apart, each between its two samples', () => {
  fc.assert(
    fc.property(series, fc.nat(20_000_000), fc.nat(20_000_000), (samples, offset_ms, length_ms) => {
      const times_ms = samples.map(({ time_ms }) => time_ms)
      const start_ms = (times_ms[0] ?? 0) + offset_ms - 5_000_000
      let reached_ms = start_ms
      for (const interval of intervals(times_ms, { start_ms, end_ms: start_ms + length_ms })) {
        assert.ok(interval.start_ms >= reached_ms && interval.start_ms < interval.end_ms)
        assert.ok((times_ms[interval.from] as number) <= interval.start_ms)
        assert.ok((times_ms[interval.to] as number) >= interval.end_ms)
        assert.equal(interval.to, interval.from + 1)
        reached_ms = interval.end_ms
      }
      assert.ok(reached_ms <= start_ms + length_ms)
    }),
  )
})

test('a gap is never bridged: what is covered is what is left', () => {
  const gap = fc.integer({ min: 121, max: 100_000 })
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: 40 }),
      fc.integer({ min: 3, max: 40 }),
      gap,
      (n, m, g) => {
        const first = Array.from({ length: n }, (_, index) => index * 60)
        const second = Array.from({ length: m }, (_, index) => (n - 1) * 60 + g + index * 60)
        const samples = [...first, ...second].map((t) => ({ time_ms: t * s, power_kw: 10 }))
        const { covered_s } = energyOf(samples, { start_ms: 0, end_ms: 1e12 })
        assert.ok(Math.abs(covered_s - (n - 1 + m - 1) * 60) < 1e-6)
      },
    ),
  )
})

test('one lost sample is no gap, two are', () => {
  const span = { start_ms: 0, end_ms: 3600 * s }
  const samples = samplesOf(60, new Array(20).fill(6))
  assert.equal(energyOf(samples.toSpliced(10, 1), span).covered_s, 19 * 60)
  assert.equal(energyOf(samples.toSpliced(10, 2), span).covered_s, 16 * 60)
})

test('where half of the steps are short, a long one is a gap; equal times are no steps', () => {
  const span = { start_ms: 0, end_ms: 3600 * s }
  const covered = (times_s: number[]) =>
    intervals(
      times_s.map((time_s) => time_s * s),
      span,
    ).map(({ from }) => from)
  assert.deepEqual(covered([0, 60, 360]), [0])
  assert.deepEqual(covered([0, 0, 0, 0, 60]), [3])
})

test('a series that changes its rate is covered throughout', () => {
  for (const [before_s, after_s] of [
    [60, 5],
    [5, 60],
  ] as const) {
    const steps = [...new Array<number>(20).fill(before_s), ...new Array<number>(20).fill(after_s)]
    let time_ms = 0
    const times_ms = [0, ...steps.map((step_s) => (time_ms += step_s * s))]
    assert.equal(intervals(times_ms, { start_ms: 0, end_ms: time_ms }).length, 40)
  }
})

test('steps longer than twice 300 s prove no rate', () => {
  const samples = samplesOf(900, [4, 4, 4, 4, 4])
  const span = { start_ms: 0, end_ms: 3600 * s }
  assert.deepEqual(energyOf(samples, span), { energy_kwh: 0, covered_s: 0 })
})

test('consumption at night is negative', () => {
  const { energy_kwh } = energyOf(samplesOf(60, new Array(61).fill(-0.02)), {
    start_ms: 0,
    end_ms: 3600 * s,
  })
  assert.ok(Math.abs(energy_kwh + 0.02) < 1e-12)
})

test('no samples, one sample and samples of another time cover nothing', () => {
  const span = { start_ms: 0, end_ms: 3600 * s }
  assert.deepEqual(intervals([], span), [])
  assert.deepEqual(intervals([60 * s], span), [])
  assert.deepEqual(intervals([0, 60 * s], { start_ms: 9e9, end_ms: 9.1e9 }), [])
})

test('times that descend are refused', () => {
  assert.throws(() => intervals([0, 60, 30], { start_ms: 0, end_ms: 60 }), /times_ms\[2\]/)
})
