import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, quarter_ms } from '@heliograph/domain/durations'
import { type Measured, similarDays } from './plan-consumption.ts'

const berlin = 'Europe/Berlin'
/** A Sunday, and the day after the four weeks of `measured`. */
const sunday = Date.parse('2026-06-21')
const [monday, saturday] = [sunday + day_ms, sunday + 6 * day_ms]

/** The last `days` before an instant, each quarter hour by its begin, kWh. */
function measured(
  consumed: (at_ms: number) => number | null,
  { days = 28, end_ms = sunday } = {},
): Measured {
  const start_ms = end_ms - days * day_ms
  const consumed_kwh = Array.from({ length: days * 96 }, (_, nth) =>
    consumed(start_ms + nth * quarter_ms),
  )
  return { start_ms, consumed_kwh }
}

const hoursOf = (mean_kw: readonly number[]) => mean_kw.filter((_, nth) => nth % 4 === 0)

test('each quarter hour is the mean of its time on days of its kind', () => {
  /** A kWh more every week; a hundred more on weekends of Berlin, which begin at 22:00Z. */
  const isWeekend = (at_ms: number) => [0, 6].includes(new Date(at_ms + 2 * 3_600_000).getUTCDay())
  const history = measured((at_ms) => {
    const week = Math.floor((at_ms - (sunday - 28 * day_ms)) / (7 * day_ms))
    const quarter = (at_ms % day_ms) / quarter_ms
    return week + quarter / 1000 + (isWeekend(at_ms) ? 100 : 0)
  })
  const expected = (nth: number, more: number) => 4 * (1.5 + nth / 1000 + more)
  for (const [day, weekendFrom] of [
    [monday, 99],
    [sunday, 0],
    [saturday - day_ms, 88],
  ] as const) {
    const found = similarDays(history, day, berlin)!
    for (const [nth, kw] of found.mean_kw.entries()) {
      const is_weekend = day === sunday ? nth < 88 : nth >= weekendFrom
      assert.ok(Math.abs(kw - expected(nth, is_weekend ? 100 : 0)) < 1e-9, `${day} ${nth}: ${kw}`)
    }
    assert.equal(found.days, day === monday ? 20 : 8)
  }
})

test('what goes by the clock is expected by the clock once it is changed', () => {
  // 50 kW from 18:00 to 19:00 by the clocks of Berlin, which go back on 25 October.
  const autumn = Date.parse('2026-10-25')
  const history = measured((at_ms) => (new Date(at_ms).getUTCHours() === 16 ? 12.5 : 0), {
    end_ms: autumn,
  })
  const busy = (day: number) =>
    hoursOf(similarDays(history, day, berlin)!.mean_kw).flatMap((kw, hour) =>
      kw > 0 ? [hour] : [],
    )
  assert.deepEqual(busy(autumn), [17])
  assert.deepEqual(busy(autumn + day_ms), [17])
  assert.deepEqual(busy(autumn - day_ms), [16])
})

test('a gap is no zero: the other days count, as long as they are four', () => {
  const noon = 48
  /** Of the last `gaps` working days nobody knows what was consumed from 12:00Z to 12:15Z. */
  const history = (gaps: number) =>
    measured((at_ms) => {
      const is_noon = (at_ms % day_ms) / quarter_ms === noon
      return is_noon && at_ms > sunday - gaps * day_ms ? null : 5
    })
  const some = similarDays(history(22), monday, 'UTC')!
  assert.equal(some.mean_kw[noon], 20)
  assert.equal(some.days, 5)
  assert.equal(similarDays(history(24), monday, 'UTC'), null)
})

test('a week is enough for working days, and not for a weekend', () => {
  const week = measured(() => 1, { days: 7 })
  assert.equal(similarDays(week, monday, 'UTC')?.days, 5)
  assert.equal(similarDays(week, saturday, 'UTC'), null)
  assert.equal(
    similarDays(
      measured(() => null),
      monday,
      'UTC',
    ),
    null,
  )
})

test('noise about nothing comes to nothing, and takes nothing from what is consumed', () => {
  const noisy = measured((at_ms) => {
    const sign = Math.floor(at_ms / day_ms) % 2 === 0 ? 1 : -1
    return at_ms % day_ms < day_ms / 2 ? sign - 0.2 : 10 + sign
  })
  const { mean_kw } = similarDays(noisy, monday, 'UTC')!
  assert.ok(mean_kw.slice(0, 48).every((kw) => kw === 0))
  assert.ok(mean_kw.slice(48).every((kw) => kw === 40))
})
