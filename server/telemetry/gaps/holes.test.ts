import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  type Expectation,
  holesBetween,
  holeUntilNow,
  readings_aside,
  steps_aside,
} from './holes.ts'
import { wakefulnessAt } from './wakefulness.ts'

const minute = 60_000
const hour = 60 * minute
const at = (text: string) => Date.parse(`2026-${text}Z`)
/** Instants every so many seconds of [from, until). */
const every = (step_s: number, from: number, until: number) =>
  Array.from(
    { length: Math.ceil((until - from) / step_s / 1000) },
    (_, n) => from + n * step_s * 1000,
  )

const always = (poll_s: number): Expectation => ({ poll_s, sleeps: null, wentToRest: () => false })
const all = (times_ms: readonly number[], expectation: Expectation) =>
  holesBetween(times_ms, { first: 0, last: times_ms.length - 1 }, expectation)
const texts = (holes: readonly { start_ms: number; end_ms: number | null }[]) =>
  holes.map(({ start_ms, end_ms }) => [
    new Date(start_ms).toISOString().slice(5, 16),
    end_ms === null ? null : new Date(end_ms).toISOString().slice(5, 16),
  ])

const ten = at('06-21T10:00')

test('readings in step have no holes, whatever the step', () => {
  for (const step_s of [1, 5, 60, 300, 900]) {
    assert.deepEqual(all(every(step_s, ten, ten + 6 * hour), always(5)), [], `${step_s}`)
  }
})

test('a change of rate is no hole, in either direction', () => {
  const [slow, fast] = [every(60, ten, ten + hour), every(5, ten + hour, ten + 2 * hour)]
  assert.deepEqual(all([...slow, ...fast], always(5)), [])
  const [first, then] = [every(5, ten, ten + hour), every(300, ten + hour, ten + 3 * hour)]
  assert.deepEqual(all([...first, ...then], always(5)), [])
})

test('two holes in one hour, with what was expected in them', () => {
  const times = every(5, ten, ten + hour).filter((time) => {
    const into = time - ten
    return (
      !(into > 10 * minute && into < 15 * minute) && !(into > 40 * minute && into < 42 * minute)
    )
  })
  const holes = all(times, always(5))
  assert.deepEqual(texts(holes), [
    ['06-21T10:10', '06-21T10:15'],
    ['06-21T10:40', '06-21T10:42'],
  ])
  assert.deepEqual(
    holes.map(({ expected_count, step_s }) => [expected_count, step_s]),
    [
      [59, 5],
      [23, 5],
    ],
  )
})

test('a blip of a minute, or of three polls, is no hole', () => {
  const without = (step_s: number, seconds: number) =>
    every(step_s, ten, ten + hour).filter(
      (time) => !(time > ten + 20 * minute && time < ten + 20 * minute + seconds * 1000),
    )
  assert.equal(all(without(5, 60), always(5)).length, 0)
  assert.equal(all(without(5, 65), always(5)).length, 1)
  assert.equal(all(without(60, 180), always(5)).length, 0)
  assert.equal(all(without(60, 240), always(5)).length, 1)
  // Polled every five minutes by its configuration.
  assert.equal(all(without(300, 900), always(300)).length, 0)
})

test('a hole over days is one', () => {
  const times = [...every(10, ten, ten + hour), ...every(10, ten + 75 * hour, ten + 76 * hour)]
  const [hole, ...others] = all(times, always(10))
  assert.equal(others.length, 0)
  assert.equal(hole!.expected_count, (74 * 3600 + 10) / 10 - 1)
})

const sun = wakefulnessAt({ latitude: 48.62, longitude: 12.17, elevation_m: 400 })
const sleeper = (rests: readonly number[] = []): Expectation => ({
  poll_s: 5,
  sleeps: sun,
  wentToRest: (time) => rests.includes(time),
})
/** The sun is 3 degrees high at about 03:39 and 18:54 of this day, UTC. */
const [dawn, dusk] = [at('06-21T03:39'), at('06-21T18:54')]

test('the wakefulness of an inverter follows the sun, with a quarter of an hour to spare', () => {
  const woken = sun.next(true, at('06-21T00:00'), at('06-22T00:00'))
  assert.ok(Math.abs(woken - dawn - 15 * minute) <= 8 * minute, new Date(woken).toISOString())
  const asleep = sun.next(false, woken, at('06-22T00:00'))
  assert.ok(Math.abs(asleep - dusk + 15 * minute) <= 8 * minute, new Date(asleep).toISOString())
  assert.equal(sun.awakeMs(at('06-21T00:00'), at('06-22T00:00')), asleep - woken)
  assert.equal(sun.awakeMs(at('06-21T00:00') + 1, at('06-24T00:00') + 1) > 40 * hour, true)
  assert.equal(sun.lastAwake(ten, at('06-22T00:00')), asleep)
  assert.equal(sun.hasDaylight(at('06-21T22:00'), at('06-22T01:00')), false)
  assert.equal(sun.hasDaylight(at('06-21T22:00'), at('06-22T05:00')), true)
})

