import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { reach_ms } from '@heliograph/domain/reach'
import fc from 'fast-check'
import { intervals } from '../../telemetry/energy.ts'
import {
  additive_quantities,
  addSums,
  type StringLayout,
  type StringSample,
  type StringSums,
  sumStrings,
} from './string-sums.ts'

const layout: StringLayout[] = [0, 1, 2, 3, 4].map((string_index) => ({
  string_index,
  mppt_index: string_index >> 1,
  rated_kw: string_index === 3 ? 4 : 8,
  group: 'south',
  is_connected: true,
}))

function sampleAt(minute: number, currents: readonly (number | null)[]): StringSample {
  return {
    time_ms: minute * minute_ms,
    current_a: currents,
    // The string of half the length has half the voltage.
    voltage_v: [700, 700, 700, 350, 700],
    expected_kw: null,
    poa_w_m2: 700,
    is_limited: false,
  }
}

/** One hour, a sample a minute, all alike but for what is changed. */
function hourOf(
  currents: readonly (number | null)[],
  change: (sample: StringSample, minute: number) => StringSample = (sample) => sample,
): StringSample[] {
  return Array.from({ length: 61 }, (_, minute) => {
    // Nothing real repeats to the last digit.
    const wiggled = currents.map((value) => value && value * (1 + 0.001 * (minute % 2)))
    return change(sampleAt(minute, wiggled), minute)
  })
}

const hour = { start_ms: 0, end_ms: 60 * minute_ms }

function assertNear(actual: number | null | undefined, expected: number, what: string): void {
  assert.ok(typeof actual === 'number', `${what} is ${actual}`)
  const off = Math.abs(actual - expected)
  assert.ok(off <= 1e-9 * Math.max(1, Math.abs(expected)), `${what}: ${actual}, not ${expected}`)
}

function assertSameSums(actual: StringSums, expected: StringSums): void {
  for (const quantity of additive_quantities) {
    assert.equal(actual[quantity].length, expected[quantity].length, quantity)
    for (const [index, value] of expected[quantity].entries()) {
      assertNear(actual[quantity][index], value, `${quantity}[${index}]`)
    }
  }
  assert.deepEqual(actual.current_a_max, expected.current_a_max)
}

test('a string compares with the median of the others, per rated power', () => {
  // Specific powers 0.7, 0.7875, 0.875, 0.6125, 0.6125: each string has its own median of four.
  const sums = sumStrings(layout, hourOf([8, 9, 10, 7, 7]), hour)
  const wiggle = 1.0005
  for (const [index, median_kw_kw] of [0.7, 0.65625, 0.65625, 0.74375, 0.74375].entries()) {
    const { rated_kw } = layout[index] as StringLayout
    assertNear(sums.peer_kwh[index], median_kw_kw * rated_kw * wiggle, `peer_kwh[${index}]`)
  }
  assertNear(sums.compared_kwh[3], 7 * 0.35 * wiggle, 'compared_kwh')
  assertNear(sums.compared_ah[3], 7 * wiggle, 'compared_ah')
  assertNear(sums.peer_ah[3], 8.5 * wiggle, 'peer_ah')
  assertNear(sums.compared_vs[3], 350 * 3600, 'compared_vs')
  assertNear(sums.peer_vs[3], 350 * 3600, 'peer_vs')
  assert.deepEqual(sums.sample_count, [60, 60, 60, 60, 60])
  assertNear(sums.light_s[0], 3600, 'light_s')
  assertNear(sums.current_a_max[2], 10.01, 'current_a_max')
})

test('the samples of the energy are all of the day, whatever compares', () => {
  const samples = hourOf([8, 9, 10, 7, 7], (sample, minute) => ({
    ...sample,
    is_limited: minute < 30,
    is_daylight: minute !== 59,
    current_a: sample.current_a.map((value) => (minute === 20 ? null : value)),
  }))
  const sums = sumStrings(layout, samples, hour)
  assert.deepEqual(sums.energy_sample_count, [58, 58, 58, 58, 58])
  assert.deepEqual(sums.sample_count, [30, 30, 30, 30, 30])
})

