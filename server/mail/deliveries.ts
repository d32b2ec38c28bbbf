/** Mails in the outbox, as those who send them see it. */
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
  /** This one included. It also tells this claim from another of the same mail. */
  tries: number
  first_tried_at: Date
}

/**
 * Takes the next mail that is due, for `lease_ms`: whoever dies meanwhile leaves it to others.
 * Those with a file, which take long, come after the others. Null when none is due.
 */
export async function claimMail(
  db: Queries,
  { now, lease_ms }: { now: Date; lease_ms: number },
): Promise<Delivery | null> {
  const [claimed] = await db.query<Delivery>(
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
  return claimed ?? null
}

/** What became of an attempt; `again_at` null: it ended. */
export interface Settlement {
  state: 'waiting' | 'sent' | 'failed'
  now: Date
  again_at: Date | null
  /** What the mail server said, or why it said nothing. */
  said: string
}

/** Writes it down, unless the claim has run out and somebody else has the mail by now. */
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

/** Every mail that is due is kept, and not sent: the reason says why. */
export async function giveUpMails(db: Queries, now: Date, reason: string): Promise<void> {
  await db.execute(
    `update mail_outbox set state = 'unsendable', last_error = $2, ended_at = $1
     where state = 'waiting' and (next_try_at is null or next_try_at <= $1)`,
    [now, reason],
  )
}

/** Mails that ended that long ago, with whom they went to and what they said. */
export async function forgetMails(db: Queries, now: Date): Promise<void> {
  await db.execute(
    `delete from mail_outbox where ended_at < $1::timestamptz - interval '90 days'`,
    [now],
  )
}

/** The file that goes with a mail; null when it is no longer kept. */
interface ReportFile {
  bytes: Uint8Array
  file_name: string
  content_type: string
}

export async function readReportFile(
  db: Queries,
  site_id: string,
  run_id: string,
): Promise<ReportFile | null> {
  const [file] = await db.query<ReportFile>(
    `select bytes, file_name, content_type from report_files where site_id = $1 and run_id = $2`,
    [site_id, run_id],
  )
  return file ?? null
}
