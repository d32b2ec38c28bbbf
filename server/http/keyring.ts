/** Authentication by API key: cached keys, a limit on guesses, and the time of last use. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import { type ApiKey, checkKey, keyUses, loadKeys, presentedKey } from './authenticate.ts'
import { fresh_ms, freshCache } from './fresh-cache.ts'
import { periodically } from './periodic.ts'
import { failedKeys } from './rate-limit.ts'

export interface Bearer {
  authorization: string | undefined
  /** Network address of the caller; called only when a key is refused or not cached. */
  address(): string
}

const last_used_ms = 60_000

/**
 * The ids of valid keys, for addresses above the limit of failures: their valid keys still work,
 * and all their guesses together cost one query a second.
 */
function goodKeys(db: Database, now: () => number) {
  let ids: Promise<ReadonlySet<string>> = Promise.resolve(new Set())
  let read_ms = Number.NEGATIVE_INFINITY
  const read = async () => {
    const rows = await db.query<{ key_id: string }>(
      `select key_id from api_keys
       where revoked_at is null and (expires_at is null or expires_at > $1)`,
      [new Date(now())],
    )
    return new Set(rows.map(({ key_id }) => key_id))
  }
  return {
    async has(key_id: string): Promise<boolean> {
      const age_ms = now() - read_ms
      if (age_ms < 0 || age_ms > fresh_ms) {
        read_ms = now()
        ids = read()
        // The next request retries at once.
        ids.catch(() => {
          read_ms = Number.NEGATIVE_INFINITY
        })
      }
      return (await ids).has(key_id)
    },
  }
}

export async function openKeyring(deps: { db: Database; clock: Clock; timers: Timers; log: Log }) {
  const { db } = deps
  const now = () => deps.clock.now().getTime()
  const keys = freshCache<ApiKey>({ ...deps, name: 'API keys', load: (ids) => loadKeys(db, ids) })
  const uses = keyUses(db)
  const writing = periodically(deps, 'writing when keys were last used', last_used_ms, uses.write)
  const failed = failedKeys()
  const good = goodKeys(db, now)
  const listening = await db.listen('key_changed', {
    notified: keys.forget,
    resumed: keys.forgetAll,
  })

  /** Runs a check and counts refused keys against their address. */
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
    const checked = guarded(bearer, () => checkKey(key, secret, now()))
    uses.note(checked.caller.key_id, now())
    return checked
  }

  return {
    /** Synchronous when the key is cached. Throws or rejects with 401, 429 or 503. */
    authenticate(bearer: Bearer): ApiKey | Promise<ApiKey> {
      const { key_id, secret } = guarded(bearer, () => presentedKey(bearer.authorization))
      const known = keys.peek(key_id)
      if (known !== undefined) return pass(bearer, known, secret)
      const read = () => keys.read(key_id).then((row) => pass(bearer, row, secret))
      if (!failed.isBlocked(bearer.address(), now())) return read()
      return good.has(key_id).then((is_good) => {
        if (!is_good) failed.check(bearer.address(), now())
        return read()
      })
    },
    async stop() {
      await Promise.all([keys.stop(), writing.stop(), listening.stop()])
      await uses.write()
    },
  }
}
