import assert from 'node:assert/strict'
import test from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { counterHour } from './counter-hour.ts'

const span = { start_ms: 0, end_ms: 60 * minute_ms }
const device = { rated_ac_power_kw: 100, exchanged_ms: [] }
/** Without power, unless it is given. */
const at = (minutes: number, energy_total_kwh: number, by_power_kwh = 0) => ({
  time_ms: minutes * minute_ms,
  energy_total_kwh,
  by_power_kwh,
})
const energyOf = (...readings: ReturnType<typeof at>[]) =>
  counterHour(readings, span, device).energy_kwh
const openOf = (...readings: ReturnType<typeof at>[]) =>
  counterHour(readings, span, device).open.map(({ start_ms, end_ms }) => [
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
  const { first, last } = counterHour([at(-5, 1), at(3, 2), at(58, 3), at(60, 4)], span, device)
  assert.deepEqual(
    [first, last].map((reading) => [reading?.time_ms, reading?.energy_total_kwh]),
    [
      [3 * minute_ms, 2],
      [58 * minute_ms, 3],
    ],
  )
})

test('a counter that stands still while power is measured says nothing', () => {
  // 40 kW from minute 0 on; the counter counts in tenths.
  const still = [at(0, 512.3), at(20, 512.3, 13.3), at(40, 512.3, 26.7), at(60, 512.3, 40)]
  const { energy_kwh, open, first, last } = counterHour(still, span, device)
  assert.deepEqual([energy_kwh, open, first, last], [null, [span], undefined, undefined])
  // It begins to stand, or ends to.
  const stopped = [at(0, 500.1), at(20, 513.4, 13.3), at(40, 513.4, 26.7), at(60, 513.4, 40)]
  assert.equal(energyOf(...stopped)?.toFixed(1), '13.3')
  assert.deepEqual(openOf(...stopped), [[20, 60]])
  const begun = [at(0, 513.4), at(40, 513.4, 26.7), at(41, 514.1, 27.3), at(60, 526.8, 40)]
  assert.equal(energyOf(...begun)?.toFixed(1), '13.4')
  assert.deepEqual(openOf(...begun), [[0, 40]])
})

test('a counter is trusted within 1.25 steps and 1 % of the rating, and where it was late', () => {
  const of = (kwh: number, by_power_kwh: number) => energyOf(at(0, kwh), at(60, kwh, by_power_kwh))
  // Tenths: 0.125 kWh and 1 kWh. Whole ones: 1.25 kWh and 1 kWh. And so on.
  const edges = [
    [51_230.4, 1.12],
    [51_231, 2.24],
    [51_230, 13.4],
    [51_200, 125.9],
    [0, 2.24],
  ] as const
  for (const [kwh, by_power_kwh] of edges) {
    assert.equal(of(kwh, by_power_kwh), 0, `${kwh} kWh`)
    assert.equal(of(kwh, by_power_kwh + 0.2), null, `${kwh} kWh`)
  }
  const late = (kwh: number) =>
    energyOf(at(0, 500.1), at(30, 500.1, 20), at(50, kwh, 33), at(60, kwh, 33))
  assert.equal(late(533.1)?.toFixed(1), '33.0')
  assert.equal(late(517)?.toFixed(1), '16.9')
  assert.equal(late(516)?.toFixed(1), '15.9')
  const behind = [at(0, 500.1), at(30, 500.1, 20), at(50, 516, 33)]
  assert.deepEqual(openOf(...behind), [
    [0, 30],
    [50, 60],
  ])
})

test('the counters of two devices are not subtracted, whichever is higher', () => {
  const hourOf = (exchanged: number, ...readings: ReturnType<typeof at>[]) =>
    counterHour(readings, span, { ...device, exchanged_ms: [exchanged * minute_ms] })
  const overflow = 2 ** 32 / 1000
  // Lower, higher by what the former device could have delivered, and like an overflow.
  for (const kwh of [3, 560, 540]) {
    const { energy_kwh, open } = hourOf(31, at(0, 500), at(30, 540), at(31, kwh), at(60, kwh + 30))
    assert.deepEqual([energy_kwh, open], [null, [span]], `${kwh} kWh`)
  }
  const overflows = [at(0, overflow - 30), at(30, overflow - 1), at(31, 1), at(60, 30)]
  assert.ok(energyOf(...overflows)! > 59, 'of one device it is an overflow')
  assert.equal(hourOf(31, ...overflows).energy_kwh, null)
  // Each hour counts the readings of its own device.
  const across = [at(-1, 500), at(1, 800), at(59, 858), at(61, 860)]
  assert.equal(hourOf(0, ...across).energy_kwh, null)
  assert.equal(hourOf(-1, ...across.slice(1)).energy_kwh, 59)
})
