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
  /** With `starttls`, servers without STARTTLS are refused. */
  tls: TlsKind
  /** PEM of the private certificate authority of the server, if any. */
  ca: string | null
  /** null for no authentication. The password is a secret. */
  login: { user: string; password: string } | null
  /** The sender address. */
  from: string
  /** Base of links in mails, without a trailing slash. */
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
 * MAIL_FROM and PUBLIC_URL with either. Null without a mail server. Error messages do not repeat
 * values that may contain the password.
 */
export function readMailSettings(settings: Settings): MailSettings | null {
  const server = settings.text('SMTP_URL') ? readUrl(settings) : readParts(settings)
  const from = settings.text('MAIL_FROM')
  const has_tls = settings.text('SMTP_TLS') !== null
  const tls = has_tls ? settings.choice('SMTP_TLS', tlsKinds, 'starttls') : null
  const public_url = readPublicUrl(settings)
  if (!server) return null
  if (from === null || !isMailAddress(from)) {
    settings.fault('MAIL_FROM', 'a single mail address without a display name')
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

/** The public address of this server, without a trailing slash. */
export function readPublicUrl(settings: Settings): string | null {
  const text = settings.text('PUBLIC_URL')
  if (text === null) return null
  const url = URL.parse(text)
  const is_plain = url && !url.search && !url.hash && url.username === '' && url.password === ''
  if (is_plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  settings.fault('PUBLIC_URL', 'an address such as https://solar.example.com')
  return null
}

/** The default TLS mode. A mail server on the same machine needs none. */
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
    if (settings.text(name) !== null) settings.fault(name, 'not allowed together with SMTP_URL')
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
    if (set.length > 0) settings.fault('SMTP_HOST', `required when ${set.join(', ')} is set`)
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
  if (user === null || password === null) settings.fault(where, 'percent-encoded UTF-8')
  else if ((user === '') !== (password === '')) {
    settings.fault(where, 'a user and a password, or neither')
  }
  return user && password ? { user, password } : null
}

/** Null for invalid escapes. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
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
