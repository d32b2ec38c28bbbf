/** Administration of mail: unsent mail, recipients and a test mail. */
import { isMailAddress } from '../mail/address.ts'
import { confirmByOperator } from '../mail/recipients.ts'
import type { MailSettings } from '../mail/settings.ts'
import { type Handover, type MailerLimits, openMailer } from '../mail/transport.ts'
import { type Admin, AdminError } from './admin.ts'
import { findClient } from './clients.ts'
import { findSite } from './sites.ts'

export interface UnsentMail {
  site_id: string
  mail_id: number
  state: 'waiting' | 'failed' | 'unsendable'
  recipient: string
  subject: string
  queued_at: Date
  tries: number
  /** null for the next minute, or for mail that is not retried. */
  next_try_at: Date | null
  last_error: string | null
}

/**
 * The newest `limit` unsent mails of one site or of all. Throws `not_found` for an unknown site.
 */
export async function listUnsentMails(
  { db }: Pick<Admin, 'db'>,
  { site_id, limit }: { site_id: string | null; limit: number },
): Promise<UnsentMail[]> {
  if (site_id !== null) await findSite({ db }, site_id)
  return db.query(
    `select site_id, mail_id, state, recipient, subject, queued_at, tries, last_error,
       case when state = 'waiting' then next_try_at end as next_try_at
     from mail_outbox
     where state <> 'sent' and ($1::text is null or site_id = $1)
     order by queued_at desc, mail_id desc limit $2`,
    [site_id, limit],
  )
}

/** Confirms a recipient of a client without a link, for servers without a `PUBLIC_URL`. */
export async function confirmRecipient(
  { db, clock }: Pick<Admin, 'db' | 'clock'>,
  { client, address }: { client: string; address: string },
): Promise<void> {
  checkRecipient(address)
  const { client_id } = await findClient(db, client)
  await confirmByOperator(db, { client_id, email: address }, clock.now())
}

function checkRecipient(address: string): void {
  if (isMailAddress(address)) return
  throw new AdminError('invalid', 'the recipient must be one mail address: name@example.com')
}

/** Shorter than for queued mail, as the operator waits for the answer. */
const test_limits: MailerLimits = { silence_ms: 15_000, mail_ms: 30_000 }

interface TestMail {
  settings: MailSettings | null
  recipient: string
  now: Date
  randomBytes: Admin['randomBytes']
}

/**
 * Sends a mail at once, without the outbox, and returns the answer of the mail server. Throws
 * `invalid` for an invalid recipient, and when no mail server is configured.
 */
export async function sendTestMail(test: TestMail): Promise<Handover> {
  const { settings, recipient, now, randomBytes } = test
  checkRecipient(recipient)
  if (!settings) {
    throw new AdminError(
      'invalid',
      'no mail server is configured: set SMTP_URL or SMTP_HOST, and MAIL_FROM',
    )
  }
  const { host, port, tls, from, public_url } = settings
  const id = randomBytes(16).toString('hex')
  const text = [
    'This mail shows that Heliograph can send mail.',
    '',
    `Mail server:    ${host}, port ${port}, TLS ${tls}`,
    `Sent:           ${now.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    ...(public_url === null ? [] : [`This server:    ${public_url}`]),
  ]
  const mail = {
    message_id: `${id}@${from.split('@')[1]}`,
    recipient,
    subject: 'Heliograph: a test mail',
    text: `${text.join('\n')}\n`,
    written_at: now,
    attachment: null,
  }
  return openMailer(settings, test_limits).send(mail, new AbortController().signal)
}
