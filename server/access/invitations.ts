/** One-time links to an account of one's own, made by an administrator or by the first start. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { secretDigest } from '../http/authenticate.ts'
import type { Role } from '../http/endpoint.ts'
import type { Queries, Transaction } from '../storage/database.ts'
import { newUserId } from './users.ts'

export const invitation_days = 7
const day_ms = 86_400_000

export interface Invitation {
  invitation_id: string
  client_id: number
  role: Role
  site_ids: string[] | null
  email: string | null
  created_at: Date
  created_by: string
  expires_at: Date
  accepted_at: Date | null
  revoked_at: Date | null
}

type InvitationState = 'open' | 'accepted' | 'expired' | 'revoked'

export function invitationState(invitation: Invitation, now: Date): InvitationState {
  if (invitation.accepted_at !== null) return 'accepted'
  if (invitation.revoked_at !== null) return 'revoked'
  return invitation.expires_at <= now ? 'expired' : 'open'
}

interface InvitationOrder {
  client_id: number
  role: Role
  site_ids: readonly string[] | null
  /** null: of the first link alone. */
  email: string | null
  created_by: string
}

const columns = `invitation_id, client_id, role, site_ids, email, created_at, created_by, expires_at,
  accepted_at, revoked_at`

/** `token` is shown once: only its digest is kept. */
export async function createInvitation(
  db: Queries,
  { client_id, role, site_ids, email, created_by }: InvitationOrder,
  now: Date,
): Promise<Invitation & { token: string }> {
  const invitation_id = randomBytes(6).toString('hex')
  const secret = randomBytes(32).toString('hex')
  const expires_at = new Date(now.getTime() + invitation_days * day_ms)
  const [made] = await db.query<Invitation>(
    `insert into invitations (invitation_id, client_id, secret_sha256, role, site_ids, email,
       created_at, created_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${columns}`,
    [
      invitation_id,
      client_id,
      secretDigest(secret),
      role,
      site_ids,
      email,
      now,
      created_by,
      expires_at,
    ],
  )
  return { ...made!, token: `${invitation_id}${secret}` }
}

export const listInvitations = (db: Queries, client_id: number) =>
  db.query<Invitation>(
    `select ${columns} from invitations where client_id = $1 order by created_at, invitation_id`,
    [client_id],
  )

/** Null where there is none of this client. */
export async function revokeInvitation(
  db: Queries,
  { client_id, invitation_id }: { client_id: number; invitation_id: string },
  now: Date,
): Promise<Invitation | null> {
  const [row] = await db.query<Invitation>(
    `update invitations set revoked_at = coalesce(revoked_at, $3)
     where client_id = $1 and invitation_id = $2 returning ${columns}`,
    [client_id, invitation_id, now],
  )
  return row ?? null
}

/** The open invitation that a token belongs to, kept from all others until the end; null: none. */
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

interface NewAccount {
  email: string
  name: string
  password_hash: string
}

/** Makes the account and uses the invitation up. Null where the address is taken. */
export async function acceptInvitation(
  tx: Transaction,
  { invitation_id, client_id, role, site_ids }: Invitation,
  { email, name, password_hash }: NewAccount,
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
  // Of an address, and of those that name nobody, one link is used and the others end with it.
  await tx.execute(
    `update invitations set revoked_at = $2 where client_id = $1 and accepted_at is null
       and revoked_at is null and coalesce(email, $3) = $3`,
    [client_id, now, email],
  )
  return user_id
}
