/** Links by mail. */
import { type QueuedMail, queueMail } from '../mail/outbox.ts'
import type { Queries } from '../storage/database.ts'
import { invitation_days } from './invitations.ts'

type ClientMail = Omit<QueuedMail, 'site_id'> & { client_id: number }

/** A client may have people before it has a site. No site has a colon in its id. */
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
      'You were invited to see your plants. Make your account here, within ' +
      `${invitation_days} days:\n\n${linkOf(public_url, invited.link_path)}\n\n` +
      'Whoever has this link can use it once: do not pass it on.\n',
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
    subject: 'A new password for Heliograph',
    text:
      'Somebody, most likely you, asked for a new password. Choose one here, within an hour:\n\n' +
      `${linkOf(public_url, `/new-password#${token}`)}\n\n` +
      'If it was not you, nothing has changed and there is nothing to do.\n',
  })
}

const linkOf = (public_url: string, path: string) => `${public_url.replace(/\/$/, '')}${path}`
