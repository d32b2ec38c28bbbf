/** How the replicas of the server know of each other and share what they counted. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'
import { periodically } from './periodic.ts'
import type { Count, RateLimits } from './rate-limit.ts'

const heartbeat_ms = 5000
const exchange_ms = 300
/** A replica that was silent this long is not there. By the database's clock, the same for all. */
const alive_s = 15

/**
 * Writes a sign of life every 5 s. While another replica shows one, exchanges the counts of the
 * present minute every 300 ms; a replica that is alone exchanges nothing. Until a second one is
 * noticed (5 s) and between two exchanges, each grants what it does not yet know to be used.
 */
export function replicas(deps: {
  db: Database
  replica_id: string
  rates: RateLimits
  clock: Clock
  timers: Timers
  log: Log
}) {
  let alone = true
  const heartbeat = async () => {
    alone = (await showLife(deps.db, deps.replica_id)) === 0
  }
  const exchange = async () => {
    if (!alone) await exchangeCounts(deps.db, [...deps.rates.counts(deps.clock.now().getTime())])
  }
  const running = [
    periodically(deps, "the replica's sign of life", heartbeat_ms, heartbeat),
    periodically(deps, 'exchanging request counts', exchange_ms, exchange),
  ]
  return {
    heartbeat,
    exchange,
    async stop() {
      await Promise.all(running.map((each) => each.stop()))
      await deps.db.execute('delete from replicas where replica_id = $1', [deps.replica_id])
    },
  }
}

/** Returns how many other replicas are alive. */
async function showLife(db: Database, replica_id: string): Promise<number> {
  await db.execute(
    `insert into replicas (replica_id, seen_at) values ($1, now())
     on conflict (replica_id) do update set seen_at = now()`,
    [replica_id],
  )
  const [row] = await db.query<{ others: number }>(
    `select count(*)::int as others from replicas
      where replica_id <> $1 and seen_at > now() - make_interval(secs => $2)`,
    [replica_id, alive_s],
  )
  return row?.others ?? 0
}

/** Adds what was counted here since the last time, and learns the sum of all. */
export async function exchangeCounts(db: Database, counts: readonly Count[]): Promise<void> {
  const changed = counts.filter((count) => count.used > 0)
  if (changed.length === 0) return
  const used = changed.map((count) => count.used)
  const rows = await db.query<{ subject: string; policy: string; window_s: number; used: number }>(
    `insert into rate_counts (window_at, subject, policy, used)
     select to_timestamp(at_s), subject, policy, used
       from unnest($1::float8[], $2::text[], $3::text[], $4::int[]) as c (at_s, subject, policy, used)
      order by subject, policy
     on conflict (window_at, subject, policy) do update
       set used = rate_counts.used + excluded.used
     returning subject, policy, extract(epoch from window_at)::float8 as window_s, used`,
    [
      changed.map((count) => count.window_ms / 1000),
      changed.map((count) => count.subject),
      changed.map((count) => count.policy),
      changed.map((count, index) => used[index]! - count.shared),
    ],
  )
  const total = new Map(
    rows.map((row) => [`${row.subject} ${row.policy} ${row.window_s}`, row.used]),
  )
  changed.forEach((count, index) => {
    const sum = total.get(`${count.subject} ${count.policy} ${count.window_ms / 1000}`)
    count.shared = used[index]!
    if (sum !== undefined) count.elsewhere = sum - count.shared
  })
}
