import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { addDays } from '@heliograph/domain/utc-day'
import type { StringLayout } from '../diagnostics/string-sums.ts'
import { type StepDay, type StringStep, stepsAfter } from './string-steps.ts'

const strings = 6
const daylight_s = 43_200
const first_date = '2026-02-20'

const layout: StringLayout[] = Array.from({ length: strings }, (_, string_index) => ({
  string_index,
  mppt_index: string_index >> 1,
  rated_kw: string_index === 1 ? 5 : 10,
  group: '180/25/1',
  is_connected: true,
}))

/** mulberry32: numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Change = (day: number, string_index: number) => Partial<Record<keyof StepDay['sums'], number>>

/** Days under changing skies; `kept` is the share of its power that a string has on a day. */
function daysWith(
  length: number,
  kept: (day: number, string_index: number) => number,
  change: Change = () => ({}),
): StepDay[] {
  const random = randomFrom(7)
  return Array.from({ length }, (_, day) => {
    const yield_kwh_kw = 1 + 6 * random()
    const each = layout.map(({ string_index, rated_kw }) => {
      const noise = 1 + 0.004 * (random() + random() + random() - 1.5)
      const peer_kwh = yield_kwh_kw * rated_kw
      const compared_kwh = peer_kwh * noise * kept(day, string_index)
      const times = {
        covered_s: 0.9 * daylight_s,
        light_s: 30_000,
        limited_s: 0,
        compared_s: 29_000,
      }
      return {
        energy_kwh: compared_kwh,
        compared_kwh,
        peer_kwh,
        ...times,
        ...change(day, string_index),
      }
    })
    const list = (name: keyof StepDay['sums']) => each.map((sums) => sums[name])
    return {
      local_date: addDays(first_date, day),
      daylight_s,
      sums: {
        energy_kwh: list('energy_kwh'),
        covered_s: list('covered_s'),
        light_s: list('light_s'),
        limited_s: list('limited_s'),
        compared_s: list('compared_s'),
        compared_kwh: list('compared_kwh'),
        peer_kwh: list('peer_kwh'),
      },
    }
  })
}

/** Night after night, each with what the night before told. */
function nights(days: readonly StepDay[], among = layout): StringStep[] {
  let steps: StringStep[] = []
  for (let end = 1; end <= days.length; end += 1) {
    steps = stepsAfter(among, days.slice(0, end), steps)
  }
  return steps
}

const dayOf = (date: string) => (Date.parse(date) - Date.parse(first_date)) / day_ms
const losing =
  (string_index: number, loss: number, from: number, to = Number.POSITIVE_INFINITY) =>
  (day: number, at: number) =>
    at === string_index && day >= from && day < to ? 1 - loss : 1

function assertStep(
  step: StringStep | undefined,
  string_index: number,
  onset: number,
  loss: number,
) {
  assert.ok(step)
  assert.equal(step.string_index, string_index)
  assert.ok(Math.abs(dayOf(step.onset_date) - onset) <= 2, `onset ${step.onset_date}`)
  assert.ok(Math.abs(step.loss_ratio - loss) < 0.003, `loss ${step.loss_ratio}`)
}

test('a loss of 2 % is found within days, measured, and no other', () => {
  const steps = nights(daysWith(80, losing(3, 0.02, 45)))
  assert.equal(steps.length, 1)
  assertStep(steps[0], 3, 45, 0.02)
  const found = dayOf(steps[0]!.detected_date)
  assert.ok(found >= 46 && found <= 55, `found on day ${found}`)
  assert.equal(steps[0]!.end_date, null)
})

test('sound strings have none, nor do five weeks, nor three strings', () => {
  assert.deepEqual(nights(daysWith(110, () => 1)), [])
  assert.deepEqual(nights(daysWith(33, losing(3, 0.02, 25))), [])
  assert.deepEqual(nights(daysWith(60, losing(0, 0.02, 40)), layout.slice(0, 3)), [])
  assert.deepEqual(stepsAfter(layout, [], []), [])
})

test('a loss that was repaired is over, and does not come back', () => {
  const steps = nights(daysWith(110, losing(2, 0.03, 40, 65)))
  assert.equal(steps.length, 1)
  assertStep(steps[0], 2, 40, 0.03)
  assert.ok(Math.abs(dayOf(steps[0]!.end_date!) - 65) <= 3, `over on ${steps[0]!.end_date}`)
})

test('a second loss is found once the first one stands', () => {
  const first = losing(4, 0.02, 40)
  const second = losing(4, 0.03, 145)
  const steps = nights(daysWith(170, (day, at) => first(day, at) * second(day, at)))
  assert.equal(steps.length, 2)
  assertStep(steps[0], 4, 40, 0.02)
  assertStep(steps[1], 4, 145, 0.03)
})

test('days that say nothing do not count: hardly measured, limited, or a fault in full', () => {
  const bad = losing(3, 0.1, 45, 57)
  const nothing = (sums: ReturnType<Change>) =>
    nights(daysWith(80, bad, (day, at) => (bad(day, at) < 1 ? sums : {})))
  for (const sums of [
    { covered_s: 0.4 * daylight_s },
    { compared_s: 12_000 },
    { limited_s: 31_000 },
    { peer_kwh: 0 },
  ]) {
    assert.deepEqual(nothing(sums), [], JSON.stringify(sums))
  }
  assert.equal(nothing({}).length, 1)
  // The status of a string tells at once what a blown fuse is.
  assert.deepEqual(nights(daysWith(80, losing(3, 0.5, 45, 57))), [])
})

test('the loss of a string that is out of service stays as it was', () => {
  const days = daysWith(80, losing(3, 0.02, 45))
  const steps = nights(days)
  const others = layout.filter(({ string_index }) => string_index !== 3)
  assert.deepEqual(stepsAfter(others, days, steps), steps)
})
