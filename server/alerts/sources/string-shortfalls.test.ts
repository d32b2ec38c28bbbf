import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StringLayout, sumStrings } from '../../performance/diagnostics/string-sums.ts'
import { judgeShortfalls } from './string-shortfalls.ts'

const thresholds = { shortfall_pct: 15, peer_hours: 3 }
const layout = [0, 1, 2, 3, 4].map(
  (string_index): StringLayout => ({
    string_index,
    mppt_index: string_index,
    rated_kw: 10,
    group: 'south',
    is_connected: true,
  }),
)

interface Hour {
  /** Current of string 2 by that of the others. */
  share: number
  light?: number
  is_limited?: boolean
}

const dawn_ms = Date.UTC(2026, 5, 21, 5)

function hoursOf(hours: readonly Hour[]) {
  return hours.map(({ share, light = 0.8, is_limited = false }, nth) => {
    const start_ms = dawn_ms + nth * 3_600_000
    const samples = Array.from({ length: 62 }, (_, minute) => ({
      time_ms: start_ms + (minute - 1) * 60_000,
      current_a: layout.map(
        ({ string_index }) =>
          12 * light * (string_index === 2 ? share : 1) * (1 + ((minute + string_index) % 5) / 500),
      ),
      voltage_v: layout.map(() => 833),
      expected_kw: null,
      poa_w_m2: 1000 * light,
      is_limited,
    }))
    const sums = sumStrings(layout, samples, { start_ms, end_ms: start_ms + 3_600_000 })
    return { hour_at: new Date(start_ms), sums }
  })
}

const shortOf = (hours: readonly Hour[]) =>
  judgeShortfalls(layout, hoursOf(hours), thresholds).filter(({ is_short }) => is_short)
const times = (count: number, hour: Hour) => Array.from({ length: count }, () => hour)

test('a string that delivers less than its peers is short, and the others are not', () => {
  const [short, ...more] = shortOf([...times(3, { share: 1 }), ...times(6, { share: 0.6 })])
  assert.deepEqual(more, [])
  assert.equal(short?.string_index, 2)
  assert.ok(short!.shortfall_pct > 25 && short!.shortfall_pct < 28, `${short!.shortfall_pct}`)
  assert.deepEqual(short!.since, new Date('2026-06-21T08:00:00Z'))
})

test('a little less is not short', () => assert.deepEqual(shortOf(times(8, { share: 0.88 })), []))

test('with little sun nothing is judged', () => {
  assert.deepEqual(
    judgeShortfalls(layout, hoursOf(times(8, { share: 0.5, light: 0.2 })), thresholds),
    [],
  )
  assert.deepEqual(judgeShortfalls(layout, [], thresholds), [])
})

test('limited hours do not count', () => {
  const held = times(6, { share: 0.4, is_limited: true })
  assert.deepEqual(shortOf([...times(5, { share: 1 }), ...held]), [])
  assert.deepEqual(judgeShortfalls(layout, hoursOf(held), thresholds), [])
})

test('hours in which it carried nothing make no weak string', () => {
  assert.deepEqual(shortOf([...times(5, { share: 1 }), ...times(4, { share: 0 })]), [])
  const judged = judgeShortfalls(layout, hoursOf(times(8, { share: 0 })), thresholds)
  assert.ok(judged.every(({ string_index }) => string_index !== 2))
})

test('a string that a person saw to is judged by the hours after that alone', () => {
  const after = (hour: number) => (string_index: number) =>
    string_index === 2 ? new Date(dawn_ms + hour * 3_600_000) : undefined
  const judged = (hours: readonly Hour[], hour: number) =>
    judgeShortfalls(layout, hoursOf(hours), thresholds, after(hour)).find(
      ({ string_index }) => string_index === 2,
    )
  const repaired = [...times(6, { share: 0.5 }), ...times(6, { share: 1 })]
  assert.equal(shortOf(repaired).length, 1, 'by the whole day')
  assert.equal(judged(repaired, 6)?.is_short, false)
  assert.equal(judged(repaired, 11), undefined, 'one hour is too little')
  const lasting = judged(times(12, { share: 0.5 }), 5.5)
  assert.equal(lasting?.is_short, true)
  assert.deepEqual(lasting?.since, new Date(dawn_ms + 6 * 3_600_000))
})
