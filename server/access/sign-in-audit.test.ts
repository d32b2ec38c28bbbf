/** What administrators read of who signed in: all that matters, of their client, in bounds. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { systemClock } from '@heliograph/domain/clock'
import {
  askAuth as ask,
  type Browser,
  password,
  type ServedPlatform,
  servedPlatform,
} from './fixtures/served-platform.ts'
import { totp } from './fixtures/totp.ts'
import { linkToNewPassword, removeSecondFactor } from './user-admin.ts'

let platform: ServedPlatform
let admin: Browser
before(async () => {
  platform = await servedPlatform()
  admin = await platform.person('administrator', 'admin@example.com')
})
after(() => platform.close())

const operator = () => ({ db: platform.db, clock: systemClock, randomBytes: Buffer.alloc })

interface Entry {
  by: string
  by_name: string
  path: string
  body: string | null
  status: number
  address: string | null
  request_id: string | null
}

/** What the audit says of a person, the oldest first. */
async function audit(email: string, reader = admin): Promise<Entry[]> {
  const [user] = await platform.db.query<{ id: string }>('select id from users where email = $1', [
    email,
  ])
  const { body } = await reader.ask('GET', '/platform/audit?limit=500')
  return (body.data as Entry[])
    .filter((entry) => entry.by === user!.id || entry.body?.includes(user!.id))
    .reverse()
}

const inShort = ({ path, status }: Entry) => `${path.replace('/platform/', '')} ${status}`

test('what a person does about signing in is told, with where from, and without a secret', async () => {
  const email = 'ada@example.com'
  const own = await platform.person('operator', email)
  const { body: prepared } = await ask(own, '/two-factor/enable', { password })
  const secret = new URL(prepared.totpURI).searchParams.get('secret')!
  await ask(own, '/two-factor/verify-totp', { code: totp(secret) })
  await ask(own, '/sign-out')
  await ask(own, '/sign-out')
  await own.signIn(email)
  await ask(own, '/two-factor/verify-totp', { code: '000000' })
  await ask(own, '/two-factor/verify-totp', { code: totp(secret) })
  await ask(own, '/two-factor/disable', { password })
  const change = { currentPassword: 'not the old one', newPassword: 'another long sentence' }
  await ask(own, '/change-password', { ...change, revokeOtherSessions: true })
  await ask(own, '/revoke-other-sessions')
  const { link_path } = await linkToNewPassword(operator(), email)
  const token = link_path.split('#')[1]
  await ask(own, '/reset-password', { token, newPassword: 'another long sentence' })
  await removeSecondFactor(operator(), email)
  const told = await audit(email)
  assert.deepEqual(told.map(inShort), [
    'invitations/accept 201',
    'auth/sign-in/email 200',
    'auth/two-factor/enable 200',
    'auth/two-factor/verify-totp 200',
    'auth/sign-out 200',
    'auth/sign-in/email 200',
    'auth/two-factor/verify-totp 401',
    'auth/two-factor/verify-totp 200',
    'auth/two-factor/disable 200',
    'auth/change-password 400',
    'auth/revoke-other-sessions 200',
    'users password-link 200',
    'auth/reset-password 200',
    'users remove-second-factor 200',
  ])
  assert.deepEqual(
    new Set(told.map(({ by_name, address }) => `${by_name} ${address}`)),
    new Set([`The operator ${own.address}`, 'The operator of the server null']),
  )
  const rows = await platform.db.query<{ text: string }>(
    'select a::text as text from client_audit a',
  )
  const text = rows.map((row) => row.text).join('\n')
  for (const hidden of [password, change.newPassword, secret, token!, ...prepared.backupCodes]) {
    assert.ok(!text.includes(hidden), hidden)
  }
})

