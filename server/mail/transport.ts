/** Hands mails to the mail server of the settings, over SMTP, and says what became of each. */
import { createHash } from 'node:crypto'
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'
import { singleLine } from './outbox.ts'
import type { MailSettings } from './settings.ts'

export interface OutgoingMail {
  /** Without angle brackets. The same mail sent again has the same one. */
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
 * - `sent`: the mail server took it;
 * - `refused`: it will not take this mail, now or later;
 * - `deferred`: it may take this mail later;
 * - `unreachable`: no mail can be handed over now: it does not answer, or refuses us.
 */
type Outcome = 'sent' | 'refused' | 'deferred' | 'unreachable'

export interface Handover {
  outcome: Outcome
  /** The server's own words, or what went wrong; one line, without the password. */
  said: string
}

export interface Mailer {
  /** Bounded in time. Throws only when `signal` aborts; whether it was taken is not known then. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<Handover>
}

export interface MailerLimits {
  /** To connect, to be greeted, and between two answers. */
  silence_ms: number
  /** For a mail as a whole. */
  mail_ms: number
}

const usual: MailerLimits = { silence_ms: 20_000, mail_ms: 90_000 }
const said_characters_max = 500

/** A connection for each mail: there are few, and a server that is in trouble keeps none open. */
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
        return handover('unreachable', `it was not taken within ${limits.mail_ms / 1000} s`)
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
    // Else mail programs would show what stands in it encoded, and not what was written.
    subject: mail.subject.replaceAll('=?', '= ?'),
    text: mail.text,
    date: mail.written_at,
    messageId: `<${mail.message_id}>`,
    // Nobody's holiday answers it, RFC 3834.
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

/** Who may not send at all, of RFC 4954: the settings are wrong, not the mail. */
const login_codes: readonly number[] = [530, 534, 535, 538]

/** What an answer to the recipient or the text says is of this mail; all else is of the server. */
function outcomeOf({ command, permanent, responseCode }: NodemailerError): Outcome {
  const is_of_mail = command === 'RCPT TO' || command === 'DATA'
  if (!is_of_mail || responseCode === undefined || login_codes.includes(responseCode)) {
    return 'unreachable'
  }
  return permanent ? 'refused' : 'deferred'
}

/** Some servers repeat the command that they did not like, and with it what was in it. */
function withoutSecrets(text: string, { login }: MailSettings): string {
  if (!login) return text
  const { user, password } = login
  const base64 = (secret: string) => Buffer.from(secret).toString('base64')
  const secrets = [password, base64(password), base64(`\0${user}\0${password}`)]
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '***'), text)
}

/**
 * The Message-ID of a mail that is about `dedup_key`: a digest, so that who receives it twice can
 * tell. The domain is that of the sender, as RFC 5322 recommends.
 */
export function messageIdOf(
  mail: { site_id: string; dedup_key: string; recipient: string },
  from: string,
): string {
  const about = JSON.stringify([mail.site_id, mail.dedup_key, mail.recipient])
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 32)
  return `${digest}@${from.split('@')[1]}`
}
