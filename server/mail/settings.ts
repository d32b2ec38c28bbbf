/** Where mails are handed over to be sent, from the server's environment. */
import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Settings } from '@heliograph/domain/settings'
import { isMailAddress } from './address.ts'

const tlsKinds = ['starttls', 'implicit', 'off'] as const
type TlsKind = (typeof tlsKinds)[number]

export interface MailSettings {
  host: string
  port: number
  /** With `starttls` nothing is sent to a server that does not offer it. */
  tls: TlsKind
  /** PEM of the authority that signed the server's certificate, where it is a private one. */
  ca: string | null
  /** null: the server wants none. The password is a secret. */
  login: { user: string; password: string } | null
  /** The address that mails come from. */
  from: string
  /** Under which the server is reached from outside, without a slash at its end; for links. */
  public_url: string | null
}

interface Server {
  host: string
  port: number | null
  tls: TlsKind | null
  login: MailSettings['login']
}

const implicit_port = 465
const submission_port = 587

/**
 * Reads SMTP_URL, or SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASSWORD; SMTP_TLS, SMTP_CA_FILE,
 * MAIL_FROM and PUBLIC_URL with either. Null where no server is named. No fault repeats what may
 * hold the password.
 */
export function readMailSettings(settings: Settings): MailSettings | null {
  const server = settings.text('SMTP_URL') ? readUrl(settings) : readParts(settings)
  const from = settings.text('MAIL_FROM')
  const tls = readTlsKind(settings)
  const public_url = readPublicUrl(settings)
  if (!server) return null
  if (from === null || !isMailAddress(from)) {
    settings.fault('MAIL_FROM', 'the one mail address that mails come from, without a name')
  }
  if (server.tls !== null && tls !== null && server.tls !== tls) {
    settings.fault('SMTP_TLS', `an smtps:// address means ${server.tls}, not ${tls}`)
  }
  const kind = server.tls ?? tls ?? usualTls(server)
  return {
    host: server.host,
    port: server.port ?? (kind === 'implicit' ? implicit_port : submission_port),
    tls: kind,
    ca: readAuthority(settings),
    login: server.login,
    from: from ?? '',
    public_url,
  }
}

/** Where browsers reach this server, without a slash at its end. */
export function readPublicUrl(settings: Settings): string | null {
  const text = settings.text('PUBLIC_URL')
  if (text === null) return null
  const url = URL.parse(text)
  const is_plain = url && !url.search && !url.hash && url.username === '' && url.password === ''
  if (is_plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  settings.fault('PUBLIC_URL', 'an address such as https://solar.example.com')
  return null
}

/** Nobody listens in on the way to the machine's own mail server. */
function usualTls({ host, port }: Server): TlsKind {
  if (port === implicit_port) return 'implicit'
  return isLoopback(host) ? 'off' : 'starttls'
}

function readUrl(settings: Settings): Server | null {
  const url = URL.parse(settings.text('SMTP_URL')!)
  const is_plain = url && !url.search && !url.hash && /^\/?$/.test(url.pathname)
  if (!is_plain || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    settings.fault('SMTP_URL', 'an address such as smtps://user:password@mail.example.com:465')
    return null
  }
  for (const name of ['SMTP_HOST', 'SMTP_PORT', 'SMTP_USER', 'SMTP_PASSWORD']) {
    if (settings.text(name) !== null) settings.fault(name, 'SMTP_URL says it: set one of the two')
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? null : Number(url.port),
    tls: url.protocol === 'smtps:' ? 'implicit' : null,
    login: loginOf(settings, 'SMTP_URL', decoded(url.username), decoded(url.password)),
  }
}

function readParts(settings: Settings): Server | null {
  const host = settings.text('SMTP_HOST')
  if (host === null) {
    const others = ['SMTP_PORT', 'SMTP_USER', 'SMTP_PASSWORD', 'SMTP_TLS', 'SMTP_CA_FILE']
    const set = others.filter((name) => settings.text(name) !== null)
    if (set.length > 0) settings.fault('SMTP_HOST', `it is needed where ${set.join(', ')} is set`)
    return null
  }
  if (!/^[\w.:-]+$/.test(host)) settings.fault('SMTP_HOST', 'the name or the address of a server')
  const given = settings.text('SMTP_PORT') !== null
  const port = settings.integer('SMTP_PORT', { fallback: 0, minimum: 1, maximum: 65_535 })
  const [user, password] = [settings.text('SMTP_USER'), settings.text('SMTP_PASSWORD')]
  const login = loginOf(settings, 'SMTP_USER and SMTP_PASSWORD', user ?? '', password ?? '')
  return { host, port: given ? port : null, tls: null, login }
}

function loginOf(
  settings: Settings,
  where: string,
  user: string | null,
  password: string | null,
): MailSettings['login'] {
  if (user === null || password === null)
    settings.fault(where, 'what is escaped with % is not UTF-8')
  else if ((user === '') !== (password === '')) {
    settings.fault(where, 'a user and a password, or neither')
  }
  return user && password ? { user, password } : null
}

/** null where the escapes make no text. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function readTlsKind(settings: Settings): TlsKind | null {
  const text = settings.text('SMTP_TLS')
  const kind = tlsKinds.find((each) => each === text) ?? null
  if (text !== null && kind === null) {
    settings.fault('SMTP_TLS', `one of ${tlsKinds.join(', ')}, not '${text}'`)
  }
  return kind
}

function readAuthority(settings: Settings): string | null {
  const path = settings.text('SMTP_CA_FILE')
  if (path === null) return null
  try {
    const ca = readFileSync(path, 'utf8')
    createSecureContext({ ca })
    if (ca.includes('-----BEGIN CERTIFICATE-----')) return ca
    settings.fault('SMTP_CA_FILE', `${path} holds no certificate`)
  } catch (error) {
    settings.fault('SMTP_CA_FILE', `cannot read ${path}: ${(error as Error).message}`)
  }
  return null
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
