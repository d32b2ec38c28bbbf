/** Sends the mails of the outbox: at least once, each mail with a stable Message-ID. */

import type { Clock } from '@heliograph/domain/clock'
import { minute_ms } from '@heliograph/domain/durations'
import type { Database, Log } from '../storage/database.ts'
import {
  claimMail,
  type Delivery,
  markUnsendable,
  readReportFile,
  type Settlement,
  settleMail,
} from './deliveries.ts'
import type { MailSettings } from './settings.ts'
import { type Handover, type Mailer, messageIdOf, type OutgoingMail } from './transport.ts'

/** Longer than the maximum duration of an attempt. */
const lease_ms = 5 * 60_000
const wait_ms_max = 60 * minute_ms
/** A mail fails when attempts took longer than this. */
const attempts_ms_max = 24 * 60 * minute_ms
/** Most servers limit mails to 25 MB, and base64 adds a third. */
const attachment_bytes_max = 15 * 1024 * 1024

const no_server = 'no mail server is configured: set SMTP_URL or SMTP_HOST'

export interface Sending {
  db: Database
  clock: Clock
  log: Log
  /** Aborts the current attempt and stops before the next one. */
  signal: AbortSignal
  /** null without a mail server. */
  mail: { settings: MailSettings; mailer: Mailer } | null
  /** True when the key or account that ordered a report run has lost access to its content. */
  isWithheld(run: { site_id: string; run_id: string }): Promise<boolean>
}

/**
 * Sends all due mails one by one, until none is left or the mail server is unreachable: the next
 * run then starts with another mail. A refused mail has failed. A deferred mail is retried after
 * 1, 2, 4 … 60 minutes. Neither delays other mails.
 */
export async function sendMails(sending: Sending): Promise<void> {
  const { db, clock, log, signal, mail } = sending
  if (!mail) return markUnsendable(db, clock.now(), no_server)
  for (;;) {
    signal.throwIfAborted()
    const delivery = await claimMail(db, { now: clock.now(), lease_ms })
    if (!delivery) return
    const handover = (await isAccessLost(delivery, sending))
      ? withheld
      : await attempt(delivery, mail, { db, clock, signal })
    const settled = settle(delivery, handover, clock.now())
    await settleMail(db, delivery, settled)
    logResult(log, delivery, settled)
    if (handover.outcome === 'unreachable') return
  }
}

const withheld: Handover = {
  outcome: 'refused',
  said: 'the key or account that ordered the report has lost access to its content',
}

const isAccessLost = ({ site_id, attach_run_id }: Delivery, { isWithheld }: Sending) =>
  attach_run_id === null ? false : isWithheld({ site_id, run_id: attach_run_id })

async function attempt(
  delivery: Delivery,
  { settings, mailer }: NonNullable<Sending['mail']>,
  { db, clock, signal }: Pick<Sending, 'db' | 'clock' | 'signal'>,
): Promise<Handover> {
  const outgoing = await compose(db, delivery, settings)
  try {
    return await mailer.send(outgoing, signal)
  } catch (error) {
    // The mail server may have accepted the mail: the retry has the same Message-ID.
    const now = clock.now()
    const said = 'the server was stopped during the attempt'
    await settleMail(db, delivery, { state: 'waiting', now, again_at: now, said })
    throw error
  }
}

async function compose(
  db: Database,
  delivery: Delivery,
  { from, public_url }: MailSettings,
): Promise<OutgoingMail> {
  const { site_id, attach_run_id, link_path, recipient, subject } = delivery
  const file = attach_run_id === null ? null : await readReportFile(db, site_id, attach_run_id)
  const fits = file !== null && file.bytes.length <= attachment_bytes_max
  const why = file ? 'is too large for a mail' : 'has been deleted'
  const paragraphs = [
    delivery.text.trimEnd(),
    ...(attach_run_id === null || fits ? [] : [`The file ${why}.`]),
    ...(link_path === null || public_url === null ? [] : [public_url + link_path]),
  ]
  return {
    message_id: messageIdOf(delivery, from),
    recipient,
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    written_at: delivery.queued_at,
    attachment: fits ? file : null,
  }
}

function settle(
  { tries, first_tried_at }: Delivery,
  { outcome, said }: Handover,
  now: Date,
): Settlement {
  if (outcome === 'sent') return { state: 'sent', now, again_at: null, said }
  const is_over = now.getTime() - first_tried_at.getTime() >= attempts_ms_max
  if (outcome === 'refused' || is_over) return { state: 'failed', now, again_at: null, said }
  // An unreachable server says nothing about this mail, so its delay does not grow.
  const doubled_ms = outcome === 'deferred' ? minute_ms * 2 ** (tries - 1) : minute_ms
  const again_at = new Date(now.getTime() + Math.min(doubled_ms, wait_ms_max))
  return { state: 'waiting', now, again_at, said }
}

function logResult(
  log: Log,
  { site_id, mail_id, tries }: Delivery,
  { state, said }: Settlement,
): void {
  const details = { site_id, mail_id, tries, said }
  if (state === 'failed') log.error(details, 'a mail has failed and will not be retried')
  if (state === 'waiting') log.warn(details, 'a mail could not be sent and will be retried')
}