test('an inverter that is silent from dusk to dawn has no hole', () => {
  const times = [
    ...every(5, at('06-20T12:00'), at('06-20T18:50')),
    ...every(5, at('06-21T03:50'), at('06-21T09:00')),
  ]
  assert.deepEqual(all(times, sleeper()), [])
  assert.equal(all(times, always(5)).length, 1)
})

test('a hole that begins at night begins when the inverter should wake up', () => {
  const times = [
    ...every(5, at('06-20T12:00'), at('06-20T18:50')),
    ...every(5, at('06-21T09:00'), at('06-21T10:00')),
  ]
  const [hole] = all(times, sleeper())
  const woken = sun.next(true, at('06-21T00:00'), ten)
  assert.deepEqual([hole!.start_ms, hole!.end_ms], [woken, at('06-21T09:00')])
  assert.equal(hole!.expected_count, (at('06-21T09:00') - woken) / 5000 - 1)
})

test('a hole by day ends in the evening, or goes on over a night that is not missed', () => {
  const before = every(5, at('06-20T08:00'), at('06-20T12:00') + 5000)
  const [one] = all([...before, ...every(5, at('06-21T03:50'), at('06-21T05:00'))], sleeper())
  assert.equal(one!.end_ms, sun.next(false, at('06-20T12:00'), ten))
  const later = at('06-21T09:00')
  const [two] = all([...before, ...every(5, later, ten)], sleeper())
  assert.deepEqual([two!.start_ms, two!.end_ms], [at('06-20T12:00'), later])
  assert.equal(two!.expected_count, sun.awakeMs(at('06-20T12:00'), later) / 5000 - 1)
})

test('an inverter that went to rest is not missed until the sun rises again', () => {
  const before = every(5, at('06-20T12:00'), at('06-20T17:00') + 5000)
  const rests = [at('06-20T17:00')]
  const dawn = every(5, at('06-21T03:50'), at('06-21T05:00'))
  assert.equal(all([...before, ...dawn], sleeper()).length, 1)
  assert.equal(all([...before, ...dawn], sleeper(rests)).length, 0)
  const late = all([...before, ...every(5, at('06-21T09:00'), ten)], sleeper(rests))
  assert.deepEqual(texts(late), [['06-21T03:50', '06-21T09:00']])
})

test('without a place no inverter may sleep', () => {
  const nowhere = { ...sleeper(), sleeps: wakefulnessAt(null) }
  const times = [...every(5, at('06-20T12:00'), at('06-20T18:50')), ...every(5, dawn, ten)]
  assert.equal(all(times, nowhere).length, 1)
})

test('a silence is a hole once a reading had time to come', () => {
  const times = every(5, ten, ten + hour + 5000)
  const last = ten + hour
  assert.equal(holeUntilNow(times, last + 2 * minute, always(5)), null)
  const hole = holeUntilNow(times, last + 3 * minute, always(5))
  assert.deepEqual(hole, { start_ms: last, end_ms: null, step_s: 5, expected_count: 36 })
  assert.equal(holeUntilNow([], last, always(5)), null)
  // Asleep, and in the morning after.
  const evening = every(5, at('06-20T18:00'), at('06-20T18:50'))
  assert.equal(holeUntilNow(evening, at('06-21T03:50'), sleeper()), null)
  assert.deepEqual(texts([holeUntilNow(evening, at('06-21T06:00'), sleeper())!]), [
    ['06-21T03:50', null],
  ])
})

test('what is judged within a part is judged alike from its surroundings alone', () => {
  const step = fc.oneof(fc.constantFrom(5, 5, 5, 10, 60, 300), fc.integer({ min: 1, max: 200_000 }))
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), fc.nat(1000), (steps, seed) => {
      const times = [ten]
      for (const step_s of steps) times.push(times.at(-1)! + step_s * 1000)
      const from = 12 + (seed % (times.length - 30))
      const until = from + 4
      const whole = holesBetween(
        times,
        { first: from - steps_aside - 1, last: until + steps_aside },
        sleeper(),
      )
      const part = times.slice(from - readings_aside, until + readings_aside)
      const bounds = {
        first: readings_aside - steps_aside - 1,
        last: part.length - readings_aside + steps_aside,
      }
      assert.deepEqual(holesBetween(part, bounds, sleeper()), whole)
    }),
  )
})
