import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { planned_days_max, serviceHours } from './service-levels.ts'
import {
  changesFrom,
  entered,
  finalStates,
  isWorking,
  type StateRecord,
  transitionRule,
  workOrderStates,
  workOrderTransitions,
} from './work-order-states.ts'

const untouched: StateRecord = {
  status: 'open',
  acknowledged_at: null,
  started_at: null,
  completed_at: null,
  completed_by: null,
  completed_by_key_id: null,
  approved_at: null,
  approved_by: null,
  cancelled_at: null,
}
const actor = (minute: number) => ({
  key_id: `key ${minute}`,
  key_name: `name ${minute}`,
  now: new Date(minute * 60_000),
})

test('every state is reached, the final ones are approved and cancelled', () => {
  assert.deepEqual(finalStates, ['approved', 'cancelled'])
  const reached = new Set(Object.values(workOrderTransitions).flat())
  assert.deepEqual(new Set(workOrderStates), reached)
  for (const [state, next] of Object.entries(workOrderTransitions)) {
    assert.ok(!(next as readonly string[]).includes(state), `${state} to itself is no transition`)
  }
})

test('only completed work is approved, and no change of status approves it', () => {
  const before = workOrderStates.filter((state) => workOrderTransitions[state].includes('approved'))
  assert.deepEqual(before, ['completed'])
  for (const state of workOrderStates) assert.ok(!changesFrom(state).includes('approved'))
})

test('work that is not done may be filled in and cancelled', () => {
  for (const state of workOrderStates) {
    assert.equal(isWorking(state), workOrderTransitions[state].includes('cancelled'), state)
  }
})

test('the rule of the reference tells the whole table', () => {
  const told = transitionRule.split('; ').map((line) => [...line.matchAll(/`(\w+)`/g)])
  const read = Object.fromEntries(
    told.map(([from, ...to]) => [from![1], to.map(([, state]) => state)]),
  )
  assert.deepEqual(read, workOrderTransitions)
})

test('whatever the way, the record says when and by whom', () => {
  const choices = fc.array(fc.nat(10), { maxLength: 20 })
  fc.assert(
    fc.property(choices, (turns) => {
      let record = untouched
      const way = turns.flatMap((turn, minute) => {
        const next = workOrderTransitions[record.status]
        if (next.length === 0) return []
        record = entered(record, next[turn % next.length]!, actor(minute))
        return [{ status: record.status, minute }]
      })
      const at = (found: { minute: number } | undefined) =>
        found ? new Date(found.minute * 60_000) : null
      const firstOf = (status: string) => at(way.find((step) => step.status === status))
      assert.deepEqual(record.acknowledged_at, at(way[0]))
      assert.deepEqual(record.started_at, firstOf('in_progress'))
      assert.deepEqual(record.approved_at, firstOf('approved'))
      assert.deepEqual(record.cancelled_at, firstOf('cancelled'))
      const is_done = record.status === 'completed' || record.status === 'approved'
      const completed = is_done ? way.findLast((step) => step.status === 'completed') : undefined
      assert.deepEqual(record.completed_at, at(completed))
      assert.equal(record.completed_by_key_id, completed ? `key ${completed.minute}` : null)
    }),
  )
})

test('the documents have the tables of the code', () => {
  const path = fileURLToPath(new URL('../../docs/maintenance.md', import.meta.url))
  const text = readFileSync(path, 'utf8')
  assert.ok(text.includes(`the end at most ${planned_days_max} days later`))
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1))
  const named = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  const states = rows
    .filter(([first]) => named(first).every((name) => name! in workOrderTransitions))
    .flatMap(([from, to]) => named(from).map((state) => [state, named(to)]))
  assert.deepEqual(Object.fromEntries(states), workOrderTransitions)
  const hours = (cell = '') => Number.parseInt(cell, 10) * (cell.includes('days') ? 24 : 1)
  const levels = rows
    .filter(([first]) => named(first)[0]! in serviceHours)
    .map(([priority, response, resolution]) => [
      named(priority)[0],
      { response_h: hours(response), resolution_h: hours(resolution) },
    ])
  assert.deepEqual(Object.fromEntries(levels), serviceHours)
})
