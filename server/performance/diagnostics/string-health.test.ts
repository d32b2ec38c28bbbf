import assert from 'node:assert/strict'
import { test } from 'node:test'
import { day_ms, minute_ms } from '@heliograph/domain/durations'
import { sumsOf } from './fixtures/labelled-strings.ts'
import { judgeStrings, type StringVerdict } from './string-health.ts'
import { addSums, type StringLayout, type StringSample } from './string-sums.ts'

interface Condition {
  minute: number
  day: number
  string_index: number
}

interface Plant {
  strings?: number
  days?: number
  /** The share of the current, and of the voltage, that a string has left; null: not measured. */
  current?: (condition: Condition) => number | null
  voltage?: (condition: Condition) => number
  expected_ratio?: number
  is_limited?: (minute: number) => boolean
  /** Of the last day. */
  last_minute?: number
  change?: (string: StringLayout) => Partial<StringLayout>
}

/**
 * Days of 12 bright hours, a sample every 5 minutes: 700 V, at most 10 A, 8 kW strings in pairs.
 */
function judge(plant: Plant): StringVerdict[] {
  const { strings = 8, days = 1, current = () => 1, voltage = () => 1 } = plant
  const layout = Array.from({ length: strings }, (_, string_index): StringLayout => {
    const string = {
      string_index,
      mppt_index: string_index >> 1,
      rated_kw: 8,
      group: 'south',
      is_connected: true,
    }
    return { ...string, ...plant.change?.(string) }
  })
  const samples = Array.from({ length: days * 288 }, (_, index): StringSample => {
    const day = Math.floor(index / 288)
    const minute = (index % 288) * 5
    const light = Math.max(0, Math.sin((Math.PI * (minute - 360)) / 720))
    const at = (string_index: number) => ({ minute, day, string_index })
    return {
      time_ms: day * day_ms + minute * minute_ms,
      current_a: layout.map(({ string_index }) => {
        const share = current(at(string_index))
        return share === null ? null : 10 * light * share
      }),
      voltage_v: layout.map(({ string_index }) => 700 * voltage(at(string_index))),
      expected_kw: plant.expected_ratio
        ? layout.map(() => 7 * light * (plant.expected_ratio as number))
        : null,
      poa_w_m2: 1000 * light,
      is_limited: plant.is_limited?.(minute) ?? false,
    }
  })
  const end_ms = (days - 1) * day_ms + (plant.last_minute ?? Infinity) * minute_ms
  const measured = samples.filter(({ time_ms }) => time_ms <= end_ms)
  const { total, days: sums_of_days, hours } = sumsOf({ layout, samples: measured })
  return judgeStrings(layout, total, { days: sums_of_days, hours })
}

const statuses = (verdicts: readonly StringVerdict[]) => verdicts.map(({ status }) => status)
const reasons = (verdicts: readonly StringVerdict[]) => verdicts.map(({ reason }) => reason)
const only = (share: number) => (condition: Condition) => (condition.string_index === 0 ? share : 1)

function assertNear(actual: number | null | undefined, expected: number, limit: number): void {
  assert.ok(typeof actual === 'number' && Math.abs(actual - expected) <= limit, `${actual}`)
}

test('the status follows how little a string gives beside its peers', () => {
  for (const [share, status] of [
    [1.04, 'healthy'],
    [0.98, 'healthy'],
    [0.96, 'watch'],
    [0.93, 'underperforming'],
    [0.7, 'critical'],
    [0.02, 'dead'],
  ] as const) {
    const [first, ...others] = judge({ current: only(share) })
    assert.equal(first?.status, status, `${share}`)
    assert.equal(first?.is_culprit, status !== 'healthy')
    assertNear(first?.ratio, share, 1e-9)
    assert.equal((first?.estimated_loss_kwh as number) > 0, status !== 'healthy')
    assertNear(first?.deviation_pct, 100 * (share - 1), 1e-6)
    assertNear(first?.current_ratio_to_peers, share, 1e-9)
    assertNear(first?.health_score_pct, 100 * Math.min(1, share), 1e-6)
    assert.equal(first?.compared_with, 'peers')
    assert.equal(first?.peer_count, 7)
    assert.ok(others.every((other) => other.status === 'healthy' && other.estimated_loss_kwh === 0))
  }
})

