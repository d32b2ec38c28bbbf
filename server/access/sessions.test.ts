import assert from 'node:assert/strict'
import test from 'node:test'
import { eventually } from '../../test/conventions/virtual-time.ts'
import { password, platformOfFile } from './fixtures/served-platform.ts'

const platform = platformOfFile()

test('an invitation makes one account, which signs in and out', async () => {
  const { browser, invite } = platform
  const token = await invite('administrator', null)
  const own = browser()
  const looked = await own.ask('POST', '/platform/invitations/look', { body: { token } })
  assert.equal(looked.status, 200, JSON.stringify(looked.body))
  assert.deepEqual([looked.body.client, looked.body.role], ['Sun Owners', 'administrator'])
  const body = { token, name: 'Ada', email: 'Ada@Example.com', password }
  const made = await own.ask('POST', '/platform/invitations/accept', { body })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.body.email, 'ada@example.com')
  const again = await browser().ask('POST', '/platform/invitations/accept', { body })
  assert.equal(again.status, 404, 'a link works once')
  assert.equal((await own.ask('GET', '/platform/session')).status, 401)
  assert.equal((await own.signIn('ada@example.com', 'wrong password')).status, 401)
  const signed_in = await own.signIn('ADA@example.com')
  assert.equal(signed_in.status, 200, JSON.stringify(signed_in.body))
  const cookie = String(signed_in.headers['set-cookie'])
  assert.match(cookie, /heliograph\.session_token=.*HttpOnly/)
  assert.match(cookie, /SameSite=Strict/)
  const { status, body: session } = await own.ask('GET', '/platform/session')
  assert.equal(status, 200, JSON.stringify(session))
  assert.deepEqual(
    [session.name, session.role, session.client],
    ['Ada', 'administrator', 'Sun Owners'],
  )
  const sites = await own.ask('GET', '/v1/sites')
  assert.deepEqual(
    sites.body.data.map(({ site_id }: { site_id: string }) => site_id),
    ['first', 'second'],
  )
  assert.equal((await own.ask('GET', '/v1/sites/foreign/overview')).status, 404)
  const out = await own.ask('POST', '/platform/auth/sign-out', { body: {} })
  assert.equal(out.status, 200)
  assert.equal((await own.ask('GET', '/v1/sites')).status, 401)
})

test('a session is taken from the pages of this server alone', async () => {
  const own = await platform.person('operator', 'op@example.com')
  const refused: Record<string, string | undefined>[] = [
    { 'x-heliograph-session': undefined },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example', 'sec-fetch-site': undefined },
    { origin: 'null', 'sec-fetch-site': undefined },
  ]
  for (const headers of refused) {
    for (const [method, path] of [
      ['GET', '/v1/sites'],
      ['POST', '/v1/sites/first/curtailment/immediate'],
      ['GET', '/platform/session'],
    ] as const) {
      const body = method === 'POST' ? { body: {} } : {}
      const answer = await own.ask(method, path, { headers, ...body })
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`)
      assert.equal(answer.body.error.code, 'cross_site_request')
    }
  }
  assert.equal((await own.ask('GET', '/v1/sites')).status, 200)
})

test('what a role may do equals scopes, and administration is not the others’', async () => {
  const viewer = await platform.person('viewer', 'viewer@example.com')
  const write = await viewer.ask('POST', '/v1/sites/first/work-orders', { body: { title: 'x' } })
  assert.deepEqual([write.status, write.body.error.code], [403, 'forbidden_scope'])
  for (const path of ['/platform/keys', '/platform/users', '/platform/audit']) {
    const answer = await viewer.ask('GET', path)
    assert.deepEqual([answer.status, answer.body.error.code], [403, 'forbidden_role'], path)
  }
  const operator = await platform.person('operator', 'operator@example.com')
  const made = await operator.ask('POST', '/v1/sites/first/work-orders', { body: { title: 'x' } })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const key = await operator.ask('POST', '/platform/keys', {
    body: { name: 'k', scopes: ['plant:read'] },
  })
  assert.equal(key.body.error.code, 'forbidden_role')
})

test('keys are made, work, are rotated and ended, and never take a session’s place', async () => {
  const own = await platform.person('administrator', 'admin@example.com')
  const body = { name: 'Trader', scopes: ['plant:read'], site_ids: ['first'] }
  const headers = { 'idempotency-key': 'one' }
  const made = await own.ask('POST', '/platform/keys', { body, headers })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const twice = await own.ask('POST', '/platform/keys', { body, headers })
  assert.deepEqual([twice.status, twice.body.error.details.key_id], [409, made.body.key_id])
  const { key, key_id } = made.body
  const stranger = platform.browser()
  const withKey = (given: string) => ({
    headers: { authorization: `Bearer ${given}`, 'x-heliograph-session': undefined },
  })
  const seen = await stranger.ask('GET', '/v1/sites', withKey(key))
  assert.deepEqual(
    seen.body.data.map(({ site_id }: { site_id: string }) => site_id),
    ['first'],
  )
  assert.equal((await stranger.ask('GET', '/platform/session', withKey(key))).status, 403)
  const listed = await own.ask('GET', '/platform/keys')
  assert.ok(!JSON.stringify(listed.body).includes(key.split('_')[3]))
  const rotated = await own.ask('POST', `/platform/keys/${key_id}/rotate`, {
    body: { overlap_s: 60 },
  })
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
  assert.notEqual(rotated.body.key, key)
  // Servers hear of it by the database, a moment after the answer.
  await eventually(async () => {
    const { status } = await stranger.ask('GET', '/v1/sites', withKey(rotated.body.key))
    assert.equal(status, 200)
  })
  assert.equal((await stranger.ask('GET', '/v1/sites', withKey(key))).status, 200)
  assert.equal((await own.ask('DELETE', `/platform/keys/${key_id}`)).body.state, 'revoked')
  const [{ bodies } = { bodies: '' }] = await platform.db.query<{ bodies: string }>(
    `select string_agg(coalesce(body, '') || coalesce(answer, ''), ' ') as bodies from client_audit`,
  )
  assert.ok(bodies.includes('Trader') && !bodies.includes(key))
  const { body: records } = await own.ask('GET', '/platform/audit')
  assert.ok(records.data.some(({ path }: { path: string }) => path === '/platform/keys'))
  const others = await platform.person('administrator', 'other@example.com', 2)
  assert.equal((await others.ask('DELETE', `/platform/keys/${key_id}`)).status, 404)
})

test('guessing passwords locks an address out, known or not, and no answer tells which', async () => {
  await platform.person('viewer', 'known@example.com')
  const texts: string[] = []
  for (const email of ['known@example.com', 'unknown@example.com']) {
    for (let turn = 0; turn < 6; turn += 1) {
      // Each from an address of its own: the limit by address is another matter.
      const { status, body } = await platform.browser().signIn(email, `guess number ${turn}`)
      texts.push(`${turn} ${status} ${body.code}`)
    }
  }
  assert.deepEqual(texts.slice(0, 6), texts.slice(6))
  assert.equal(texts[4], '4 401 INVALID_EMAIL_OR_PASSWORD')
  assert.equal(texts[5], '5 429 LOCKED_OUT')
  const locked = await platform.browser().signIn('known@example.com')
  assert.equal(locked.status, 429, 'also with the right one')
  const from_one = platform.browser('10.9.9.9')
  const statuses: number[] = []
  for (let turn = 0; turn < 12; turn += 1) {
    statuses.push((await from_one.signIn(`nobody${turn}@example.com`)).status)
  }
  assert.equal(statuses.at(-1), 429, 'one address that tries many')
})
