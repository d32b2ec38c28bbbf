import type { Clock } from '@heliograph/domain/clock'
import type { Database, Log } from '../storage/database.ts'

/** What every job may use. */
export interface JobContext {
  db: Database
  clock: Clock
  log: Log
  /** Aborted when the server stops or the run is taken from this process: end between two steps. */
  signal: AbortSignal
}

/**
 * Work that goes on beside requests. At most one run of a job is under way over all replicas. A run
 * that fails or is cut short begins anew, so that `run` must lead to the same result when it is
 * repeated from any point.
 */
export interface Job {
  /** `keep_tiers` */
  name: string
  /** Five fields of cron in UTC (minute, hour, day, month, weekday); null: only on demand. */
  schedule: string | null
  /** A run that takes longer counts as failed. */
  seconds_max: number
  /** Waits for no other job: for what people wait for, which no long one may hold up. */
  own_turn?: true
  /** Throws when it could not do its work; what it threw is logged, and it is tried again. */
  run(context: JobContext): Promise<void>
}

/** Checks what the type cannot say of a job; throws where it is wrong. */
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
