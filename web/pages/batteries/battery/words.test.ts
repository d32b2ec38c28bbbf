import assert from 'node:assert/strict'
import test from 'node:test'
import type { BatteryNow, BessSchedule } from '@heliograph/sdk'
import {
  deviationReason,
  inSentence,
  powerWords,
  progressWords,
  scheduleWords,
  stateWords,
} from './words.ts'

const plain = (text: string) => text.replaceAll('\u00a0', ' ')

test('power that discharges is positive, and almost none is idle', () => {
  const said = [120, -120, -12_000, 0, -0, 0.4, -0.4, null].map((kw) => plain(powerWords(kw)))
  assert.deepEqual(said, [
    'Discharging 120.0 kW',
    'Charging 120.0 kW',
    'Charging 12.00 MW',
    'Idle',
    'Idle',
    'Idle',
    'Idle',
    '–',
  ])
  assert.equal(plain(inSentence(powerWords(-5))), 'charging 5.0 kW')
})

test('what does not answer has no state, whatever it said last', () => {
  const state = (change: Partial<BatteryNow>) =>
    stateWords({ state: 'charging', quality: 'good', ...change } as BatteryNow)
  assert.equal(state({}), 'Charging')
  assert.equal(state({ state: 'soc_protection' }), 'Soc protection')
  assert.equal(state({ state: null }), 'Unknown')
  assert.equal(state({ quality: 'stale' }), 'Communication lost')
  assert.equal(state({ state: null, quality: 'missing' }), 'Never measured')
})

test('codes that it has no words for are told as they are', () => {
  assert.equal(deviationReason(null), '–')
  assert.equal(deviationReason('new_reason' as never), 'New reason')
  assert.equal(scheduleWords(null), 'No plan')
  assert.equal(scheduleWords('new_state'), 'New state')
})

test('a plan that failed says what the edge reported, or that it did not', () => {
  const said = (status: string, status_reason: string | null, failure_code: string | null = null) =>
    progressWords({ status, status_reason, failure_code } as BessSchedule)
  assert.equal(said('completed', null), null)
  assert.equal(said('failed', 'not_reported'), 'The edge reported no result.')
  assert.equal(said('approved', 'not_reported'), 'The edge has not reported yet.')
  assert.equal(said('failed', 'not_executed', 'pcs_not_ready'), 'Not carried out (pcs not ready).')
  assert.equal(said('completed', 'partly_executed'), 'Partly carried out.')
})
