import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inverterStates } from '../readings.ts'
import { batteryStateFrom, pcsStateOf, stateFromInvSt, stateFromSt, stOf } from './states.ts'

test('the two families number the same states differently', () => {
  assert.equal(stateFromSt(4), 'mppt')
  assert.equal(stateFromInvSt(4), 'throttled')
  assert.equal(stateFromInvSt(0), 'off')
})

test('a number outside the standard is unknown, a missing one null', () => {
  assert.equal(stateFromSt(0), 'unknown')
  assert.equal(stateFromSt(9), 'unknown')
  assert.equal(stateFromInvSt(8), 'unknown')
  assert.equal(stateFromSt(null), null)
  assert.equal(stateFromInvSt(null), null)
})

test('states with a number convert back to themselves', () => {
  for (const state of inverterStates) {
    const numbered = state !== 'test' && state !== 'unknown'
    assert.equal(stateFromSt(stOf(state)), numbered ? state : null)
  }
})

test('model 701 numbers the same states from 0', () => {
  const numbers = [0, 1, 2, 3, 4, 5, 6, 7]
  assert.deepEqual(
    numbers.map(stateFromInvSt),
    numbers.map((number) => stateFromSt(number + 1)),
  )
})

test('a connected battery has the state of its charge status, else of its power', () => {
  const stateOf = (State: number | null, ChaSt: number | null, power_w: number | null = null) =>
    batteryStateFrom({ State, ChaSt, power_w })
  assert.deepEqual(
    [1, 2, 4, 5, 6, 99, 7].map((State) => stateOf(State, 3)),
    [
      'disconnected',
      'initializing',
      'standby',
      'soc_protection',
      'disconnected',
      'fault',
      'unknown',
    ],
  )
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((ChaSt) => stateOf(3, ChaSt)),
    ['off', 'empty', 'discharging', 'charging', 'full', 'holding', 'unknown'],
  )
  assert.deepEqual(
    [5, -5, 0, null].map((power_w) => stateOf(3, null, power_w)),
    ['discharging', 'charging', 'holding', 'unknown'],
  )
  assert.equal(stateOf(null, 3), null)
})

test('a power conversion system runs where an inverter tracks its maximum', () => {
  assert.deepEqual(
    [pcsStateOf(stateFromInvSt(3)), pcsStateOf(stateFromSt(8)), pcsStateOf('test')],
    ['running', 'standby', 'unknown'],
  )
  assert.equal(pcsStateOf(null), null)
})
