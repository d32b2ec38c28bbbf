/** The owner's platform of a server: its operations, signing in, and who signed in. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import type { Endpoint } from '../http/endpoint.ts'
import type { Sessions, Subtree } from '../http/serve-options.ts'
import type { MailSettings } from '../mail/settings.ts'
import type { Database, Log } from '../storage/database.ts'
import { auth_path, createAuth } from './auth.ts'
import * as keys from './key-endpoints.ts'
import { mailReset } from './mails.ts'
import type { PlatformNeeds } from './people-endpoints.ts'
import * as people from './people-endpoints.ts'
import { createSessions } from './sessions.ts'
import { createSignInLock } from './sign-in-lock.ts'

export const platformEndpoints: readonly Endpoint<PlatformNeeds>[] = [
  ...Object.values(people),
  ...Object.values(keys),
]

export interface Platform {
  sessions: Sessions
  subtree: Subtree
}

export async function openPlatform(
  db: Database,
  { clock, log, mail }: { clock: Clock; log: Log; mail: MailSettings | null },
): Promise<Platform> {
  const public_url = mail?.public_url ?? null
  const auth = createAuth({
    pool: db.pool,
    secret: await signingSecret(db),
    lock: createSignInLock(db, clock),
    ...{ log, public_url },
    async sendReset(to) {
      if (public_url !== null) await mailReset(db, to, public_url)
    },
  })
  return {
    sessions: createSessions(auth, db),
    subtree: { path: auth_path, answer: (request) => auth.handler(request) },
  }
}

/** One for all servers of a database: whoever starts first makes it. */
async function signingSecret(db: Database): Promise<string> {
  await db.execute(
    'insert into platform_secret (secret) values ($1) on conflict (only_one) do nothing',
    [randomBytes(32).toString('hex')],
  )
  const [row] = await db.query<{ secret: string }>('select secret from platform_secret')
  return row!.secret
}
