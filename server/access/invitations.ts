/** One-time invitation links, created by an administrator or at the first start of the server. */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { day_ms } from '@heliograph/domain/durations'
import { secretDigest } from '../http/authenticate.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'
import { insertRow } from '../storage/rows.ts'
import type { Invitation as InvitationRecord } from './schemas.ts'
import { newUserId } from './users.ts'

export const invitation_days = 7

export type Invitation = Stored<Omit<InvitationRecord, 'state'>> & {
  client_id: number
  accepted_at: Date | null
  revoked_at: Date | null
}

export function invitationState(invitation: Invitation, now: Date): InvitationRecord['state'] {
  if (invitation.accepted_at !== null) return 'accepted'
  if (invitation.revoked_at !== null) return 'revoked'
  return invitation.expires_at <= now ? 'expired' : 'open'
}

/** `email` is null only for the first link of a server. */
type InvitationOrder = Pick<Invitation, 'client_id' | 'role' | 'site_ids' | 'email' | 'created_by'>

const columns = `invitation_id, client_id, role, site_ids, email, created_at, created_by, expires_at,
  accepted_at, revoked_at`

/** Returns `token` this once: only its digest is stored. */
export async function createInvitation(
  db: Queries,
  order: InvitationOrder,
  now: Date,
): Promise<Invitation & { token: string }> {
  const invitation_id = randomBytes(6).toString('hex')
  const secret = randomBytes(32).toString('hex')
  const expires_at = new Date(now.getTime() + invitation_days * day_ms)
  const made = await insertRow<Invitation>(
    db,
    'invitations',
    { ...order, invitation_id, secret_sha256: secretDigest(secret), created_at: now, expires_at },
    `returning ${columns}`,
  )
  return { ...made!, token: `${invitation_id}${secret}` }
}

export const listInvitations = (db: Queries, client_id: number) =>
  db.query<Invitation>(
    `select ${columns} from invitations where client_id = $1 order by created_at, invitation_id`,
    [client_id],
  )

/** Null when the client has no such invitation. */
export const revokeInvitation = (
  db: Queries,
  { client_id, invitation_id }: { client_id: number; invitation_id: string },
  now: Date,
) =>
  db.queryOne<Invitation>(
    `update invitations set revoked_at = coalesce(revoked_at, $3)
     where client_id = $1 and invitation_id = $2 returning ${columns}`,
    [client_id, invitation_id, now],
  )

/** The open invitation of a token, locked until the end of the transaction; null when none. */
export async function findInvitation(
  db: Queries,
  token: string,
  now: Date,
): Promise<(Invitation & { client: string }) | null> {
  if (!/^[0-9a-f]{76}$/.test(token)) return null
  const [row] = await db.query<Invitation & { client: string; secret_sha256: Buffer }>(
    `select ${columns.replaceAll(/\b(\w+)\b/g, 'i.$1')}, i.secret_sha256, c.name as client
     from invitations i join clients c using (client_id) where invitation_id = $1 for update of i`,
    [token.slice(0, 12)],
  )
  if (!row) return null
  const { secret_sha256, ...invitation } = row
  const is_right = timingSafeEqual(secretDigest(token.slice(12)), secret_sha256)
  return is_right && invitationState(invitation, now) === 'open' ? invitation : null
}

/** Creates the account and marks the invitation accepted. Null when the address has an account. */
export async function acceptInvitation(
  tx: Transaction,
  { invitation_id, client_id, role, site_ids }: Invitation,
  { email, name, password_hash }: { email: string; name: string; password_hash: string },
  now: Date,
): Promise<string | null> {
  const user_id = newUserId()
  const made = await tx.execute(
    `insert into users (id, client_id, role, site_ids, name, email, email_verified, created_at,
       updated_at)
     values ($1, $2, $3, $4, $5, $6, true, $7, $7) on conflict (email) do nothing`,
    [user_id, client_id, role, site_ids, name, email, now],
  )
  if (made === 0) return null
  await tx.execute(
    `insert into user_accounts (id, user_id, account_id, provider_id, password, created_at,
       updated_at)
     values ($1, $2, $2, 'credential', $3, $4, $4)`,
    [randomBytes(16).toString('hex'), user_id, password_hash, now],
  )
  await tx.execute(
    'update invitations set accepted_at = $2, accepted_by = $3 where invitation_id = $1',
    [invitation_id, now, user_id],
  )
  // Other links to the same address, or without an address, end with this one.
  await tx.execute(
    `update invitations set revoked_at = $2 where client_id = $1 and accepted_at is null
       and revoked_at is null and coalesce(email, $3) = $3`,
    [client_id, now, email],
  )
  return user_id
}
