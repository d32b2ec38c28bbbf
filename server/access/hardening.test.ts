/** What would let in who should stay out, or keep what should be forgotten. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { password, platformOfFile } from './fixtures/served-platform.ts'

const platform = platformOfFile()

async function idOf(email: string): Promise<string> {
  const [user] = await platform.db.query<{ id: string }>('select id from users where email = $1', [
    email,
  ])
  return user!.id
}

test('changes of a person at once keep what each of them says', async () => {
  const admin = await platform.person('administrator', 'race@example.com')
  await platform.person('operator', 'moved@example.com')
  const path = `/platform/users/${await idOf('moved@example.com')}`
  for (let round = 0; round < 5; round += 1) {
    await admin.ask('PATCH', path, { body: { role: 'operator', is_disabled: false } })
    const name = `Round ${round}`
    await Promise.all([
      admin.ask('PATCH', path, { body: { role: 'viewer', is_disabled: true } }),
      admin.ask('PATCH', path, { body: { name } }),
      admin.ask('PATCH', path, { body: { name } }),
    ])
    const { body } = await admin.ask('GET', '/platform/users')
    const user = body.data.find(({ email }: { email: string }) => email === 'moved@example.com')
    assert.deepEqual([user.name, user.role, user.is_disabled], [name, 'viewer', true])
  }
})

test('an administrator looks after all sites, so that no key of his reaches further', async () => {
  const admin = await platform.person('administrator', 'whole@example.com')
  await platform.person('operator', 'part@example.com')
  const path = `/platform/users/${await idOf('part@example.com')}`
  const order = { email: 'new@example.com', role: 'administrator', site_ids: ['first'] }
  const refused = [
    await admin.ask('POST', '/platform/invitations', { body: order }),
    await admin.ask('PATCH', path, { body: { role: 'administrator', site_ids: ['first'] } }),
  ]
  for (const { status, body } of refused) {
    assert.deepEqual([status, body.error.details.errors[0].field], [422, 'site_ids'])
  }
  assert.equal((await admin.ask('PATCH', path, { body: { site_ids: ['first'] } })).status, 200)
  const promoted = await admin.ask('PATCH', path, { body: { role: 'administrator' } })
  assert.equal(promoted.status, 422, 'nor one who was limited before')
})

test('no device is trusted without its code, and a new password ends other sessions', async () => {
  const own = await platform.person('viewer', 'trusting@example.com')
  const body = { code: '000000', trustDevice: true }
  const trusted = await own.ask('POST', '/platform/auth/two-factor/verify-totp', { body })
  assert.equal(trusted.status, 400)
  const change = { currentPassword: password, newPassword: 'another long sentence' }
  const loose = await own.ask('POST', '/platform/auth/change-password', { body: change })
  assert.equal(loose.status, 400)
  const other = platform.browser()
  await other.signIn('trusting@example.com')
  const strict = { body: { ...change, revokeOtherSessions: true } }
  assert.equal((await own.ask('POST', '/platform/auth/change-password', strict)).status, 200)
  assert.equal((await other.ask('GET', '/v1/sites')).status, 401)
})

test('of the sign-in library only what is needed is there', async () => {
  const own = await platform.person('viewer', 'explorer@example.com')
  for (const [method, path] of [
    ['GET', '/ok'],
    ['GET', '/error'],
    ['GET', '/callback/github'],
    ['GET', '/reset-password/abc?callbackURL=/x'],
    ['POST', '/verify-password'],
    ['POST', '/reset-password?token=%00'],
    ['GET', `/${'x'.repeat(6000)}`],
  ] as const) {
    const { status, body } = await own.ask(method, `/platform/auth${path}`, {
      ...(method === 'POST' && { body: { password } }),
    })
    assert.deepEqual([status, body?.error?.code], [404, 'not_found'], path.slice(0, 40))
  }
  for (const host of ['a b', '[', 'x:99999']) {
    const { status } = await own.ask('GET', '/platform/auth/get-session', { headers: { host } })
    assert.ok(status < 500, host)
  }
  const strange = { body: { email: { toString: 1 }, password: 'x' } }
  const answer = await own.ask('POST', '/platform/auth/sign-in/email', strange)
  assert.equal(answer.status, 400)
  const [{ rows } = { rows: -1 }] = await platform.db.query<{ rows: number }>(
    "select count(*)::int as rows from sign_in_rates where key like '%callback%' or key like '%xxx%'",
  )
  assert.equal(rows, 0)
})

test('links of one address end with the first that is used, and with the person', async () => {
  const admin = await platform.person('administrator', 'keeper@example.com')
  const [first, second] = [
    await platform.invite('operator', 'twice@example.com'),
    await platform.invite('administrator', 'twice@example.com'),
  ]
  const accept = (token: string) =>
    platform.browser().ask('POST', '/platform/invitations/accept', {
      body: { token, name: 'Twice', password },
    })
  assert.equal((await accept(first)).status, 201)
  assert.equal((await accept(second)).status, 404)
  const third = await platform.invite('administrator', 'twice@example.com')
  const path = `/platform/users/${await idOf('twice@example.com')}`
  assert.equal((await admin.ask('DELETE', path, { body: {} })).status, 204)
  assert.equal((await accept(third)).status, 404)
})

test('a link that names nobody ends with the next account of its client, and of no other', async () => {
  const [open, other] = [
    await platform.invite('viewer', null),
    await platform.invite('viewer', null),
  ]
  const foreign = await platform.invite('viewer', null, 2)
  await platform.person('viewer', 'elsewhere@example.com', 2)
  const look = async (token: string) =>
    (await platform.browser().ask('POST', '/platform/invitations/look', { body: { token } })).status
  assert.deepEqual([await look(open), await look(other), await look(foreign)], [200, 200, 404])
  await platform.person('viewer', 'next@example.com')
  assert.deepEqual([await look(open), await look(other)], [404, 404])
})

test('a password that was sent to a wrong place is not kept, nor is it locked out by length', async () => {
  const admin = await platform.person('administrator', 'careless@example.com')
  const path = `/platform/users/${await idOf('careless@example.com')}`
  const body = { password: 'in the clear', nested: { token: 'hidden too' } }
  assert.equal((await admin.ask('PATCH', path, { body })).status, 422)
  const { body: records } = await admin.ask('GET', '/platform/audit')
  assert.ok(!/in the clear|hidden too/.test(JSON.stringify(records)))
  const token = await platform.invite('viewer', 'emoji@example.com')
  const long = '🌞'.repeat(100)
  const made = { body: { token, name: 'Sun', password: long } }
  const stranger = platform.browser()
  assert.equal((await stranger.ask('POST', '/platform/invitations/accept', made)).status, 201)
  assert.equal((await stranger.signIn('emoji@example.com', long)).status, 200)
})