test('the loss is the energy that the peers gave more', () => {
  const [first] = judge({ current: only(0.8) })
  // 7 kW at noon, over a half sine of 12 hours; the hours of too little light are not compared.
  const day_kwh = (7 * 12 * 2) / Math.PI
  assertNear(first?.estimated_loss_kwh, 0.2 * day_kwh, 0.2)
})

test('a small loss of each of three days is underperforming, of the last it is on watch', () => {
  const loss = (from_day: number) => (condition: Condition) =>
    condition.string_index === 0 && condition.day >= from_day ? 0.96 : 1
  const [lasting] = judge({ days: 3, current: loss(0) })
  assert.equal(lasting?.status, 'underperforming')
  assert.equal(lasting?.days_below_threshold, 3)
  assertNear(lasting?.trend_pct_per_day, 0, 1e-9)
  assert.equal(judge({ days: 3, current: loss(1) })[0]?.status, 'watch')
  const [recent] = judge({ days: 3, current: loss(2) })
  assert.equal(recent?.status, 'watch')
  assert.equal(recent?.days_below_threshold, 1)
  assert.equal(recent?.below_since_day, 2)
  assert.equal(lasting?.below_since_day, 0)
  const shares: readonly (number | null)[] = [0.9, 1, 0.9, null, 0.9]
  const [again] = judge({
    days: 5,
    current: ({ string_index, day }) => (string_index === 0 ? (shares[day] as number | null) : 1),
  })
  assert.equal(again?.days_below_threshold, 3)
  assert.equal(again?.below_since_day, 2)
  const [mended] = judge({ days: 3, current: (each) => (each.day < 2 ? only(0.9)(each) : 1) })
  assert.equal(mended?.below_since_day, null)
})

test('a trend is the slope of the days', () => {
  const [first] = judge({
    days: 5,
    current: ({ string_index, day }) => (string_index === 0 ? 1 - 0.01 * day : 1),
  })
  assertNear(first?.trend_pct_per_day, -1, 1e-6)
})

test('a string that failed on the last day of a good week is dead', () => {
  const [first] = judge({
    days: 7,
    current: ({ string_index, day }) => (string_index === 0 && day === 6 ? 0 : 1),
  })
  assert.equal(first?.status, 'dead')
  assertNear(first?.ratio, 6 / 7, 0.01)
  assert.equal(first?.health_score_pct, 0)
  assert.equal(first?.suspected_cause, 'connector')
})

test('so is one that failed with most of its group', () => {
  const verdicts = judge({
    days: 3,
    current: ({ string_index, day }) => (string_index < 5 && day === 2 ? 0 : 1),
  })
  assert.deepEqual(statuses(verdicts.slice(0, 5)), new Array(5).fill('dead'))
  assert.deepEqual(statuses(verdicts.slice(5)), new Array(3).fill('healthy'))
})

test('a spread that all strings have is no fault of the worst one', () => {
  const worst = (current: (condition: Condition) => number) => judge({ current })[7]
  const spread = ({ string_index }: Condition) =>
    string_index === 7 ? 0.91 : 1.05 - 0.015 * string_index
  const hidden = worst(spread)
  assertNear(hidden?.ratio, 0.905, 0.001)
  assertNear(hidden?.z_score, -1.7, 0.01)
  assert.equal(hidden?.status, 'watch')
  const alike = worst(({ string_index }) => (string_index === 7 ? 0.91 : 1))
  assertNear(alike?.z_score, -9, 0.01)
  assert.equal(alike?.status, 'underperforming')
})

test('without enough there is no verdict, and the reason', () => {
  const bare = {
    status: 'no_data',
    ratio: null,
    own_ratio: null,
    z_score: null,
    estimated_loss_kwh: null,
    suspected_cause: null,
    health_score_pct: null,
    is_culprit: false,
  }
  const check = (plant: Plant, reason: string) => {
    const [first] = judge(plant)
    assert.deepEqual({ ...first, ...bare }, first)
    assert.equal(first?.reason, reason)
  }
  check({ change: ({ string_index }) => ({ is_connected: string_index !== 0 }) }, 'not_connected')
  check({ current: () => null }, 'no_samples')
  const lacking = ({ string_index }: Condition) => (string_index === 0 ? null : 1)
  check({ current: lacking, is_limited: (minute) => minute < 900 }, 'no_samples')
  check({ is_limited: () => true }, 'limited')
  check({ is_limited: (minute) => minute < 1020 }, 'limited')
  check({ current: () => 0.1 }, 'no_light')
  check(
    {
      current: ({ string_index, minute }) => {
        const light = Math.sin((Math.PI * (minute - 360)) / 720)
        return string_index === 0 ? 0.8 / light : 1
      },
    },
    'stale',
  )
  const nullsAfter = (last: number) => (condition: Condition) =>
    condition.string_index === 0 && condition.minute > last ? null : 1
  check({ current: nullsAfter(660) }, 'low_coverage')
  check({ strings: 1 }, 'too_few_peers')
  check({ strings: 3 }, 'too_few_peers')
  assert.equal(judge({ current: nullsAfter(660) })[1]?.status, 'healthy')
})

