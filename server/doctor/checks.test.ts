import assert from 'node:assert/strict'
import test from 'node:test'
import type { Check } from '@heliograph/domain/check'
import {
  backupCheck,
  clockCheck,
  databaseCheck,
  edgesCheck,
  mailCheck,
  queueCheck,
} from './checks.ts'

const now = new Date('2026-06-21T10:00:00Z')
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000)

/** What is not well comes with what to do. */
function stateOf({ state, action }: Check): Check['state'] {
  assert.equal(action === null, state === 'ok')
  return state
}

test('a database that answers late is a warning', () => {
  const facts = { version: '18.1', is_embedded: true, answer_ms: 0.4 }
  assert.equal(databaseCheck(facts).finding, 'PostgreSQL 18.1 (embedded), answers in 1 ms')
  assert.equal(stateOf(databaseCheck(facts)), 'ok')
  assert.equal(stateOf(databaseCheck({ ...facts, answer_ms: 101 })), 'warning')
})

test('a clock is judged by NTP and by the clocks of the edges', () => {
  const check = (is_synchronised: boolean | null, ...edges_ahead_ms: number[]) =>
    stateOf(clockCheck({ is_synchronised, edges_ahead_ms }))
  assert.equal(check(true), 'ok')
  assert.equal(check(null), 'ok')
  assert.equal(check(false), 'warning')
  assert.equal(check(null, 40, -20, 3_600_000), 'ok', 'one edge is wrong')
  assert.equal(check(true, 5100, 5200), 'warning')
  const { finding } = clockCheck({ is_synchronised: null, edges_ahead_ms: [5100, 5300] })
  assert.equal(finding, '5.2 s behind its edges (median of 2)')
})

test('mails that wait for an hour are an error, and failed ones a warning', () => {
  const facts = { host: 'mail.example', waiting_since_at: null, failed_count: 0 }
  const check = (change: Partial<typeof facts> | { waiting_since_at: Date }) =>
    stateOf(mailCheck({ ...facts, ...change }, now))
  assert.equal(stateOf(mailCheck({ ...facts, host: null }, now)), 'warning')
  assert.equal(check({}), 'ok')
  assert.equal(check({ waiting_since_at: before(59) }), 'ok')
  assert.equal(check({ waiting_since_at: before(61) }), 'error')
  assert.equal(check({ failed_count: 1 }), 'warning')
})

test('backups are due daily, and a restore is to be tested monthly', () => {
  const made = { file: '/b/new.tar', finished_at: before(60), bytes: 1 }
  const verified = { file: '/b/old.tar', verified_at: before(24 * 60), verify_error: null }
  const last = { started_at: before(61), error: null }
  const facts = { dir: '/b', is_embedded: true, last, made, verified }
  const check = (change: Partial<Parameters<typeof backupCheck>[0]>) =>
    stateOf(backupCheck({ ...facts, ...change }, now))
  assert.equal(check({}), 'ok')
  assert.equal(check({ is_embedded: false, dir: null, last: null, made: null }), 'ok')
  assert.equal(check({ dir: null }), 'warning')
  assert.equal(check({ last: null, made: null, verified: null }), 'warning')
  assert.equal(check({ made: { ...made, finished_at: before(27 * 60) } }), 'error')
  assert.equal(check({ last: { ...last, error: 'no space' } }), 'error')
  assert.equal(check({ verified: null }), 'warning')
  assert.equal(check({ verified: { ...verified, verified_at: before(32 * 24 * 60) } }), 'warning')
  assert.equal(check({ verified: { ...verified, verify_error: 'damaged' } }), 'error')
})

test('edges of another version are named, with the command', () => {
  const edge = (name: string, agent_version: string | null) => ({
    site_id: 'north',
    name,
    agent_version,
  })
  assert.equal(stateOf(edgesCheck([], '1.2.0')), 'ok')
  assert.equal(stateOf(edgesCheck([edge('a', '1.2.0'), edge('b', null)], '1.2.0')), 'ok')
  const { finding, action } = edgesCheck([edge('a', '1.2.0'), edge('b', '1.1.0')], '1.2.0')
  assert.equal(finding, '1 of 2 of another version than 1.2.0: b of north (1.1.0)')
  assert.equal(action, 'On each gateway: sudo apt install ./heliograph-edge_1.2.0_*.deb')
  const newer = edgesCheck([edge('a', '1.10.0')], '1.2.0')
  assert.equal(newer.action, 'Install the newer version on this server too.')
  const many = Array.from({ length: 7 }, (_, nth) => edge(`${nth}`, '1.1.0'))
  assert.match(edgesCheck(many, '1.2.0').finding, / and 2 more$/)
})

test('due jobs that wait are a warning, then an error', () => {
  const check = (due_since_at: Date | null, ...failed_jobs: string[]) =>
    stateOf(queueCheck({ due_since_at, failed_jobs }, now))
  assert.equal(check(null), 'ok')
  assert.equal(check(before(4)), 'ok')
  assert.equal(check(before(6)), 'warning')
  assert.equal(check(before(31), 'fetch_prices'), 'error')
  assert.equal(check(null, 'fetch_prices'), 'warning')
})
