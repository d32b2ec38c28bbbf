import assert from 'node:assert/strict'
import test from 'node:test'
import { counterHour } from './counter-hour.ts'

const minute_ms = 60_000
const span = { start_ms: 0, end_ms: 60 * minute_ms }
const at = (minutes: number, energy_total_kwh: number) => ({
  time_ms: minutes * minute_ms,
  energy_total_kwh,
})
const energyOf = (...readings: ReturnType<typeof at>[]) =>
  counterHour(readings, span, 100).energy_kwh
const openOf = (...readings: ReturnType<typeof at>[]) =>
  counterHour(readings, span, 100).open.map(({ start_ms, end_ms }) => [
    start_ms / minute_ms,
    end_ms / minute_ms,
  ])

test('the counter says the energy, also over a hole within the hour', () => {
  assert.equal(energyOf(), null)
  assert.equal(energyOf(at(10, 5)), null)
  assert.equal(energyOf(at(0, 5), at(20, 25), at(60, 85)), 80)
  // Half of a rise that crosses the bound is of this hour.
  assert.equal(energyOf(at(-1, 1), at(1, 3), at(59, 61), at(61, 63)), 60)
  // A reset, and a fall that no register explains, are no energy.
  assert.equal(energyOf(at(0, 500), at(30, 540), at(60, 0)), null)
  const overflow = 2 ** 32 / 1000
  assert.ok(Math.abs(energyOf(at(0, overflow - 30), at(60, 20))! - 50) < 1e-9)
})

test('what both hours cannot see is counted by neither, and left open', () => {
  assert.equal(energyOf(at(20, 25), at(50, 55), at(81, 90)), 30)
  assert.deepEqual(openOf(at(20, 25), at(50, 55), at(81, 90)), [
    [0, 20],
    [50, 60],
  ])
  assert.equal(energyOf(at(50, 55), at(80, 85)), 10)
  assert.deepEqual(openOf(at(0, 500), at(30, 540), at(60, 0)), [[0, 60]])
  const { first, last } = counterHour([at(-5, 1), at(3, 2), at(58, 3), at(60, 4)], span, 100)
  assert.deepEqual([first, last], [at(3, 2), at(58, 3)])
})
