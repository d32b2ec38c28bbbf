/** Links to a new password: how one that was used, or a password change, ends the others. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { askRecipients } from '../mail/recipients.ts'
import { type Browser, password, platformOfFile } from './fixtures/served-platform.ts'
import { linkToNewPassword } from './user-admin.ts'

const platform = platformOfFile()

const newPassword = 'another long sentence'

async function linkTo(email: string): Promise<string> {
  const { db, clock } = platform
  const { link_path } = await linkToNewPassword({ db, clock, randomBytes: Buffer.alloc }, email)
  return link_path.split('#')[1]!
}

async function take(token: string, given = newPassword): Promise<number> {
  const body = { token, newPassword: given }
  return (await platform.browser().ask('POST', '/platform/auth/reset-password', { body })).status
}

test('a link that was used ends all other links of the account, and of no other', async () => {
  await platform.person('viewer', 'first@example.com')
  await platform.person('viewer', 'second@example.com')
  const foreign = await linkTo('second@example.com')
  const [earlier, used, later] = [
    await linkTo('first@example.com'),
    await linkTo('first@example.com'),
    await linkTo('first@example.com'),
  ]
  assert.equal(await take(used), 200)
  assert.deepEqual([await take(earlier), await take(later), await take(used)], [400, 400, 400])
  assert.equal(await take(foreign), 200)
})

test('a link ends the others also where its new password is refused', async () => {
  await platform.person('viewer', 'short@example.com')
  const [other, used] = [await linkTo('short@example.com'), await linkTo('short@example.com')]
  assert.deepEqual(
    [await take(used, 'short'), await take(other), await take(used)],
    [400, 400, 200],
  )
})

test('of links that are used at once at most one works', async () => {
  await platform.person('viewer', 'atonce@example.com')
  const tokens: string[] = []
  for (let nth = 0; nth < 5; nth += 1) tokens.push(await linkTo('atonce@example.com'))
  const statuses = await Promise.all(
    tokens.map((token, nth) => take(token, `${newPassword} ${nth}`)),
  )
  assert.ok(statuses.filter((status) => status === 200).length <= 1, `${statuses}`)
  assert.ok(
    statuses.every((status) => status === 200 || status === 400),
    `${statuses}`,
  )
})

test('a password that is changed by who is signed in ends all links and half-done sign-ins', async () => {
  const email = 'changed@example.com'
  const own = await platform.person('viewer', email)
  const token = await linkTo(email)
  const change = { currentPassword: password, newPassword, revokeOtherSessions: true }
  const changed = await own.ask('POST', '/platform/auth/change-password', { body: change })
  assert.equal(changed.status, 200)
  assert.equal(await take(token), 400)
  const kept = await platform.db.query(
    'select from user_verifications v join users u on v.value = u.id where u.email = $1',
    [email],
  )
  assert.equal(kept.length, 0)
})

test('of many guesses at once no more are evaluated than one after the other', async () => {
  const email = 'guessed@example.com'
  await platform.person('viewer', email)
  const guess = (nth: number) => platform.browser().signIn(email, `guess number ${nth}`)
  const answers = await Promise.all(Array.from({ length: 60 }, (_, nth) => guess(nth)))
  const evaluated = answers.filter(({ status }) => status === 401).length
  assert.equal(evaluated, 5)
  // 503: more sign in at once than wait for their turn.
  assert.ok(answers.every(({ status }) => [401, 429, 503].includes(status)))
})

test('a right password is no wrong one: it gives back what it was counted as', async () => {
  const email = 'patient@example.com'
  await platform.person('viewer', email)
  const failures = async () =>
    (await platform.db.query('select failures from sign_in_failures where email = $1', [email]))[0]
  for (let turn = 0; turn < 10; turn += 1) {
    assert.equal((await platform.browser().signIn(email)).status, 200)
  }
  assert.equal(await failures(), undefined)
  await platform.browser().signIn(email, 'a wrong password')
  await platform.db.execute('update users set disabled_at = now() where email = $1', [email])
  for (let turn = 0; turn < 10; turn += 1) {
    assert.equal((await platform.browser().signIn(email)).status, 401, 'never 429')
  }
  assert.deepEqual(await failures(), { failures: 1 })
})

test('a Host that is none is refused as a bad request; other odd headers fail nothing', async () => {
  const ask = async (headers: Record<string, string>, browser: Browser = platform.browser()) => {
    const body = { email: 'odd@example.com', password: 'x' }
    return (await browser.ask('POST', '/platform/auth/sign-in/email', { body, headers })).status
  }
  for (const host of ['a@b', 'a:b@c', ':@x', 'a b', '[', 'x:99999', 'x/y', 'x?y', 'x#y', 'x\\y']) {
    assert.equal(await ask({ host }), 400, JSON.stringify(host))
  }
  const odd = ['a@b', '[', '%', 'null', '\u009b', 'javascript:', '://', ',', 'a, b', '*', '"']
  const names = [
    'x-forwarded-host',
    'x-forwarded-proto',
    'forwarded',
    'x-forwarded-for',
    'origin',
    'referer',
    'cookie',
    'sec-fetch-site',
    'user-agent',
    'content-type',
    'x-http-method-override',
    'x-request-id',
    'x-heliograph-address',
  ]
  for (const name of names) {
    for (const value of [...odd, `heliograph.session_token=${odd.join('')}`, 'x'.repeat(4000)]) {
      const status = await ask({ [name]: value })
      assert.ok(status < 500, `${name}: ${value} is ${status}`)
    }
  }
})

test('who has the link of a mail confirms an address by it, once, and without an account', async () => {
  await platform.db.transaction((tx) =>
    askRecipients(
      tx,
      { site_id: 'first', recipients: ['owner@example.com'] },
      platform.clock.now(),
    ),
  )
  const [mail] = await platform.db.query<{ link_path: string; text: string }>(
    "select link_path, text from mail_outbox where recipient = 'owner@example.com'",
  )
  const [path, token] = mail!.link_path.split('#')
  assert.equal(path, '/confirm-address')
  assert.match(mail!.text, /^Sun Owners wants to send you reports/)
  const confirm = (body: object) =>
    platform.browser().ask('POST', '/platform/recipients/confirm', { body })
  assert.equal((await confirm({ token: 'f'.repeat(64) })).status, 404)
  const confirmed = await confirm({ token })
  assert.equal(confirmed.status, 200)
  assert.deepEqual(confirmed.body, { email: 'owner@example.com', client: 'Sun Owners' })
  assert.equal((await confirm({ token })).status, 404)
})
