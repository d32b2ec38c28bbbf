import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { settingsOf } from '@heliograph/domain/settings'
import { type MailSettings, readMailSettings } from './settings.ts'

function read(environment: Record<string, string>): MailSettings | null {
  const settings = settingsOf({ MAIL_FROM: 'plants@example.com', ...environment })
  const mail = readMailSettings(settings)
  settings.check()
  return mail
}

const wayOf = (environment: Record<string, string>) => {
  const { host, port, tls, login } = read(environment)!
  return [host, port, tls, login]
}

test('no mail server is as good a setting as one', () => {
  assert.equal(read({}), null)
  assert.deepEqual(read({ SMTP_HOST: 'mail.example.com' }), {
    host: 'mail.example.com',
    port: 587,
    tls: 'starttls',
    ca: null,
    login: null,
    from: 'plants@example.com',
    public_url: null,
  })
})

test('TLS is required but on loopback, unless it is switched off', () => {
  assert.deepEqual(wayOf({ SMTP_HOST: 'mail.example.com', SMTP_PORT: '465' }), [
    'mail.example.com',
    465,
    'implicit',
    null,
  ])
  assert.deepEqual(wayOf({ SMTP_HOST: 'mail.example.com', SMTP_TLS: 'implicit' })[1], 465)
  assert.deepEqual(wayOf({ SMTP_HOST: 'mail.example.com', SMTP_TLS: 'off' })[2], 'off')
  for (const host of ['localhost', '127.0.0.1', '127.7.7.7', '::1']) {
    assert.equal(wayOf({ SMTP_HOST: host })[2], 'off', host)
    assert.equal(wayOf({ SMTP_HOST: host, SMTP_TLS: 'starttls' })[2], 'starttls', host)
  }
  for (const host of ['128.0.0.1', 'localhost.example.com', '10.0.0.1', 'fd00::1']) {
    assert.equal(wayOf({ SMTP_HOST: host })[2], 'starttls', host)
  }
})

test('an address says it all in one', () => {
  const login = { user: 'ops@example.com', password: 'p@ss:w/rd' }
  assert.deepEqual(
    wayOf({ SMTP_URL: 'smtps://ops%40example.com:p%40ss%3Aw%2Frd@mail.example.com' }),
    ['mail.example.com', 465, 'implicit', login],
  )
  assert.deepEqual(wayOf({ SMTP_URL: 'smtp://mail.example.com:2525/' }), [
    'mail.example.com',
    2525,
    'starttls',
    null,
  ])
  assert.deepEqual(wayOf({ SMTP_URL: 'smtp://[::1]:2525' }), ['::1', 2525, 'off', null])
  assert.deepEqual(wayOf({ SMTP_URL: 'smtp://mail.example.com', SMTP_TLS: 'off' })[2], 'off')
})

test('what is wrong is named, and no password with it', () => {
  const wrong: [environment: Record<string, string>, told: RegExp][] = [
    [{ SMTP_URL: 'https://u:hunter2@mail.example.com' }, /SMTP_URL: an address such as/],
    [{ SMTP_URL: 'smtp://u:hunter2@mail.example.com?tls=no' }, /SMTP_URL/],
    [{ SMTP_URL: 'smtp://u:hunter2@mail.example.com:99999' }, /SMTP_URL/],
    [{ SMTP_URL: 'smtp://u:hunter2%E0%A4@mail.example.com' }, /SMTP_URL: .*UTF-8/],
    [{ SMTP_URL: 'smtp://u@mail.example.com' }, /SMTP_URL: a user and a password/],
    [{ SMTP_URL: 'smtps://mail.example.com', SMTP_TLS: 'off' }, /SMTP_TLS: .*implicit/],
    [
      { SMTP_URL: 'smtp://mail.example.com', SMTP_HOST: 'x' },
      /SMTP_HOST: not allowed together with SMTP_URL/,
    ],
    [{ SMTP_HOST: 'mail example' }, /SMTP_HOST/],
    [{ SMTP_HOST: 'mail.example.com', SMTP_PORT: '0' }, /SMTP_PORT/],
    [{ SMTP_HOST: 'mail.example.com', SMTP_PASSWORD: 'hunter2' }, /SMTP_USER and SMTP_PASSWORD/],
    [{ SMTP_HOST: 'mail.example.com', SMTP_TLS: 'maybe' }, /SMTP_TLS: one of starttls/],
    [{ SMTP_HOST: 'mail.example.com', MAIL_FROM: 'Ops <ops@example.com>' }, /MAIL_FROM/],
    [{ SMTP_HOST: 'mail.example.com', MAIL_FROM: '' }, /MAIL_FROM/],
    [{ SMTP_HOST: 'mail.example.com', SMTP_CA_FILE: '/nowhere.pem' }, /SMTP_CA_FILE: cannot read/],
    [{ SMTP_USER: 'u', SMTP_PASSWORD: 'hunter2' }, /SMTP_HOST: required when SMTP_USER/],
    [{ PUBLIC_URL: 'solar.example.com' }, /PUBLIC_URL/],
    [{ PUBLIC_URL: 'https://u:hunter2@solar.example.com' }, /PUBLIC_URL/],
  ]
  for (const [environment, told] of wrong) {
    assert.throws(
      () => read(environment),
      ({ message }: Error) => {
        assert.match(message, told)
        assert.doesNotMatch(message, /hunter2/)
        return true
      },
    )
  }
})

test('a file that holds no certificate is refused', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-mail-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'ca.pem')
  writeFileSync(path, 'not a certificate')
  const environment = { SMTP_HOST: 'mail.example.com', SMTP_CA_FILE: path }
  assert.throws(() => read(environment), /SMTP_CA_FILE/)
})

test('links begin with the public address', () => {
  const publicUrl = (PUBLIC_URL: string) => read({ SMTP_HOST: 'localhost', PUBLIC_URL })?.public_url
  assert.equal(publicUrl('https://solar.example.com'), 'https://solar.example.com')
  assert.equal(publicUrl('https://solar.example.com/api/'), 'https://solar.example.com/api')
})
