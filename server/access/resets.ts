/** Links to reset a password, mailed on request or handed over by the operator. */
import { hash, randomBytes } from 'node:crypto'
import type { Database, Queries } from '../storage/database.ts'
import { mailReset } from './mails.ts'
import { auditSignIn, type SignInEvent } from './sign-in-audit.ts'

const reset_s = 3600
/** Anybody may request a reset, so only the first request of an account in this time is audited. */
const noted_s = 3600

/** Returns the token this once: its digest is stored, where the sign-in library looks it up. */
export async function createReset(
  db: Queries,
  user_id: string,
  now: Date,
): Promise<{ token: string; expires_at: Date }> {
  const token = randomBytes(24).toString('base64url')
  const expires_at = new Date(now.getTime() + reset_s * 1000)
  await db.execute(
    `insert into user_verifications (id, identifier, value, expires_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5)`,
    [randomBytes(16).toString('hex'), identifierOf(token), user_id, expires_at, now],
  )
  return { token, expires_at }
}

const identifierOf = (token: string) => hash('sha256', `reset-password:${token}`, 'base64url')

/** Deletes all other links of the account. Of links used at the same time, none may remain. */
export async function endOtherResets(
  db: Pick<Queries, 'execute'>,
  { user_id, token }: { user_id: string; token: string },
): Promise<void> {
  await db.execute('delete from user_verifications where value = $1 and identifier <> $2', [
    user_id,
    identifierOf(token),
  ])
}

/** Audits the request and queues the mail. Does nothing for an unknown address. */
export async function sendReset(
  db: Database,
  asked: SignInEvent,
  public_url: string | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    // The lock orders concurrent requests for the same account.
    const [user] = await tx.query<{ user_id: string; client_id: number; email: string }>(
      'select id as user_id, client_id, email from users where email = $1 for no key update',
      [asked.who],
    )
    if (!user) return
    const since = new Date(asked.at.getTime() - noted_s * 1000)
    const noted = await tx.query(
      'select from client_audit where client_id = $1 and at > $2 and key_id = $3 and path = $4',
      [user.client_id, since, user.user_id, asked.path],
    )
    if (noted.length === 0) await auditSignIn(tx, asked)
    if (public_url === null) return
    const { token } = await createReset(tx, user.user_id, asked.at)
    await mailReset(tx, { ...user, token }, public_url)
  })
}
