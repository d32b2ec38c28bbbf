import type { Clock } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'

export interface JobContext {
  db: Database
  clock: Clock
  log: Log
  /** Aborts when the server stops or the run times out. Check it between steps. */
  signal: AbortSignal
}

/**
 * Background work. At most one run of a job is active across all replicas. A failed or interrupted
 * run is repeated, so `run` must be idempotent.
 */
export interface Job {
  /** `keep_tiers` */
  name: string
  /** Five cron fields in UTC (minute, hour, day, month, weekday); null for on-demand jobs. */
  schedule: string | null
  /** A run that takes longer counts as failed. */
  seconds_max: number
  /** Exempt from the limit of concurrent runs, for jobs that must not wait for long ones. */
  own_turn?: true
  /** Throws on failure; the error is logged and the run is retried. */
  run(context: JobContext): Promise<void>
  /** Takes part in a run of another server: see `site-rounds.ts`. */
  share?(context: JobContext): Promise<void>
}

/** Checks constraints that the type cannot express; throws for an invalid job. */
export function defineJob(job: Job): Job {
  if (!/^[a-z][a-z_]{2,39}$/.test(job.name)) throw new Error(`job '${job.name}': not a name`)
  if (job.schedule !== null && !/^(\S+ ){4}\S+$/.test(job.schedule)) {
    throw new Error(`job ${job.name}: '${job.schedule}' has not five fields`)
  }
  if (!(job.seconds_max >= 60 && job.seconds_max <= 86_400)) {
    throw new Error(`job ${job.name}: seconds_max must be from 60 to 86400`)
  }
  return job
}
