import { randomBytes } from 'node:crypto'
import type { Queries, Transaction } from '../storage/database.ts'
import type { Stored } from '../storage/records.ts'
import type { User } from './schemas.ts'

export const newUserId = () => `user_${randomBytes(6).toString('hex')}`

const selectUsers = `select id as user_id, name, email, role, site_ids, two_factor_enabled,
    disabled_at is not null as is_disabled, created_at,
    (select max(created_at) from user_sessions s where s.user_id = u.id) as signed_in_at
  from users u where client_id = $1`

export const listUsers = (db: Queries, client_id: number) =>
  db.query<Stored<User>>(`${selectUsers} order by id`, [client_id])

export const findUser = (
  db: Queries,
  { client_id, user_id }: { client_id: number; user_id: string },
) => db.queryOne<Stored<User>>(`${selectUsers} and id = $2`, [client_id, user_id])

export type UserRow = Stored<User>

type UserChange = Partial<Pick<User, 'name' | 'role' | 'site_ids' | 'is_disabled'>>

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
 * Changes a user. Disabling or enabling a user ends all sessions; a changed role applies from the
 * next request. Returns false when the client would have no administrator left: the caller must
 * roll the transaction back.
 */
export async function changeUser(
  tx: Transaction,
  user: { user_id: string; client_id: number },
  change: UserChange,
  now: Date,
): Promise<boolean> {
  const { user_id, client_id } = user
  // The lock orders two administrators who demote each other at once.
  await tx.execute('select 1 from clients where client_id = $1 for update', [client_id])
  const { name = null, role = null, is_disabled = null, site_ids } = change
  // Fields that were not sent keep the value of a concurrent change.
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

/** Deletes a user with all credentials. Returns false as `changeUser` does. */
export async function removeUser(
  tx: Transaction,
  { client_id, user_id }: { client_id: number; user_id: string },
): Promise<boolean> {
  await tx.execute('select 1 from clients where client_id = $1 for update', [client_id])
  // Open invitations to the same address would restore access.
  await tx.execute(
    `update invitations set revoked_at = now() where client_id = $1 and revoked_at is null
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
