import type { Timers } from '@heliograph/domain/clock'
import type { Database } from '../storage/database.ts'
import { migrations_dir, readMigrations } from '../storage/migrate.ts'

/** Who asks whether we are ready must hear of a database that hangs, not wait for it. */
const answer_ms_max = 1000
/** A query that took this long may wait on a dead connection: the next asks anew. */
const query_ms_max = 10_000

/**
 * Whether requests can be served: the database answers within a second and has every migration of
 * this code. Rejects when it refuses. Those who ask at once share one query.
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
