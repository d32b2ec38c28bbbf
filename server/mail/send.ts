/** Sends what waits in the outbox: at least once, each mail with a Message-ID that stays. */
import type { Clock } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import {
  claimMail,
  type Delivery,
  giveUpMails,
  readReportFile,
  type Settlement,
  settleMail,
} from './deliveries.ts'
import type { MailSettings } from './settings.ts'
import { type Handover, type Mailer, messageIdOf, type OutgoingMail } from './transport.ts'

/** Longer than the handover of a mail may take. */
const lease_ms = 5 * 60_000
const minute_ms = 60_000
const wait_ms_max = 60 * minute_ms
/** After so long of attempts nobody waits for it any more. */
const attempts_ms_max = 24 * 60 * minute_ms
/** Most servers take no mail over 25 MB, and files grow by a third in it. */
const attachment_bytes_max = 15 * 1024 * 1024

const no_server = 'no mail server is set: SMTP_URL or SMTP_HOST'

export interface Sending {
  db: Database
  clock: Clock
  log: Log
  /** Ends between two mails, and what is being sent. */
  signal: AbortSignal
  /** null: no mail server is set. */
  mail: { settings: MailSettings; mailer: Mailer } | null
  /** Whether whoever ordered the report of a run may no longer read what is in its file. */
  isWithheld(run: { site_id: string; run_id: string }): Promise<boolean>
}

/**
 * Sends each mail that is due, one after the other, and ends when none is left or the mail server
 * is in trouble: then the next run asks it again, with another mail. A mail that it refuses has
 * failed; one that it defers is tried again after 1, 2, 4 … 60 minutes; both hold up no other.
 */
export async function sendMails(sending: Sending): Promise<void> {
  const { db, clock, log, signal, mail } = sending
  if (!mail) return giveUpMails(db, clock.now(), no_server)
  for (;;) {
    signal.throwIfAborted()
    const delivery = await claimMail(db, { now: clock.now(), lease_ms })
    if (!delivery) return
    const handover = (await isHeldBack(delivery, sending))
      ? withheld
      : await attempt(delivery, mail, { db, clock, signal })
    const settled = settle(delivery, handover, clock.now())
    await settleMail(db, delivery, settled)
    tell(log, delivery, settled)
    if (handover.outcome === 'unreachable') return
  }
}

const withheld: Handover = {
  outcome: 'refused',
  said: 'the key or account that ordered the report may no longer read what is in it',
}

const isHeldBack = ({ site_id, attach_run_id }: Delivery, { isWithheld }: Sending) =>
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
    // Whether it was taken is not known: who sends it again does so under the same Message-ID.
    const now = clock.now()
    const said = 'the server was stopped meanwhile'
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
  const why = file ? 'is too large for a mail' : 'is no longer kept'
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
  // Of a server in trouble this mail says nothing: it is asked again soon, with others first.
  const doubled_ms = outcome === 'deferred' ? minute_ms * 2 ** (tries - 1) : minute_ms
  const again_at = new Date(now.getTime() + Math.min(doubled_ms, wait_ms_max))
  return { state: 'waiting', now, again_at, said }
}

function tell(log: Log, { site_id, mail_id, tries }: Delivery, { state, said }: Settlement): void {
  const about = { site_id, mail_id, tries, said }
  if (state === 'failed') log.error(about, 'a mail could not be sent, and is not tried again')
  if (state === 'waiting') log.warn(about, 'a mail could not be sent yet')
}