test('signing in is told with the request, by the id that its answer had', async () => {
  const email = 'traced@example.com'
  await platform.person('viewer', email)
  const request_ids = ['', 'mine', 'not one; of ours'].map((sent) => sent || undefined)
  for (const sent of request_ids) {
    const { headers } = await platform.browser().ask('POST', '/platform/auth/sign-in/email', {
      body: { email, password: sent === 'mine' ? 'a wrong password' : password },
      headers: { 'x-request-id': sent },
    })
    assert.equal(headers['x-request-id'], sent === 'mine' ? 'mine' : 'test')
  }
  assert.deepEqual(
    (await audit(email)).map(({ request_id }) => request_id),
    ['test', 'test', 'test', 'mine', 'test'],
  )
})

test('of wrong passwords the first and each lock-out are told, however many come', async () => {
  const email = 'target@example.com'
  await platform.person('viewer', email)
  for (let turn = 0; turn < 40; turn += 1) {
    // More come before the lock-out ends, which is longer each time.
    if (turn % 8 === 7) platform.clock.set(new Date(platform.clock.now().getTime() + 3_700_000))
    await platform.browser().signIn(email, `guess number ${turn}`)
  }
  const told = (await audit(email)).slice(2)
  assert.deepEqual(
    told.map(({ body, status }) => [JSON.parse(body!), status]),
    [0, 30, 60, 120, 240, 480, 960].map((locked_s, nth) => [
      { failures: nth === 0 ? 1 : 4 + nth, locked_s },
      401,
    ]),
  )
  assert.ok(told.every(({ address }) => address?.startsWith('10.0.0.')))
})

test('wrong codes are told until they lock out, and what is tried then is not', async () => {
  const email = 'codes@example.com'
  const own = await platform.person('viewer', email)
  const { body: prepared } = await ask(own, '/two-factor/enable', { password })
  const secret = new URL(prepared.totpURI).searchParams.get('secret')!
  await ask(own, '/two-factor/verify-totp', { code: totp(secret) })
  for (let turn = 0; turn < 12; turn += 1) {
    const browser = platform.browser()
    await browser.signIn(email)
    await ask(browser, '/two-factor/verify-totp', { code: '000000' })
  }
  const told = (await audit(email)).filter(({ status }) => status >= 400)
  const locked_until = JSON.parse(told.at(-1)!.body!).locked_until
  assert.ok(Date.parse(locked_until) > Date.now() + 14 * 60_000)
  assert.deepEqual(
    told.map(({ body, status }) => [JSON.parse(body!), status]),
    Array.from({ length: 10 }, (_, nth) => [
      { failures: nth + 1, locked_until: nth === 9 ? locked_until : null },
      401,
    ]),
  )
})

test('the audit tells of nobody else, and not who has no account', async () => {
  const email = 'foreign@example.com'
  await platform.person('viewer', email, 2)
  await platform.browser().signIn(email, 'not this one either')
  await platform.browser().signIn('stranger@example.com', 'not this one either')
  const others = await platform.person('administrator', 'other@example.com', 2)
  assert.deepEqual((await audit(email, others)).map(inShort), [
    'invitations/accept 201',
    'auth/sign-in/email 200',
    'auth/sign-in/email 401',
  ])
  assert.deepEqual(await audit(email), [])
  const rows = await platform.db.query(
    "select from client_audit a where a::text like '%stranger@example.com%'",
  )
  assert.deepEqual(rows, [])
})

test('a disabled person who has the password is told of, and writes tell where from', async () => {
  const email = 'disabled@example.com'
  await platform.person('viewer', email)
  const { body: users } = await admin.ask('GET', '/platform/users')
  const { user_id } = users.data.find((user: { email: string }) => user.email === email)
  await admin.ask('PATCH', `/platform/users/${user_id}`, { body: { is_disabled: true } })
  await platform.browser().signIn(email)
  assert.deepEqual((await audit(email)).map(inShort).at(-1), 'auth/sign-in/email 401')
  const { body } = await admin.ask('GET', '/platform/audit')
  const write = (body.data as Entry[]).find(({ path }) => path === `/platform/users/${user_id}`)
  assert.deepEqual([write?.address, write?.status], [admin.address, 200])
})
