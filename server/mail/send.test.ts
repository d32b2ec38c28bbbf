import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { after, before, beforeEach } from 'node:test'
import { minute_ms } from '@heliograph/domain/durations'
import { Registry } from 'prom-client'
import { eventually, virtualTime } from '../../test/conventions/virtual-time.ts'
import { silent, type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { claimMail, deleteOldMails } from './deliveries.ts'
import { openMailSink } from './fixtures/mail-sink.ts'
import { observeMails } from './metrics.ts'
import { type QueuedMail, queued_channel, queueMail } from './outbox.ts'
import { type Sending, sendMails } from './send.ts'
import type { MailSettings } from './settings.ts'
import { type Handover, type Mailer, type OutgoingMail, openMailer } from './transport.ts'

const site_id = 'mail-site'
let database: TestDatabase

before(async () => {
  database = await testDatabase()
  const { db } = database
  await db.execute(`
    insert into clients (name, modules) values ('owner', '{}');
    insert into sites (site_id, client_id, name) select '${site_id}', client_id, 'S' from clients`)
})
after(() => database.drop())
beforeEach(() => database.db.execute('delete from mail_outbox'))

const mailOf = (given: Partial<QueuedMail> = {}): QueuedMail => ({
  site_id,
  dedup_key: 'one',
  recipient: 'ops@example.com',
  subject: 'One',
  text: 'Text',
  ...given,
})
const queue = (given?: Partial<QueuedMail>) => queueMail(database.db, mailOf(given))

const settings: MailSettings = {
  host: '127.0.0.1',
  port: 1,
  tls: 'off',
  ca: null,
  login: null,
  from: 'plants@heliograph.example',
  public_url: null,
}

/** A mail server that answers as it is told, by recipient. */
function scripted(answers: Record<string, Handover> = {}) {
  const time = virtualTime()
  const handed: OutgoingMail[] = []
  const withheld = new Set<string>()
  const mailer: Mailer = {
    async send(mail) {
      handed.push(mail)
      return answers[mail.recipient] ?? { outcome: 'sent', said: '250 taken' }
    },
  }
  const sending: Sending = {
    db: database.db,
    clock: time.clock,
    log: silent,
    mail: { settings, mailer },
    signal: new AbortController().signal,
    isWithheld: async ({ run_id }) => withheld.has(run_id),
  }
  const run = () => sendMails(sending)
  const recipients = () => handed.splice(0).map(({ recipient }) => recipient)
  return { time, answers, handed, withheld, sending, run, recipients }
}

const rows = <Row>(columns: string) =>
  database.db.query<Row>(`select ${columns} from mail_outbox order by mail_id`)

test('a mail is sent once, however often it is queued', async () => {
  const { run, handed } = scripted()
  await queue()
  await queue({ subject: 'The same once more' })
  await queue({ recipient: 'more@example.com' })
  await run()
  await queue()
  await run()
  assert.deepEqual(
    handed.map(({ recipient, subject }) => [recipient, subject]),
    [
      ['ops@example.com', 'One'],
      ['more@example.com', 'One'],
    ],
  )
  const sent = await rows<{ state: string; answer: string; tries: number }>('state, answer, tries')
  assert.deepEqual(sent, Array(2).fill({ state: 'sent', answer: '250 taken', tries: 1 }))
})

test('what is not committed is not sent', async () => {
  const { run, handed } = scripted()
  const undone = database.db.transaction(async (transaction) => {
    await queueMail(transaction, mailOf())
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  await run()
  assert.deepEqual(handed, [])
})

test('a mail that is refused has failed, and holds up no other', async () => {
  const { run, recipients } = scripted({
    'gone@example.com': { outcome: 'refused', said: '550 no such mailbox' },
  })
  for (const name of ['gone', 'first', 'second']) await queue({ recipient: `${name}@example.com` })
  await run()
  assert.deepEqual(recipients(), ['gone@example.com', 'first@example.com', 'second@example.com'])
  const [gone, ...others] = await rows('state, last_error')
  assert.deepEqual(gone, { state: 'failed', last_error: '550 no such mailbox' })
  assert.deepEqual(others, Array(2).fill({ state: 'sent', last_error: null }))
})

test('a mail that is deferred is tried again later and later, for a day', async () => {
  const later: Handover = { outcome: 'deferred', said: '451 come again' }
  const { time, run, recipients } = scripted({ 'ops@example.com': later })
  await queue()
  const tried_min: number[] = []
  for (let minute = 0; minute <= 26 * 60; minute += 1) {
    await run()
    if (recipients().length > 0) tried_min.push(minute)
    time.advance(minute_ms)
  }
  assert.deepEqual(tried_min.slice(0, 8), [0, 1, 3, 7, 15, 31, 63, 123])
  assert.equal(tried_min.at(-1), 1443)
  const [{ state, last_error } = assert.fail()] = await rows<Record<string, string>>('*')
  assert.deepEqual([state, last_error], ['failed', '451 come again'])
})

test('a server in trouble is asked once a minute, with another mail each time', async () => {
  const down: Handover = { outcome: 'unreachable', said: 'connect ECONNREFUSED' }
  const all = ['a@example.com', 'b@example.com', 'c@example.com']
  const { time, run, answers, recipients } = scripted(
    Object.fromEntries(all.map((recipient) => [recipient, down])),
  )
  for (const recipient of all) await queue({ recipient })
  const asked: string[][] = []
  for (let minute = 0; minute < 4; minute += 1) {
    await run()
    asked.push(recipients())
    time.advance(minute_ms)
  }
  assert.deepEqual(
    asked.map(([first]) => first),
    [...all, 'a@example.com'],
  )
  for (const recipient of all) delete answers[recipient]
  await run()
  assert.deepEqual(recipients().sort(), all)
})

test('one mail is claimed at a time, also with the statistics of an empty table', async () => {
  await queue({ recipient: 'past@example.com' })
  await database.db.execute('delete from mail_outbox')
  // The subquery may now be the inner side of a join and run once for each row of the table.
  await database.db.execute('analyze mail_outbox')
  for (const recipient of ['a@example.com', 'b@example.com', 'c@example.com']) {
    await queue({ recipient })
  }
  await claimMail(database.db, { now: new Date('2026-06-01T10:00:00Z'), lease_ms: minute_ms })
  const claimed = await rows<{ is_claimed: boolean }>('claimed_until is not null as is_claimed')
  assert.equal(claimed.filter(({ is_claimed }) => is_claimed).length, 1)
})

test('mails with a file come after the others, and none before its time', async () => {
  const { time, run, handed, recipients } = scripted()
  const bytes = Uint8Array.of(1, 2, 3)
  const [kept, gone] = [randomUUID(), randomUUID()]
  await database.db.execute(
    `insert into report_files (site_id, run_id, file_name, content_type, bytes, expires_at)
     values ($1, $2, 'may.csv', 'text/csv', $3, '2027-01-01')`,
    [site_id, kept, Buffer.from(bytes)],
  )
  await queue({ recipient: 'kept@example.com', attach_run_id: kept })
  await queue({ recipient: 'gone@example.com', attach_run_id: gone })
  await queue({ recipient: 'plain@example.com' })
  const not_before = new Date(time.clock.now().getTime() + 5 * minute_ms)
  await queue({ recipient: 'later@example.com', not_before })
  await run()
  const files = handed.map(({ attachment }) => attachment?.file_name ?? null)
  assert.deepEqual(files, [null, 'may.csv', null])
  assert.deepEqual([...handed[1]!.attachment!.bytes], [...bytes])
  assert.equal(handed[2]!.text, 'Text\n\nThe file has been deleted.\n')
  assert.deepEqual(recipients(), ['plain@example.com', 'kept@example.com', 'gone@example.com'])
  time.advance(5 * minute_ms)
  await run()
  assert.deepEqual(recipients(), ['later@example.com'])
})

test('a report that its reader may no longer read is not sent', async () => {
  const { run, handed, withheld } = scripted()
  const run_id = randomUUID()
  withheld.add(run_id)
  await queue({ attach_run_id: run_id })
  await queue({ recipient: 'plain@example.com' })
  await run()
  assert.deepEqual(
    handed.map(({ recipient }) => recipient),
    ['plain@example.com'],
  )
  const [first] = await rows<Record<string, string>>('state, last_error')
  assert.equal(first!['state'], 'failed')
  assert.match(first!['last_error']!, /has lost access/)
})

test('a link is told where the public address is set', async () => {
  const { sending, handed } = scripted()
  await queue({ link_path: '/sites/mail-site/alerts' })
  const mail = { ...sending.mail!, settings: { ...settings, public_url: 'https://solar.example' } }
  await sendMails({ ...sending, mail })
  assert.equal(handed[0]!.text, 'Text\n\nhttps://solar.example/sites/mail-site/alerts\n')
})

test('a sender that died leaves its mail to the next, with the same Message-ID', async () => {
  const { time, sending, run, handed } = scripted()
  await queue()
  const dying: Mailer = {
    send(mail) {
      handed.push(mail)
      return Promise.reject(new Error('killed'))
    },
  }
  // As a process that is killed: it says nothing of the mail any more.
  const claim = { now: time.clock.now(), lease_ms: 5 * minute_ms }
  assert.equal((await claimMail(database.db, claim))?.recipient, 'ops@example.com')
  await run()
  assert.deepEqual(handed, [], 'the other one may still be at it')
  time.advance(5 * minute_ms)
  await assert.rejects(sendMails({ ...sending, mail: { settings, mailer: dying } }), /killed/)
  await run()
  const [first, second] = handed.map(({ message_id }) => message_id)
  assert.equal(handed.length, 2)
  assert.equal(first, second)
})

test('two senders at once hand each mail over once', async () => {
  const one = scripted()
  const two = scripted()
  for (let nth = 0; nth < 30; nth += 1) await queue({ dedup_key: `mail ${nth}` })
  await Promise.all([one.run(), two.run()])
  const ids = [...one.handed, ...two.handed].map(({ message_id }) => message_id)
  assert.deepEqual([ids.length, new Set(ids).size], [30, 30])
})

test('without a mail server mails are kept, and nothing fails', async () => {
  const { sending, run, recipients } = scripted()
  await queue()
  await queue({ recipient: 'ops@example.com\r\nBcc: all@example.com' })
  await sendMails({ ...sending, mail: null })
  const kept = await rows<{ state: string; last_error: string }>('state, last_error')
  assert.deepEqual(
    kept.map(({ state }) => state),
    ['unsendable', 'unsendable'],
  )
  assert.match(kept[0]!.last_error, /SMTP_URL/)
  assert.equal(kept[1]!.last_error, 'the recipient is not a mail address')
  await run()
  assert.deepEqual(recipients(), [], 'nobody is told of the past when a server is set later')
})

test('subject and text cannot say more than they are', async () => {
  const { run, handed } = scripted()
  await queue({
    subject: `Site\r\nBcc: all@example.com\u2028\u202e\u0000${'x'.repeat(300)}`,
    text: 'one\r\ntwo\rthree\u0000\tfour\ud800',
  })
  await run()
  const [{ subject, text } = assert.fail()] = handed
  assert.match(subject, /^Site Bcc: all@example\.com x+…$/)
  assert.equal([...subject].length, 200)
  assert.equal(text, 'one\ntwo\nthree \tfour\ufffd\n')
})

test('a mail goes out over a real connection soon after it was queued', async (t) => {
  const sink = await openMailSink()
  t.after(() => sink.close())
  const mailer = openMailer(sink.settings)
  const { sending } = scripted()
  const runs: Promise<void>[] = []
  const send = () => {
    runs.push(sendMails({ ...sending, mail: { settings: sink.settings, mailer } }))
  }
  const listening = await database.db.listen(queued_channel, { notified: send, resumed: send })
  t.after(() => listening.stop())
  await queue({ subject: 'Grüße vom Dach ☀️', text: 'Größe: 5 kW' })
  await eventually(async () => assert.equal(sink.received.length, 1))
  await Promise.all(runs)
  const [{ headers, text } = assert.fail()] = sink.received
  assert.equal(headers['subject'], 'Grüße vom Dach ☀️')
  assert.equal(text, 'Größe: 5 kW')
})

test('what was not sent is counted, and what ended is forgotten in the end', async () => {
  const refused: Handover = { outcome: 'refused', said: '550 no' }
  const { run } = scripted({ 'gone@example.com': refused })
  const registry = new Registry()
  observeMails(registry, database.db)
  const figures = async () => {
    const text = await registry.metrics()
    return [...text.matchAll(/^heliograph_mails\{state="(\w+)"\} (\d+)/gm)].map(
      ([, state, count]) => `${state} ${count}`,
    )
  }
  await queue({ recipient: 'gone@example.com' })
  await queue()
  await run()
  await queue({ dedup_key: 'two', not_before: new Date('2030-01-01') })
  assert.deepEqual(await figures(), ['waiting 1', 'failed 1', 'unsendable 0'])
  await deleteOldMails(database.db, new Date('2026-08-29'))
  assert.equal((await rows('*')).length, 3)
  await deleteOldMails(database.db, new Date('2026-08-31'))
  assert.deepEqual(await figures(), ['waiting 1', 'failed 0', 'unsendable 0'])
})
