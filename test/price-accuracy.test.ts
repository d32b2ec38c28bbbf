import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms } from '@heliograph/domain/durations'
import { meanAbsoluteError } from '@heliograph/forecast/scores'
import { seededRandom } from '@heliograph/forecast/seeded-random'
import { readMarketDays, replay } from '../scripts/price-replay.ts'

test('German prices of two weeks of 2015 are forecast with less than half the naive error', (t) => {
  const all = readMarketDays('de')
  if (all === null) return t.skip('LEFT OUT: ../shared/data/prices is not there')
  const first = all.findIndex(({ day }) => day === Date.parse('2015-06-01') / day_ms)
  const days = all.slice(first - 200, first + 14)
  const replayed = replay(
    days,
    { first: 200, end: days.length, retrain_days: 14, trees: 60 },
    seededRandom(1),
  )
  const rows = replayed.flatMap(({ forecasts, day }, i) =>
    forecasts.map(({ p10, p50, p90 }, hour) => {
      const actual = day.periods[hour]!.price_per_mwh!
      const week_before = days[193 + i]!.periods[hour]!.price_per_mwh!
      return { actual, p50, week_before, isHeld: p10 <= actual && actual <= p90 }
    }),
  )
  const column = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of)
  const actual = column((row) => row.actual)
  const error = meanAbsoluteError(
    actual,
    column((row) => row.p50),
  )!
  const naive = meanAbsoluteError(
    actual,
    column((row) => row.week_before),
  )!
  const held = rows.filter(({ isHeld }) => isHeld).length / rows.length
  assert.ok(error < 3.2 && error < naive / 2, `${error} against ${naive}`)
  assert.ok(held > 0.7 && held < 0.9, `${held}`)
})
