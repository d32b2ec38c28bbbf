/** Mails with links to an account. */
import { type QueuedMail, queueMail } from '../mail/outbox.ts'
import type { Queries } from '../storage/database.ts'
import { invitation_days } from './invitations.ts'

type ClientMail = Omit<QueuedMail, 'site_id'> & { client_id: number }

/** A client may have users before it has sites. Site ids contain no colon. */
const queueClientMail = (db: Queries, { client_id, ...mail }: ClientMail): Promise<void> =>
  queueMail(db, { ...mail, site_id: `client:${client_id}` })

export function mailInvitation(
  db: Queries,
  invited: { invitation_id: string; client_id: number; email: string; link_path: string },
  public_url: string,
): Promise<void> {
  return queueClientMail(db, {
    client_id: invited.client_id,
    dedup_key: `invitation:${invited.invitation_id}`,
    recipient: invited.email,
    subject: 'Your invitation to Heliograph',
    text:
      'You have been invited to monitor your plants. Create your account within ' +
      `${invitation_days} days:\n\n${linkOf(public_url, invited.link_path)}\n\n` +
      'This link works once. Do not share it.\n',
  })
}

export function mailReset(
  db: Queries,
  { client_id, email, token }: { client_id: number; email: string; token: string },
  public_url: string,
): Promise<void> {
  return queueClientMail(db, {
    client_id,
    dedup_key: `password_reset:${token.slice(0, 8)}`,
    recipient: email,
    subject: 'Reset your Heliograph password',
    text:
      'A password reset was requested for your account. Choose a new password within an hour:\n\n' +
      `${linkOf(public_url, `/new-password#${token}`)}\n\n` +
      'If you did not request it, ignore this mail. Your password has not changed.\n',
  })
}

const linkOf = (public_url: string, path: string) => `${public_url.replace(/\/$/, '')}${path}`
