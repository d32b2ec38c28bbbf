/** The keys that requests present: cached, checked, guarded against guessing, their use noted. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import { type ApiKey, checkKey, keyUses, loadKeys, presentedKey } from './authenticate.ts'
import { freshCache } from './fresh-cache.ts'
import { periodically } from './periodic.ts'
import { failedKeys } from './rate-limit.ts'

export interface Bearer {
  authorization: string | undefined
  /** Of the client; asked for only when a key is refused or not yet known. */
  address(): string
}

export interface Keyring {
  /** The key, at once where it is known; throws or rejects with 401, 429 or 503. */
  authenticate(bearer: Bearer): ApiKey | Promise<ApiKey>
  stop(): Promise<void>
}

const last_used_ms = 60_000

export async function openKeyring(deps: {
  db: Database
  clock: Clock
  timers: Timers
  log: Log
}): Promise<Keyring> {
  const { db } = deps
  const now = () => deps.clock.now().getTime()
  const keys = freshCache<ApiKey>({ ...deps, name: 'API keys', load: (ids) => loadKeys(db, ids) })
  const uses = keyUses(db)
  const writing = periodically(deps, 'writing when keys were last used', last_used_ms, uses.write)
  const failed = failedKeys()
  /** Keys that were good once: the wrong key of a neighbour at their address locks none out. */
  const proven = new Set<string>()
  const listening = await db.listen('key_changed', {
    notified: keys.forget,
    resumed: keys.forgetAll,
  })

  /** Runs a check; a key that it refuses counts against its address. */
  function guarded<Result>(bearer: Bearer, check: () => Result): Result {
    try {
      return check()
    } catch (refusal) {
      if (bearer.authorization) {
        const address = bearer.address()
        failed.check(address, now())
        failed.note(address, now())
      }
      throw refusal
    }
  }

  function pass(bearer: Bearer, key: ApiKey | null, secret: string): ApiKey {
    const good = guarded(bearer, () => checkKey(key, secret, now()))
    const { key_id } = good.caller
    proven.add(key_id)
    uses.note(key_id, now())
    return good
  }

  return {
    authenticate(bearer) {
      const { key_id, secret } = guarded(bearer, () => presentedKey(bearer.authorization))
      const known = keys.peek(key_id)
      if (known !== undefined) return pass(bearer, known, secret)
      // An address that keeps guessing costs no query.
      if (!proven.has(key_id)) failed.check(bearer.address(), now())
      return keys.read(key_id).then((read) => pass(bearer, read, secret))
    },
    async stop() {
      await Promise.all([keys.stop(), writing.stop(), listening.stop()])
      await uses.write()
    },
  }
}