test('energy, charge and mean voltage are those of the trapezoidal rule', () => {
  const samples = hourOf([8, 9, 10, 7, 7], (sample, minute) => ({
    ...sample,
    current_a: sample.current_a.map((value) => (minute === 20 ? null : value)),
    voltage_v: sample.voltage_v.map((value) => value && value + minute),
  }))
  const span = { start_ms: 5.5 * minute_ms, end_ms: 50.25 * minute_ms }
  const sums = sumStrings(layout, samples, span)
  for (const { string_index } of layout) {
    const powers_kw = samples.map(({ current_a, voltage_v }) => {
      const current = current_a[string_index] ?? null
      return current && (current * (voltage_v[string_index] as number)) / 1000
    })
    const times_ms = samples.map(({ time_ms }) => time_ms)
    let [energy_kwh, covered_s] = [0, 0]
    for (const { from, to, start_ms, end_ms } of intervals(times_ms, span)) {
      const [before_kw = null, after_kw = null] = [powers_kw[from], powers_kw[to]]
      if (before_kw === null || after_kw === null) continue
      const slope = (after_kw - before_kw) / (times_ms[to]! - times_ms[from]!)
      const middle_kw = before_kw + slope * ((start_ms + end_ms) / 2 - times_ms[from]!)
      energy_kwh += (middle_kw * (end_ms - start_ms)) / 3_600_000
      covered_s += (end_ms - start_ms) / 1000
    }
    assertNear(sums.energy_kwh[string_index], energy_kwh, 'energy_kwh')
    assertNear(sums.covered_s[string_index], covered_s, 'covered_s')
  }
  assertNear(sums.covered_s[0], 42.75 * 60, 'covered_s but for the minutes beside the null')
})

test('an input without a string has energy, and is never compared nor a peer', () => {
  const disconnected = layout.map((string) => ({
    ...string,
    is_connected: string.string_index !== 4,
  }))
  const sums = sumStrings(disconnected, hourOf([8, 9, 10, 7, 0]), hour)
  assert.equal(sums.light_s[4], 0)
  assert.equal(sums.zero_current_s[4], 0)
  assertNear(sums.voltage_vs[4], 700 * 3600, 'voltage_vs')
  assertNear(sums.peer_kwh[0], 0.7875 * 8 * 1.0005, 'peer_kwh of three others')
})

test('what is limited, unknown, repeated or of another group is not compared', () => {
  const limited = hourOf([8, 9, 10, 7, 7], (sample, minute) => ({
    ...sample,
    is_limited: minute < 30,
  }))
  const half = sumStrings(layout, limited, hour)
  assertNear(half.limited_s[0], 29.5 * 60, 'limited_s')
  assertNear(half.compared_s[0], 30.5 * 60, 'compared_s')

  const unknown = sumStrings(layout, hourOf([8, null, 10, 7, 7]), hour)
  assert.equal(unknown.known_s[1], 0)
  assertNear(unknown.light_s[1], 3600, 'light_s of a string that says nothing')
  assertNear(unknown.compared_s[0], 3600, 'compared_s with three others')

  const repeats = hourOf([8, 9, 10, 7, 7], (sample) => ({
    ...sample,
    current_a: sample.current_a.with(1, 9),
  }))
  const stuck = sumStrings(layout, repeats, hour)
  assertNear(stuck.stale_s[1], 3600, 'stale_s')
  assert.equal(stuck.known_s[1], 0)
  assert.equal(stuck.stale_s[0], 0)

  // An output that is held repeats rightly, and proves nothing of the minutes after it.
  const held = hourOf([8, 9, 10, 7, 7], (sample, minute) => ({
    ...sample,
    current_a: minute < 40 ? [8, 9, 10, 7, 7] : sample.current_a,
    is_limited: minute < 30,
  }))
  assert.equal(sumStrings(layout, held, hour).stale_s[1], 0)

  const apart = layout.map((string) => ({
    ...string,
    group: string.string_index < 2 ? 'east' : 'west',
  }))
  const two_and_three = sumStrings(apart, hourOf([8, 9, 10, 7, 7]), hour)
  assert.deepEqual(two_and_three.compared_s, [0, 0, 0, 0, 0])
  assertNear(two_and_three.known_s[0], 3600, 'known_s')
})

test('a dead string is seen, and dead peers are no measure', () => {
  const one = sumStrings(layout, hourOf([0, 9, 10, 7, 7]), hour)
  assertNear(one.zero_current_s[0], 3600, 'zero_current_s')
  assertNear(one.compared_s[0], 3600, 'compared_s')
  assert.equal(one.zero_current_s[1], 0)

  const most = sumStrings(layout, hourOf([0, 0, 0, 7, 7]), hour)
  assertNear(most.zero_current_s[2], 3600, 'zero_current_s')
  assert.equal(most.compared_s[3], 0)

  const all = sumStrings(layout, hourOf([0, 0, 0, 0, 0]), hour)
  assertNear(all.light_s[0], 3600, 'light_s by the irradiance')
  assertNear(all.zero_current_s[0], 3600, 'zero_current_s')
  assert.equal(all.compared_s[0], 0)
})

test('light is that on the group, not on the sensor of the plant', () => {
  const dim = (poa_w_m2: number | null) => (sample: StringSample) => ({ ...sample, poa_w_m2 })
  // The sensor faces away, and the strings are in full sun.
  assertNear(sumStrings(layout, hourOf([8, 9, 8, 9, 8], dim(40)), hour).compared_s[0], 3600, 'away')
  // Dusk on the strings, some irradiance on the sensor.
  assert.equal(sumStrings(layout, hourOf([1, 1, 1, 1, 1], dim(300)), hour).light_s[0], 0)
  // Night, and nothing known of the irradiance.
  assert.equal(sumStrings(layout, hourOf([0, 0, 0, 0, 0], dim(null)), hour).light_s[0], 0)
})

