/**
 * Double opt-in of mail recipients. Keys may name any address as a recipient. Until the address is
 * confirmed by a mailed link, it gets no other mail. Users of the client are confirmed already.
 */

import { randomBytes } from 'node:crypto'
import { day_ms } from '@heliograph/domain/durations'
import { secretDigest } from '../http/authenticate.ts'
import type { Queries } from '../storage/database.ts'
import { putRow } from '../storage/rows.ts'
import { queueMail } from './outbox.ts'

const link_days = 7
/** Confirmation mails per client and day, to limit abuse by a key. */
const asked_per_day_max = 100

/** SQL: whether a client may mail an address. Both arguments are SQL; case is ignored. */
export const isConfirmed = (client_id: string, recipient: string) => `(
  exists (select from users u where u.client_id = ${client_id} and u.email = lower(${recipient})
    and u.email_verified and u.disabled_at is null)
  or exists (select from mail_recipients m where m.client_id = ${client_id}
    and m.email = lower(${recipient}) and m.confirmed_at is not null))`

interface Asked {
  site_id: string
  recipients: readonly string[]
}

/** The addresses that the client of the site may mail, in the given spelling. */
export async function confirmedRecipients(
  db: Queries,
  { site_id, recipients }: Asked,
): Promise<string[]> {
  const rows = await db.query<{ recipient: string }>(
    `select recipient from sites s, unnest($2::text[]) with ordinality as r (recipient, nth)
     where s.site_id = $1 and ${isConfirmed('s.client_id', 'recipient')} order by nth`,
    [site_id, recipients],
  )
  return rows.map(({ recipient }) => recipient)
}

/**
 * Mails a confirmation link to unconfirmed addresses without a valid link. Addresses above the
 * daily limit get none.
 */
export async function askRecipients(
  db: Queries,
  { site_id, recipients }: Asked,
  now: Date,
): Promise<void> {
  const day_ago = new Date(now.getTime() - day_ms)
  const pending = await db.query<{ client_id: number; client: string; email: string }>(
    `select c.client_id, c.name as client, lower(recipient) as email
     from sites s join clients c using (client_id), unnest($2::text[]) as recipient
     where s.site_id = $1 and not ${isConfirmed('s.client_id', 'recipient')}
       and not exists (select from mail_recipients held where held.client_id = s.client_id
         and held.email = lower(recipient) and held.expires_at > $3)
     limit greatest(0, $5 - (select count(*) from mail_recipients asked
       join sites here on here.client_id = asked.client_id
       where here.site_id = $1 and asked.asked_at > $4))`,
    [site_id, recipients, now, day_ago, asked_per_day_max],
  )
  for (const { client_id, client, email } of pending) {
    const token = randomBytes(32).toString('hex')
    const expires_at = new Date(now.getTime() + link_days * day_ms)
    const link = { secret_sha256: secretDigest(token), asked_at: now, expires_at }
    await putRow(db, 'mail_recipients', { client_id, email }, link)
    await queueMail(db, {
      site_id,
      dedup_key: `confirm_recipient:${token.slice(0, 8)}`,
      recipient: email,
      subject: 'Confirm your subscription to plant reports',
      text:
        `${client} wants to send you reports about its plants. To receive them, open the link ` +
        `below within ${link_days} days and confirm. Otherwise ignore this mail; you will receive ` +
        'no further mail.\n\nIf there is no link below, ask the operator of the server to confirm ' +
        'your address.\n',
      link_path: `/confirm-address#${token}`,
    })
  }
}

/** Confirms the address of a link; null for an unknown or expired link. */
export const confirmByLink = (db: Queries, token: string, now: Date) =>
  db.queryOne<{ email: string; client: string }>(
    `update mail_recipients m set confirmed_at = $2, secret_sha256 = null
     from clients c where c.client_id = m.client_id and m.secret_sha256 = $1 and m.expires_at > $2
     returning m.email, c.name as client`,
    [secretDigest(token), now],
  )

/** Confirms an address on behalf of the operator of the server. */
export async function confirmByOperator(
  db: Pick<Queries, 'execute'>,
  { client_id, email }: { client_id: number; email: string },
  now: Date,
): Promise<void> {
  await db.execute(
    `insert into mail_recipients (client_id, email, confirmed_at) values ($1, $2, $3)
     on conflict (client_id, email) do update
       set confirmed_at = coalesce(mail_recipients.confirmed_at, $3), secret_sha256 = null`,
    [client_id, email.toLowerCase(), now],
  )
}
