import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '@heliograph/domain/clock'
import { password, platformOfFile } from './fixtures/served-platform.ts'
import { totp } from './fixtures/totp.ts'
import { linkToNewPassword, removeSecondFactor } from './user-admin.ts'

const platform = platformOfFile()

const operator = () => ({ db: platform.db, clock: systemClock, randomBytes: Buffer.alloc })

test('a session is made anew by each sign-in: one that was planted before is worth nothing', async () => {
  const own = await platform.person('viewer', 'fixed@example.com')
  const before = own.cookies.get('heliograph.session_token')
  await own.signIn('fixed@example.com')
  const later = own.cookies.get('heliograph.session_token')
  assert.notEqual(later, before)
  const planted = platform.browser()
  planted.cookies.set('heliograph.session_token', 'planted.value')
  await planted.signIn('fixed@example.com')
  assert.notEqual(planted.cookies.get('heliograph.session_token'), 'planted.value')
})

test('who is disabled or removed is out at once, and the last administrator stays', async () => {
  const admin = await platform.person('administrator', 'boss@example.com')
  const own = await platform.person('operator', 'leaver@example.com')
  const { body: users } = await admin.ask('GET', '/platform/users')
  const idOf = (email: string) =>
    users.data.find((user: { email: string }) => user.email === email).user_id
  const disabled = await admin.ask('PATCH', `/platform/users/${idOf('leaver@example.com')}`, {
    body: { is_disabled: true },
  })
  assert.equal(disabled.body.is_disabled, true, JSON.stringify(disabled.body))
  assert.equal((await own.ask('GET', '/v1/sites')).status, 401)
  await own.signIn('leaver@example.com')
  assert.equal((await own.ask('GET', '/v1/sites')).status, 401, 'nor by a new sign-in')
  for (const [method, body] of [
    ['PATCH', { role: 'viewer' }],
    ['PATCH', { is_disabled: true }],
    ['DELETE', {}],
  ] as const) {
    const path = `/platform/users/${idOf('boss@example.com')}`
    const { status, body: refused } = await admin.ask(method, path, { body })
    assert.deepEqual([status, refused.error?.code], [409, 'conflict_state'], JSON.stringify(body))
  }
  assert.equal((await admin.ask('GET', '/platform/session')).body.role, 'administrator')
  const gone = `/platform/users/${idOf('leaver@example.com')}`
  assert.equal((await admin.ask('DELETE', gone, { body: {} })).status, 204)
  assert.equal((await own.signIn('leaver@example.com')).status, 401)
})

test('sites of a person bound what is seen, and sites of others are refused by name', async () => {
  const admin = await platform.person('administrator', 'boss2@example.com')
  const own = await platform.person('viewer', 'narrow@example.com')
  const { body: users } = await admin.ask('GET', '/platform/users')
  const { user_id } = users.data.find(
    ({ email }: { email: string }) => email === 'narrow@example.com',
  )
  const change = (site_ids: string[]) =>
    admin.ask('PATCH', `/platform/users/${user_id}`, { body: { site_ids } })
  assert.equal((await change(['second'])).status, 200)
  const { body: sites } = await own.ask('GET', '/v1/sites')
  assert.deepEqual(
    sites.data.map(({ site_id }: { site_id: string }) => site_id),
    ['second'],
  )
  assert.equal((await own.ask('GET', '/v1/sites/first/overview')).status, 404)
  const { status, body } = await change(['first', 'foreign'])
  assert.deepEqual([status, body.error.details.errors[0].field], [422, 'site_ids'])
})

test('a new password by the link of an operator ends the old one, sessions and a lock-out', async () => {
  const own = await platform.person('viewer', 'forgetful@example.com')
  for (let turn = 0; turn < 6; turn += 1) {
    await platform.browser().signIn('forgetful@example.com', 'not this one either')
  }
  const { link_path } = await linkToNewPassword(operator(), 'Forgetful@example.com')
  const token = link_path.split('#')[1]
  const reset = (newPassword: string) =>
    platform
      .browser()
      .ask('POST', '/platform/auth/reset-password', { body: { token, newPassword } })
  assert.equal((await reset('short')).status, 400)
  assert.equal((await reset('another long sentence')).status, 200)
  assert.equal((await reset('yet another sentence')).status, 400, 'once')
  assert.equal((await own.ask('GET', '/v1/sites')).status, 401)
  assert.equal((await platform.browser().signIn('forgetful@example.com')).status, 401)
  const again = await platform.browser().signIn('forgetful@example.com', 'another long sentence')
  assert.equal(again.status, 200)
})

test('asking for a new password tells nobody who has an account', async () => {
  await platform.person('viewer', 'here@example.com')
  const answers = await Promise.all(
    ['here@example.com', 'nowhere@example.com'].map(async (email) => {
      const { status, body } = await platform
        .browser()
        .ask('POST', '/platform/auth/request-password-reset', { body: { email } })
      return { status, body }
    }),
  )
  assert.deepEqual(answers[0], answers[1])
})

test('with a second factor the password alone opens nothing', async () => {
  const own = await platform.person('viewer', 'careful@example.com')
  const enabled = await own.ask('POST', '/platform/auth/two-factor/enable', { body: { password } })
  assert.equal(enabled.status, 200, JSON.stringify(enabled.body))
  const secret = new URL(enabled.body.totpURI).searchParams.get('secret')!
  const verify = (browser: typeof own, code: string) =>
    browser.ask('POST', '/platform/auth/two-factor/verify-totp', { body: { code } })
  assert.equal((await verify(own, totp(secret))).status, 200)
  const next = platform.browser()
  const first = await next.signIn('careful@example.com')
  assert.equal(first.body.twoFactorRedirect, true)
  assert.equal((await next.ask('GET', '/v1/sites')).status, 401)
  assert.equal((await verify(next, '000000')).status, 401)
  assert.equal((await verify(next, totp(secret))).status, 200)
  assert.equal((await next.ask('GET', '/v1/sites')).status, 200)
  const [backup] = enabled.body.backupCodes
  const other = platform.browser()
  await other.signIn('careful@example.com')
  const by_backup = () =>
    other.ask('POST', '/platform/auth/two-factor/verify-backup-code', { body: { code: backup } })
  assert.equal((await by_backup()).status, 200)
  await removeSecondFactor(operator(), 'careful@example.com')
  assert.equal((await next.ask('GET', '/v1/sites')).status, 401, 'signed out')
  const alone = await platform.browser().signIn('careful@example.com')
  assert.deepEqual([alone.status, alone.body.twoFactorRedirect], [200, undefined])
})

test('what nobody needs of the sign-in does not exist', async () => {
  const own = await platform.person('viewer', 'curious@example.com')
  for (const path of ['/sign-up/email', '/update-user', '/change-email', '/delete-user']) {
    const body = { email: 'x@example.com', password, name: 'X', role: 'administrator' }
    const { status } = await own.ask('POST', `/platform/auth${path}`, { body })
    assert.equal(status, 404, path)
  }
  assert.equal((await own.ask('GET', '/platform/session')).body.role, 'viewer')
})
