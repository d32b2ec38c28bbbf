import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { testDatabase } from '../../test/postgres.ts'
import { openMailSink } from '../mail/fixtures/mail-sink.ts'
import { queueMail } from '../mail/outbox.ts'
import { sendMails } from '../mail/send.ts'
import { AdminError } from './admin.ts'
import { listUnsentMails, sendTestMail } from './mail-admin.ts'

const now = new Date('2026-06-01T10:00:00Z')
const silent = { info() {}, warn() {}, error() {} }

async function sinkOf(t: TestContext, options?: Parameters<typeof openMailSink>[0]) {
  const sink = await openMailSink(options)
  t.after(() => sink.close())
  return sink
}

test('a test mail goes out at once, and the answer of the mail server is told', async (t) => {
  const { settings, received } = await sinkOf(t)
  const order = { settings, recipient: 'ops@example.com', now, randomBytes }
  assert.deepEqual(await sendTestMail(order), { outcome: 'sent', said: '250 kept as 1' })
  assert.equal(received[0]?.headers['subject'], 'Heliograph: a test mail')
  assert.match(received[0].text, /^Mail server: +127\.0\.0\.1, port \d+, TLS off$/m)
  const refused = await sinkOf(t, {
    onRcptTo: (_address, _session, done) => done(new Error('no such mailbox')),
  })
  const { outcome, said } = await sendTestMail({ ...order, settings: refused.settings })
  assert.equal(outcome, 'refused')
  assert.match(said, /550 no such mailbox/)
})

test('what cannot be sent at all is refused', async (t) => {
  const { settings } = await sinkOf(t)
  const order = { settings, recipient: 'ops@example.com', now, randomBytes }
  const invalid = (error: unknown) => error instanceof AdminError && error.code === 'invalid'
  await assert.rejects(sendTestMail({ ...order, recipient: 'ops@a.example,b@a.example' }), invalid)
  await assert.rejects(sendTestMail({ ...order, settings: null }), invalid)
})

test('what was not sent is listed, of a site or of all', async (t) => {
  const { db, drop } = await testDatabase()
  t.after(drop)
  await db.execute(`
    insert into clients (name, modules) values ('owner', '{}');
    insert into sites (site_id, client_id, name)
      select site_id, client_id, site_id from clients, unnest(array['north', 'south']) as site_id`)
  for (const [site_id, recipient] of [
    ['north', 'one@example.com'],
    ['north', 'no address'],
    ['south', 'two@example.com'],
  ] as const) {
    await queueMail(db, { site_id, dedup_key: 'k', recipient, subject: 'S', text: 'T' })
  }
  const listed = async (site_id: string | null, limit = 100) =>
    (await listUnsentMails({ db }, { site_id, limit })).map(
      (mail) => `${mail.site_id} ${mail.recipient} ${mail.state}`,
    )
  assert.deepEqual(await listed(null), [
    'south two@example.com waiting',
    'north no address unsendable',
    'north one@example.com waiting',
  ])
  assert.deepEqual(await listed('south'), ['south two@example.com waiting'])
  assert.equal((await listed(null, 1)).length, 1)
  await assert.rejects(listed('west'), /west/)
  const clock = { now: () => now }
  const signal = new AbortController().signal
  const { settings } = await sinkOf(t)
  const mailer = { send: async () => ({ outcome: 'sent' as const, said: '250' }) }
  const isWithheld = async () => false
  await sendMails({ db, clock, log: silent, signal, mail: { settings, mailer }, isWithheld })
  assert.deepEqual(await listed(null), ['north no address unsendable'])
})
