/** The owner's platform of a server: its operations, signing in, and who signed in. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '@heliograph/domain/clock'
import * as curtailment from '../control/platform-endpoints.ts'
import type { Endpoint } from '../http/endpoint.ts'
import type { Sessions, Subtree } from '../http/serve-options.ts'
import * as reports from '../reports/platform-endpoints.ts'
import type { Database, Log } from '../storage/database.ts'
import * as audit from './audit-endpoints.ts'
import { auth_operations, createAuth } from './auth.ts'
import * as keys from './key-endpoints.ts'
import type { PlatformNeeds } from './people-endpoints.ts'
import * as people from './people-endpoints.ts'
import { createSessions } from './sessions.ts'
import { auth_path } from './sign-in-hooks.ts'
import { createSignInLock } from './sign-in-lock.ts'
import * as sites from './site-endpoints.ts'

export const platformEndpoints: readonly Endpoint<PlatformNeeds>[] = [
  ...Object.values(people),
  ...Object.values(keys),
  ...Object.values(audit),
  ...Object.values(sites),
  ...Object.values(curtailment),
  ...Object.values(reports),
]

export interface Platform {
  sessions: Sessions
  subtree: Subtree
}

export interface PlatformSettings {
  clock: Clock
  log: Log
  /** Where browsers reach this server; without it no mail has a link. */
  public_url: string | null
  /** Whether this server itself speaks TLS: then its cookies are sent over nothing else. */
  is_encrypted: boolean
}

export async function openPlatform(
  db: Database,
  { clock, log, public_url, is_encrypted }: PlatformSettings,
): Promise<Platform> {
  const auth = createAuth({
    pool: db.pool,
    secret: await signingSecret(db),
    lock: createSignInLock(db, clock),
    ...{ db, clock, log, public_url, is_encrypted },
  })
  return {
    sessions: createSessions(auth, db),
    subtree: {
      path: auth_path,
      operations: auth_operations,
      answer: (request) => auth.handler(request),
    },
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
