import { createHash } from 'node:crypto'
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'
import { singleLine } from './outbox.ts'
import type { MailSettings } from './settings.ts'

export interface OutgoingMail {
  /** Without angle brackets. The same for all attempts of a mail. */
  message_id: string
  recipient: string
  /** One line. */
  subject: string
  /** Plain text, lines end in \n. */
  text: string
  written_at: Date
  attachment: { bytes: Uint8Array; file_name: string; content_type: string } | null
}

/**
 * - `sent`: the mail server accepted the mail.
 * - `refused`: the mail server rejected this mail permanently.
 * - `deferred`: the mail server rejected this mail temporarily.
 * - `unreachable`: the mail server does not answer, or rejects the connection or login.
 */
type Outcome = 'sent' | 'refused' | 'deferred' | 'unreachable'

export interface Handover {
  outcome: Outcome
  /** Answer of the mail server, or the error; one line, without secrets. */
  said: string
}

export interface Mailer {
  /** Bounded in time. Throws only when `signal` aborts; the mail may then have been accepted. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<Handover>
}

export interface MailerLimits {
  /** Timeout of the connection, the greeting and each answer. */
  silence_ms: number
  /** Timeout of a whole mail. */
  mail_ms: number
}

const usual: MailerLimits = { silence_ms: 20_000, mail_ms: 90_000 }
const said_characters_max = 500

/** Opens a connection per mail, as mails are few. */
export function openMailer(settings: MailSettings, limits: MailerLimits = usual): Mailer {
  const { host, port, tls, ca, login, from } = settings
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { minVersion: 'TLSv1.2', ...(ca === null ? {} : { ca }) },
    ...(login ? { auth: { user: login.user, pass: login.password }, forceAuth: true } : {}),
    dnsTimeout: limits.silence_ms,
    connectionTimeout: limits.silence_ms,
    greetingTimeout: limits.silence_ms,
    socketTimeout: limits.silence_ms,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const handover = (outcome: Outcome, said: string): Handover => ({
    outcome,
    said: singleLine(withoutSecrets(said, settings), said_characters_max),
  })
  return {
    async send(mail, signal) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(limits.mail_ms)])
      try {
        const { response } = await transport.sendMail({ ...messageOf(mail, from), signal: bounded })
        return handover('sent', response)
      } catch (error) {
        signal.throwIfAborted()
        const failure = error as NodemailerError
        if (failure.code !== 'EABORT') return handover(outcomeOf(failure), failure.message)
        return handover('unreachable', `not accepted within ${limits.mail_ms / 1000} s`)
      }
    },
  }
}

function messageOf(mail: OutgoingMail, from: string): SendMailOptions {
  const { attachment } = mail
  return {
    from: { name: 'Heliograph', address: from },
    to: { name: '', address: mail.recipient },
    envelope: { from, to: [mail.recipient] },
    // Keeps mail programs from decoding text that looks like an encoded word.
    subject: mail.subject.replaceAll('=?', '= ?'),
    text: mail.text,
    date: mail.written_at,
    messageId: `<${mail.message_id}>`,
    // Suppresses automatic replies, RFC 3834.
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: attachment
      ? [
          {
            filename: attachment.file_name,
            contentType: attachment.content_type,
            content: Buffer.from(attachment.bytes),
          },
        ]
      : [],
  }
}

/** Authentication errors of RFC 4954: the settings are wrong, not the mail. */
const login_codes: readonly number[] = [530, 534, 535, 538]

/** Answers to RCPT TO and DATA concern the mail, all others the server. */
function outcomeOf({ command, permanent, responseCode }: NodemailerError): Outcome {
  const is_of_mail = command === 'RCPT TO' || command === 'DATA'
  if (!is_of_mail || responseCode === undefined || login_codes.includes(responseCode)) {
    return 'unreachable'
  }
  return permanent ? 'refused' : 'deferred'
}

/** Masks the login, as some servers repeat the rejected command. */
function withoutSecrets(text: string, { login }: MailSettings): string {
  if (!login) return text
  const { user, password } = login
  const base64 = (secret: string) => Buffer.from(secret).toString('base64')
  const secrets = [password, base64(password), base64(`\0${user}\0${password}`)]
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '***'), text)
}

/**
 * The Message-ID: a digest of the dedup_key, so that mail programs recognise duplicates. Its domain
 * is that of the sender, as RFC 5322 recommends.
 */
export function messageIdOf(
  mail: { site_id: string; dedup_key: string; recipient: string },
  from: string,
): string {
  const about = JSON.stringify([mail.site_id, mail.dedup_key, mail.recipient])
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 32)
  return `${digest}@${from.split('@')[1]}`
}
