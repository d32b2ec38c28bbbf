import type { Timers } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'
import { migrations_dir, readMigrations } from '../storage/migrate.ts'

/** A hanging database must fail the probe, not delay it. */
const answer_ms_max = 1000
/** After this time the connection may be dead, and the next probe starts a new query. */
const query_ms_max = 10_000

/**
 * The readiness probe: the database answers within a second and has all migrations of this version.
 * Rejects when the query fails. Concurrent probes share one query.
 */
export async function readiness(deps: {
  db: Database
  timers: Timers
}): Promise<() => Promise<boolean>> {
  const migrations = (await readMigrations(migrations_dir)).length
  let asking: Promise<boolean> | null = null

  async function ask(): Promise<boolean> {
    const [row] = await deps.db.query<{ ready: boolean }>(
      'select count(*) >= $1 as ready from schema_migrations',
      [migrations],
    )
    return row?.ready ?? false
  }

  function askOnce(): Promise<boolean> {
    if (asking) return asking
    const forget = () => {
      if (asking === mine) asking = null
    }
    const cancel = deps.timers.after(query_ms_max, forget)
    const mine = ask().finally(() => {
      cancel()
      forget()
    })
    asking = mine
    return mine
  }

  return async () => {
    const late = Promise.withResolvers<boolean>()
    const cancel = deps.timers.after(answer_ms_max, () => late.resolve(false))
    try {
      return await Promise.race([askOnce(), late.promise])
    } finally {
      cancel()
    }
  }
}
