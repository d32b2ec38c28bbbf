/** The job queue: pg-boss in its own schema of the database. */

import type { Clock } from '@heliograph/domain/clock'
import { type JobWithMetadata, PgBoss } from 'pg-boss'
import type { Registry } from 'prom-client'
import { tryLock } from '../storage/advisory-lock.ts'
import type { Database, Log } from '../storage/database.ts'
import type { Subscription } from '../storage/listen.ts'
import type { Job } from './job.ts'
import { jobMetrics, type Outcome } from './metrics.ts'
import { round_channel } from './site-rounds.ts'

/** Advisory lock class for the run of a job: `hgjb`. */
const advisory_class = 0x68676a62
/**
 * Concurrent runs of jobs without `own_turn`. Each run holds a connection of the pool for its lock,
 * so the number must stay below the size of the pool.
 */
const runs_at_once = 2
const stop_ms_max = 20_000

export type Jobs = ReturnType<typeof createJobs>

/** The job is already running in this or another process. */
export class JobRunning extends Error {}

interface QueueOptions {
  /** Polling interval, at least 0.5. */
  poll_s: number
  retries_max: number
  /** Delay before the first retry; doubles with each retry, up to an hour. */
  retry_delay_s: number
}

/** About 15 minutes of retries. Scheduled runs follow independently. */
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

export function createJobs(needs: QueueNeeds) {
  const { db, log, jobs, options = usual } = needs
  const names = new Set(jobs.map(({ name }) => name))
  if (names.size < jobs.length) throw new Error('jobs: duplicate name')
  const boss = openBoss(db, log)
  const runner = createRunner(needs)
  let rounds: Subscription | undefined
  const find = (name: string): Job => {
    const job = jobs.find((each) => each.name === name)
    if (!job) throw new Error(`there is no job ${name}`)
    return job
  }

  /** Handles a run from the queue, which retries it when this throws. */
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
    /** Creates the schema if needed, schedules the jobs and starts to run them. */
    async start() {
      await boss.start()
      const polling = { pollingIntervalSeconds: options.poll_s, includeMetadata: true } as const
      for (const job of jobs) {
        await plan(boss, job, options)
        await boss.work(job.name, polling, ([one]) => take(job, one!))
      }
      await unplanOthers(boss, names)
      // A round that is missed is made by the others.
      rounds = await db.listen(round_channel, { notified: runner.share, resumed() {} })
    },
    /** Requests a run on any replica, unless one is waiting already. */
    async request(name: string) {
      await boss.send(find(name).name)
    },
    /**
     * Runs a job at once in this process, outside the queue but under the same lock. Throws the
     * error of the job, or `JobRunning`.
     */
    runNow: async (name: string) => runner.run(find(name)),
    /** Starts no more runs, aborts active runs and waits for their end. */
    async stop() {
      await rounds?.stop()
      runner.abort()
      await boss.stop({ timeout: stop_ms_max })
      await runner.ended()
    },
  }
}

/** Runs jobs under their lock with limited concurrency, and counts outcomes. */
function createRunner({ db, clock, log, registry, jobs }: QueueNeeds) {
  const metrics = jobMetrics(
    registry,
    jobs.map(({ name }) => name),
  )
  const stopping = new AbortController()
  const underway = new Set<Promise<void>>()
  const turns = takeTurns(runs_at_once)
  /** Jobs that run or are shared in this process. */
  const active = new Set<string>()

  async function share(job: Job): Promise<void> {
    active.add(job.name)
    try {
      await job.share?.({ db, clock, log, signal: stopping.signal })
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ err: error, job: job.name }, 'a shared run failed')
    } finally {
      active.delete(job.name)
    }
  }

  async function attempt(job: Job, signal: AbortSignal): Promise<void> {
    const began_ms = clock.now().getTime()
    const ended = (outcome: Outcome) => {
      const now_ms = clock.now().getTime()
      metrics.observe(job.name, outcome, now_ms, now_ms - began_ms)
    }
    try {
      await locked(db, job.name, () => {
        active.add(job.name)
        return job.run({ db, clock, log, signal }).finally(() => active.delete(job.name))
      })
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
    /** Takes part in a run that began on another server. */
    share(name: string): void {
      const job = jobs.find((one) => one.name === name)
      if (!job?.share || active.has(name) || stopping.signal.aborted) return
      const sharing = share(job).finally(() => underway.delete(sharing))
      underway.add(sharing)
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

/** At most one waiting and one active run across all replicas: the policy `stately`. */
async function plan(boss: PgBoss, { name, schedule, seconds_max }: Job, options: QueueOptions) {
  const rules = {
    expireInSeconds: seconds_max,
    // Detects dead processes.
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
  // Runs missed while no server was up are made up for by a single run.
  if (schedule !== null) await boss.schedule(name, schedule, null, { tz: 'UTC', missed: 'once' })
  else await boss.unschedule(name)
}

/** Removes schedules of jobs that this version does not know, whose runs would pile up. */
async function unplanOthers(boss: PgBoss, known: ReadonlySet<string>): Promise<void> {
  for (const { name } of await boss.getSchedules()) {
    if (!known.has(name)) await boss.unschedule(name)
  }
}

/**
 * Does the work while holding the lock of the job. The queue alone would start a second run when it
 * considers the process of the first one dead, for example because it hangs. A database lock ends
 * only with its connection.
 */
async function locked(db: Database, name: string, work: () => Promise<void>): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0')
    const is_ours = await tryLock(transaction, advisory_class, name)
    if (!is_ours) throw new JobRunning(`job ${name} is already running`)
    await work()
  })
}

/** A semaphore; waiting tasks start in order. */
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
