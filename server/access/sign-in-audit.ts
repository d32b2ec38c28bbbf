/**
 * What people do about signing in, in the audit that the administrators of their client read. What
 * names no account is of no client, and is not there.
 */
import type { Queries } from '../storage/database.ts'

export interface SignInEvent {
  /** The id or the address of an account. */
  who: string
  at: Date
  /** What was asked: `/platform/auth/…`. */
  path: string
  status: number
  /** The network address; null: none was told. */
  address: string | null
  request_id: string | null
  /** Figures, never what was typed. */
  details?: object | undefined
}

export async function noteSignIn(
  db: Pick<Queries, 'execute'>,
  { who, at, path, status, address, request_id, details }: SignInEvent,
): Promise<void> {
  await db.execute(
    `insert into client_audit (client_id, at, key_id, key_name, method, path, body, status, address,
       request_id)
     select client_id, $2, id, name, 'POST', $3, $4, $5, $6, $7
     from users where id = $1 or email = $1`,
    [who, at, path, details ? JSON.stringify(details) : null, status, address, request_id],
  )
}

/** What the operator of the server did for an account, by a command. */
export async function noteOperator(
  db: Pick<Queries, 'execute'>,
  { user_id, at, command }: { user_id: string; at: Date; command: string },
): Promise<void> {
  await db.execute(
    `insert into client_audit (client_id, at, key_id, key_name, method, path, body, status)
     select client_id, $2, 'operator', 'The operator of the server', 'CLI', $3,
       json_build_object('user_id', id, 'name', name)::text, 200
     from users where id = $1`,
    [user_id, at, command],
  )
}
