import assert from 'node:assert/strict'
import test from 'node:test'
import {
  isWorking as isWorkingThere,
  workOrderTransitions,
} from '@heliograph/server/maintenance/work-order-states'
import { isWorking, nextStates, orderStates, stepName } from './states.ts'

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
