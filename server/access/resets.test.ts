/** Who asks for a new password by mail: what is answered, mailed and told in the audit. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { eventually } from '../../test/conventions/virtual-time.ts'
import type { Log } from '../storage/database.ts'
import { origin, type ServedPlatform, servedPlatform } from './fixtures/served-platform.ts'
import { mailInvitation } from './mails.ts'

const logged: string[] = []
const note: Log['error'] = (_: object, message?: string) => void logged.push(message ?? '')

let platform: ServedPlatform
before(async () => {
  platform = await servedPlatform({
    public_url: origin,
    log: { info() {}, warn: note, error: note },
  })
})
after(() => platform.close())

const askReset = (email: unknown, browser = platform.browser()) =>
  browser.ask('POST', '/platform/auth/request-password-reset', { body: { email } })

/** The texts that were queued for an address, once there are so many. */
const mailsTo = (email: string, count: number) =>
  eventually(async () => {
    const mails = await platform.db.query<{ text: string }>(
      'select text from mail_outbox where recipient = $1',
      [email],
    )
    assert.equal(mails.length, count)
    return mails.map(({ text }) => text)
  })

const noted = (email: string) =>
  platform.db.query(
    `select a.status, a.address, a.request_id from client_audit a join users on key_id = users.id
     where email = $1 and path = '/platform/auth/request-password-reset' order by at`,
    [email],
  )

test('the answer waits for nothing that tells who has an account', {
  timeout: 10_000,
}, async () => {
  await platform.person('viewer', 'here@example.com')
  await platform.db.transaction(async (tx) => {
    await tx.execute('lock table users, user_verifications, mail_outbox in access exclusive mode')
    const answers = [await askReset('here@example.com'), await askReset('nowhere@example.com')]
    for (const { status, body } of answers)
      assert.deepEqual([status, body], [200, { status: true }])
  })
  const [text = ''] = await mailsTo('here@example.com', 1)
  const [, token] = /^http:\/\/plants\.example\/new-password#(\S+)$/m.exec(text) ?? []
  const newPassword = 'another long sentence'
  const reset = await platform
    .browser()
    .ask('POST', '/platform/auth/reset-password', { body: { token, newPassword } })
  assert.equal(reset.status, 200)
  assert.equal((await platform.browser().signIn('here@example.com', newPassword)).status, 200)
  await mailsTo('nowhere@example.com', 0)
})

test('people of a client that has no site yet are mailed, too', async () => {
  const { db } = platform
  const [client] = await db.query<{ client_id: number }>(
    `insert into clients (name, modules) values ('Without a site', '{}') returning client_id`,
  )
  const { client_id } = client!
  await platform.person('administrator', 'siteless@example.com', client_id)
  assert.equal((await askReset('siteless@example.com')).status, 200)
  await mailsTo('siteless@example.com', 1)
  const invited = { invitation_id: 'one', client_id, email: 'invited@example.com' }
  await mailInvitation(db, { ...invited, link_path: '/invitation#token' }, origin)
  const [text = ''] = await mailsTo('invited@example.com', 1)
  assert.match(text, /^http:\/\/plants\.example\/invitation#token$/m)
})

test('an address is one as mails know it, however it is written', async () => {
  await platform.person('viewer', 'cased@example.com')
  assert.equal((await askReset('Cased@Example.com')).status, 200)
  await mailsTo('cased@example.com', 1)
  for (const email of [undefined, 7, '', 'ada', 'ada@example.com, eve@example.com']) {
    assert.equal((await askReset(email)).status, 400, String(email))
  }
})

test('of all who ask, from wherever, the first in an hour is told', async () => {
  const email = 'asked@example.com'
  await platform.person('viewer', email)
  const first = platform.browser()
  await first.ask('POST', '/platform/auth/request-password-reset', {
    body: { email },
    headers: { 'x-request-id': 'first' },
  })
  await mailsTo(email, 1)
  await Promise.all(Array.from({ length: 5 }, () => askReset(email)))
  await mailsTo(email, 6)
  const told = [{ status: 200, address: first.address, request_id: 'first' }]
  assert.deepEqual(await noted(email), told)
  platform.clock.set(new Date(platform.clock.now().getTime() + 3_600_000))
  const later = platform.browser()
  await askReset(email, later)
  await mailsTo(email, 7)
  told.push({ status: 200, address: later.address, request_id: 'test' })
  assert.deepEqual(await noted(email), told)
})

test('a mail that cannot be queued is told to the log, and to nobody else', async () => {
  const email = 'unlucky@example.com'
  await platform.person('viewer', email)
  await platform.db.execute('alter table mail_outbox rename to mail_outbox_away')
  try {
    assert.equal((await askReset(email)).status, 200)
    await eventually(async () => {
      // A busy machine is told of, too.
      const told = logged.filter((message) => message !== 'slow')
      assert.deepEqual(told, ['the mail of a password reset could not be queued'])
    })
  } finally {
    await platform.db.execute('alter table mail_outbox_away rename to mail_outbox')
  }
  assert.deepEqual(await noted(email), [])
})
