/** Management of users by the operator of the server. */
import type { Role } from '../http/endpoint.ts'
import { isMailAddress } from '../mail/address.ts'
import { type Admin, AdminError } from './admin.ts'
import { findClient } from './clients.ts'
import { createInvitation } from './invitations.ts'
import { createReset } from './resets.ts'
import { auditOperator } from './sign-in-audit.ts'
import { listUsers as listOf, type UserRow } from './users.ts'

/** A link that is returned once and works once. */
export interface OneTimeLink {
  /** Path on the server. */
  link_path: string
  expires_at: Date
}

export async function inviteUser(
  { db, clock }: Admin,
  order: { client: string; role: Role; email: string | null; created_by: string },
): Promise<OneTimeLink> {
  const { client_id } = await findClient(db, order.client)
  const email = order.email?.toLowerCase() ?? null
  if (email !== null && !isMailAddress(email)) {
    throw new AdminError('invalid', `${JSON.stringify(order.email)} is not a mail address`)
  }
  const { role, created_by } = order
  const invited = { client_id, role, site_ids: null, email, created_by }
  const { token, expires_at } = await createInvitation(db, invited, clock.now())
  return { link_path: `/invitation#${token}`, expires_at }
}

export async function listUsers({ db }: Admin, client: string): Promise<UserRow[]> {
  return listOf(db, (await findClient(db, client)).client_id)
}

/** True when the server has any account. */
export async function hasUsers({ db }: Pick<Admin, 'db'>): Promise<boolean> {
  return (await db.query('select 1 from users limit 1')).length > 0
}

/** A reset link for a user who cannot receive mail. Also ends a lock-out. */
export async function linkToNewPassword({ db, clock }: Admin, email: string): Promise<OneTimeLink> {
  const user_id = await idOf(db, email)
  const now = clock.now()
  return db.transaction(async (tx) => {
    const { token, expires_at } = await createReset(tx, user_id, now)
    await tx.execute('delete from sign_in_failures where email = $1', [email.toLowerCase()])
    await auditOperator(tx, { user_id, at: now, command: 'users password-link' })
    return { link_path: `/new-password#${token}`, expires_at }
  })
}

/** Removes a lost second factor; the password alone signs in from then on. */
export async function removeSecondFactor({ db, clock }: Admin, email: string): Promise<void> {
  const user_id = await idOf(db, email)
  await db.transaction(async (tx) => {
    await tx.execute('delete from user_two_factors where user_id = $1', [user_id])
    await tx.execute('update users set two_factor_enabled = false where id = $1', [user_id])
    await tx.execute('delete from user_sessions where user_id = $1', [user_id])
    const command = 'users remove-second-factor'
    await auditOperator(tx, { user_id, at: clock.now(), command })
  })
}

async function idOf(db: Admin['db'], email: string): Promise<string> {
  const [user] = await db.query<{ id: string }>('select id from users where email = $1', [
    email.toLowerCase(),
  ])
  if (!user) throw new AdminError('not_found', `there is no account for ${JSON.stringify(email)}`)
  return user.id
}
