import assert from 'node:assert/strict'
import test from 'node:test'
import { energyOf, statisticsOf } from './statistics.ts'

test('statistics cover the known values', () => {
  assert.deepEqual(statisticsOf([4, null, -2, 10]), {
    lowest: -2,
    mean: 4,
    highest: 10,
    known_pct: 75,
  })
  assert.deepEqual(statisticsOf([null]), { lowest: null, mean: null, highest: null, known_pct: 0 })
  assert.equal(statisticsOf([]).known_pct, 0)
})

test('power adds up to energy by the length of a step', () => {
  assert.equal(energyOf([100, null, 200], 900), 75)
  assert.equal(energyOf([null], 900), null)
})
