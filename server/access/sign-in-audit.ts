/**
 * Sign-in operations in the audit log of the client. Requests for unknown accounts are not logged.
 */
import type { Queries } from '../storage/database.ts'
import { nextIdOf } from '../storage/site-ids.ts'

export interface SignInEvent {
  /** Id or mail address of the account. */
  who: string
  at: Date
  /** `/platform/auth/…` */
  path: string
  status: number
  /** Network address of the caller, if known. */
  address: string | null
  request_id: string | null
  /** Counts and times, never input of the user. */
  details?: object | null
}

export async function auditSignIn(
  db: Pick<Queries, 'execute'>,
  { who, at, path, status, address, request_id, details }: SignInEvent,
): Promise<void> {
  await db.execute(
    `insert into client_audit (client_id, audit_id, at, key_id, key_name, method, path, body, status, address,
       request_id)
     select client_id, ${nextIdOf('client', 'client_id::text')}, $2, id, name, 'POST', $3, $4, $5, $6, $7
     from users where id = $1 or email = $1`,
    [who, at, path, details ? JSON.stringify(details) : null, status, address, request_id],
  )
}

/** Logs a command of the operator for an account. */
export async function auditOperator(
  db: Pick<Queries, 'execute'>,
  { user_id, at, command }: { user_id: string; at: Date; command: string },
): Promise<void> {
  await db.execute(
    `insert into client_audit (client_id, audit_id, at, key_id, key_name, method, path, body, status)
     select client_id, ${nextIdOf('client', 'client_id::text')}, $2, 'operator', 'The operator of the server', 'CLI', $3,
       json_build_object('user_id', id, 'name', name)::text, 200
     from users where id = $1`,
    [user_id, at, command],
  )
}

/** Logs the exchange of an enrolment code. */
export async function auditGateway(
  db: Pick<Queries, 'execute'>,
  event: Pick<SignInEvent, 'at' | 'path' | 'address' | 'request_id'> & {
    client_id: number
    gateway: string
    details: object
  },
): Promise<void> {
  const { client_id, at, gateway, path, details, address, request_id } = event
  await db.execute(
    `insert into client_audit (client_id, audit_id, at, key_id, key_name, method, path, body, status, address,
       request_id)
     values ($1, ${nextIdOf('client', '$1::integer::text')}, $2, 'gateway', $3, 'POST', $4, $5, 200, $6, $7)`,
    [client_id, at, gateway, path, JSON.stringify(details), address, request_id],
  )
}
