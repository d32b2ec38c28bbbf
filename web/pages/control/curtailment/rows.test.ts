import assert from 'node:assert/strict'
import test from 'node:test'
import type { CurtailmentRow } from '@heliograph/sdk'
import {
  commandsOf,
  endOf,
  isChanging,
  isStuck,
  isWithdrawn,
  limitWords,
  outsiderOf,
  releasingReason,
  stateOf,
  stepsOf,
} from './rows.ts'

const at = (min: number) => new Date(Date.UTC(2026, 5, 21, 10, min)).toISOString()
const row = (change: Partial<CurtailmentRow>) =>
  ({
    group_id: 'a',
    status: 'active',
    scope: 'logger',
    max_power_kw: 160,
    limit_mode: 'percent',
    limit_value: 40,
    start_at: at(0),
    end_at: at(30),
    created_at: at(0),
    acknowledged_at: at(1),
    applied_at: null,
    verified_at: null,
    restore_started_at: null,
    restored_at: null,
    cancelled_at: null,
    completed_at: null,
    release_requested_at: null,
    releasing_reason: null,
    closed_at: null,
    ...change,
  }) as CurtailmentRow
const steps = (change: Partial<CurtailmentRow>) =>
  stepsOf(row(change)).map(({ label, at }) => `${label}${at === null ? '?' : ''}`)
const words = (change: Partial<CurtailmentRow>) => limitWords(row(change)).replace('\u00a0', ' ')

test('rows of one command stay together, in the order in which they come', () => {
  assert.deepEqual(commandsOf([]), [])
  const commands = commandsOf([row({ id: 3 }), row({ id: 2, group_id: 'b' }), row({ id: 1 })])
  assert.deepEqual(
    commands.map(({ group_id, rows }) => [group_id, ...rows.map(({ id }) => id)]),
    [
      ['a', 3, 1],
      ['b', 2],
    ],
  )
})

test('rows of an order from outside stay together, and say who ended them', () => {
  const outside = { group_id: null, source: 'grid_operator', end_at: null } as const
  const rows = [row({ ...outside, id: 1 }), row({ ...outside, id: 2 }), row({ id: 3 })]
  const commands = commandsOf(rows)
  assert.deepEqual(
    commands.map(({ group_id, rows }) => [group_id, ...rows.map(({ id }) => id)]),
    [
      [null, 1, 2],
      ['a', 3],
    ],
  )
  assert.equal(outsiderOf(rows[0]!), 'the grid operator')
  assert.equal(outsiderOf(rows[2]!), null)
  assert.equal(endOf(rows[0]!), null)
  assert.equal(isStuck(row({ ...outside, status: 'releasing' }), Date.parse(at(60))), false)
})

test('a limit is told as it was asked for', () => {
  assert.equal(words({}), '40 % of rated power')
  assert.equal(words({ limit_value: 33.25 }), '33.3 % of rated power')
  assert.equal(words({ limit_mode: 'kw', limit_value: 240 }), '240.0 kW')
  assert.equal(words({ limit_mode: 'kw', limit_value: 0, scope: 'site' }), '0.0 kW together')
  // On site a limit is set in kW, and nobody asked for it here.
  assert.equal(words({ limit_mode: null, limit_value: null, scope: null }), '160.0 kW')
})

test('the way of a row says what is still to come, and leaves out what will not', () => {
  assert.deepEqual(steps({}), ['Requested', 'Received on site', 'Devices limited?', 'Verified?'])
  assert.deepEqual(steps({ release_requested_at: at(5), applied_at: at(2) }), [
    'Requested',
    'Received on site',
    'Devices limited',
    'Release requested',
    'Releasing?',
    'Released?',
  ])
  assert.deepEqual(steps({ status: 'releasing', applied_at: at(2) }), [
    'Requested',
    'Received on site',
    'Devices limited',
    'Releasing?',
    'Released?',
  ])
  assert.deepEqual(steps({ release_requested_at: at(5), applied_at: at(2), closed_at: at(9) }), [
    'Requested',
    'Received on site',
    'Devices limited',
    'Release requested',
    'Releasing?',
    'Released?',
    'Record closed',
  ])
  assert.deepEqual(steps({ restore_started_at: at(30), restored_at: at(31) }), [
    'Requested',
    'Received on site',
    'Releasing',
    'Released',
  ])
})

test('a row ended when it held no longer, and else when it is to', () => {
  assert.equal(endOf(row({})), at(30))
  assert.equal(endOf(row({ release_requested_at: at(4), cancelled_at: at(5) })), at(5))
  assert.equal(endOf(row({ release_requested_at: at(4) })), at(4))
  assert.equal(endOf(row({ cancelled_at: at(5), completed_at: at(7), restored_at: at(6) })), at(6))
})

test('what was released before it began limited nothing', () => {
  const released = { status: 'cancelled', start_at: at(10) } as const
  const early = { release_requested_at: at(5), cancelled_at: at(12) }
  assert.equal(isWithdrawn(row({ ...released, ...early })), true)
  assert.equal(isWithdrawn(row({ ...released, ...early, applied_at: at(9) })), false)
  assert.equal(isWithdrawn(row({ ...released, release_requested_at: at(15) })), false)
  assert.equal(isWithdrawn(row({ start_at: at(10), release_requested_at: at(5) })), false)
})

test('a row moves until its power is below, and while it is released', () => {
  assert.equal(isChanging(row({})), true)
  assert.equal(isChanging(row({ verified_at: at(3) })), false)
  assert.equal(isChanging(row({ status: 'releasing', verified_at: at(3) })), true)
  assert.equal(isChanging(row({ status: 'failed' })), false)
})

test('a release is stuck when the site does not confirm it within a minute', () => {
  const stuck = (change: Partial<CurtailmentRow>, min: number) =>
    isStuck(row({ status: 'releasing', ...change }), Date.parse(at(min)))
  assert.equal(stuck({ release_requested_at: at(5) }, 6), false)
  assert.equal(stuck({ release_requested_at: at(5) }, 7), true)
  assert.equal(stuck({}, 31), false)
  assert.equal(stuck({}, 32), true)
  assert.equal(stuck({ status: 'cancelled', release_requested_at: at(5) }, 50), false)
  assert.match(releasingReason(row({ releasing_reason: 'edge_unreachable' }))!, /cannot be reached/)
  assert.equal(releasingReason(row({})), null)
})

test('a limit is in force once the devices have it, not when its time comes', () => {
  const words = (change: Partial<CurtailmentRow>) => stateOf(row(change)).words
  assert.equal(words({ acknowledged_at: null }), 'Sending')
  assert.equal(words({}), 'Applying')
  assert.equal(words({ applied_at: at(2) }), 'In force')
  assert.equal(words({ status: 'scheduled', acknowledged_at: null }), 'Scheduled')
  assert.equal(words({ status: 'completed' }), 'Ended')
})
