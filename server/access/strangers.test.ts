/** Bounds on what a stranger without an account can cost: bodies, log lines, requests, rows. */
import assert from 'node:assert/strict'
import test, { after, before, beforeEach } from 'node:test'
import type { Log } from '../storage/database.ts'
import {
  origin,
  password,
  type ServedPlatform,
  servedPlatform,
} from './fixtures/served-platform.ts'

const logged: string[] = []
const note: Log['error'] = (about: object, message?: string) =>
  void logged.push(`${JSON.stringify(about)} ${message ?? ''}`)

let platform: ServedPlatform
before(async () => {
  platform = await servedPlatform({ log: { info: note, warn: note, error: note } })
})
after(() => platform.close())
beforeEach(() => {
  logged.length = 0
})

const sign_in = '/platform/auth/sign-in/email'
const nobody = { email: 'nobody@example.com', password: 'not a password' }

/** The first instant of a minute that no test used before: requests are counted by the minute. */
function nextMinute() {
  const now_ms = Math.max(Date.now(), platform.clock.now().getTime())
  platform.clock.set(new Date(Math.ceil((now_ms + 1) / 60_000) * 60_000))
}

test('a body of a sign-in path has 8 KiB at most, that of an invitation too', async () => {
  const token = 'x'.repeat(8192)
  for (const [path, body] of [
    [sign_in, { ...nobody, callbackURL: `https://evil.example/${token}` }],
    ['/platform/auth/reset-password', { token, newPassword: password }],
    ['/platform/invitations/look', { token }],
    ['/platform/invitations/accept', { token, name: 'A', password }],
  ] as const) {
    const { status, body: answer } = await platform.browser().ask('POST', path, { body })
    assert.deepEqual([status, answer.error?.code], [413, 'payload_too_large'], path)
  }
  assert.deepEqual(logged, [])
})

test('what a stranger sends is logged on one short line', async () => {
  const forged = `\n{"level":30,"msg":"serving"}\u001b[2J\u2028${'x'.repeat(6000)}`
  const asked = { body: { ...nobody, callbackURL: `https://evil.example/${forged}` } }
  await platform.browser().ask('POST', sign_in, asked)
  const headers = { origin: `https://${'e'.repeat(6000)}.example` }
  await platform.browser().ask('POST', sign_in, { body: nobody, headers })
  for (const line of logged) {
    assert.ok(line.length < 400, `${line.length} characters`)
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
  assert.match(logged.join(), /Invalid origin: https:\/\/eee/)
})

test('refusals of foreign origins are logged ten times a minute, whoever asks', async () => {
  nextMinute()
  const headers = { origin: 'https://evil.example' }
  const refuse = async (times: number) => {
    for (let turn = 0; turn < times; turn += 1) {
      const { status } = await platform.browser().ask('POST', sign_in, { body: nobody, headers })
      assert.equal(status, 403)
    }
  }
  await refuse(30)
  assert.equal(logged.length, 11)
  assert.match(logged.at(-1)!, /further refusals of this minute are not logged/)
  nextMinute()
  await refuse(1)
  assert.equal(logged.length, 12)
})

test('an address has sixty requests a minute over all sign-in paths together', async () => {
  nextMinute()
  const stranger = platform.browser()
  const paths = [
    '/sign-in/email',
    '/two-factor/verify-totp',
    '/two-factor/verify-backup-code',
    '/change-password',
    '/reset-password',
    '/sign-out',
    '/revoke-sessions',
    '/two-factor/enable',
  ].map((path) => `/platform/auth${path}`)
  paths.push('/platform/invitations/look')
  let refused = 0
  for (let turn = 0; turn < 70; turn += 1) {
    const path = paths[turn % paths.length]!
    const body = path.endsWith('/look') ? { token: 'x' } : nobody
    const { status, body: answer, headers } = await stranger.ask('POST', path, { body })
    if (answer?.error?.code !== 'rate_limited') continue
    refused += 1
    assert.equal(status, 429)
    assert.ok(Number(headers['retry-after']) > 50)
  }
  assert.equal(refused, 10)
  const other = { ...nobody, email: 'other@example.com' }
  const { status } = await platform.browser().ask('POST', sign_in, { body: other })
  assert.equal(status, 401, 'another address is not limited')
})

test('sign-ins from many addresses at once leave connections of the database to others', async () => {
  nextMinute()
  let is_over = false
  let waiting_max = 0
  const look = async () => {
    while (!is_over) {
      waiting_max = Math.max(waiting_max, platform.db.connections().waiting)
      await new Promise(setImmediate)
    }
  }
  const looking = look()
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, nth) => {
      const body = { ...nobody, email: `nobody-${nth}@example.com` }
      return platform.browser().ask('POST', sign_in, { body })
    }),
  )
  is_over = true
  await looking
  assert.ok(waiting_max < 5, `${waiting_max} waited for a connection`)
  const busy = answers.filter(({ status }) => status === 503)
  for (const { body, headers } of busy) {
    assert.equal(body.error.code, 'service_unavailable')
    assert.ok(Number(headers['retry-after']) >= 1)
  }
  assert.ok(busy.length > 0 && busy.length < 100)
  assert.equal(answers.filter(({ status }) => status === 401).length, 100 - busy.length)
})

test('the browser that a session names is kept in 256 characters', async () => {
  await platform.person('viewer', 'agent@example.com')
  const headers = { 'user-agent': `Mozilla\u009b${'x'.repeat(5000)}` }
  const body = { email: 'agent@example.com', password }
  await platform.browser().ask('POST', sign_in, { body, headers: { ...headers, origin } })
  const kept = await platform.db.query<{ user_agent: string }>(
    "select user_agent from user_sessions where user_agent like 'Mozilla%'",
  )
  assert.deepEqual(
    kept.map(({ user_agent }) => [user_agent.length, /[\p{Cc}\p{Cf}]/u.test(user_agent)]),
    [[256, false]],
  )
})