test('a short window has too few samples', () => {
  const until = (end: number) => judge({ is_limited: (minute) => minute < 720 || minute >= end })[0]
  assert.equal(until(775)?.sample_count, 11)
  assert.equal(until(775)?.status, 'no_data')
  assert.equal(until(780)?.sample_count, 12)
  assert.equal(until(780)?.status, 'healthy')
  assert.deepEqual(judgeStrings([], addSums([])), [])
})

test('a morning is no day to judge by', () => {
  const current = ({ string_index, day }: Condition) => (string_index === 0 && day === 4 ? 0.8 : 1)
  assert.equal(judge({ days: 5, current })[0]?.status, 'critical')
  const morning = judge({ days: 5, current, last_minute: 500 })
  assert.equal(morning[0]?.status, 'healthy')
})

test('a single string, or three, compare with the expected power', () => {
  for (const strings of [1, 3]) {
    const at = (share: number) => judge({ strings, expected_ratio: 1, current: only(share) })[0]
    assert.equal(at(1)?.status, 'healthy')
    // No better is the expected power known.
    assert.equal(at(0.95)?.status, 'healthy')
    assert.equal(at(0.93)?.status, 'watch')
    assert.equal(at(0.9)?.status, 'underperforming')
    assert.equal(at(0.6)?.status, 'critical')
    assert.equal(at(0)?.status, 'dead')
    assert.equal(at(0.6)?.compared_with, 'expected')
    assert.equal(at(0.6)?.suspected_cause, 'unknown')
    assert.equal(at(0.6)?.z_score, null)
    assertNear(at(0.6)?.ratio, 0.6, 1e-9)
  }
})

test('with more than half of them dead, the dead are dead and the others cannot be judged', () => {
  const current = ({ string_index }: Condition) => (string_index < 5 ? 0 : 1)
  const verdicts = judge({ current })
  assert.deepEqual(statuses(verdicts.slice(0, 5)), new Array(5).fill('dead'))
  assert.deepEqual(reasons(verdicts.slice(5)), new Array(3).fill('peers_bad'))
  const expected = judge({ current, expected_ratio: 1 })
  assert.deepEqual(statuses(expected.slice(5)), new Array(3).fill('healthy'))
  assert.deepEqual(statuses(expected.slice(0, 5)), new Array(5).fill('dead'))
})

test('with all of them dead it is not the strings, unless the physics says they should give', () => {
  const verdicts = judge({ current: () => 0 })
  assert.deepEqual(reasons(verdicts), new Array(8).fill('not_producing'))
  const expected = judge({ current: () => 0, expected_ratio: 1 })
  assert.deepEqual(statuses(expected), new Array(8).fill('dead'))
  assert.equal(expected[0]?.suspected_cause, 'unknown')
})

test('most strings weak alike show only beside the expected power', () => {
  const current = ({ string_index }: Condition) => (string_index < 5 ? 0.6 : 1)
  const verdicts = judge({ current, expected_ratio: 1 })
  assert.deepEqual(statuses(verdicts.slice(0, 5)), new Array(5).fill('critical'))
  assert.deepEqual(statuses(verdicts.slice(5)), new Array(3).fill('healthy'))
  assert.equal(verdicts[7]?.compared_with, 'expected')
})

test('a day without peers says nothing beside days with them', () => {
  const verdicts = judge({
    days: 3,
    expected_ratio: 1.15,
    current: ({ string_index, day }) => (string_index > 1 && day === 2 ? null : 1),
  })
  assert.equal(verdicts[0]?.compared_with, 'peers')
  assert.equal(verdicts[0]?.status, 'healthy')
})

test('strings of another orientation are no peers', () => {
  const change = ({ string_index }: StringLayout) => ({ group: string_index < 4 ? 'east' : 'west' })
  const current = ({ string_index }: Condition) => (string_index < 4 ? 1 : 0.5)
  assert.deepEqual(statuses(judge({ change, current })), new Array(8).fill('healthy'))
})

