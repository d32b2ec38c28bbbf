import type { Queries } from '../storage/database.ts'
import { isMailAddress } from './address.ts'

export interface QueuedMail {
  site_id: string
  /**
   * Identifies the subject matter. A recipient gets one mail per key, however often it is queued.
   */
  dedup_key: string
  /** One address; see `isMailAddress`. */
  recipient: string
  /** Reduced to one line of at most 200 characters. */
  subject: string
  /** Plain text. Control characters other than line ends and tabs become blanks. */
  text: string
  /** Report run whose file is attached. */
  attach_run_id?: string
  /** Path of a link, which is added when `PUBLIC_URL` is configured. */
  link_path?: string
  /** Defaults to now. */
  not_before?: Date
}

/** Notified on commit when a mail was queued. */
export const queued_channel = 'mail_queued'

/**
 * Queues a mail to be sent after the commit. A mail that cannot be sent (no mail server, invalid
 * address) is stored as `unsendable` with the reason; the caller does not fail.
 */
export async function queueMail(db: Queries, mail: QueuedMail): Promise<void> {
  const reason = isMailAddress(mail.recipient) ? null : 'the recipient is not a mail address'
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

/** Control characters, line ends and bidirectional controls. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

/** Reduces text to one line: unprintable characters become blanks. */
export function singleLine(text: string, characters_max: number): string {
  const line = text.toWellFormed().replace(unprintable, ' ').replace(/ {2,}/g, ' ').trim()
  const characters = [...line]
  if (characters.length <= characters_max) return line
  return `${characters.slice(0, characters_max - 1).join('')}…`
}

/** Normalises line ends to \n and replaces control characters. */
function plainText(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n')
  return lines.replace(unprintable, (mark) => (mark === '\n' || mark === '\t' ? mark : ' '))
}
