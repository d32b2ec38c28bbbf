import assert from 'node:assert/strict'
import test from 'node:test'
import { day_ms, hour_ms } from '@heliograph/domain/durations'
import { createSoiling } from './soiling.ts'

const begin = Date.UTC(2026, 3, 1)
const days = Array.from({ length: 120 }, (_, day) => begin + day * day_ms)
const longitude = 12

test('dust gathers day by day and is removed by rain', () => {
  const soiling = createSoiling(4, 0)
  let dry = 0
  let washed = 0
  for (const noon of days.map((day_at) => day_at + 12 * hour_ms)) {
    const gained = soiling.dust_days(noon + day_ms) - soiling.dust_days(noon)
    const evening = noon + 12 * hour_ms - 1
    const fallen_mm =
      soiling.rain_mm(evening) - soiling.rain_mm(noon) + soiling.rain_mm(noon + day_ms)
    if (soiling.rain_mm(noon) + fallen_mm === 0) {
      dry += 1
      assert.ok(Math.abs(gained - 1) < 1e-3, `${gained} in a dry day`)
    } else assert.ok(gained < 1)
    if (fallen_mm > 8) {
      washed += 1
      assert.ok(soiling.dust_days(noon + day_ms) < 1.6)
    }
  }
  assert.ok(dry > 60 && washed >= 3, `${dry} dry days, ${washed} wet ones`)
})

test('instants may be computed in any order', () => {
  const forward = createSoiling(4, longitude)
  const backward = createSoiling(4, longitude)
  const ahead = days.map((at) => forward.dust_days(at))
  const back = days.toReversed().map((at) => backward.dust_days(at))
  assert.deepEqual(back.toReversed(), ahead)
  const other = createSoiling(5, longitude)
  assert.notDeepEqual(
    days.map((at) => other.dust_days(at)),
    ahead,
  )
})

test('rain is counted from solar midnight on', () => {
  const soiling = createSoiling(4, longitude)
  const solar_midnight = begin - (longitude / 360) * day_ms
  for (let day = 0; day < 60; day += 1) {
    const from = solar_midnight + day * day_ms
    assert.equal(soiling.rain_mm(from), 0)
    let before = 0
    for (let hour = 1; hour < 24; hour += 1) {
      const now = soiling.rain_mm(from + hour * hour_ms)
      assert.ok(now >= before)
      before = now
    }
  }
})
