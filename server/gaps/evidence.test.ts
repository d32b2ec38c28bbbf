import assert from 'node:assert/strict'
import test from 'node:test'
import { causeOf, type EvidenceEvent, mayStillCome } from './evidence.ts'

const gap = { start_ms: 1000, end_ms: 2000, last_state: 'mppt' }
const event = (at_ms: number, code: string, edge: EvidenceEvent['edge']): EvidenceEvent => ({
  at_ms,
  code,
  edge,
})
const cause = (events: EvidenceEvent[], may_come = false, more: object = {}) =>
  causeOf({ ...gap, ...more, events }, may_come)

test('nothing noticed: unknown, or the fault that the device was in', () => {
  assert.equal(cause([]), 'unknown')
  assert.equal(cause([], false, { last_state: 'fault' }), 'device_fault')
})

test('a device that did not answer', () => {
  const pair = [event(1100, 'device_offline', 'rising'), event(1990, 'device_offline', 'falling')]
  assert.equal(cause(pair), 'communication')
  assert.equal(cause(pair, false, { last_state: 'fault' }), 'device_fault')
  assert.equal(cause(pair.slice(0, 1), true, { end_ms: null }), 'communication')
  // It answered again before, or fell silent after.
  assert.equal(
    cause([event(100, 'device_offline', 'rising'), event(900, 'device_offline', 'falling')]),
    'unknown',
  )
  assert.equal(cause([event(2100, 'device_offline', 'rising')]), 'unknown')
  // It was silent already when the night ended.
  assert.equal(cause([event(100, 'device_offline', 'rising')]), 'communication')
  assert.equal(cause([event(1990, 'device_offline', 'falling')]), 'communication')
})

test('a link that was down: what may come is late, what did not come was not measured', () => {
  const pair = [event(1050, 'edge_offline', 'rising'), event(2500, 'edge_offline', 'falling')]
  assert.equal(cause(pair, true), 'communication')
  assert.equal(cause(pair, false), 'agent_stopped')
})

test('a journal that lost readings while the link was down', () => {
  const down = event(1050, 'edge_offline', 'rising')
  const up = event(2500, 'edge_offline', 'falling')
  assert.equal(cause([down, event(2300, 'journal_dropped', 'once'), up]), 'buffer_overflow')
  assert.equal(cause([down, event(1500, 'journal_cut', 'once'), up]), 'agent_stopped')
  assert.equal(cause([down, up, event(2600, 'journal_dropped', 'once')]), 'agent_stopped')
  assert.equal(cause([event(1500, 'journal_write_failed', 'rising')]), 'buffer_overflow')
  // The edge said that it did not answer: there was nothing to lose.
  const silent = event(1100, 'device_offline', 'rising')
  assert.equal(cause([down, silent, event(2300, 'journal_dropped', 'once'), up]), 'communication')
})

test('what was lost is of the time that its event tells', () => {
  const lost = (lost_from_ms: number, lost_to_ms: number | null) => ({
    ...event(9000, 'journal_dropped', 'once'),
    ...{ lost_from_ms, lost_to_ms },
  })
  assert.equal(cause([lost(1500, 1600)]), 'buffer_overflow')
  assert.equal(cause([lost(2100, 2600)]), 'unknown')
  assert.equal(cause([lost(500, 900)]), 'unknown')
  const missing = { ...event(9000, 'frames_missing', 'once'), lost_from_ms: 900 }
  assert.equal(cause([missing]), 'communication')
})

test('a clock that was put forward over the hole', () => {
  const jump = (jump_ms: number) => ({ ...event(1999, 'clock_jumped', 'once'), jump_ms })
  assert.equal(cause([jump(990)]), 'clock_jump')
  assert.equal(cause([jump(-990)]), 'unknown')
  assert.equal(cause([jump(400)]), 'unknown')
  assert.equal(cause([{ ...jump(990), at_ms: 900 }]), 'unknown')
})

test('readings may still come from an edge that was not heard of, or has older ones', () => {
  const minute = 60_000
  const end = 100 * minute
  assert.equal(mayStillCome(end, []), false)
  const edge = { last_seen_ms: end + 5 * minute, journal_oldest_ms: null }
  assert.equal(mayStillCome(end, [edge]), false)
  assert.equal(mayStillCome(end, [edge, { ...edge, last_seen_ms: end }]), true)
  assert.equal(mayStillCome(end, [{ ...edge, journal_oldest_ms: end - minute }]), true)
  assert.equal(mayStillCome(end, [{ ...edge, journal_oldest_ms: end + minute }]), false)
})
