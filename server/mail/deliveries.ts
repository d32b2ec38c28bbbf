/** The outbox from the side of the sender. */
import type { Queries } from '../storage/database.ts'

export interface Delivery {
  site_id: string
  mail_id: number
  dedup_key: string
  recipient: string
  subject: string
  text: string
  attach_run_id: string | null
  link_path: string | null
  queued_at: Date
  /** Attempts including this one. Also identifies the claim. */
  tries: number
  first_tried_at: Date
}

/**
 * Claims the next due mail for `lease_ms`, after which other senders may claim it. Mails with an
 * attachment come last, as they take longer. Null when no mail is due.
 */
export const claimMail = (db: Queries, { now, lease_ms }: { now: Date; lease_ms: number }) =>
  db.queryOne<Delivery>(
    // Materialized: as a joined subquery it may run once for each row, and claim them all.
    `with due as materialized (
       select site_id, mail_id from mail_outbox
       where state = 'waiting' and (next_try_at is null or next_try_at <= $1)
         and (claimed_until is null or claimed_until <= $1)
       order by attach_run_id is not null, next_try_at nulls first, mail_id
       limit 1 for update skip locked
     )
     update mail_outbox m
     set tries = tries + 1, claimed_until = $2, first_tried_at = coalesce(first_tried_at, $1)
     from due
     where m.site_id = due.site_id and m.mail_id = due.mail_id
     returning m.site_id, m.mail_id, m.dedup_key, m.recipient, m.subject, m.text, m.attach_run_id,
       m.link_path, m.queued_at, m.tries, m.first_tried_at`,
    [now, new Date(now.getTime() + lease_ms)],
  )

/** The result of an attempt. */
export interface Settlement {
  state: 'waiting' | 'sent' | 'failed'
  now: Date
  /** Time of the next attempt; null for none. */
  again_at: Date | null
  /** Answer of the mail server, or the error. */
  said: string
}

/** Stores the result of an attempt, unless another sender has claimed the mail since. */
export async function settleMail(
  db: Queries,
  { site_id, mail_id, tries }: Pick<Delivery, 'site_id' | 'mail_id' | 'tries'>,
  { state, now, again_at, said }: Settlement,
): Promise<void> {
  const is_sent = state === 'sent'
  await db.execute(
    `update mail_outbox
     set state = $4, claimed_until = null, next_try_at = coalesce($5, next_try_at), answer = $6,
       last_error = $7, ended_at = $8
     where site_id = $1 and mail_id = $2 and tries = $3 and state = 'waiting'`,
    [
      site_id,
      mail_id,
      tries,
      state,
      again_at,
      is_sent ? said : null,
      is_sent ? null : said,
      state === 'waiting' ? null : now,
    ],
  )
}

/** Marks all due mails as unsendable. */
export async function markUnsendable(db: Queries, now: Date, reason: string): Promise<void> {
  await db.execute(
    `update mail_outbox set state = 'unsendable', last_error = $2, ended_at = $1
     where state = 'waiting' and (next_try_at is null or next_try_at <= $1)`,
    [now, reason],
  )
}

/** Deletes mails 90 days after they were sent or failed. */
export async function deleteOldMails(db: Queries, now: Date): Promise<void> {
  await db.execute(
    `delete from mail_outbox where ended_at < $1::timestamptz - interval '90 days'`,
    [now],
  )
}

interface ReportFile {
  bytes: Uint8Array
  file_name: string
  content_type: string
}

/** The attachment of a mail; null when it was deleted. */
export const readReportFile = (db: Queries, site_id: string, run_id: string) =>
  db.queryOne<ReportFile>(
    `select bytes, file_name, content_type from report_files where site_id = $1 and run_id = $2`,
    [site_id, run_id],
  )
