import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import type { SMTPServerOptions } from 'smtp-server'
import { anyCharacter } from '../../test/any-character.ts'
import { makeCertificate, openMailSink } from './fixtures/mail-sink.ts'
import { singleLine } from './outbox.ts'
import type { MailSettings } from './settings.ts'
import { messageIdOf, type OutgoingMail, openMailer } from './transport.ts'

const forever = new AbortController().signal
const mail: OutgoingMail = {
  message_id: 'abc@heliograph.example',
  recipient: 'ops@example.com',
  subject: 'Inverter 3 does not answer',
  text: 'Line one\nLine two',
  written_at: new Date('2026-06-01T10:00:00Z'),
  attachment: null,
}

const header_names = new Set([
  'from',
  'to',
  'subject',
  'date',
  'message-id',
  'auto-submitted',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
])

async function sinkOf(t: TestContext, options: SMTPServerOptions = {}) {
  const sink = await openMailSink(options)
  t.after(() => sink.close())
  return sink
}

const refusal = (message: string, responseCode: number) =>
  Object.assign(new Error(message), { responseCode })

test('a mail arrives as it was written', async (t) => {
  const { settings, received } = await sinkOf(t)
  const handover = await openMailer(settings).send(mail, forever)
  assert.deepEqual(handover, { outcome: 'sent', said: '250 kept as 1' })
  const [{ headers, ...got } = assert.fail()] = received
  assert.deepEqual(got.to, ['ops@example.com'])
  assert.equal(got.from, 'plants@heliograph.example')
  assert.equal(got.text, mail.text)
  assert.deepEqual(got.attachments, [])
  assert.equal(headers['from'], 'Heliograph <plants@heliograph.example>')
  assert.equal(headers['to'], 'ops@example.com')
  assert.equal(headers['subject'], mail.subject)
  assert.equal(headers['message-id'], '<abc@heliograph.example>')
  assert.equal(headers['date'], 'Mon, 01 Jun 2026 10:00:00 +0000')
  assert.equal(headers['auto-submitted'], 'auto-generated')
  assert.match(headers['content-type']!, /^text\/plain; charset=utf-8/)
})

test('a file goes with it, byte for byte', async (t) => {
  const { settings, received } = await sinkOf(t)
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256)
  const attachment = { bytes, file_name: 'monthly-2026-05.pdf', content_type: 'application/pdf' }
  await openMailer(settings).send({ ...mail, attachment }, forever)
  const [{ text, attachments } = assert.fail()] = received
  assert.equal(text, mail.text)
  assert.deepEqual(attachments, [{ ...attachment, bytes: Buffer.from(bytes) }])
})

test('any text arrives as it is, and none makes a header of its own', async (t) => {
  const { settings, received } = await sinkOf(t)
  const mailer = openMailer(settings)
  const mark = fc.constantFrom('\r\nBcc: a@b.example\r\n', '\n.\n', '=?utf-8?B?QQ==?=', '.', '☀️')
  const words = fc.array(fc.oneof(mark, fc.string({ unit: anyCharacter })), { maxLength: 6 })
  const written = fc.record({ subject_words: words, text_words: words })
  // Many at once, as the sink greets each of them late.
  const mails = fc.array(written, { minLength: 20, maxLength: 20 })
  const property = fc.asyncProperty(mails, async (all) => {
    received.length = 0
    const sent = all.map(({ subject_words, text_words }, nth) => ({
      ...mail,
      message_id: `${nth}@heliograph.example`,
      subject: singleLine(`Plant: ${subject_words.join(' ')}`, 200),
      text: text_words.join('\n').toWellFormed().replace(/\r\n?/g, '\n'),
    }))
    await Promise.all(sent.map((each) => mailer.send(each, forever)))
    assert.equal(received.length, sent.length)
    for (const { message_id, subject, text } of sent) {
      const got = received.find(({ headers }) => headers['message-id'] === `<${message_id}>`)!
      assert.deepEqual(got.to, ['ops@example.com'])
      assert.deepEqual(
        Object.keys(got.headers).filter((name) => !header_names.has(name)),
        [],
      )
      assert.equal(got.headers['subject'], subject.replaceAll('=?', '= ?'))
      assert.equal(got.text.replace(/\n+$/, ''), text.replace(/\n+$/, ''))
      for (const line of got.header_lines) assert.match(line, /^[\x20-\x7e\t]{0,998}$/)
    }
  })
  await fc.assert(property, { numRuns: 4, endOnFailure: true })
})

