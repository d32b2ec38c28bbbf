/** Sign-in to the platform: accounts and sessions. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import type { Subtree } from '../http/serve-options.ts'
import type { Database, Log, Queries } from '../storage/database.ts'
import { auth_operations, createAuth } from './auth.ts'
import { createSessions } from './sessions.ts'
import { auth_path } from './sign-in-hooks.ts'

interface PlatformSettings {
  clock: Clock
  log: Log
  /** The address that browsers use; null when not configured: then no links are mailed. */
  public_url: string | null
  /** True when this server terminates TLS: its cookies are then secure cookies. */
  is_encrypted: boolean
}

export async function openPlatform(
  db: Database,
  { clock, log, public_url, is_encrypted }: PlatformSettings,
) {
  const auth = createAuth({
    pool: db.pool,
    secret: await platformSecret(db),
    db,
    clock,
    log,
    public_url,
    is_encrypted,
  })
  return {
    sessions: createSessions(auth, db),
    subtree: {
      path: auth_path,
      operations: auth_operations,
      answer: (request) => auth.handler(request),
    } satisfies Subtree,
  }
}

/** One secret for all servers of a database, created at its first use. */
export async function platformSecret(db: Queries): Promise<string> {
  await db.execute(
    'insert into platform_secret (secret) values ($1) on conflict (only_one) do nothing',
    [randomBytes(32).toString('hex')],
  )
  const [row] = await db.query<{ secret: string }>('select secret from platform_secret')
  return row!.secret
}
