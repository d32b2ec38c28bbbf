/** Servers on one database find each other and share their rate limits. */
import type { Clock, Timers } from '@heliograph/domain/clock'
import type { Database, Log, Transaction } from '../storage/database.ts'
import { periodically } from './periodic.ts'
import type { RateLimits, RateOrder, RateWindow, SharedStanding } from './rate-limit.ts'
import { rate_window_ms, stepOf, type TimedCounts } from './rate-window.ts'

const heartbeat_ms = 5000
/** A replica without a heartbeat for this long is considered stopped, by the database clock. */
const alive_s = 15
/** A running replica answers a new one by its next heartbeat. */
const answer_s = 6
const answer_polls_max = 200
const joined_channel = 'replica_joined'
/** Advisory lock class for joining and for leaving shared mode: `hgrp`. */
const advisory_class = 0x68677270

interface Deps {
  db: Database
  replica_id: string
  rates: RateLimits
  clock: Clock
  timers: Timers
  log: Log
}

/**
 * Joins the replicas and resolves when all of them count in the database. A single replica counts
 * in memory. It stores its counts when another replica joins and when it stops; a killed replica
 * loses them.
 */
export async function joinReplicas(deps: Deps) {
  const { db, replica_id, rates, clock, log } = deps
  const now_ms = () => clock.now().getTime()
  let shared: Promise<void> | null = null
  let shared_until_ms = 0

  async function handOver(): Promise<void> {
    await storeWindows(db, rates.windows(now_ms()), now_ms())
    await db.execute('update replicas set shares = true where replica_id = $1', [replica_id])
  }

  /** Retried at the next request when the database was unreachable. */
  function startSharing(): Promise<void> {
    shared_until_ms = now_ms() + rate_window_ms + 1000 * alive_s
    shared ??= handOver().catch((error) => {
      shared = null
      throw error
    })
    rates.share(async (order, at_ms) => {
      await (shared ?? startSharing())
      return takeShared(db, order, at_ms)
    })
    return shared
  }

  /** Returns to counting in memory. The table is empty while a replica is alone. */
  async function stopSharing(): Promise<void> {
    const is_alone = await db.transaction(async (tx) => {
      await lockReplicas(tx)
      const changed = await tx.execute(
        `update replicas set shares = false where replica_id = $1 and not ${othersAlive}`,
        [replica_id, alive_s],
      )
      if (changed > 0) await tx.execute('delete from rate_windows')
      return changed > 0
    })
    if (!is_alone) return
    shared = null
    rates.share(null)
  }

  async function heartbeat(): Promise<void> {
    if ((await showLife(db, replica_id)) > 0) await startSharing()
    else if (shared !== null && now_ms() >= shared_until_ms) await stopSharing()
  }

  const noticed = () =>
    void startSharing().catch((error) => {
      log.warn({ err: error }, 'rate limits could not be shared and will be retried')
    })
  // Notifications arrive in the order of the joins; what joined before, `join` has seen.
  let has_joined = false
  const listening = await db.listen(joined_channel, {
    notified: (joined_id) => {
      if (joined_id === replica_id) has_joined = true
      else if (has_joined) noticed()
    },
    resumed: () => void heartbeat().catch(() => {}),
  })
  // The server must start on a full disk too; its heartbeat retries.
  const has_others = await join(deps).catch((error) => {
    log.warn({ err: error }, 'the replica could not join and will retry')
    return false
  })
  if (has_others) {
    await startSharing()
    await othersShare(db, replica_id)
  }
  const running = periodically(deps, 'the heartbeat of the replica', heartbeat_ms, heartbeat)
  return {
    heartbeat,
    async stop() {
      await Promise.all([running.stop(), listening.stop()])
      const kept = shared === null ? storeWindows(db, rates.windows(now_ms()), now_ms()) : null
      await kept?.catch((error) => log.warn({ err: error }, 'request counts were lost'))
      await db.execute('delete from replicas where replica_id = $1', [replica_id])
    },
  }
}

/** Values: this replica, `alive_s`. */
const othersAlive = `exists (
  select from replicas where replica_id <> $1 and seen_at > now() - make_interval(secs => $2))`

const lockReplicas = (tx: Transaction) =>
  tx.query('select pg_advisory_xact_lock($1, 0)', [advisory_class])

/** Returns whether another replica is alive. A single replica takes over the stored counts. */
function join({ db, replica_id, rates, clock }: Deps): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockReplicas(tx)
    const [row] = await tx.query<{ shares: boolean }>(
      `insert into replicas (replica_id, seen_at, shares) values ($1, now(), ${othersAlive})
       on conflict (replica_id) do update set seen_at = now(), shares = excluded.shares
       returning shares`,
      [replica_id, alive_s],
    )
    await tx.execute('select pg_notify($1, $2)', [joined_channel, replica_id])
    if (!row!.shares) rates.restore(await takeWindows(tx, clock.now().getTime()))
    return row!.shares
  })
}

