import assert from 'node:assert/strict'
import test from 'node:test'
import type { PlatformAuditEntry } from '../../../generated/platform.ts'
import { kindOf, whatOf } from './entry.ts'

const entry = (given: Partial<PlatformAuditEntry>): PlatformAuditEntry => ({
  audit_id: '1',
  site_id: null,
  at: '2026-06-21T10:00:00.000Z',
  address: '203.0.113.7',
  by: 'user_0123456789ab',
  by_name: 'Ada',
  method: 'POST',
  path: '/x',
  status: 200,
  body: null,
  request_id: null,
  ...given,
})

test('signing in is named, a write by its address', () => {
  const path = '/platform/auth/sign-in/email'
  const said = [
    entry({ path }),
    entry({ path, status: 401, body: '{"failures":1,"locked_s":0}' }),
    entry({ path, status: 401, body: '{"failures":5,"locked_s":30}' }),
    entry({ path: '/platform/auth/request-password-reset' }),
    entry({ method: 'PATCH', site_id: 'pv-south', path: '/work-orders/7', by: '0123456789ab' }),
    entry({ method: 'CLI', path: 'users password-link', by: 'operator' }),
  ].map((each) => `${whatOf(each)} (${kindOf(each)})`)
  assert.deepEqual(said, [
    'Sign-in: password (person)',
    'Sign-in: password (named account)',
    'Sign-in: password, locked out (named account)',
    'Password reset requested (named account)',
    'PATCH /work-orders/7 at pv-south (key)',
    'CLI users password-link (command line)',
  ])
})
