import assert from 'node:assert/strict'
import test from 'node:test'
import { daysFrom } from '../../../ui/site-clock.ts'
import { expectedSteps } from './expected-steps.ts'

const timezone = 'Europe/Berlin'
const at = (text: string) => Date.parse(text)

test('the steps of an hour have its mean power', () => {
  const hours = new Map([
    [at('2026-06-21T10:00Z'), 300],
    [at('2026-06-21T11:00Z'), null],
  ])
  const span = { start_ms: at('2026-06-21T10:20Z'), end_ms: at('2026-06-21T11:30Z') }
  const { at_ms, columns } = expectedSteps(hours, { span, step_s: 1800, timezone })
  assert.deepEqual(at_ms, [at('2026-06-21T10:30Z'), at('2026-06-21T11:00Z')])
  assert.deepEqual(columns, { expected_power_kw: [300, null] })
})

test('a local day has the mean of its 23, 24 or 25 hours, of which nights have none', () => {
  // The clocks go back on 25 October.
  const span = daysFrom('2026-10-24', 3, timezone)
  const hours = new Map([
    [at('2026-10-24T11:00Z'), 24],
    [at('2026-10-25T11:00Z'), 50],
  ])
  const { at_ms, columns } = expectedSteps(hours, { span, step_s: 86_400, timezone })
  assert.deepEqual(at_ms, [
    at('2026-10-23T22:00Z'),
    at('2026-10-24T22:00Z'),
    at('2026-10-25T23:00Z'),
  ])
  assert.deepEqual(columns, { expected_power_kw: [1, 2, null] })
})
