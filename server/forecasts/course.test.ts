import assert from 'node:assert/strict'
import test from 'node:test'
import { hour_ms } from '@heliograph/domain/durations'
import { emptyCourse, flag, outcomeOf, sumOf } from './course.ts'

/** Four quarter hours from 0 on. */
function course(available_wh: number[], flags: number[] = [], completeness_pct = 100) {
  const one = emptyCourse(0, 4)
  one.available_wh.set(available_wh)
  one.energy_wh.set(available_wh)
  one.completeness_pct.fill(completeness_pct)
  one.flags.set(flags)
  return one
}

test('a step is the sum of its quarter hours, and has what any of them has', () => {
  const one = course([250, 250, 500, 1000], [0, flag.clipped, 0, flag.faulty])
  const whole = outcomeOf(one, 0, hour_ms)
  assert.deepEqual(
    [whole.available_kwh, whole.is_clipped, whole.is_faulty, whole.is_curtailed],
    [2, true, true, false],
  )
  const half = outcomeOf(one, 0, hour_ms / 2)
  assert.deepEqual([half.available_kwh, half.is_faulty, half.completeness_pct], [0.5, false, 100])
})

test('what is in part unknown, or outside, is not known', () => {
  const one = course([250, Number.NaN, 500, 1000])
  assert.equal(outcomeOf(one, 0, hour_ms).available_kwh, null)
  assert.equal(outcomeOf(one, hour_ms / 2, hour_ms).available_kwh, 1.5)
  const outside = outcomeOf(one, hour_ms / 2, 2 * hour_ms)
  assert.deepEqual([outside.available_kwh, outside.completeness_pct], [null, 100 / 3])
})

test('the site is known where every plant is', () => {
  const plants = [
    course([100, 100, 100, Number.NaN], [flag.curtailed], 90),
    course([10, 20, 30, 40], [0, 0, flag.estimated]),
  ]
  const site = sumOf(plants, 0, 4)
  assert.deepEqual([...site.available_wh], [110, 120, 130, Number.NaN])
  assert.deepEqual([...site.flags], [flag.curtailed, 0, flag.estimated, 0])
  assert.equal(site.completeness_pct[0], 90)
  assert.ok(sumOf([], 0, 4).available_wh.every(Number.isNaN))
})