test('a recipient that is refused is told from one that is deferred', async (t) => {
  const answers: Record<string, Error> = {
    'gone@example.com': refusal('5.1.1 no such mailbox', 550),
    'busy@example.com': refusal('4.7.1 greylisted, come again', 451),
    'unknown@example.com': refusal('5.7.0 log in first', 530),
  }
  const { settings, received } = await sinkOf(t, {
    onRcptTo: ({ address }, _session, done) => done(answers[address]),
  })
  const mailer = openMailer(settings)
  const sent = (recipient: string) => mailer.send({ ...mail, recipient }, forever)
  const gone = await sent('gone@example.com')
  assert.equal(gone.outcome, 'refused')
  assert.match(gone.said, /550 5\.1\.1 no such mailbox/)
  assert.equal((await sent('busy@example.com')).outcome, 'deferred')
  assert.equal((await sent('unknown@example.com')).outcome, 'unreachable')
  assert.equal((await sent('ops@example.com')).outcome, 'sent')
  assert.equal(received.length, 1)
})

test('a text that is refused or deferred is too; a sender that is refused is no fault of a mail', async (t) => {
  const after = async (options: SMTPServerOptions) => {
    const { settings } = await sinkOf(t, options)
    return (await openMailer(settings).send(mail, forever)).outcome
  }
  const onData = (error: Error): SMTPServerOptions => ({
    onData: (stream, _session, done) => stream.resume().on('end', () => done(error)),
  })
  assert.equal(await after(onData(refusal('5.7.1 spam', 554))), 'refused')
  assert.equal(await after(onData(refusal('4.3.1 disk full', 452))), 'deferred')
  const onMailFrom: SMTPServerOptions['onMailFrom'] = (_address, _session, done) =>
    done(refusal('5.1.8 not your domain', 553))
  assert.equal(await after({ onMailFrom }), 'unreachable')
})

test('STARTTLS and a login, with a certificate that is checked', async (t) => {
  const certificate = makeCertificate()
  if (!certificate) return t.skip('openssl is not there to make a certificate with')
  const { settings, received } = await sinkOf(t, {
    ...certificate,
    disabledCommands: [],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'se cret' ? done(null, { user: username }) : done(refusal('wrong', 535)),
  })
  const login = { user: 'plants', password: 'se cret' }
  const secure: MailSettings = { ...settings, tls: 'starttls', ca: certificate.cert, login }
  const outcome = async (given: Partial<MailSettings>) =>
    (await openMailer({ ...secure, ...given }).send(mail, forever)).outcome
  assert.equal(await outcome({}), 'sent')
  assert.equal(await outcome({ host: 'localhost' }), 'sent')
  assert.ok(received.every(({ was_encrypted, user }) => was_encrypted && user === 'plants'))
  assert.equal(await outcome({ ca: null }), 'unreachable', 'nobody whom we trust signed it')
  assert.equal(await outcome({ login: { ...login, password: 'wrong' } }), 'unreachable')
  assert.equal(received.length, 2)
})

test('TLS from the first byte', async (t) => {
  const certificate = makeCertificate()
  if (!certificate) return t.skip('openssl is not there to make a certificate with')
  const { settings, received } = await sinkOf(t, { ...certificate, secure: true })
  const secure: MailSettings = { ...settings, tls: 'implicit', ca: certificate.cert }
  assert.equal((await openMailer(secure).send(mail, forever)).outcome, 'sent')
  assert.equal(received[0]?.was_encrypted, true)
})

