import assert from 'node:assert/strict'
import test from 'node:test'
import { deratingByAlarm, eventWord, followAlarms, noAlarms, watched } from './protection.ts'

const nth = (parameter: string) => watched.findIndex((one) => one.parameter === parameter)

function following(parameter: string) {
  const alarms = noAlarms()
  return (value: number, seconds: number) => {
    const measured = watched.map((one) => (one.parameter === parameter ? value : null))
    followAlarms(alarms, measured, { chemistry: 'lfp', seconds })
    return alarms.levels[nth(parameter)]
  }
}

test('an alarm waits for its delay, rises by its levels and recovers with hysteresis', () => {
  const show = following('cell_over_voltage')
  assert.equal(show(3610, 1), 0, 'one second is too short')
  assert.equal(show(3610, 1), 1)
  assert.equal(show(3520, 10), 1, 'above its recovery')
  assert.equal(show(3710, 2), 3)
  assert.equal(show(3620, 10), 3)
  assert.equal(show(3580, 1), 2)
  assert.equal(show(3540, 1), 1)
  assert.equal(show(3490, 1), 0)
})

test('a short excursion is no alarm', () => {
  const show = following('cell_under_voltage')
  for (let second = 0; second < 20; second += 1) {
    assert.equal(show(second % 2 === 0 ? 2100 : 3000, 1.5), 0)
  }
})

test('a pre-alarm sets a warning bit, a level an alarm bit, and level 1 halves the current', () => {
  const levels = watched.map(() => 0 as 0 | 1 | 2 | 3)
  const at = (parameter: string, level: 0 | 1 | 2 | 3) => levels.with(nth(parameter), level)
  assert.equal(eventWord(levels), 0)
  assert.equal(eventWord(at('cell_over_temperature', 1)), 2 ** 2)
  assert.equal(eventWord(at('cell_over_temperature', 3)), 2 ** 1)
  assert.deepEqual(deratingByAlarm(at('soc_low', 1)), { charge: 1, discharge: 1 })
  assert.deepEqual(deratingByAlarm(at('soc_low', 2)), { charge: 1, discharge: 0.5 })
  assert.deepEqual(deratingByAlarm(at('cell_over_voltage', 2)), { charge: 0.5, discharge: 1 })
  assert.deepEqual(deratingByAlarm(at('cell_over_voltage', 3)), { charge: 0, discharge: 0 })
})

test('each level trips beyond the one before, and recovers on its near side', () => {
  for (const chemistry of ['lfp', 'nmc'] as const) {
    for (const { parameter, side, [chemistry]: trips } of watched) {
      const sign = side === 'above' ? 1 : -1
      for (const [index, { trip, recover }] of trips.entries()) {
        assert.ok(sign * (trip - recover) > 0, `${parameter} ${index}`)
        const before = trips[index - 1]
        if (before) assert.ok(sign * (trip - before.trip) > 0, `${parameter} ${index}`)
      }
    }
  }
})