/** Waits until all running replicas count in the database. */
async function othersShare(db: Database, replica_id: string): Promise<void> {
  for (let polls = 0; polls < answer_polls_max; polls++) {
    const [row] = await db.query<{ waits: boolean }>(
      `select waits, case when waits then pg_sleep(0.05) end
         from (select exists (select from replicas where replica_id <> $1 and not shares
                 and seen_at > now() - make_interval(secs => $2)) as waits offset 0) as others`,
      [replica_id, answer_s],
    )
    if (!row?.waits) return
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

/** Read after the row lock, so that a request never counts from before its grant. */
const database_ms = '(extract(epoch from clock_timestamp()) * 1000)::float8'

async function takeWindows(tx: Transaction, now_ms: number): Promise<RateWindow[]> {
  const rows = await tx.query<RateWindow & { now_ms: number }>(
    `delete from rate_windows returning subject, policy, at_ms, counts, ${database_ms} as now_ms`,
  )
  return rows.map((row) => ({ ...row, ...inTimeOf(now_ms, row) }))
}

/** Converts instants to the clock of this machine, in ascending order. */
function inTimeOf(now_ms: number, row: TimedCounts & { now_ms: number }): TimedCounts {
  const instants = row.at_ms
    .map((at, index) => ({ at: now_ms - (row.now_ms - at), count: row.counts[index]! }))
    .toSorted((a, b) => a.at - b.at)
  return { at_ms: instants.map(({ at }) => at), counts: instants.map(({ count }) => count) }
}

/** Stores the requests that this replica granted alone. */
async function storeWindows(
  db: Database,
  windows: readonly RateWindow[],
  now_ms: number,
): Promise<void> {
  if (windows.length === 0) return
  const rows = windows.map(({ subject, policy, at_ms, counts }) => ({
    subject,
    policy,
    ages_ms: at_ms.map((at) => now_ms - at),
    counts,
  }))
  await db.execute(
    `insert into rate_windows as w (subject, policy, at_ms, counts)
     select subject, policy, array(select ${database_ms} - age from unnest(ages_ms) as age), counts
       from jsonb_to_recordset($1) as g (subject text, policy text, ages_ms float8[], counts int[])
      order by subject, policy
     on conflict (subject, policy) do update
       set at_ms = w.at_ms || excluded.at_ms, counts = w.counts || excluded.counts,
           updated_at = now()`,
    [JSON.stringify(rows)],
  )
}

const inWindow = `unnest(w.at_ms, w.counts) as old (at, n)
  where at > ${database_ms} - ${rate_window_ms}`

/** Values: subject, policy, limit, resolution in ms. A single statement is atomic. */
const take_statement = `
  insert into rate_windows as w (subject, policy, at_ms, counts)
  values ($1, $2, array[ceil(${database_ms} / $4::float8) * $4::float8], array[1])
  on conflict (subject, policy) do update set
    (at_ms, counts, updated_at) = (
      select array_agg(at order by at), array_agg(n order by at), now()
        from (select at, sum(n)::int as n
                from (select at, n from ${inWindow}
                      union all
                      select ceil(${database_ms} / $4::float8) * $4::float8, 1) as each (at, n)
               group by at) as kept)
    where (select coalesce(sum(n), 0) from ${inWindow}) < $3::int
  returning at_ms, counts, ${database_ms} as now_ms`

const look_statement = `
  select at_ms, counts, ${database_ms} as now_ms from rate_windows
   where subject = $1 and policy = $2`

async function takeShared(
  db: Database,
  { subject, policy, limit }: RateOrder,
  now_ms: number,
): Promise<SharedStanding> {
  type Row = TimedCounts & { now_ms: number }
  const name = 'take_request'
  const values = [subject, policy, limit, stepOf(limit)]
  const [taken] = await db.query<Row>({ name, text: take_statement }, values)
  const [row = taken] = taken ? [taken] : await db.query<Row>(look_statement, [subject, policy])
  if (!row) return { granted: false, window: { at_ms: [], counts: [] } }
  return { granted: taken !== undefined, window: inTimeOf(now_ms, row) }
}

/** Deletes stopped replicas and expired windows, by the database clock. */
export async function deleteOldReplicas(db: Database): Promise<void> {
  await db.execute(`delete from replicas where seen_at < now() - interval '1 hour'`)
  await db.execute(`delete from rate_windows where updated_at < now() - interval '5 minutes'`)
}