test('where TLS is required nothing is told to a server without it', async (t) => {
  const seen: string[] = []
  const { settings } = await sinkOf(t, {
    onMailFrom: ({ address }, _session, done) => done(void seen.push(address) as undefined),
    onAuth: ({ username }, _session, done) => done(null, { user: seen.push(username ?? '') }),
  })
  const login = { user: 'plants', password: 'secret' }
  const { outcome, said } = await openMailer({ ...settings, tls: 'starttls', login }).send(
    mail,
    forever,
  )
  assert.equal(outcome, 'unreachable')
  assert.match(said, /STARTTLS/)
  assert.deepEqual(seen, [])
})

test('a server that repeats the login in its answer gives no password away', async (t) => {
  const login = { user: 'plants', password: 'pa$$word 1' }
  const plain = Buffer.from(`\0${login.user}\0${login.password}`).toString('base64')
  const { settings } = await sinkOf(t, {
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(refusal(`bad: AUTH PLAIN ${plain} (pa$$word 1)`, 535)),
  })
  const { outcome, said } = await openMailer({ ...settings, login }).send(mail, forever)
  assert.equal(outcome, 'unreachable')
  assert.match(said, /535 bad: AUTH PLAIN \*\*\* \(\*\*\*\)/)
})

test('a server that says nothing, or never enough, is left', { timeout: 10_000 }, async (t) => {
  const silent = net.createServer((socket) => void socket.on('error', () => {}))
  const slow = net.createServer((socket) => {
    socket.on('error', () => {})
    // Lines of a greeting that never ends: no silence is long enough.
    const talk = setInterval(() => socket.write('220-wait\r\n'), 5)
    socket.on('close', () => clearInterval(talk))
  })
  const outcome = async (server: net.Server, limits: { silence_ms: number; mail_ms: number }) => {
    const sockets = new Set<net.Socket>()
    server.on('connection', (socket) => sockets.add(socket))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const settings: MailSettings = {
      host: '127.0.0.1',
      port,
      tls: 'off',
      ca: null,
      login: null,
      from: 'a@b.example',
      public_url: null,
    }
    return openMailer(settings, limits).send(mail, forever)
  }
  const { outcome: of_silent } = await outcome(silent, { silence_ms: 60, mail_ms: 5000 })
  assert.equal(of_silent, 'unreachable')
  const of_slow = await outcome(slow, { silence_ms: 5000, mail_ms: 120 })
  assert.deepEqual(of_slow, { outcome: 'unreachable', said: 'not accepted within 0.12 s' })
})

test('no server at all is said; the end of the server ends the attempt', async (t) => {
  const sink = await openMailSink()
  await sink.close()
  const { outcome, said } = await openMailer(sink.settings).send(mail, forever)
  assert.equal(outcome, 'unreachable')
  assert.match(said, /ECONNREFUSED/)
  const stopping = new AbortController()
  const hanging = await sinkOf(t, {
    onConnect: () => stopping.abort(new Error('the server stops')),
  })
  const sending = openMailer(hanging.settings).send(mail, stopping.signal)
  await assert.rejects(sending, /the server stops/)
})

test('a Message-ID is the same for the same mail, and for no other', () => {
  const about = { site_id: 's', dedup_key: 'alert:1:1:raised', recipient: 'ops@example.com' }
  const id = messageIdOf(about, 'plants@heliograph.example')
  assert.match(id, /^[0-9a-f]{32}@heliograph\.example$/)
  assert.equal(messageIdOf({ ...about }, 'plants@heliograph.example'), id)
  const others = [
    { ...about, site_id: 't' },
    { ...about, dedup_key: 'alert:1:2:raised' },
    { ...about, recipient: 'more@example.com' },
    { site_id: 's","alert:1', dedup_key: '1:raised', recipient: about.recipient },
  ]
  const ids = others.map((other) => messageIdOf(other, 'plants@heliograph.example'))
  assert.equal(new Set([id, ...ids]).size, 5)
})
