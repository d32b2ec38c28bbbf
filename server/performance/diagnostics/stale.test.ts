import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import fc from 'fast-check'
import { scored, testOnMeasured, testOnReference } from './fixtures/reference-answers.ts'
import { staleSamples } from './stale.ts'

interface Answers {
  time: string[]
  power: (number | null)[]
  label: boolean[]
}

const what = 'stuck values of a measured inverter are found'

function check({ time, power, label }: Answers, t: TestContext): void {
  const found = staleSamples(
    power,
    time.map((at) => Date.parse(at)),
  )
  const { precision, recall } = scored(found, label, t)
  assert.equal(precision, 1)
  assert.ok(recall >= 0.988)
}

testOnReference<Answers>('diag_stale_inv2173', what, check)

testOnMeasured(
  'pvanalytics_MIT/ac_power_inv_2173_stale_data.csv',
  `${what}, as published`,
  (rows, t) =>
    check(
      {
        time: rows.map(([time]) => time as string),
        power: rows.map(([, power]) => (power === '' ? null : Number(power))),
        label: rows.map(([, , label]) => label === 'True'),
      },
      t,
    ),
)

function everyMinutes(minutes: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => index * minutes * minute_ms)
}

test('a run is stale from six samples on that span 1500 s', () => {
  const stale = (minutes: number, count: number) =>
    staleSamples(new Array(count).fill(5), everyMinutes(minutes, count)).includes(true)
  assert.deepEqual(
    [stale(5, 5), stale(5, 6), stale(1, 25), stale(1, 26)],
    [false, true, false, true],
  )
  assert.deepEqual([stale(15, 5), stale(15, 6)], [false, true])
})

test('zero repeats by right, a negative value does not', () => {
  const times_ms = everyMinutes(15, 8)
  assert.ok(!staleSamples(new Array(8).fill(0), times_ms).includes(true))
  assert.ok(!staleSamples(new Array(8).fill(-0), times_ms).includes(true))
  assert.ok(staleSamples(new Array(8).fill(-3), times_ms).every(Boolean))
})

test('a null ends a run', () => {
  const values = [5, 5, 5, 5, 5, null, 5, 5, 5, 5, 5]
  assert.ok(!staleSamples(values, everyMinutes(15, 11)).includes(true))
  assert.deepEqual(staleSamples([null, null], everyMinutes(15, 2)), [false, false])
})

test('a slow ramp is not stale, though each value is close to the one before', () => {
  const values = Array.from({ length: 40 }, (_, index) => 5 * (1 + index * 0.4e-5))
  assert.ok(!staleSamples(values, everyMinutes(15, 40)).includes(true))
})

test('what is marked is a run of equal values that are not zero, long enough', () => {
  const value = fc.constantFrom(null, 0, 1, 1, 1, 2)
  fc.assert(
    fc.property(fc.array(value, { maxLength: 80 }), (values) => {
      const found = staleSamples(values, everyMinutes(5, values.length))
      const expected = values.map((value, index) => {
        const first = values.findLastIndex((other, at) => at < index && other !== value) + 1
        const next = values.findIndex((other, at) => at > index && other !== value)
        return !!value && (next < 0 ? values.length : next) - first >= 6
      })
      assert.deepEqual(found, expected)
    }),
  )
})

test('lists of different lengths are refused', () => {
  assert.throws(() => staleSamples([1, 2], [0]), /times_ms has 1 items, values 2/)
  assert.deepEqual(staleSamples([], []), [])
})
