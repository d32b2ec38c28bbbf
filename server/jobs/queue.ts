/** The queue of scheduled work: pg-boss on the server's own database, in a schema of its own. */

import type { Clock } from '@heliograph/domain/clock'
import { type JobWithMetadata, PgBoss } from 'pg-boss'
import type { Registry } from 'prom-client'
import { tryLock } from '../storage/advisory-lock.ts'
import type { Database, Log } from '../storage/database.ts'
import type { Job } from './job.ts'
import { jobMetrics, type Outcome } from './metrics.ts'

/** Of PostgreSQL's advisory locks, ours for one run of a job at a time: `hgjb`. */
const advisory_class = 0x68676a62
/**
 * Of jobs without a turn of their own. Each run holds a connection for its lock, and the pool has
 * two more than they all may hold.
 */
const runs_at_once = 2
const stop_ms_max = 20_000

export interface Jobs {
  /** Makes the schema where it is missing, plans the scheduled jobs and begins to take runs. */
  start(): Promise<void>
  /** Asks for a run soon, on whichever replica; one that already waits is as good. */
  request(name: string): Promise<void>
  /**
   * Runs a job here and now, without the queue but under the same lock; throws what it threw, or
   * `JobRunning`. For tests and for what has to be done before the server serves.
   */
  runNow(name: string): Promise<void>
  /** Takes no more runs, tells those under way to end, and waits until they have. */
  stop(): Promise<void>
}

/** Another process, or this one, is at the same job. */
export class JobRunning extends Error {}

interface QueueOptions {
  /** How often a replica looks for runs, 0.5 or more. */
  poll_s: number
  retries_max: number
  /** Before the first retry; it doubles from one to the next, up to an hour. */
  retry_delay_s: number
}

/** Some quarter of an hour of retries; the next scheduled run comes all the same. */
const usual: QueueOptions = { poll_s: 5, retries_max: 5, retry_delay_s: 30 }

interface QueueNeeds {
  db: Database
  clock: Clock
  log: Log
  registry: Registry
  jobs: readonly Job[]
  options?: QueueOptions
}

type Claimed = Pick<JobWithMetadata<unknown>, 'signal' | 'retryCount' | 'retryLimit'>

export function createJobs(needs: QueueNeeds): Jobs {
  const { db, log, jobs, options = usual } = needs
  const names = new Set(jobs.map(({ name }) => name))
  if (names.size < jobs.length) throw new Error('jobs: a name is there twice')
  const boss = openBoss(db, log)
  const runner = createRunner(needs)
  const find = (name: string): Job => {
    const job = jobs.find((each) => each.name === name)
    if (!job) throw new Error(`there is no job ${name}`)
    return job
  }

  /** What the queue does with a run that is its turn; it tries again what throws. */
  async function take(job: Job, { signal, retryCount, retryLimit }: Claimed) {
    try {
      await runner.run(job, signal)
    } catch (error) {
      const [tried, tries] = [retryCount + 1, retryLimit + 1]
      log.error({ err: error, job: job.name, tried, tries }, 'a job failed')
      throw error
    }
  }

  return {
    async start() {
      await boss.start()
      const polling = { pollingIntervalSeconds: options.poll_s, includeMetadata: true } as const
      for (const job of jobs) {
        await plan(boss, job, options)
        await boss.work(job.name, polling, ([one]) => take(job, one!))
      }
      await unplanOthers(boss, names)
    },
    async request(name) {
      await boss.send(find(name).name)
    },
    runNow: async (name) => runner.run(find(name)),
    async stop() {
      runner.abort()
      await boss.stop({ timeout: stop_ms_max })
      await runner.ended()
    },
  }
}

/** Runs jobs, some at a time, each under its lock, and counts what becomes of them. */
function createRunner({ db, clock, log, registry, jobs }: QueueNeeds) {
  const metrics = jobMetrics(
    registry,
    jobs.map(({ name }) => name),
  )
  const stopping = new AbortController()
  const underway = new Set<Promise<void>>()
  const turns = takeTurns(runs_at_once)

  async function attempt(job: Job, signal: AbortSignal): Promise<void> {
    const began_ms = clock.now().getTime()
    const ended = (outcome: Outcome) => {
      const now_ms = clock.now().getTime()
      metrics.observe(job.name, outcome, now_ms, now_ms - began_ms)
    }
    try {
      await locked(db, job.name, () => job.run({ db, clock, log, signal }))
      ended('succeeded')
    } catch (error) {
      ended('failed')
      throw error
    }
  }

  return {
    run(job: Job, given?: AbortSignal): Promise<void> {
      const signal = given ? AbortSignal.any([given, stopping.signal]) : stopping.signal
      const running = job.own_turn ? attempt(job, signal) : turns(() => attempt(job, signal))
      const settled = running.catch(() => {}).finally(() => underway.delete(settled))
      underway.add(settled)
      return running
    },
    abort: () => stopping.abort(new Error('the server stops')),
    ended: () => Promise.all(underway),
  }
}

function openBoss(db: Database, log: Log): PgBoss {
  const boss = new PgBoss({
    schema: 'pgboss',
    db: {
      executeSql: async (text, values) => ({
        rows: await db.query<never>(text, values),
      }),
    },
  })
  boss.on('error', (error) => log.error({ err: error }, 'the queue of jobs failed'))
  boss.on('warning', ({ message, data }) => log.warn({ data }, `the queue of jobs: ${message}`))
  return boss
}

/** One waits and one runs, at most, on all replicas together. */
async function plan(boss: PgBoss, { name, schedule, seconds_max }: Job, options: QueueOptions) {
  const rules = {
    expireInSeconds: seconds_max,
    // A process that died is noticed by its silence.
    heartbeatSeconds: 60,
    retryLimit: options.retries_max,
    retryDelay: options.retry_delay_s,
    retryBackoff: options.retry_delay_s > 0,
    ...(options.retry_delay_s > 0 ? { retryDelayMax: 3600 } : {}),
    retentionSeconds: 86_400,
    deleteAfterSeconds: 7 * 86_400,
  }
  await boss.createQueue(name, { policy: 'stately', ...rules })
  await boss.updateQueue(name, rules)
  // A run that came due while no server was up is made up for, once.
  if (schedule !== null) await boss.schedule(name, schedule, null, { tz: 'UTC', missed: 'once' })
  else await boss.unschedule(name)
}

/** What an older version planned and this one does not know is not to pile up. */
async function unplanOthers(boss: PgBoss, known: ReadonlySet<string>): Promise<void> {
  for (const { name } of await boss.getSchedules()) {
    if (!known.has(name)) await boss.unschedule(name)
  }
}

/**
 * Does the work while holding the lock of the job. The queue alone would begin a second run when it
 * believes the first one dead, as of a process that hung; a lock of the database ends with its
 * connection and not before.
 */
async function locked(db: Database, name: string, work: () => Promise<void>): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0')
    const is_ours = await tryLock(transaction, advisory_class, name)
    if (!is_ours) throw new JobRunning(`job ${name} is already running`)
    await work()
  })
}

/** Lets so many run at once; the others wait in order. */
function takeTurns(at_once: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = at_once
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
