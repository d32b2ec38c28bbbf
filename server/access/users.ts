/** The people of a client. */
import { randomBytes } from 'node:crypto'
import type { Role } from '../http/endpoint.ts'
import type { Queries, Transaction } from '../storage/database.ts'

export interface User {
  user_id: string
  name: string
  email: string
  role: Role
  site_ids: string[] | null
  two_factor_enabled: boolean
  is_disabled: boolean
  created_at: Date
  /** Of the sessions that are not over, the newest. */
  signed_in_at: Date | null
}

export const newUserId = () => `user_${randomBytes(6).toString('hex')}`

const selectUsers = `select id as user_id, name, email, role, site_ids, two_factor_enabled,
    disabled_at is not null as is_disabled, created_at,
    (select max(created_at) from user_sessions s where s.user_id = u.id) as signed_in_at
  from users u where client_id = $1`

export const listUsers = (db: Queries, client_id: number) =>
  db.query<User>(`${selectUsers} order by id`, [client_id])

export async function findUser(
  db: Queries,
  { client_id, user_id }: { client_id: number; user_id: string },
): Promise<User | null> {
  const [row] = await db.query<User>(`${selectUsers} and id = $2`, [client_id, user_id])
  return row ?? null
}

interface UserChange {
  name?: string
  role?: Role
  site_ids?: readonly string[] | null
  is_disabled?: boolean
}

export async function clientName(
  db: Queries,
  { client_id }: { client_id: number },
): Promise<string> {
  const [client] = await db.query<{ name: string }>(
    'select name from clients where client_id = $1',
    [client_id],
  )
  return client!.name
}

/**
 * Changes a person. Who is disabled, or no longer, is signed out everywhere; what a role allows is
 * asked anew with each request. Returns false, and nothing is to be committed, where the client
 * would be left without an administrator.
 */
export async function changeUser(
  tx: Transaction,
  user: { user_id: string; client_id: number },
  change: UserChange,
  now: Date,
): Promise<boolean> {
  const { user_id, client_id } = user
  // Two administrators who demote each other come one after the other.
  await tx.execute('select 1 from clients where client_id = $1 for update', [client_id])
  const { name = null, role = null, is_disabled = null, site_ids } = change
  // Only what was sent: what somebody else has just changed stays.
  await tx.execute(
    `update users set name = coalesce($3, name), role = coalesce($4, role), updated_at = $8,
       site_ids = case when $5 then $6::text[] else site_ids end,
       disabled_at = case when $7::boolean is null then disabled_at
         when $7 then coalesce(disabled_at, $8) end
     where client_id = $1 and id = $2`,
    [client_id, user_id, name, role, site_ids !== undefined, site_ids ?? null, is_disabled, now],
  )
  if (!(await hasAdministrator(tx, client_id))) return false
  if (is_disabled !== null)
    await tx.execute('delete from user_sessions where user_id = $1', [user_id])
  return true
}

/** Removes a person and whatever signs him in; what he did stays under his name. */
export async function removeUser(
  tx: Transaction,
  { client_id, user_id }: { client_id: number; user_id: string },
): Promise<boolean> {
  await tx.execute('select 1 from clients where client_id = $1 for update', [client_id])
  // Nor does another link that was made for the same address let in again.
  await tx.execute(
    `update invitations set revoked_at = coalesce(revoked_at, now()) where client_id = $1
       and accepted_at is null and email = (select email from users where id = $2)`,
    [client_id, user_id],
  )
  await tx.execute('delete from users where client_id = $1 and id = $2', [client_id, user_id])
  return hasAdministrator(tx, client_id)
}

async function hasAdministrator(db: Queries, client_id: number): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }>(
    `select exists (select from users where client_id = $1 and role = 'administrator'
       and disabled_at is null) as has`,
    [client_id],
  )
  return row!.has
}