test('what the physics expects is summed over the same time', () => {
  const expect = (sample: StringSample) => ({ ...sample, expected_kw: [6, null, 6, 3, 6] })
  const sums = sumStrings(layout, hourOf([4, 9, 10, 7, 7], expect), hour)
  assertNear(sums.expected_kwh[0], 6, 'expected_kwh')
  assertNear(sums.compared_with_expected_kwh[0], 4 * 0.7 * 1.0005, 'compared_with_expected_kwh')
  assert.equal(sums.with_expected_s[1], 0)
})

test('nothing gives zeros and no maximum; a layout may have holes', () => {
  const sums = sumStrings([{ ...layout[0]!, string_index: 2 }], [], hour)
  assert.deepEqual(sums.energy_kwh, [0, 0, 0])
  assert.deepEqual(sums.current_a_max, [null, null, null])
  assert.deepEqual(sumStrings([], [], hour).energy_kwh, [])
  assert.deepEqual(addSums([]).energy_kwh, [])
  assert.deepEqual(addSums([sumStrings([], [], hour), sums]), sums)
})

const current = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 120 }).map((tenths) => tenths / 10) },
  { weight: 3, arbitrary: fc.constantFrom(0, 5) },
  { weight: 1, arbitrary: fc.constant(null) },
)
const step_s = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(60, 300) },
  { weight: 1, arbitrary: fc.constantFrom(5, 900, 4000) },
)
const record = fc.record({
  // Repeats, so that some are stale.
  times: fc.constantFrom(1, 1, 1, 1, 3, 8, 15),
  currents: fc.array(current, { minLength: 5, maxLength: 5 }),
  poa_w_m2: fc.constantFrom(null, 20, 600),
  is_limited: fc.constantFrom(false, false, false, true),
  expected_kw: fc.constantFrom(null, [5, 5, null, 3, 5]),
})

interface Random {
  times: number
  currents: (number | null)[]
  poa_w_m2: number | null
  is_limited: boolean
  expected_kw: readonly (number | null)[] | null
}

function samplesOf(records: readonly Random[], steps_s: readonly number[]): StringSample[] {
  let time_s = 0
  const expanded = records.flatMap((each) => new Array<Random>(each.times).fill(each))
  return expanded.map((each, index) => {
    time_s += steps_s[index % steps_s.length] as number
    const voltage_v = [700, 690, 700, 350, 650]
    return { ...each, time_ms: time_s * 1000, current_a: each.currents, voltage_v }
  })
}

const some_records = fc.array(record, { minLength: 1, maxLength: 60 })
const cuts = fc.array(fc.integer({ min: 0, max: 12 * 3600 }), { minLength: 2, maxLength: 8 })

test('the pieces of a span add up to the span', () => {
  const steps = fc.array(step_s, { minLength: 120, maxLength: 120 })
  fc.assert(
    fc.property(some_records, steps, cuts, (records, steps_s, cuts_s) => {
      const samples = samplesOf(records, steps_s)
      const bounds_ms = cuts_s.map((cut_s) => cut_s * 1000).toSorted((a, b) => a - b)
      const pieces = bounds_ms
        .slice(1)
        .map((end_ms, index) =>
          sumStrings(layout, samples, { start_ms: bounds_ms[index] as number, end_ms }),
        )
      const span = { start_ms: bounds_ms[0] as number, end_ms: bounds_ms.at(-1) as number }
      assertSameSums(addSums(pieces), sumStrings(layout, samples, span))
    }),
    { numRuns: 200 },
  )
})

test('hours without gaps add up to the whole, each from no more samples than the margin asks', () => {
  const hour_ms = 60 * minute_ms
  fc.assert(
    fc.property(some_records, fc.constantFrom(60, 300), (records, step_s) => {
      const samples = samplesOf(records, [step_s])
      const hours = Math.ceil(((samples.at(-1) as StringSample).time_ms + 1) / hour_ms)
      const pieces = Array.from({ length: hours }, (_, hour) => {
        const span = { start_ms: hour * hour_ms, end_ms: (hour + 1) * hour_ms }
        const around = samples.filter(
          ({ time_ms }) => time_ms >= span.start_ms - reach_ms && time_ms <= span.end_ms + reach_ms,
        )
        return sumStrings(layout, around, span)
      })
      const whole = sumStrings(layout, samples, { start_ms: 0, end_ms: hours * hour_ms })
      assertSameSums(addSums(pieces), whole)
    }),
    { numRuns: 200 },
  )
})
