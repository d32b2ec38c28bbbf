import assert from 'node:assert/strict'
import test from 'node:test'
import {
  isWorking as isWorkingThere,
  workOrderTransitions,
} from '@heliograph/server/work/work-order-states'
import { endOf, isWorking, nextStates, orderStates, stepName } from './states.ts'

test('the steps that are offered are those that the server takes', () => {
  for (const state of orderStates) {
    assert.deepEqual(nextStates[state].toSorted(), workOrderTransitions[state].toSorted(), state)
    assert.equal(isWorking(state), isWorkingThere(state), state)
  }
  assert.deepEqual(orderStates.toSorted(), Object.keys(workOrderTransitions).sort())
})

test('no two steps of a state have one name', () => {
  for (const state of orderStates) {
    const names = nextStates[state].map((next) => stepName(state, next))
    assert.equal(new Set(names).size, names.length, state)
  }
})

test('what was promised first is the end', () => {
  const [june, july] = ['2026-06-01T00:00:00Z', '2026-07-01T00:00:00Z']
  assert.equal(endOf({ due_at: july, resolution_due_at: june }), june)
  assert.equal(endOf({ due_at: june, resolution_due_at: july }), june)
  assert.equal(endOf({ due_at: null, resolution_due_at: july }), july)
  assert.equal(endOf({ due_at: null, resolution_due_at: null }), null)
})
