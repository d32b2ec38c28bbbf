import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inverterStates } from '../readings.ts'
import { invStOf, stateFromInvSt, stateFromSt, stOf } from './states.ts'

test('the two families number the same states differently', () => {
  assert.equal(stateFromSt(4), 'mppt')
  assert.equal(stateFromInvSt(4), 'throttled')
  assert.equal(stateFromInvSt(0), 'off')
})

test('a number outside the standard is unknown, and none at all is null', () => {
  assert.equal(stateFromSt(0), 'unknown')
  assert.equal(stateFromSt(9), 'unknown')
  assert.equal(stateFromInvSt(8), 'unknown')
  assert.equal(stateFromSt(null), null)
  assert.equal(stateFromInvSt(null), null)
})

test('a state that has a number comes back from it', () => {
  for (const state of inverterStates) {
    const numbered = state !== 'test' && state !== 'unknown'
    assert.equal(stateFromSt(stOf(state)), numbered ? state : null)
    assert.equal(stateFromInvSt(invStOf(state)), numbered ? state : null)
  }
})
