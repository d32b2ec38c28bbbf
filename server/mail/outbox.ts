/** Mails that are to be sent: put down with what they tell of, in one transaction. */
import type { Queries } from '../storage/database.ts'
import { isMailAddress } from './address.ts'

export interface QueuedMail {
  site_id: string
  /** What it is about. Of that, a recipient is sent one mail, however often it is queued. */
  dedup_key: string
  /** One address; see `isMailAddress`. */
  recipient: string
  /** Made a single line of at most 200 characters. */
  subject: string
  /** Plain text. Control characters other than line ends and tabs are left out. */
  text: string
  /** A run of a report whose file goes with it. */
  attach_run_id?: string
  /** What it is about, below the server's public address: told where that is set. */
  link_path?: string
  /** At once when it is left out. */
  not_before?: Date
}

/** Notified when a mail was queued, after the commit. */
export const queued_channel = 'mail_queued'

/**
 * Queues a mail: it goes out after the commit, and not at all without one. Where it cannot be sent
 * (no mail server is set, no address) it is kept as `unsendable`, with the reason; nothing fails.
 */
export async function queueMail(db: Queries, mail: QueuedMail): Promise<void> {
  const reason = isMailAddress(mail.recipient) ? null : 'the recipient is no mail address'
  const queued = await db.execute(
    `insert into mail_outbox
       (site_id, dedup_key, recipient, subject, text, attach_run_id, link_path, next_try_at,
        state, last_error, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
       case when $10::text is not null then now() end)
     on conflict (site_id, dedup_key, recipient) do nothing`,
    [
      mail.site_id,
      mail.dedup_key,
      mail.recipient.replaceAll('\0', ''),
      singleLine(mail.subject, subject_characters_max),
      plainText(mail.text),
      mail.attach_run_id ?? null,
      mail.link_path ?? null,
      mail.not_before ?? null,
      reason === null ? 'waiting' : 'unsendable',
      reason,
    ],
  )
  if (queued > 0) await db.execute(`select pg_notify($1, '')`, [queued_channel])
}

const subject_characters_max = 200

/** Control characters, line ends of any kind, and what turns the direction of writing. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

/** The text as one line: what would end it, or hide what follows, is a blank. */
export function singleLine(text: string, characters_max: number): string {
  const line = text.toWellFormed().replace(unprintable, ' ').replace(/ {2,}/g, ' ').trim()
  const characters = [...line]
  if (characters.length <= characters_max) return line
  return `${characters.slice(0, characters_max - 1).join('')}…`
}

/** Lines that end in \n, without control characters. */
function plainText(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n')
  return lines.replace(unprintable, (mark) => (mark === '\n' || mark === '\t' ? mark : ' '))
}