test('of two strings that share a low voltage, the one of less current is at fault', () => {
  const voltage = ({ string_index }: Condition) => (string_index < 2 ? 0.93 : 1)
  const current = ({ string_index }: Condition) => [0.96, 1.042][string_index] ?? 1
  const [faulty, sound] = judge({ voltage, current })
  assert.equal(faulty?.is_culprit, true)
  assert.equal(faulty?.status, 'underperforming')
  assert.equal(faulty?.suspected_cause, 'bypass_diode')
  assert.equal(faulty?.affected_by_string_index, null)
  assert.ok((sound?.ratio as number) < 0.97)
  assert.equal(sound?.is_culprit, false)
  assert.equal(sound?.status, 'healthy')
  assert.equal(sound?.affected_by_string_index, 0)
  assert.ok((sound?.estimated_loss_kwh as number) > 0)
  assert.equal(sound?.suspected_cause, null)

  // Two that carry as much as each other are both suspect.
  const even = judge({
    voltage,
    current: ({ string_index }) => (string_index === 1 ? 1.005 : 1),
  })
  assert.deepEqual(
    even
      .slice(0, 2)
      .map(({ is_culprit, affected_by_string_index }) => [is_culprit, affected_by_string_index]),
    [
      [true, null],
      [true, null],
    ],
  )

  // Beside an open string, or alone on its MPPT, the low voltage is its own.
  const beside_open = judge({
    voltage,
    current: ({ string_index }) => [0, 1.03][string_index] ?? 1,
  })
  assert.equal(beside_open[1]?.is_culprit, true)
  const alone = judge({
    voltage: only(0.93),
    change: ({ string_index }) => ({ mppt_index: string_index }),
  })
  assert.equal(alone[0]?.is_culprit, true)
  // A sound string beside one that nobody measures is not accused.
  const beside_unknown = judge({
    voltage,
    current: ({ string_index }) => (string_index === 0 ? null : string_index === 1 ? 1.042 : 1),
  })
  assert.equal(beside_unknown[1]?.is_culprit, false)
  assert.equal(beside_unknown[1]?.affected_by_string_index, 0)
})

test('the cause follows from when, and of what, the loss is', () => {
  const cause = (plant: Plant) => judge(plant)[0]?.suspected_cause
  assert.equal(cause({ current: only(0.93) }), 'soiling')
  const evening = ({ string_index, minute }: Condition) =>
    string_index === 0 && minute >= 900 ? 0.7 : 1
  assert.equal(cause({ current: evening }), 'shading')
  const dawn = ({ string_index, minute }: Condition) =>
    string_index !== 0 ? 1 : minute < 420 ? 0.7 : 0.93
  assert.equal(cause({ current: dawn }), 'soiling')
  assert.equal(cause({ voltage: only(0.94) }), 'bypass_diode')
  const resistance = ({ string_index, minute }: Condition) =>
    string_index === 0 ? 1 - 0.12 * Math.sin((Math.PI * (minute - 360)) / 720) : 1
  assert.equal(cause({ voltage: resistance }), 'connector')
  assert.equal(cause({ current: only(0) }), 'connector')
  const fours = ({ string_index }: StringLayout) => ({ mppt_index: string_index >> 2 })
  assert.equal(cause({ current: only(0), change: fours }), 'fuse')
})

test('shade of some hours puts a string on watch that gives 97 % and more', () => {
  const [first] = judge({
    current: ({ string_index, minute }) => (string_index === 0 && minute >= 930 ? 0.8 : 1),
  })
  assert.ok((first?.ratio as number) > 0.97)
  assert.equal(first?.status, 'watch')
  assert.equal(first?.suspected_cause, 'shading')
})

test('a string that gives as much as its peers is not flagged, whatever its hours', () => {
  const current = (evening: number) => (condition: Condition) =>
    condition.string_index !== 0 ? 1 : condition.minute >= 900 ? evening : 1.06
  const [above] = judge({ current: current(0.9) })
  assert.ok((above?.ratio as number) > 1)
  assert.deepEqual([above?.status, above?.is_culprit], ['healthy', false])
  // Below its peers, a string is shaded at hours at which these give more than it does.
  const [below] = judge({ current: current(0.5) })
  assert.ok((below?.ratio as number) < 1)
  assert.deepEqual([below?.status, below?.suspected_cause], ['watch', 'shading'])
})
